"""Every sentence that zkchat can say to a user: `python -m scripts.sentences [--sample 400 --seed 7]`.

A line for each: place, occasion (the error, hint, option, setting or function that says it), and the words, with {…}
for what is filled in. It is read from the source, so some are labels or parts of a sentence. What only models,
databases and developers read is left out.
"""

import argparse
import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

PACKAGE: Final = Path(__file__).parents[1] / "zkchat"
FOR_OTHERS: Final = re.compile(
    r"chat/tools|chat/context/(formatting|extractive|condensing)|chat/(replies|text_calls|second_look|goal_plan)|"
    r"models/(scripted|embedding_conv)|index/(note_schema|note_filters|vector_files)|mcp/(tools|vault_tools)|_parser|"
    r"language/|note_blocks|version\.py"
)
NOT_SAID: Final = re.compile(
    r"(\w+\.)*(lazy_pattern|compile|sub|split|execute\w*|from_dict|dict\.fromkeys|frozenset|\w*terms|debug|encode|"
    r"TypeError|AssertionError|RuntimeError|startswith|endswith|strptime|strftime|cast|TypeVar|ToolOutcome( text)?)"
)
"""What is given to these is a pattern, a statement, a list of words, or for a model or a developer."""
NO_SENTENCE: Final = re.compile(
    r"(SELECT|INSERT|UPDATE|CREATE|CASE|WITH|COALESCE|bold|reverse|import|diff --git) |coalesce|--format|<!doctype|"
    r".*( WHERE | ORDER BY |\(\?[P:]|\\s)|[\w.]+\[.*\]$|.*\| None$|default-src|(\w*Error ?)+$|[a-z]+ c-\w [\w-]+$",
    re.DOTALL,
)
WORD: Final = re.compile(r"[^\W\d_]{2,}")
Sentence: TypeAlias = tuple[int, str, str]


def sentences(code: str) -> Iterator[Sentence]:
    """Line, occasion and words of each text with a word and more, in the order of the code."""
    for line, occasion, text in _texts(ast.parse(code), ""):
        is_more = len(WORD.findall(text)) + text.count("{…}") > 1
        if " " in text.strip() and WORD.search(text) and is_more and not NO_SENTENCE.match(text):
            yield line, occasion, " ".join(text.split())


def _texts(node: ast.AST, occasion: str) -> Iterator[Sentence]:
    within = [*ast.iter_child_nodes(node)]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            is_help = any(re.search(r"command|callback|action", ast.unparse(each)) for each in node.decorator_list)
            if is_help and (text := ast.get_docstring(node)):
                yield node.body[0].lineno, f"help of {node.name}", text
            occasion = node.name
        case ast.Expr(value=ast.Constant()) | ast.Subscript(value=ast.Name(id="Literal")) | ast.Assert():
            return
        case ast.Call():
            if re.fullmatch(NOT_SAID, called := ast.unparse(node.func)):
                return
            within, occasion = [node.func, *node.args], called
            named = {str(each.arg): each.value for each in node.keywords}
            pair = [[*_texts(each, called)] for each in (*node.args[:1], named.get("hint")) if each]
            if len(pair) == 2 and all(len(each) == 1 for each in pair):  # an error and its hint are read together
                (line, _, error), (_, _, hint) = pair[0][0], pair[1][0]
                yield line, called, f"{error} {hint}"
                del within[1], named["hint"]
            for name, value in named.items():
                if not re.fullmatch(NOT_SAID, f"{called} {name}"):
                    yield from _texts(value, f"{called} {name}")
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            occasion = name if name.isupper() or not occasion else f"{occasion} {name}"
        case ast.Constant(value=str(text)):
            yield node.lineno, occasion, text
        case ast.JoinedStr():
            parts = [part.value for part in node.values if isinstance(part, ast.Constant | ast.FormattedValue)]
            yield node.lineno, occasion, "".join("{…}" if isinstance(part, ast.AST) else str(part) for part in parts)
            within = [part for part in parts if isinstance(part, ast.AST)]
        case _:
            pass
    yield from (found for each in within for found in _texts(each, occasion))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="print so many at random")
    parser.add_argument("--seed", type=int, default=1, help="another number is another sample")
    options = parser.parse_args()
    files = [path for path in sorted(PACKAGE.rglob("*.py")) if not FOR_OTHERS.search(path.as_posix())]
    found = [(path.relative_to(PACKAGE.parent), *each) for path in files for each in sentences(path.read_text("utf-8"))]
    if options.sample:
        found = random.Random(options.seed).sample(found, min(options.sample, len(found)))  # noqa: S311 - no secret
    sys.stdout.writelines(f"{path}:{line} | {occasion} | {text}\n" for path, line, occasion, text in found)


if __name__ == "__main__":
    main()
