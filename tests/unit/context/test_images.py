"""What a model reads of images, and what stays of them in a message that is shortened."""

from typing import Any

from msgspec.structs import replace

from tests.support.requests import assemble
from tests.support.sessions import NOON
from zkchat.chat.context.assembly import Assembler, RequestPlan, Shares, budget_for, prompt_item, request_from
from zkchat.chat.context.documents import short_form
from zkchat.chat.context.formatting import BLIND, NO_ROOM, ImageLook, describe_images, format_message, words_alone
from zkchat.chat.context.tokens import Calibration, Estimate
from zkchat.core.message import ChatMessage, FilePart, ImagePart, TextPart
from zkchat.core.prompt import ModelInfo
from zkchat.core.session_history import Window

BED = ImagePart(name="bed.png", media_type="image/png", digest="d", width=560, height=280, alt="the bed")
MAP = ImagePart(name="a\nmap.png", media_type="image/png", digest="e", embedded_in="Trip.md")
PLAN = RequestPlan(items=(prompt_item("system", "default", "Be brief."),))


def asked(*parts: ImagePart | FilePart, **more: Any) -> ChatMessage:
    return ChatMessage(id="m1", role="user", parts=(TextPart(text="What is this?"), *parts), created_at=NOON, **more)


def with_a_size(image: ImagePart) -> ImageLook:
    return ImageLook(tokens=200) if image.width else ImageLook(reason="its file is gone")


def test_images_are_named_in_their_order_each_on_a_line_and_the_others_with_the_reason() -> None:
    assert describe_images([(MAP, ""), (BED, BLIND)]) == (
        "Images that come with this message, in their order:\n- a map.png, embedded in Trip.md\n\n"
        'Images that you are not shown:\n- bed.png, "the bed" (the model does not see images)'
    )
    assert describe_images([]) == ""


def test_a_shortened_message_is_text_with_the_names_of_its_images() -> None:
    long = asked(BED, FilePart(name="Long.md", text="Boats. " * 500))
    short = short_form(long, 60, Estimate().count, can_read=False)
    assert short == f"What is this?\n\n{describe_images([(BED, NO_ROOM)])}" == words_alone(asked(BED))
    (sent,) = format_message(long, can_read=False, condensed={"": short})
    assert (sent.text, sent.images) == (short, ())
    (answered,) = format_message(replace(asked(BED), role="assistant"), can_read=False)
    assert answered.images == (), "models take none with their own answers"
    assert short_form(long, 6, Estimate().count, can_read=False) == "What is this?"


def test_the_record_tells_what_was_sent_and_builds_the_same_request_again() -> None:
    user = asked(BED, MAP)
    budget = budget_for(ModelInfo(provider="x", id="y", context_limit=4096), Shares())
    made = Assembler(Estimate(), with_a_size).assemble(PLAN, Window(live=(user,)), budget, Calibration())
    assert made.usage.images == 200
    assert made.usage.token_features["images"] == 200
    first, second = [item for item in made.context.items if item.type == "image"]
    assert (first.tokens, first.reason) == (200, "comes with the message; 560×280 pixels")
    assert (second.tokens, second.reason) == (0, "its file is gone")
    rebuilt = request_from(made.context, {"m1": user}, made.contents)
    assert rebuilt.messages == made.request.messages
    assert rebuilt.messages[-1].images == (BED,)
    blind = assemble(PLAN, Window(live=(user,)), budget, Estimate())
    assert (blind.usage.images, blind.request.messages[-1].images) == (0, ())
