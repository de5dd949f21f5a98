"""Plans of changes as text of the journal, with digests in the place of what files hold."""

import json
from collections.abc import Iterable

from zkchat.model.change import ChangeSet, FileMove, FileWrite
from zkchat.storage.changes.contents import digest_of
from zkchat.storage.changes.plan import ContentChange, Plan, Stage


def steps_as_text(plan: Plan) -> str:
    return json.dumps(
        [
            {
                "move": [stage.move.source, stage.move.target] if stage.move else None,
                "contents": [
                    [each.path, _digest_or_none(each.before), _digest_or_none(each.after)] for each in stage.contents
                ],
                "folders": stage.make,
                **({} if stage.kept is None else {"kept": digest_of(stage.kept)}),
            }
            for stage in plan
        ],
        ensure_ascii=False,
    )


def _digest_or_none(content: bytes | None) -> str | None:
    return None if content is None else digest_of(content)


def digests_in(steps: str) -> tuple[set[str], set[str]]:
    """Of contents without which the change cannot be undone, and of copies of what is in the trash."""
    stages = json.loads(steps)
    needed = {digest for stage in stages for _, *both in stage["contents"] for digest in both if digest}
    return needed, {stage["kept"] for stage in stages if "kept" in stage}


def plan_from(steps: str, contents: dict[str, bytes]) -> Plan:
    """The plan; contents that are not given are empty."""

    def content(digest: str | None) -> bytes | None:
        return None if digest is None else contents.get(digest, b"")

    return tuple(
        Stage(
            move=FileMove(source=stage["move"][0], target=stage["move"][1]) if stage["move"] else None,
            contents=tuple(
                ContentChange(path=path, before=content(before), after=content(after))
                for path, before, after in stage["contents"]
            ),
            make=tuple(stage["folders"]),
            kept=contents.get(stage.get("kept")),
        )
        for stage in json.loads(steps)
    )


def contents_of(plan: Plan) -> Iterable[bytes]:
    for stage in plan:
        for change in stage.contents:
            yield from (content for content in (change.before, change.after) if content is not None)
        if stage.kept is not None:
            yield stage.kept


def change_set(title: str, plan: Plan) -> ChangeSet:
    return ChangeSet(
        title=title,
        moves=tuple(stage.move for stage in plan if stage.move),
        writes=tuple(
            FileWrite(path=each.path, before=each.before, after=each.after or b"")
            for stage in plan
            for each in stage.contents
        ),
    )
