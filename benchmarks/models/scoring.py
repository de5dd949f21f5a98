"""What an answer is worth, decided by code: pure functions over a task of tasks.toml and the record of its run.

An answer is compared with gold that stands in the notes. It has to be fit to be read, too: free of the markup of our
prompts, of tool calls, of special tokens and of loops.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Final

Task = Mapping[str, Any]
Record = Mapping[str, Any]

MOST_WORDS: Final = 400
"""Of an answer that counts as right: one that copies out whole notes holds every gold."""
_MARKUP: Final = re.compile(
    r"</?\s*(?:document|evidence|message|memory|tools?|tool_call|tool_response|tool_result|function|resource|result|rule"
    r"|conversation|vault_report|think|thinking|system|user|assistant)\b[^<>\n]*>",
    re.IGNORECASE,
)
_SPECIAL: Final = re.compile(r"<\|[^<>\n]*\|>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>|�")
_RAW_CALL: Final = re.compile(
    r"[{,]\s*\"(?:name|function|tool)\"\s*:\s*[\"{].{0,400}?\"(?:arguments|parameters)\"\s*:|\[TOOL_CALLS\]"
    r"|\b(?:(?:read|find|list|create|edit|rename|move|delete)_(?:documents?|excerpts|section|backlinks|forward_links)"
    r"|find_related|resolve_wikilink|read_attachment|search_conversation|set_property|add_tag|append_daily)\b",
    re.DOTALL,
)
"""As JSON, or by the name of one of our tools, which no user knows."""
_GIVEN: Final = r"(?:passages?|excerpts?|documents?|context|texts?|information)"
_PROMPT_WORDS: Final = re.compile(
    r"\b(?:(?:provided|given|found|mentioned|contained|stated) (?:in|by|within) (?:the|this|your) (?:\w+ )?evidence"
    r"|(?:the|this|your) (?:\w+ )?evidence (?:provided|given|states?|says?|mentions?|does|above|below)"
    r"|(?:based on|according to) (?:the|this) (?:\w+ )?evidence"
    rf"|(?:the|these|this|your|on|to) (?:provided|given|supplied) {_GIVEN}"
    rf"|(?:the|these|this|your) (?:\w+ )?{_GIVEN} (?:that (?:was|were) )?(?:you )?(?:provided|given|supplied)"
    r"|as an AI(?: language)? (?:model|assistant)|tool calls?|the user's (?:own )?notes|follow instructions found)\b"
    r"|\[\[(?:wikilinks?|note|note name)\]\]"
    r"|^\W*(?:question|answer|user|assistant|system|frage|antwort|问题|回答|答案)\s*[*_]*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_BLOCK_ID: Final = re.compile(r"(?<!\S)\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_QUOTED: Final = re.compile(r"^\s*>.*$", re.MULTILINE)
_REFUSAL: Final = re.compile(
    r"\b(?:do(?:es)?|did|are|is|was|were|has|have|can|could)(?: ?not|n't) (?:\w+ ){0,3}?"
    r"(?:say|state|mention|contain|hold|have|tell|specif\w+|include|provide|give|answer|cover|list|record|find|found|know"
    r"|determine|available|indicate|address|describe)"
    r"|\b(?:no|nothing|not any|\w+n't any|not enough|without|lacks?) (?:\w+ ){0,4}?"
    r"(?:information|mention|answer|notes?|record|details?|data|evidence|reference|passages?|documents?)\b"
    r"|\bnothing (?:\w+ ){0,4}?(?:about|on|in)\b|\bnone of (?:the|your|my|these) (?:notes|passages)"
    r"|\b(?:unable|not able) to (?:find|answer|determine|tell)|\bunknown\b"
    r"|\bnot (?:mentioned|stated|specified|recorded|given|found|in (?:the|your|my) notes|known|available|provided)"
    r"|\b(?:steht|stehen|sagen|erwähnen|enthalten|finde|weiss)\b[^.\n]*\b(?:nichts?|kein\w*)"
    r"|\bkeine (?:angabe|info)|\bnicht (?:hervor|angegeben|erwähnt|genannt|vermerkt)"
    r"|\bne (?:disent|précisent|mentionnent|contiennent)|\bpas (?:mentionné|précisé|indiqué)"
    r"|\bno (?:dicen|dice|mencionan|menciona|contienen|contiene|indican|especifican)|\bno hay (?:información|datos)"
    r"|(?:没有|未|无法|不).{0,6}(?:提到|提及|记录|说明|找到|回答|信息|知道|清楚|包含)",
)


def right(task: Task, answer: str) -> bool:
    """Whether the answer holds what the task asks for, and does not copy out half of the vault to do so."""
    if len(answer.split()) + len(re.findall(r"[\u3040-\u9fff]", answer)) // 2 > MOST_WORDS:
        return False
    least = int(task.get("least", "any" in task))
    found = sum(holds(answer, each) for each in task.get("any", ()))
    return found >= least and all(holds(answer, each) for each in task.get("all", ()))


def holds(text: str, gold: str) -> bool:
    """Whether the text holds a gold string: whole words and numbers, whatever the case. `a|b` is either of them."""
    plain = plainly(text)
    if gold.startswith("re:"):
        return bool(re.search(gold[3:].replace("ß", "ss"), plain, re.IGNORECASE | re.MULTILINE))
    return any(re.search(_pattern(plainly(each)), plain) for each in gold.split("|"))


def plainly(text: str) -> str:
    """Without emphasis, with plain quotes, blanks and hyphens, in small letters, `1,200` as `1200`."""
    text = re.sub(r"\*\*|__|(?<![*\w])\*(?=\w)|(?<=\w)\*(?!\*)|`", "", text)
    text = text.translate({0x2019: "'", 0x2011: "-", 0x2013: "-", 0xA0: " ", 0x202F: " ", 0x2009: " "})
    return re.sub(r"(?<=\d)[, ](?=\d{3}(?!\d))", "", text).casefold()


def _pattern(gold: str) -> str:
    """No other digit beside a digit, no other Latin letter beside a letter, save for a plural and a genitive."""
    first, last = ("digit" if each.isdigit() else "a" <= each < "\u0250" for each in (gold[0], gold[-1]))
    before = r"(?<!\d)(?<!\d[.,])" if first == "digit" else r"(?<![^\W\d_])" if first else ""
    after = r"(?!\d)(?![.,]\d)" if last == "digit" else r"(?:s|es|n|'s)?(?![^\W\d_])" if last else ""
    return before + re.escape(gold) + after


def trouble(answer: str, question: str = "") -> Iterator[str]:
    """Why an answer is not fit to be read: nothing where it is."""
    own = _QUOTED.sub("", answer)
    found = {
        "empty": not re.search(r"\w", answer),
        "markup": _MARKUP.search(answer),
        "special token": _SPECIAL.search(answer),
        "raw tool call": _RAW_CALL.search(answer),
        "words of the prompt": _PROMPT_WORDS.search(own),
        "block id": _BLOCK_ID.search(answer),
        "open code fence": len(re.findall(r"^\s*(?:>\s*)*```", answer, re.MULTILINE)) % 2,
        "loop": is_loop(own),
        "echo of the question": bool(question) and own.strip().casefold() == question.strip().casefold(),
    }
    yield from (name for name, is_there in found.items() if is_there)


def is_loop(text: str) -> bool:
    """Whether a line of some length stands there three times, or words are said over and over."""
    lines = Counter(" ".join(line.split()).casefold() for line in re.split(r"\n|(?<=[.!?。！？])\s*", text))
    if any(count >= 3 and len(line) >= 20 for line, count in lines.items()):
        return True
    return bool(re.search(r"(?s)(\S.{3,120}?)(?:\s*\1){3,}", re.sub(r"[-=_|: ]{4,}", " ", text)))


def names_note(notes: Iterable[str], answer: str) -> bool:
    """Whether the answer names one of the notes: as a link, or plainly.

    A name of one word, such as "Sleep", may be a word like any other: it counts in quotes, in emphasis or as a file.
    """
    linked = {_stem(target) for target in re.findall(r"\[\[([^\[\]|#]+)", answer)}

    def is_named(name: str) -> bool:
        marked = rf"[\"“”„«'`*_]{re.escape(name)}[\"“”»'`*_]|(?<!\w){re.escape(name)}\.md\b"
        plainly_named = re.search(r"[\s\d]", name) and holds(answer, name)
        return name in linked or bool(re.search(marked, answer.casefold()) or plainly_named)

    return any(is_named(_stem(note)) for note in notes)


def _stem(path: str) -> str:
    return PurePosixPath(path.strip()).name.removesuffix(".md").casefold()


def first_source_is(notes: Sequence[str], references: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the first document behind the answer is one of the notes."""
    return bool(references) and str(references[0].get("relative_path") or "").removesuffix(".md") in notes


def refuses(task: Task, answer: str, *, abstained: bool = False) -> bool:
    """Whether it says that the notes do not hold it, or that there is no answer, and makes none up."""
    says_so = abstained or bool(_REFUSAL.search(plainly(_QUOTED.sub("", answer))))
    return says_so and not any(holds(answer, each) for each in task.get("wrong", ()))


def as_wanted(change: Mapping[str, Any], diff: str) -> bool:
    """Whether a proposed patch changes the one file that it should, adds what it should, and takes no more away."""
    files = patched(diff)
    if len(files) != 1:
        return False
    [(path, (added, removed))] = files.items()
    lost = Counter(line.strip() for line in removed if line.strip()) - Counter(line.strip() for line in added)
    text = "\n".join(added)
    return (
        fnmatchcase(path, change["path"])
        and all(holds(text, each) for each in change["contains"])
        and lost.total() <= change.get("removes", 0)
    )


def patched(diff: str) -> dict[str, tuple[list[str], list[str]]]:
    """The lines that a patch adds and takes away, by file."""
    files: dict[str, tuple[list[str], list[str]]] = {}
    before, path, in_hunk = "", "", False
    for line in diff.splitlines():
        if re.match(r'diff |--- (?:"?a/|/dev/null)', line):
            before, in_hunk = line[4:].split("\t")[0], False
        elif line.startswith("+++ ") and not in_hunk:
            after = line[4:].split("\t")[0]
            path = (before if after == "/dev/null" else after).strip('"')[2:]
            files[path] = ([], [])
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line[:1] in ("+", "-"):
            files[path][line[0] == "-"].append(line[1:])
    return files


REPLACED: Final = re.compile(
    r"found no answer in your notes|, which (?:your notes do not support|contradicts)|a garbled answer"
)
"""Of a warning that passages stand in the place of an answer: what is right then is not the model's own."""


def score(task: Task, record: Record) -> dict[str, Any]:
    """Every figure that counts for a task of this kind; `facts` is how many were known at the end.

    The last turn counts; of a long conversation, every answer has to be fit to be read.
    """
    last, kind = record["turns"][-1], task["kind"]
    read = record["turns"] if kind == "long" else [last]
    found = {"trouble": sorted({why for each in read for why in trouble(each["answer"], each["question"])})}
    marks: dict[str, Any] = {**found, "fit": not found["trouble"]}
    if kind == "unanswerable":
        return marks | {"refuses": refuses(task, last["answer"], abstained=last["abstained"])}
    if kind == "proposal":
        return marks | {"proposal": as_wanted(task["change"], last["diff"])}
    if kind == "long":
        asked = {each["question"]: each["answer"] for each in record["turns"]}
        return marks | {"facts": sum(right(fact, asked.get(fact["ask"], "")) for fact in task["facts"])}
    marks["right"] = right(task, last["answer"])
    marks["own"] = marks["right"] and not any(REPLACED.search(each) for each in last["warnings"])
    if not task["notes"]:  # a count or a date of the index
        return marks
    marks["named"] = names_note(task["notes"], last["answer"])
    if kind == "goal":  # whose result has no references
        return marks
    return marks | {"first": first_source_is(task["notes"], last["references"])}
