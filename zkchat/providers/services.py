"""Hosted services that speak OpenAI's protocol: the variable that holds a user's key, and the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Service:
    """A hosted service; it is offered where the user has a key for it, and used only if the user says so."""

    name: str
    key_variable: str
    base_url: str


SERVICES: Final = (
    Service("OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    Service("Anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1"),
    Service("Gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai"),
    Service("Mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    Service("Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    Service("DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
    Service("Together", "TOGETHER_API_KEY", "https://api.together.xyz/v1"),
    Service("xAI", "XAI_API_KEY", "https://api.x.ai/v1"),
)


def services_with_key(variables: Mapping[str, str]) -> list[Service]:
    """Those for which the environment holds a key."""
    return [service for service in SERVICES if variables.get(service.key_variable, "").strip()]
