"""Who shows a turn: JSON for scripts, text for pipes and screen readers, panels and live Markdown for a terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from zkchat.cli.common import Process
    from zkchat.compose.conversation import OpenConversation
    from zkchat.environment import Environment
    from zkchat.render.presenters.base import Presenter


def presenter_for(
    environment: "Environment",
    opened: "OpenConversation",
    *,
    json_output: bool = False,
    plain: bool = False,
    panels: bool = False,
) -> "Presenter":
    from zkchat.render.presenters.json import JsonPresenter
    from zkchat.render.presenters.plain import PlainPresenter

    ui = opened.settings.ui
    if json_output:
        return JsonPresenter(environment.stdout)
    if plain or not (environment.stdout_is_tty or panels):
        return PlainPresenter(
            environment.stdout, environment.stderr, details=plain, references_shown=ui.references_shown
        )
    from zkchat.render.presenters.screen import ScreenPresenter

    out, err = consoles(environment, ui.color)
    return ScreenPresenter(
        out, err, thinking=ui.thinking, references_shown=ui.references_shown, link_for=opened.addresses.clickable
    )


def consoles(environment: "Environment", color: str) -> tuple["Console", "Console"]:
    """Standard output and standard error, to draw on."""
    from zkchat.render.console import console_for

    variables = environment.variables
    return (
        console_for(environment.stdout, is_tty=environment.stdout_is_tty, variables=variables, color=color),
        console_for(environment.stderr, is_tty=environment.stderr_is_tty, variables=variables, color=color),
    )


def tell_choice(here: "Process", opened: "OpenConversation") -> None:
    """Say which model was chosen, where the user has not; in any case before notes leave the machine."""
    model = opened.conversation.model
    is_elsewhere = model.is_located and not model.on_this_machine
    if opened.chosen and not model.needs_notes and (here.environment.stderr_is_tty or is_elsewhere):
        here.note(opened.chosen)
