"""`zkchat completion`: the script that teaches a shell to complete zkchat's command line."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from zkchat.cli.common import current_io

Shell = Literal["bash", "zsh", "fish"]


def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print the script that teaches your shell to complete.

    Then Tab completes commands, options, notes, sessions and more. Names come from the index as it is:
    `zkchat index` brings it up to date.

    \b
    Bash, in ~/.bashrc:
        eval "$(zkchat completion bash)"
    Zsh, in ~/.zshrc after compinit:
        eval "$(zkchat completion zsh)"
    Fish, once:
        zkchat completion fish > ~/.config/fish/completions/zkchat.fish
    """
    script = Path(__file__).parent / "shells" / f"completion.{shell}"
    current_io().out(script.read_text("utf-8").rstrip("\n"))
