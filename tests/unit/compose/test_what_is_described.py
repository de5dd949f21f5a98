"""What users read of what comes with a vault and of images, at the lengths where it is cut."""

from base64 import b64encode

import pytest

from tests.support.images import picture
from zkchat.app import describe_item, left_out_sentence, page_item
from zkchat.app.conversation import inline_image
from zkchat.core.choices import VaultItem


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [("x" * 100, "x" * 100), ("x" * 101, "x" * 100 + "…"), ("x" + " " * 499, "x"), ("x" + " " * 500, "x…")],
)
def test_a_page_is_described_by_its_beginning(text: str, excerpt: str) -> None:
    size, shown = describe_item(page_item("AGENTS.md", text))
    assert (size, shown) == (f"{len(text)} characters", f"“{excerpt}”")


@pytest.mark.parametrize(("count", "named"), [(3, " page 0, page 1, page 2."), (4, " page 2 and 1 more.")])
def test_of_what_is_left_out_three_are_named(count: int, named: str) -> None:
    items = [VaultItem(kind="page", name=str(number), digest="d") for number in range(count)]
    assert named in left_out_sentence([(item, "new") for item in items])


def test_an_image_without_a_file_is_made_smaller() -> None:
    image = inline_image("image", b64encode(picture(size=(3_000, 30))).decode())
    assert image.width == 1_568
