"""What the site is made of; `make site` builds it, and `make browser` looks at it."""

from pathlib import Path

import pytest

from scripts.site import CONTENTS, DOCS, ELSEWHERE, ROOT, SITE, lay_out, with_links


def test_every_page_has_one_place_in_the_contents() -> None:
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    pages |= {Path(place).stem for place in ELSEWHERE.values()} - {"index"}
    listed = [name for names in CONTENTS.values() for name in names]
    assert sorted(listed) == sorted({"decisions/*" if page.startswith("decisions/") else page for page in pages})


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        (ROOT / "SECURITY.md", "[Privacy](docs/privacy.md#what)", "[Privacy](privacy.md#what)"),
        (
            ROOT / "CONTRIBUTING.md",
            "[code](zkchat/core/errors.py) and [more](SECURITY.md)",
            "code and [more](security.md)",
        ),
        (DOCS / "vault.md", "[start](../README.md)", "[start](index.md)"),
        (DOCS / "decisions/0001-session-store.md", "[a](../architecture.md)", "[a](../architecture.md)"),
        (
            SITE / "index.md",
            "[a](../docs/tour.md) ![b](../docs/pictures/goal.svg)",
            "[a](tour.md) ![b](pictures/goal.svg)",
        ),
        (DOCS / "acp.md", "[ACP](https://agentclientprotocol.com)", "[ACP](https://agentclientprotocol.com)"),
        (DOCS / "acp.md", "![seen](pictures/answer.svg)", "![seen](pictures/answer.svg)"),
        (ROOT / "SECURITY.md", "see [docs/privacy.md](docs/privacy.md#what)", "see [](privacy.md#what)"),
        (DOCS / "acp.md", "```\n[x](../README.md)\n```", "```\n[x](../README.md)\n```"),
    ],
)
def test_links_lead_to_pages_of_the_site(source: Path, text: str, expected: str) -> None:
    assert with_links(source, text) == expected


def test_the_sources_are_laid_out_in_one_folder(tmp_path: Path) -> None:
    lay_out(tmp_path / "site")
    assert (tmp_path / "site/conf.py").is_file()
    assert (tmp_path / "site/index.md").read_text("utf-8").count("```{toctree}") == len(CONTENTS)
    assert (
        "(security.md" in (tmp_path / "site/privacy.md").read_text("utf-8") + (tmp_path / "site/index.md").read_text()
    )
    assert "](docs/" not in (tmp_path / "site/security.md").read_text("utf-8")
