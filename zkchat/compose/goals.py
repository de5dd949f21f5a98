"""Goal runs over an open conversation."""

from typing import TYPE_CHECKING

from zkchat.config.schema import Settings
from zkchat.environment import Environment
from zkchat.errors import UsageError
from zkchat.model.entries import GoalEntry
from zkchat.ports.sessions import SessionStore

if TYPE_CHECKING:
    from zkchat.chat.goals.bounded_turns import GoalBounds
    from zkchat.chat.goals.run import GoalRun, PlanReviewer
    from zkchat.compose.conversation import OpenConversation


def open_goal_run(
    environment: Environment,
    opened: "OpenConversation",
    bounds: "GoalBounds",
    plan_reviewer: "PlanReviewer | None" = None,
) -> "GoalRun":
    """A goal run in this conversation; without a reviewer, the model's plan is worked on as it is."""
    from zkchat.chat.goals.check import GoalChecker
    from zkchat.chat.goals.run import GoalRun

    conversation = opened.conversation
    return GoalRun(
        conversation=conversation,
        now=environment.now,
        new_id=environment.new_id,
        bounds=bounds,
        plan_reviewer=plan_reviewer,
        check=GoalChecker(conversation, opened.library).check,
    )


def bounds_of(
    settings: Settings, steps: int | None = None, tokens: int | None = None, minutes: float | None = None
) -> "GoalBounds":
    """The bounds that the user named, else those of the settings."""
    from zkchat.chat.goals.bounded_turns import GoalBounds

    if minutes is not None and not minutes > 0:  # nor NaN
        raise UsageError("A goal needs some time.", hint="Name more than 0 minutes: --minutes 5")
    goal = settings.goal
    return GoalBounds(steps=steps or goal.steps, tokens=tokens or goal.tokens, minutes=minutes or goal.minutes)


def session_with_open_goal(store: SessionStore, most: int = 50) -> str | None:
    """The id of the session, of those used last, whose goal can be gone on with."""
    for session in store.sessions()[:most]:
        goals = [entry.body.goal for entry in store.entries(session.id) if isinstance(entry.body, GoalEntry)]
        if goals and goals[-1].can_go_on:
            return session.id
    return None
