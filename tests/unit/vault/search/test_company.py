"""Whom a question names after "with"."""

import pytest

from zkchat.index.search.weighted_question import company_in


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("meeting with Tomás", ("Tomás",)),
        ("meeting with tomás about wood", ("tomás",)),
        ("meeting with Mara Okafor about the frame", ("Mara", "Okafor")),
        ("meeting with Mara and Tomás", ("Mara", "Tomás")),
        ("call with my sister yesterday", ("sister",)),
        ("Treffen mit dem Vermieter", ("Vermieter",)),
        ("réunion avec Zoé et Léa en mars", ("Zoé", "Léa")),
        ("reunión con el casero", ("casero",)),
        ("和Ann的会议", ("Ann",)),
        ("田中さんとの会議", ("田中",)),
        ("meeting about the roof", ()),
        ("what to do with", ()),
    ],
)
def test_names_are_what_follows_with(question: str, names: tuple[str, ...]) -> None:
    assert company_in(question) == names
