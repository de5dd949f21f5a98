"""Which benchmarks the table of their README lists, and which `make bench` runs."""

import re

from tests.support.doc_examples import ROOT

BENCHMARKS = ROOT / "benchmarks"
TOOLS = {"attachments.make_pdfs", "retrieval.embedding_server", "speed.growth_steps"}
"""Run by other benchmarks, or to make what they read."""
TOO_LONG = {"speed.growth"}


def _modules() -> set[str]:
    return {
        f"{path.parent.name}.{path.stem}"
        for path in BENCHMARKS.glob("*/*.py")
        if 'if __name__ == "__main__":' in path.read_text("utf-8")
    }


def _listed() -> dict[str, bool]:
    """The modules in the first column of the table, and whether each needs a folder of data."""
    listed = {}
    for line in (BENCHMARKS / "README.md").read_text("utf-8").splitlines():
        package = ""
        for module, rest in re.findall(r"`([a-z]*\.[a-z_]+)([^`]*)`", line.split(" | ")[0]):
            package = module.split(".")[0] or package
            listed[f"{package}.{module.split('.')[1]}"] = rest.startswith(" FOLDER")
    return listed


def test_every_benchmark_is_listed() -> None:
    assert _listed().keys() & _modules() == _modules() - TOOLS


def test_make_bench_runs_every_benchmark_that_needs_no_data_of_others() -> None:
    run = re.search(r"^bench:.*\n\t@for name in ([^;]*);", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert run
    expected = {name for name, needs_folder in _listed().items() if not needs_folder} & _modules() - TOO_LONG
    assert {*run[1].split()} == expected
