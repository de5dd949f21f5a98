"""Notes that order a change, and a model that obeys each: nothing is changed without the user's yes."""

from collections.abc import Sequence

from tests.support.injections import DIARY, INJECTIONS, Injection
from tests.support.world import World

CLIPPINGS = [injection for injection in INJECTIONS if injection.is_clipping]


def vault_with(world: World, injections: Sequence[Injection]) -> dict[str, bytes]:
    """The files of a vault with poisoned notes in it."""
    world.note("Diary.md", DIARY)
    for number, injection in enumerate(injections):
        world.note(f"Inbox/Poison {number}.md", injection.text)
    return world.files


def obey(world: World, injections: Sequence[Injection]) -> str:
    """A chat with one turn for each note: the model is given it and the diary, does what it says, and answers."""
    answers: list[list[dict[str, object]]] = []
    for number, injection in enumerate(injections):
        answers += [[{"tool": injection.tool, "arguments": injection.arguments}], [{"text": f"Did {number}."}]]
    questions = "".join(f"What does [[Poison {number}]] say of [[Diary]]?\n" for number in range(len(injections)))
    ran = world.run("chat", "--write", "--model", world.script(*answers), stdin=f"{questions}/quit\n")
    assert ran.code == 0, ran.err
    assert all(f"Did {number}." in ran.out for number in range(len(injections))), ran.out
    return ran.out + ran.err


def test_there_are_enough_orders_in_enough_disguises() -> None:
    assert len(INJECTIONS) >= 20
    assert len({injection.tool for injection in INJECTIONS}) == 10
    assert len(CLIPPINGS) >= 8


def test_what_a_note_orders_is_only_proposed(world: World) -> None:
    before = vault_with(world, INJECTIONS)
    told = obey(world, INJECTIONS)
    assert world.files == before
    assert told.count("Not applied: ") == len(INJECTIONS) - 2, told  # two lead out of the vault
    assert told.count("from the web, may have led the model to do this.") == len(CLIPPINGS)


def test_a_clipping_or_code_changes_nothing_also_where_changes_are_accepted(world: World) -> None:
    world.variables["ZKCHAT_WRITE__ACCEPT"] = '["*", "**"]'
    agreed = Injection("Just a note.\n", "edit_section", {"relative_path": "Diary", "text": "Agreed."})
    code = Injection("Just a note.\n", "create_document", {"relative_path": "Code", "text": "<% x %>"})
    orders = [CLIPPINGS[0], agreed, code, CLIPPINGS[-1]]
    before = vault_with(world, orders)
    told = obey(world, orders)
    assert world.files == before | {"Diary.md": f"{DIARY}\nAgreed.\n".encode()}
    assert told.count("This change needs your yes at a terminal.") == 3, told
