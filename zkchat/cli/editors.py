"""The user's editor: which one it is, and how it is told at which line to open a file."""

import shlex
import sys
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePath
from shutil import rmtree
from tempfile import mkdtemp
from threading import Thread
from typing import Final

from zkchat.app import inline_image
from zkchat.cli.common import CommandIO
from zkchat.cli.terminal import echo_on
from zkchat.core import ConfigError, Environment, ImagePart, ImageUnusable, UsageError, ZkchatError
from zkchat.notes import MAX_FILE_BYTES
from zkchat.subprocesses import find_program, read_output, run_program

_CLIPBOARD: Final = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
    ("osascript", "-e", "the clipboard as «class PNGf»"),
)


def clipboard_image(variables: Mapping[str, str]) -> ImagePart:
    """The image on the clipboard. Raises `UsageError` where there is none, or nothing that could tell."""
    tools = [(found, rest) for name, *rest in _CLIPBOARD if (found := find_program(name, variables))]
    if not tools:
        names = ", ".join(name for name, *_ in _CLIPBOARD[:2])
        hint = f'Install one of {names} (macOS: pngpaste), or name a file: @"photo.png".'
        raise UsageError("No program that reads the clipboard is installed.", hint=hint)
    for program, rest in tools:
        output, _ = read_output([program, *rest], variables=variables, seconds=20.0, most=MAX_FILE_BYTES)
        begin, end = b"\xc2\xabdata PNGf", b"\xc2\xbb"  # around the hexadecimal digits that `osascript` prints
        with suppress(ValueError, ImageUnusable):
            data = (
                bytes.fromhex(output.strip()[len(begin) : -len(end)].decode()) if output.startswith(begin) else output
            )
            if data:
                return inline_image("clipboard.png", b64encode(data).decode())
    raise UsageError("There is no image on the clipboard.", hint="Copy one, such as a screenshot, and try again.")


def desktop_opener(environment: Environment) -> Callable[[str], object] | None:
    """Hands an address to the desktop; None where none can be seen, or no program that does so."""
    variables, is_mac = environment.variables, sys.platform == "darwin"
    has_desktop = is_mac or any(variables.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    opener = find_program("open" if is_mac else "xdg-open", variables) if has_desktop else None
    if opener is None:
        return None

    def run(address: str) -> None:
        # Some openers stay until the window is closed; nobody waits for that.
        work = partial(run_program, [opener, address], quietly=True)
        Thread(target=work, name="zkchat-open", daemon=True).start()

    return run


_CONVENTIONS: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    ("+{line}", "{path}"): (
        "vi", "vim", "nvim", "gvim", "view", "vimx", "nano", "pico", "emacs", "emacsclient", "mg", "jed", "joe", "ne",
        "kak", "micro", "gedit", "geany",
    ),
    ("{path}:{line}",): ("hx", "helix", "subl", "zed", "zeditor", "lite-xl"),
    ("--goto", "{path}:{line}"): ("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron"),
    ("--line", "{line}", "{path}"): ("kate", "kwrite", "mate", "idea", "pycharm", "webstorm"),
}  # fmt: skip
_CONVENTION_OF: Final = {name: convention for convention, names in _CONVENTIONS.items() for name in names}


def file_arguments(program: str, path: str, line: int | None) -> list[str]:
    """The arguments that open a file at a line; the file alone for editors whose convention is not known."""
    convention = _CONVENTION_OF.get(PurePath(program).name.lower().removesuffix(".exe"))
    return [each.format(path=path, line=line) for each in convention] if convention and line else [path]


def editor_of(variables: Mapping[str, str]) -> str:
    """What the user set as editor; empty where nothing is."""
    return variables.get("VISUAL") or variables.get("EDITOR") or ""


def edit_file(io: CommandIO, path: str, line: int | None = None) -> None:
    """Open a file in the user's editor, at a line if one is given, and wait until it is closed."""
    variables = io.environment.variables
    editor = editor_of(variables)
    if not editor:
        raise UsageError("No editor is set.", hint=f"Set EDITOR, or open the file yourself: {path}")
    try:
        name, *options = shlex.split(editor)
        if (found := find_program(name, variables)) is None:
            raise FileNotFoundError("no such program is installed")
        code = run_program([found, *options, *file_arguments(name, path, line)])
    except (OSError, ValueError) as error:
        hint = "Set EDITOR to the name of a program that is installed, or to its whole path."
        raise UsageError(f"The editor '{editor}' cannot be started: {error}.", hint=hint) from error
    if code:
        raise ConfigError(f"The editor '{editor}' failed with exit code {code}.", hint=f"The file is {path}.")


def edit_text(io: CommandIO, text: bytes, name: str) -> bytes | None:
    """What the user leaves of a text in the editor, in a file of that name.

    None, once it is said why, where that cannot be used; what was edited is then kept in the file, which is named.
    """
    if not editor_of(io.environment.variables):
        io.fail(UsageError("No editor is set.", hint="Set EDITOR to the name of a program."))
        return None
    folder = Path(mkdtemp(prefix="zkchat-"))
    file = folder / name
    try:
        file.write_bytes(text)
        with echo_on(io.environment.stdin):
            edit_file(io, str(file))
        left = file.read_bytes()
        left.decode()
    except (ZkchatError, OSError, UnicodeDecodeError) as error:
        io.fail(_unusable(error, file, text))
        return None
    rmtree(folder, ignore_errors=True)
    return left


def _unusable(error: Exception, file: Path, before: bytes) -> ZkchatError:
    """Why a text is not used; its folder is removed where nothing was edited in it."""
    match error:
        case UsageError():
            message, hint = error.message, error.hint
        case ZkchatError(message=message):
            hint = "Nothing was edited."
        case UnicodeDecodeError():
            message, hint = "The edited text is not UTF-8, so it is not used.", ""
        case _:
            message, hint = f"The text could not be edited: {error}.", ""
    try:
        is_edited = file.read_bytes() != before
    except OSError:
        is_edited = file.exists()
    if is_edited:
        hint = f"Your text is not used, but kept in {file}"
    else:
        rmtree(file.parent, ignore_errors=True)
    return ConfigError(message, hint=hint)


def editor_name(variables: Mapping[str, str]) -> str:
    words = editor_of(variables).split()
    return PurePath(words[0]).name if words else ""


def edit_document(io: CommandIO, vault: Path, path: str, line: int | None) -> bool:
    """Open a document of the vault; whether the editor was told the line."""
    with echo_on(io.environment.stdin):
        edit_file(io, str(vault / path), line)
    return not line or file_arguments(editor_name(io.environment.variables), path, line) != [path]
