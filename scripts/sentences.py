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
NOT_SAID: Final = re.compile(
    r"(\w+\.)*(lazy_pattern|compile|sub|split|execute\w*|read_rows|fetch\w*|from_dict|dict\.fromkeys|frozenset|\w*terms|"
    r"warning|exception|debug|TypeError|AssertionError|RuntimeError|encode|startswith|endswith|strptime|strftime|cast|"
    r"TypeVar|ToolOutcome( text)?|InvalidArguments|HostArgument description|Description)"
)
"""What is given to these is a pattern, a statement, a style, a list of words, or for a model or a developer."""
FOR_OTHERS: Final = re.compile(
    r"chat/tools|chat/context/(formatting|extractive|condensing)|chat/(replies|text_calls|second_look)|models/scripted|"
    r"index/(note_schema|postings|vector_files)|_parser|language/|version\.py"
)
SPOKEN: Final = re.compile(r"[^\W\d_]{2,}")
Sentence: TypeAlias = tuple[int, str, str]


def sentences(code: str) -> Iterator[Sentence]:
    """Line, occasion and words of each string with at least two words, in the order of the code."""
    yield from _in(ast.parse(code), "")


def _in(node: ast.AST, occasion: str) -> Iterator[Sentence]:
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
            yield from (found for part in (node.func, *node.args) for found in _in(part, called))
            for keyword in node.keywords:
                if not re.fullmatch(NOT_SAID, f"{called} {keyword.arg}"):
                    yield from _in(keyword.value, f"{called} {keyword.arg}")
            return
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            occasion = name if name.isupper() or not occasion else f"{occasion} {name}"
        case ast.Constant(value=str(text)):
            yield from _spoken(node.lineno, occasion, text)
        case ast.JoinedStr():
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
            yield from _spoken(node.lineno, occasion, text)
            within = (part.value for part in node.values if isinstance(part, ast.FormattedValue))
            yield from (found for part in within for found in _in(part, occasion))
            return
        case _:
            pass
    yield from (found for child in ast.iter_child_nodes(node) for found in _in(child, occasion))


def _spoken(line: int, occasion: str, text: str) -> Iterator[Sentence]:
    if " " in text.strip() and SPOKEN.search(text) and len(SPOKEN.findall(text)) + text.count("{…}") > 1:
        yield line, occasion, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="print so many at random")
    parser.add_argument("--seed", type=int, default=1, help="another number is another sample")
    options = parser.parse_args()
    found = [
        f"{path.relative_to(PACKAGE.parent)}:{line} | {occasion} | {' '.join(text.split())}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not FOR_OTHERS.search(path.as_posix())
        for line, occasion, text in sentences(path.read_text(encoding="utf-8"))
    ]
    if options.sample:
        found = random.Random(options.seed).sample(found, min(options.sample, len(found)))  # noqa: S311 - no secret
    sys.stdout.write("\n".join([*found, ""]))


if __name__ == "__main__":
    main()
