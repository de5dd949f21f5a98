"""A sentence with another date, or denied, contradicts the note; one that may be true beside it does not."""

from pathlib import Path

import pytest

from tests.support.libraries import library_of
from zkchat.answers.verification.verify import verify
from zkchat.core.reports import CheckedStatement


def check(folder: Path, statement: str, note: str) -> CheckedStatement:
    with library_of(folder, {"Note.md": f"{note}\n", "Other.md": "Something else entirely.\n"}) as library:
        (checked,) = verify(library, statement).statements
        return checked


@pytest.mark.parametrize(
    ("statement", "note", "difference"),
    [
        ("The tower was completed on 31 May 1889.", "The tower was completed on 31 March 1889.", "name"),
        ("The tower has been open since 1901.", "The tower has been open since 1891.", "number"),
        ("Die Sitzung ist am Freitag.", "Die Sitzung ist am Donnerstag.", "name"),
        ("La reunión es el 5 de abril.", "La reunión es el 5 de marzo.", "name"),
        ("The windows are never open.", "The windows are always open.", "negation"),
        ("Les fenêtres ne sont jamais ouvertes.", "Les fenêtres sont toujours ouvertes.", "negation"),
        ("Las ventanas nunca están abiertas.", "Las ventanas siempre están abiertas.", "negation"),
        (
            "The neighbours were not told.",
            "The neighbours were told and are happy with the shade of the tree.",
            "negation",
        ),
        (
            "Der Haufen gehört nicht in den Schatten.",
            "Der Haufen gehört in den Schatten und braucht Regen und Luft.",
            "negation",
        ),
        ("学生凭证件不可以打折。", "学生凭证件可以打折，小孩不用买票。", "negation"),
    ],
)
def test_another_year_month_or_weekday_and_what_is_denied(
    tmp_path: Path, statement: str, note: str, difference: str
) -> None:
    checked = check(tmp_path, statement, note)
    assert (checked.verdict, checked.difference) == ("contradicted", difference)


@pytest.mark.parametrize(
    ("statement", "note"),
    [
        ("Die Sitzung ist am Donnerstag.", "Die Sitzung ist am Abend."),
        ("The windows are not always open.", "The windows are open in summer."),
        ("The cat was not fed on Friday.", "The cat was fed on Thursday and slept on Friday."),
        ("Bread is not baked on Sundays.", "Bread is baked on Mondays and Thursdays."),
        ("The tower opened in May 1889.", "The tower was completed on 31 March 1889."),
    ],
)
def test_what_may_be_true_beside_the_note(tmp_path: Path, statement: str, note: str) -> None:
    assert check(tmp_path, statement, note).verdict == "unsupported"
