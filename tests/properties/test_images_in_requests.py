"""Conversations with images at any window: no request is too large, and every image is shown or said to be left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.images import picture
from tests.support.sessions import SessionsInMemory
from tests.support.world import World
from zkchat.app.library import open_library
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.core import Policy
from zkchat.core.choices import CompactionStrategy
from zkchat.core.events import PromptReady, TurnFailed
from zkchat.core.message import ImagePart
from zkchat.core.prompt import ImageRule, ModelRequest
from zkchat.index.library import Library

RESERVE = 512
IMAGES = {"small.png": (64, 64), "large.png": (2400, 1800), "tall.png": (300, 1200)}
LINKS = ["", " ![[small.png|dot]]", " @large.png", " [[tall.png]] @small.png", " [[Album]]", " @large.png [[Long]]"]
RULES = [
    ImageRule(),
    ImageRule(kind="fixed", base=900),
    ImageRule(kind="tiles", base=85, per_tile=170, max_side=2048),
    ImageRule(detail="low"),
]


@dataclass(frozen=True)
class Scene:
    turns: list[tuple[int, str]]
    """Words of a question, and what it links to."""
    window: int
    rule: ImageRule
    strategy: CompactionStrategy


SCENES = st.builds(
    Scene,
    turns=st.lists(st.tuples(st.integers(1, 900), st.sampled_from(LINKS)), min_size=1, max_size=3),
    window=st.sampled_from([2_048, 4_096, 8_192, 16_384]),
    rule=st.sampled_from(RULES),
    strategy=st.sampled_from(["summarize", "discard", "hybrid"]),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    world = World(Path(tmp_path_factory.mktemp("vault")))
    world.note("Album.md", "# Album\n\n![[small.png]]\n![a tower](tall.png)\n![[large.png]]\n")
    world.note("Long.md", "".join(f"## Part {n}\n\nWhat part {n} says of boats.\n\n" for n in range(200)))
    for name, size in IMAGES.items():
        world.note(name, picture(size=size))
    with open_library(world.environment(), world.vault) as (_, library):
        library.refresh()
        yield library


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(Scene([(1, " @large.png")] * 4, 4_096, ImageRule(), "summarize"))
@given(SCENES)
def test_images_never_make_a_request_too_large(library: Library, scene: Scene) -> None:
    model = Reciting(lambda _: "An answer of some length. " * 40, window=scene.window)
    model.info = replace(model.info, sees_images=True, image_rule=scene.rule)
    policy = Policy(strategy=scene.strategy)
    talk = conversation_over(library, SessionsInMemory(), model, policy=policy, max_tokens=scene.window)
    for number, (words, link) in enumerate(scene.turns):
        said = "Some words about cats. " * words + link
        events = events_of(talk.say(said))
        assert not [each for each in events if isinstance(each, TurnFailed)]
        (ready, *_) = [each for each in events if isinstance(each, PromptReady)]
        assert ready.usage.total <= scene.window - RESERVE
        request = model.requests[number]
        assert tokens_of(request, scene.rule) <= scene.window - RESERVE
        (asked,) = [message for message in talk.messages if message.role == "user"][-1:]
        named = asked.parts_of(ImagePart)
        shown = {image.name for image in request.messages[-1].images}
        event(f"{len(shown)} of {len(named)} images")
        is_whole = said in request.messages[-1].text
        assert all(part.name in shown or part.name in request.messages[-1].text for part in named if is_whole)
        assert all(image.data for message in request.messages for image in message.images)


def tokens_of(request: ModelRequest, rule: ImageRule) -> int:
    count = Estimate().count
    texts = sum(count(message.text) + 4 for message in request.messages)
    images = sum(rule.tokens(image.width, image.height) for each in request.messages for image in each.images)
    return texts + images + sum(count(tool.description) for tool in request.tools)
