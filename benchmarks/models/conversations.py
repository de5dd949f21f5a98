"""Conversations with a real model, scored by code: the tasks of tasks.toml, over four vaults.

    python -m benchmarks.models.conversations --model local:/path.gguf [--half development|unseen|both]
        [--kind fact] [--id fact-01] [--window 8192] [--out FILE.jsonl] [--resume] [--misses]

Each task is asked with the command line itself, in this process, where the model stays loaded. It has a home of its own
and reads copies of the vaults, so that nothing of the user's is read or written; proposals are only shown. The clock
begins on 25 March 2026. `--model quote` is the floor. Each result is a line of FILE as soon as it is there; `--resume`
leaves out what FILE holds and scores all of it anew.
"""

import argparse
import io
import json
import os
import shutil
import statistics
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from benchmarks.models.scoring import Record, Task, score
from benchmarks.retrieval.generated_vaults import generated_notes
from zkchat.cli.main import run
from zkchat.core import Environment, ModelProvider, utc_now
from zkchat.models.local import LocalDescriptor
from zkchat.models.registry import NamedModel, ProviderContext

HERE: Final = Path(__file__).parent
FOLDERS: Final = {
    "garden": HERE.parents[1] / "vault-fixtures" / "garden",
    "text": HERE / "text",
    "workshop": HERE.parent / "retrieval" / "vaults" / "workshop",
}
HALVES: Final = ("development", "unseen")
TODAY: Final = datetime(2026, 3, 25, 12, tzinfo=UTC)
BEFORE_ALL: Final = datetime(2025, 5, 1, tzinfo=UTC).timestamp()
"""The time of every file, so that notes go by their own dates."""
SETTINGS: Final = '[limits]\nmax_answer_seconds = 300\n[write]\nmode = "propose"\n'
"""A model that does not stop is stopped; what it proposes is only shown."""


def all_tasks() -> list[Task]:
    """The tasks; the questions for facts are the last turns of a long conversation."""
    tasks: list[dict[str, Any]] = tomllib.loads((HERE / "tasks.toml").read_text(encoding="utf-8"))["tasks"]
    return [{**task, "turns": [*task["turns"], *(fact["ask"] for fact in task.get("facts", ()))]} for task in tasks]


def notes_of(vault: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each note."""
    if vault not in FOLDERS:
        yield from generated_notes(vault)
        return
    for file in sorted(FOLDERS[vault].rglob("*.md")):
        yield file.relative_to(FOLDERS[vault]).as_posix(), file.read_text(encoding="utf-8")


class World:
    """A user with an empty home and copies of the vaults, all in one temporary folder."""

    def __init__(self, root: Path, model: str, window: int | None = None, server: str = "") -> None:
        self._root, self._model, self._window, self._server = root, model, window, server
        self._home, self._begun = root / "home", utc_now()

    def answer(self, task: Task) -> dict[str, Any]:
        """Everything that the turns of a task bring, asked in one session."""
        vault = self._fresh(task["vault"], task.get("window", self._window))
        common = ("--json", "--vault", str(vault), "--model", self._model)
        begun = time.perf_counter()
        turns: list[dict[str, Any]] = []
        record: dict[str, Any] = {"model": self._model, "turns": turns}
        session: tuple[str, ...] = ()
        for question in task["turns"]:
            if task["kind"] == "goal":
                arguments = ("agent", "run", *common, "--yes", "--steps", "3", question)
            else:
                write = ("--write",) if task["kind"] == "proposal" else ()
                arguments = ("ask", *common, *session, *write, question)
            asked = time.perf_counter()
            said, complaint = self._run(vault, *arguments)
            turns.append(_turn(question, said, complaint) | {"seconds": round(time.perf_counter() - asked, 2)})
            if task["kind"] == "long":
                print(f"    {len(turns)}/{len(task['turns'])}  {turns[-1]['seconds']:.1f} s", flush=True)
            session = ("--session", said["session"]) if said.get("session") else session
        if task["kind"] == "long" and session:
            summaries = self._run(vault, "context", "summary", session[1], "--all", "--json", "--vault", str(vault))[0]
            record["compactions"] = len(summaries)
        return record | {"seconds": round(time.perf_counter() - begun, 2)}

    def _fresh(self, vault: str, window: int | None) -> Path:
        """The folder of a vault, for a user who has used it for nothing but an index."""
        folder, home, indexed = self._root / vault, self._home, self._root / f"{vault} home"
        shutil.rmtree(home, ignore_errors=True)
        if not folder.exists():
            for path, text in notes_of(vault):
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
                os.utime(file, (BEFORE_ALL, BEFORE_ALL))
            home.mkdir()
            self._run(folder, "search", "--json", "--vault", str(folder), "anything")
            shutil.move(home, indexed)
        shutil.copytree(indexed, home)
        settings = home / ".config" / "zkchat" / "config.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        bound = f"[context]\nmax_tokens = {window}\n" if window else ""
        settings.write_text(f"{bound}{SETTINGS}", encoding="utf-8")
        return folder

    def _run(self, vault: Path, *arguments: str) -> tuple[Any, str]:
        """What a command prints as JSON, and what it complains of."""
        out, err = io.StringIO(), io.StringIO()
        environment = Environment(
            stdin=io.StringIO(),
            stdout=out,
            stderr=err,
            variables={"LANG": "C.UTF-8", "TERM": "dumb", "OPENAI_BASE_URL": self._server},
            cwd=vault,
            home=self._home,
            now=lambda: TODAY + (utc_now() - self._begun),
        )
        run(arguments, environment)
        with suppress(ValueError):
            return json.loads(out.getvalue()), err.getvalue()
        return {}, err.getvalue()


def _turn(question: str, said: dict[str, Any], complaint: str) -> dict[str, Any]:
    """What is kept of a turn, in the words that the user sees."""
    changes = said.get("changes") or []
    changes = changes if isinstance(changes, list) else [changes]
    reported = (said.get("usage") or {}).get("reported") or {}
    return {
        "question": question,
        "answer": said.get("answer", said.get("result", "")),
        "abstained": said.get("abstained", False),
        "references": [
            {key: each.get(key) for key in ("wikilink", "relative_path", "via", "cited")}
            for each in said.get("references", ())
        ],
        "remarks": said.get("remarks", []),
        "warnings": [each["text"] for each in said.get("warnings", ())],
        "diff": "".join(each.get("diff", "") for each in changes),
        "error": (said.get("error") or {}).get("text", "") if said else complaint.strip(),
        "prompt_tokens": reported.get("prompt_tokens"),
        "answer_tokens": reported.get("completion_tokens"),
        "steps": said.get("steps", []),
    }


@contextmanager
def models_stay_loaded() -> Iterator[None]:
    """The model of a file is loaded once for all questions; another window loads it anew."""
    create = LocalDescriptor.create
    loaded: dict[tuple[str, int | None], ModelProvider] = {}

    def kept(descriptor: LocalDescriptor, model: NamedModel, context: ProviderContext) -> ModelProvider:
        key = (model.id, context.window)
        if key not in loaded:
            loaded.clear()  # two do not fit into the memory of a small machine
            loaded[key] = create(descriptor, model, context)
        return loaded[key]

    with patch.object(LocalDescriptor, "create", kept):
        yield


def table(results: Iterable[tuple[Task, Record]]) -> Iterator[str]:
    """The figures by kind and of all: shares in percent of the tasks for which a figure counts."""
    scored = [(task, record, score(task, record)) for task, record in results]
    columns = ("fit", "right", "own", "named", "first", "refuses", "proposal", "facts")
    yield f"{'kind':14}{'tasks':>6}{''.join(f'{each:>13}' for each in columns)}{'s a turn':>10}"
    for kind in (*dict.fromkeys(task["kind"] for task, *_ in scored), "all"):
        chosen = [each for each in scored if kind in (each[0]["kind"], "all")]
        cells = [_cell(column, chosen) for column in columns]
        seconds = [turn["seconds"] for _, record, _ in chosen for turn in record["turns"]]
        yield f"{kind:14}{len(chosen):>6}{''.join(f'{cell:>13}' for cell in cells)}{statistics.mean(seconds):>10.1f}"
    for task, record, _ in scored:
        if "compactions" in record:
            yield f"{task['id']}: {record['compactions']} compactions"


def _cell(column: str, scored: Sequence[tuple[Task, Record, dict[str, Any]]]) -> str:
    found = [(int(marks[column]), len(task.get("facts", "1"))) for task, _, marks in scored if column in marks]
    of = sum(most if column == "facts" else 1 for _, most in found)
    count = sum(number for number, _ in found)
    return f"{count}/{of} {100 * count / of:3.0f}%" if of else "–"


def misses(results: Iterable[tuple[Task, Record]]) -> Iterator[str]:
    """Each task that lacks something, what it lacks, and the answer; those of the unseen half stay unseen."""
    for task, record in results:
        marks, last = score(task, record), record["turns"][-1]
        lacking = [name for name, value in marks.items() if value is False or name == "facts"]
        if lacking and task["half"] == HALVES[0]:
            yield f"\n{task['id']}: {', '.join([*lacking, *marks['trouble']])}\n  {last['question']}"
            yield "\n".join(f"  | {line}" for line in (last["answer"] + last["diff"] or last["error"]).splitlines())


def kept_in(file: Path | None, model: str) -> dict[str, Record]:
    """The records of a file, of this model; a line that was broken off is passed over."""
    kept: dict[str, Record] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file and file.exists() else ():
        with suppress(ValueError):
            record = json.loads(line)
            kept |= {record["id"]: record} if record["model"] == model else {}
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="local:FILE.gguf, quote, or any other that zkchat knows")
    parser.add_argument("--server", default="", help="the address of a server on OpenAI's wire, for openai:NAME")
    parser.add_argument("--half", choices=(*HALVES, "both"), default="development")
    parser.add_argument("--kind", action="append", help="only tasks of this kind; as often as you like")
    parser.add_argument("--id", action="append", help="only this task; as often as you like")
    parser.add_argument("--window", type=int, help="tokens of the window, save for the long conversations")
    parser.add_argument("--out", type=Path, help="a file for the results, a JSON line each")
    parser.add_argument("--resume", action="store_true", help="leave out the tasks that the file holds")
    parser.add_argument("--misses", action="store_true", help="print what went wrong, too, of the development half")
    wanted = parser.parse_args()
    if wanted.out and wanted.out.exists() and not wanted.resume:
        parser.error(f"{wanted.out} is there: --resume goes on with it.")
    provider, _, name = wanted.model.partition(":")
    model = f"{provider}:{Path(name).resolve()}" if name and Path(name).is_file() else wanted.model
    tasks = [task for task in all_tasks() if wanted.half in (task["half"], "both")]
    tasks = [task for task in tasks if not wanted.kind or task["kind"] in wanted.kind]
    tasks = [task for task in tasks if not wanted.id or task["id"] in wanted.id]
    kept = kept_in(wanted.out, model)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, models_stay_loaded():
        world = World(Path(folder).resolve(), model, wanted.window, wanted.server)
        for number, task in enumerate(tasks, 1):
            if task["id"] in kept:
                continue
            record = {key: task[key] for key in ("id", "kind", "vault", "half")} | world.answer(task)
            record |= {"score": score(task, record)}
            kept[task["id"]] = record
            if wanted.out:
                with wanted.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
            marks = " ".join(f"{key}={value}" for key, value in record["score"].items() if key != "trouble")
            times = f"{record['seconds']:7.1f} s {time.perf_counter() - begun:7.0f} s"
            print(f"{number}/{len(tasks)}  {task['id']:16}{times}  {marks}", flush=True)
    results = [(task, kept[task["id"]]) for task in tasks]
    print("\n".join(["", f"{model}, {wanted.half}", *table(results), *(misses(results) if wanted.misses else ())]))


if __name__ == "__main__":
    main()
