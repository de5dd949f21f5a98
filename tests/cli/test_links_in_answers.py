"""Wikilinks of an answer on a terminal: labels, clickable where there is such a note, marked where there is none."""

from tests.support.screens import without_sequences
from tests.support.world import World


def test_links_of_an_answer_are_looked_up_in_the_vault(world: World) -> None:
    world.note("a/Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    model = world.script([{"text": "See [[a/Sleep#Adults|sleep]] and [[Nowhere]], `[[Nowhere]]`."}])
    drawn = world.run("ask", "How long?", "--model", model, terminal=True).out
    assert "See sleep and Nowhere[?], [[Nowhere]]." in without_sequences(drawn)
    assert f"{(world.vault / 'a/Sleep.md').as_uri()}\x1b\\" in drawn
    piped = world.run("ask", "How long?", "--model", world.script([{"text": "See [[a/Sleep|sleep]], [[Nowhere]]."}]))
    assert piped.out == "See [[a/Sleep|sleep]], [[Nowhere]].\n"
