import pytest

from zkchat.core.index import CatalogRow
from zkchat.index.mentions import NoteNames, prose_for_links


def names(*paths: str) -> NoteNames:
    return NoteNames(CatalogRow(path=f"{path}.md") for path in paths)


def found(text: str, *paths: str, source: str = "Source.md") -> list[str]:
    return [text[each.start : each.end] for each in names(*paths).find(text, source)]


@pytest.mark.parametrize(
    "text",
    [
        "Sleep",
        "(Sleep), “Sleep”",
        "**Sleep** and _sleep_ and __SLEEP__",
        "Sleep's effects",
        "> sleep",
        "l’sleep",
        "[good sleep now] today",
        "日本sleep語",
        "> [!note] sleep",
    ],
)
def test_a_name_is_found_as_a_whole_word(text: str) -> None:
    assert {each.casefold() for each in found(text, "Sleep")} == {"sleep"}


@pytest.mark.parametrize(
    "text",
    [
        "asleep sleeping sleep2 sleep_walk snake_sleep_case sleep.js",
        "sleep-walking, non-sleep",
        "and/sleep sleep/and C:\\sleep",
        "#sleep #health/sleep",
        "```\nsleep\n```",
        "    sleep\n",
        "$sleep$ and\n\n$$\nsleep\n$$",
        "[[sleep]] [[Other|sleep]] [sleep](x.md) ![sleep](x.png) <https://sleep.org>",
        "[sleep][ref]\n\n[ref]: sleep.md\n[sleep]: x.md",
        "%% sleep %% <!-- sleep --> <b title='sleep'>x</b> <a href='x'>sleep</a>",
        "---\ntags: sleep\n---\n",
        "# Sleep\n\n## On sleep\n\nMore on sleep\n-------------\n\n> # Sleep\n\n- # Sleep",
        "{{sleep}} <% sleep %>",
        "[sleep:: deep]",
        "[sleep] [^sleep] [sleep well] [on sleep]",
        "O'Sleep",
        "[broken sleep](a b.md)",
        "> [!sleep] x",
    ],
)
def test_no_name_is_found_where_a_link_would_be_wrong(text: str) -> None:
    assert found(text, "Sleep") == []


def test_the_longest_name_wins_also_where_it_leads_to_no_note_or_to_this_one() -> None:
    assert found("Sleep hygiene, sleep", "Sleep", "Sleep hygiene") == ["Sleep hygiene", "sleep"]
    assert found("deep sleep hygiene", "Deep sleep", "Sleep hygiene") == ["deep sleep"]
    assert found("Sleep hygiene", "Sleep", "Sleep hygiene", source="Sleep hygiene.md") == []
    assert found("The twin towers", "a/Twin towers", "b/Twin towers", "Twin") == []


def test_titles_and_aliases_are_names() -> None:
    table = NoteNames([CatalogRow(path="z1.md", title="Deep work", aliases=("Focus time",))])
    assert [(each.start, each.path, each.name) for each in table.find("focus time, deep work", "S.md")] == [
        (0, "z1.md", "Focus time"), (12, "z1.md", "Deep work")
    ]  # fmt: skip


def test_space_and_normal_form_of_a_name_may_differ_but_not_its_line() -> None:
    assert found("Cafe\u0301\u00a0 noir", "Café noir") == ["Cafe\u0301\u00a0 noir"]
    assert found("Café\nnoir", "Café noir") == []


def test_signs_are_part_of_a_name() -> None:
    assert found("C++ is no C, and c++.", "C++") == ["C++", "c++"]
    assert found("What is sleep? (draft)", "What is sleep?", "What is") == ["What is sleep?"]


def test_short_names_in_capitals_and_dates_are_found_as_they_are_written_and_other_short_ones_are_not() -> None:
    assert found("The IT of it, on 2026-03-07.", "IT", "2026-03-07") == ["IT", "2026-03-07"]
    assert found("A C in 2026, 42: go on", "C", "42", "2026", "Go") == []


def test_scripts_without_spaces_have_names_inside_of_runs() -> None:
    assert found("我学习机器学习。", "学习", "机器学习") == ["学习", "机器学习"]
    assert found("我在学", "学") == []
    assert found("テストケースのテストを", "テスト") == ["テスト"]
    assert found("いるから", "いる") == []
    assert found("서울에서 남서울", "서울") == ["서울"]
    assert found("ไปเชียงใหม่กัน", "เชียงใหม่") == ["เชียงใหม่"]
    assert found("ดื่มกาแฟไทยกัน", "กาแฟ", "ไทย") == ["กาแฟ"]


def test_common_names_are_marked() -> None:
    table = NoteNames([CatalogRow(path="Sleep.md"), CatalogRow(path="Tea.md")], lambda keys: {*keys} & {"tea"})
    assert [(each.name, each.is_common) for each in table.find("tea, sleep", "S.md")] == [
        ("Tea", True), ("Sleep", False)
    ]  # fmt: skip


def test_offsets_are_those_of_the_text_with_its_mark_and_line_ends() -> None:
    text = "\ufeff---\r\na: 1\r\n---\r\nOn sleep\r\n"
    assert found(text, "Sleep") == ["sleep"]
    assert len(prose_for_links(text)) == len(text)
