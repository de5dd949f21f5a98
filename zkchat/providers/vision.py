"""Which models see images, and how they count them: OpenAI's by their names, others by what their servers say.

OpenAI's figures are those of its guide "Images and vision", section "Calculating costs", for `detail` high. Those of
other servers are estimates, which the usage that they report corrects.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from zkchat.model.images import DEFAULT_RULE, ImageRule
from zkchat.model.prompt import ModelInfo

_OPENAI_SIDE: Final = 2048
"""Pixels to which OpenAI reduces every image anyway."""


def _tiles(base: int, per_tile: int) -> ImageRule:
    return ImageRule(kind="tiles", max_side=_OPENAI_SIDE, base=base, per_tile=per_tile)


def _patches(multiplier: float, max_patches: int) -> ImageRule:
    return ImageRule(patch=32, max_side=_OPENAI_SIDE, multiplier=multiplier, max_patches=max_patches)


_BLIND: Final = ("gpt-3.5", "gpt-4-0", "gpt-4-1106", "gpt-4-32k", "o1-mini", "o1-preview", "o3-mini", "gpt-oss")
_OPENAI: Final[Mapping[str, ImageRule]] = {
    "gpt-5-mini": _patches(1.2, 1536),
    "gpt-5-nano": _patches(1.5, 1536),
    "gpt-5.1-codex-mini": _patches(1.2, 1536),
    "gpt-5.1": _tiles(70, 140),
    "gpt-5.2": _patches(1.2, 6144),
    "gpt-5.3": _patches(1.2, 6144),
    "gpt-5.": _patches(1.2, 2500),
    "gpt-5": _tiles(70, 140),
    "gpt-4.1-mini": _patches(1.62, 6144),
    "gpt-4.1-nano": _patches(2.46, 1536),
    "gpt-4.1": _tiles(85, 170),
    "gpt-4.5": _tiles(85, 170),
    "gpt-4o-mini": _tiles(2833, 5667),
    "gpt-4o": _tiles(85, 170),
    "chatgpt-4o": _tiles(85, 170),
    "gpt-4-turbo": _tiles(85, 170),
    "gpt-4-vision": _tiles(85, 170),
    "gpt-": _patches(1.2, 2500),
    "o4-mini": _patches(1.72, 1536),
    "o1": _tiles(75, 150),
    "o3": _tiles(75, 150),
    "computer-use": _tiles(65, 129),
}
"""By the beginning of the name, the longer ones first. The last of GPT is for models that come later."""

_ESTIMATES: Final[Mapping[str, ImageRule]] = {
    "gemma": ImageRule(kind="fixed", base=258),
    "llava": ImageRule(kind="fixed", base=2880),
    "bakllava": ImageRule(kind="fixed", base=576),
    "moondream": ImageRule(kind="fixed", base=729),
    "minicpm": ImageRule(kind="fixed", base=640),
    "qwen3": ImageRule(patch=32),
}
"""By the beginning of the architecture or of the name, where the server does not say how large a patch is."""


def openai_vision(model: str) -> ImageRule | None:
    """How a model of OpenAI, fine-tuned or not, counts images; None for one that does not see."""
    name = model.removeprefix("ft:")
    if name == "gpt-4" or name.startswith(_BLIND):
        return None
    return next((rule for beginning, rule in _OPENAI.items() if name.startswith(beginning)), None)


def estimated_rule(model: str, facts: Mapping[str, object]) -> ImageRule:
    """How a model counts images, by the facts that Ollama tells of its file (`model_info`)."""
    numbers = {key.partition(".")[2]: value for key, value in facts.items() if isinstance(value, int)}
    if fixed := numbers.get("mm.tokens_per_image"):
        return ImageRule(kind="fixed", base=fixed + 2)
    patch = numbers.get("vision.patch_size")
    merged = numbers.get("vision.spatial_merge_size") or numbers.get("spatial_merge_size")
    if patch and merged:
        return ImageRule(patch=patch * merged)
    names = (str(facts.get("general.architecture", "")), model.rpartition("/")[2])
    known = (rule for name in names for beginning, rule in _ESTIMATES.items() if name.lower().startswith(beginning))
    return next(known, DEFAULT_RULE)


def with_shown_vision(info: ModelInfo, shown: object, *, declared: bool | None) -> ModelInfo:
    """Add whether a model sees: as the user declares it, else as an Ollama shows it; any other server shows nothing."""
    can = shown.get("capabilities") if isinstance(shown, Mapping) else None
    if not isinstance(shown, Mapping) or not isinstance(can, list):
        return info
    facts = shown.get("model_info")
    rule = estimated_rule(info.id, facts if isinstance(facts, Mapping) else {})
    return replace(info, sees_images="vision" in can if declared is None else declared, image_rule=rule)


def lists_vision(facts: Mapping[str, object]) -> bool:
    """Whether a list of models says that one takes images: each kind of server has its own words for it."""
    architecture, capabilities = facts.get("architecture"), facts.get("capabilities")
    places = (
        architecture.get("input_modalities") if isinstance(architecture, Mapping) else None,
        facts.get("input_modalities"),
        capabilities,
    )
    said = {word for place in places if isinstance(place, list) for word in place if isinstance(word, str)}
    declares = isinstance(capabilities, Mapping) and capabilities.get("vision") is True
    return declares or not said.isdisjoint({"image", "vision", "multimodal"})
