"""How an extra of zkchat is added, depending on what installed zkchat."""

import shlex
import sys
from pathlib import Path


def install_command(extra: str) -> str:
    """The command for this installation: in environments of pipx and uv, pip would miss it or is not there."""
    package, environment = f"'zkchat[{extra}]'", Path(sys.prefix)
    if (environment / "pipx_metadata.json").exists():
        return f"pipx inject zkchat {package}"
    if (environment / "uv-receipt.toml").exists():
        return f"uv pip install --python {shlex.quote(sys.executable)} {package}"
    return f"pip install {package}"
