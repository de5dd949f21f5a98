"""The pages of docs/ as a site of static files: `make site` writes it to build/site.

Sphinx builds it from one folder, so that pages that stand elsewhere are put beside those of docs/. Any link that leads
nowhere fails the build.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
SITE: Final = ROOT / "site"
BUILD: Final = ROOT / "build"
ELSEWHERE: Final[Mapping[Path, str]] = {
    SITE / "index.md": "index.md",
    ROOT / "README.md": "index.md",
    ROOT / "SECURITY.md": "security.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "CHANGELOG.md": "changelog.md",
}
"""Pages that do not stand in docs/, and where they are on the site, which has a page of its own for the README."""
CONTENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("tour", "installation", "recipes"),
    "Using zkchat": (
        "commands", "keys", "vault", "time", "attachments", "context", "models", "embeddings", "writing", "memory",
        "agents", "privacy", "shell", "large-vaults",
    ),
    "Other programs": ("serve", "mcp", "acp", "lsp"),
    "Reference": ("configuration", "exit-codes", "promises", "security", "changelog"),
    "For developers": (
        "python", "json", "events", "scripted", "privacy-forms", "glossary", "architecture", "dependencies",
        "contributing", "decisions/*",
    ),
}  # fmt: skip
"""The order of the pages; what is missing here is a warning, which fails the build."""

_LINK: Final = re.compile(r"(?<!`)\[(?P<label>[^\]]*)\]\((?P<target>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
_FENCE: Final = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)


def lay_out(folder: Path) -> None:
    """Write everything that the site is made of into a folder."""
    shutil.copytree(DOCS, folder)
    for source, path in ELSEWHERE.items():
        if source != ROOT / "README.md":
            shutil.copy(source, folder / path)
    for source in sorted({*DOCS.rglob("*.md"), *ELSEWHERE} - {ROOT / "README.md"}):
        page = folder / _place(source)
        page.write_text(with_links(source, page.read_text("utf-8")), "utf-8")
    index = folder / "index.md"
    index.write_text(f"{index.read_text('utf-8')}\n{_contents()}", "utf-8")
    shutil.copy(SITE / "conf.py", folder)
    shutil.copy(SITE / "favicon.svg", folder)
    (folder / "static").mkdir()
    shutil.copy(SITE / "site.css", folder / "static")


def with_links(source: Path, text: str) -> str:
    """The text of a page whose links lead to pages of the site; what is none there, such as code, is only named."""

    def link(match: re.Match[str]) -> str:
        wanted = (source.parent / match["target"]).resolve()
        if not (wanted in ELSEWHERE or (wanted.is_file() and wanted.is_relative_to(DOCS))):
            return match["label"]
        up = "../" * (len(Path(_place(source)).parts) - 1)
        # Sphinx writes the title of the page, or of its section, where there is no label.
        label = "" if Path(match["label"]).name == wanted.name else match["label"]
        return f"[{label}]({up}{_place(wanted)}{match['anchor'] or ''})"

    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(link, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join((*parts, _LINK.sub(link, text[end:])))


def _place(source: Path) -> str:
    return ELSEWHERE.get(source) or source.relative_to(DOCS).as_posix()


def _contents() -> str:
    return "\n".join(
        f"```{{toctree}}\n:hidden:\n:glob:\n{f':caption: {caption}' if caption else ''}\n\n{chr(10).join(names)}\n```\n"
        for caption, names in CONTENTS.items()
    )


def main() -> int:
    source, target = BUILD / "site-source", BUILD / "site"
    for folder in (source, target):
        shutil.rmtree(folder, ignore_errors=True)
    lay_out(source)
    sphinx = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    status = subprocess.run([*sphinx, str(source), str(target)], check=False).returncode
    if not status:
        print(f"Open {(target / 'index.html').relative_to(ROOT)}.")  # noqa: T201
    return status


if __name__ == "__main__":
    sys.exit(main())
