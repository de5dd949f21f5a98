"""Properties are set by their lines; all others stay."""

from zkchat.writing.property_edits import add_tag, set_property

NOTE = '---\ntitle: "T"  # c\ntags: [a, b]\nlist:\n- x\n# in\n- "y"\nblk: |\n  text\n  more\n# tail\n---\nbody'


def test_quotes_and_the_comment_stay() -> None:
    assert set_property(NOTE, "Title", "new") == NOTE.replace('"T"', '"new"')


def test_a_tag_is_added_in_the_form_that_is_there() -> None:
    assert add_tag(NOTE, "#c") == NOTE.replace("[a, b]", "[a, b, c]")
