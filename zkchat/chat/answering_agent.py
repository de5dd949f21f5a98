"""Who answers: the agent that a question is addressed to, or the one of the session."""

from zkchat.agents.profiles import DEFAULT, Profiles
from zkchat.chat.question import Question
from zkchat.model.events import Warned
from zkchat.model.profile import Agent
from zkchat.model.session_history import History


def answering_agent(profiles: Profiles, history: History, question: Question | None = None) -> Agent:
    """The agent that a question is addressed to, else the one of the session."""
    addressed = question.agent if question else None
    chosen = (name.casefold() for name in (addressed, history.agent, DEFAULT) if name)
    return next(profiles.agents[name] for name in chosen if name in profiles.agents)


def unknown_agent_warning(profiles: Profiles, history: History, question: Question) -> Warned | None:
    """Who answers instead of an agent that there is not; None where the agent is there, or none is addressed."""
    addressed = question.agent
    if addressed is None or addressed.casefold() in profiles.agents:
        return None
    other = answering_agent(profiles, history).name
    if unavailable := profiles.unavailable("agent", addressed):
        return Warned(text=f"{unavailable.reason}, so {other} answers.", hint=unavailable.hint)
    return Warned(
        text=f"There is no agent '{addressed}', so {other} answers.",
        hint=f"There is: {', '.join(agent.name for agent in profiles.agents.values())}.",
    )
