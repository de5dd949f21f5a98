"""Things that a vault somebody else made may hold: each function adds one to a folder.

What would run if it were obeyed writes a line into a `witness`, a file outside of the vault.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

LATE_MODULES: Final = (
    "asyncio", "concurrent", "json", "multiprocessing", "numpy", "pickle", "pip", "pydantic", "rich", "sqlite3",
    "tiktoken_ext", "typer", "yaml", "zkchat_plugin",
)  # fmt: skip
"""Names of modules, and folders, that Python does not load before it runs a program."""
EARLY_MODULES: Final = (
    "collections", "encodings", "os", "runpy", "site", "sitecustomize", "typing", "usercustomize", "zkchat",
)  # fmt: skip
PROGRAMS: Final = ("xdg-open", "open", "git", "gcc", "ldconfig", "uname", "zk-editor", "less", "python3")


def code_that_shadows(vault: Path, witness: Path, modules: Iterable[str] = (*EARLY_MODULES, *LATE_MODULES)) -> None:
    """Python modules with names of others, as files and as packages that can be run, and a plug-in of pydantic."""
    for name in modules:
        code = f"open({str(witness)!r}, 'a').write({f'module {name}'!r} + chr(10))\n"
        (vault / name).mkdir()
        for file in (vault / name / "__init__.py", vault / name / "__main__.py", vault / f"{name}.py"):
            file.write_text(code)
    plugin = vault / "zkchat_plugin-1.0.dist-info"
    plugin.mkdir()
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: zkchat-plugin\nVersion: 1.0\n")
    (plugin / "entry_points.txt").write_text("[pydantic]\nx = zkchat_plugin\n")


def programs_that_shadow(vault: Path, witness: Path) -> None:
    """Programs with names of others."""
    for name in PROGRAMS:
        (vault / name).write_text(f"#!/bin/sh\necho 'program {name}' >> '{witness}'\n")
        (vault / name).chmod(0o755)
