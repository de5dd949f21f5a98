"""Hosted services that speak OpenAI's protocol: the variable that holds a user's key, and the address."""

from collections.abc import Mapping
from typing import Final

from zkchat.model.providers import HostedService

SERVICES: Final = (
    HostedService("OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    HostedService("Anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1"),
    HostedService("Gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai"),
    HostedService("Mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    HostedService("Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    HostedService("DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
    HostedService("Together", "TOGETHER_API_KEY", "https://api.together.xyz/v1"),
    HostedService("xAI", "XAI_API_KEY", "https://api.x.ai/v1"),
)


def services_with_key(variables: Mapping[str, str]) -> list[HostedService]:
    """Those for which the environment holds a key."""
    return [service for service in SERVICES if variables.get(service.key_variable, "").strip()]
