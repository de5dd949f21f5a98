# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Tests start many processes, each of which would compile zkchat again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test quick properties check live live-ollama protocols neovim format format-check lint types contracts sizes coverage browser shells site dist release install-matrix lock bench faults fuzz screenshots clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

# A stamp per set of packages: the second run of any target installs nothing.
$(VENV)/.runtime: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "zkchat needs Python 3.11 or newer; try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV) …" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.lock
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@

demo: $(VENV)/.runtime ## set up and answer a question over vault-fixtures/garden, without any model
	@$(BIN)/zkchat ask "Why should the title of an evergreen note be a statement? See [[Evergreen notes]]." --vault vault-fixtures/garden --model quote --panels

# By file, so that what a file opens once serves all its tests; in order, for those of tests/unit, which come last, are short.
# One more than there are cores, for tests that wait for a process leave theirs to others.
WORKERS := $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); echo $$((cores < 4 ? cores + 1 : 4)))
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: $(VENV)/.dev ## set up and run the tests, on up to four cores; ARGS="tests/unit/chat -k name" runs some of them
	@$(PYTEST) $(or $(ARGS),--examples 10 -m 'not slow')

# Under a minute on two cores once mypy has its cache: it checks again what changed, and what that changes.
quick: format-check lint types ## format, lint, types, and the tests that need no process, terminal or network
	@$(BIN)/python -m pytest -n 2 --dist worksteal -p tests.support.quick --examples 10 -m 'not outside and not slow' tests/unit tests/properties tests/architecture tests/docs

properties: $(VENV)/.dev ## try the properties on other examples than `make test` does, and on three times as many
	@$(BIN)/python -m pytest -n auto --maxprocesses=4 --dist worksteal --hypothesis-profile=random --examples 300 -m hypothesis $(or $(ARGS),tests)

# The inside is held to more than the rest: it is pure, so nothing stands in a test's way.
coverage: $(VENV)/.dev
	@$(PYTEST) --examples 25 --cov --cov-report=
	@$(BIN)/coverage report --fail-under=95 --include='zkchat/core/*,zkchat/notes/*,zkchat/index/*,zkchat/answers/*,zkchat/chat/*' > /dev/null & \
		inside=$$!; $(BIN)/coverage report --fail-under=90; whole=$$?; \
		wait $$inside || { echo "Branch coverage of core, notes, index, answers and chat is below 95 %." >&2; exit 1; }; exit $$whole

# Every worker would compile all tests again: they are compiled once, and contracts checked, on the core that mypy leaves free.
check: format-check lint ## everything CI runs: all tests with coverage, faults, hostile vaults and the sample of the fuzzer too
	@{ $(BIN)/python -m pytest --collect-only -n0 -p no:cacheprovider > /dev/null 2>&1; $(BIN)/lint-imports; } & \
		contracts=$$!; $(BIN)/mypy; types=$$?; wait $$contracts && exit $$types
	@$(MAKE) --no-print-directory coverage

format: $(VENV)/.dev ## rewrite the code in the project's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --quiet . || true

format-check: $(VENV)/.dev
	@$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	@$(BIN)/ruff check .

types: $(VENV)/.dev
	@$(BIN)/mypy

contracts: $(VENV)/.dev
	@$(BIN)/lint-imports

sizes: $(VENV)/.dev ## hold each package to the lines and modules that it has now; git diff shows whether any grew
	@$(BIN)/python -m tests.architecture.test_sizes

live: $(VENV)/.dev ## ask real models over vault-fixtures/garden, ARGS="-k qwen" some of them (fetches 1.8 GB into the cache folder once)
	@$(BIN)/python -m pytest -vv --durations=0 -p no:cacheprovider tests/live/contract_models.py $(ARGS)

live-ollama: $(VENV)/.dev ## test against a real Ollama (Linux; fetches 2.6 GB into the cache folder once)
	@$(BIN)/python -m pytest -vv -p no:cacheprovider tests/live/contract_ollama.py

protocols: $(VENV)/.dev ## test MCP and ACP with the public conformance suite, the inspector and acpx (fetches 400 MB into the cache folder once)
	@$(BIN)/python -m pytest -vv -p no:cacheprovider tests/protocols/contract_protocols.py

neovim: $(VENV)/.dev ## test `zkchat lsp` in a headless Neovim (Debian: apt install neovim)
	@$(BIN)/python -m pytest -vv -p no:cacheprovider tests/lsp/contract_neovim.py

bench: $(VENV)/.dev ## run the benchmarks, one table each
	@for name in speed.startup speed.vault_speed speed.turn_speed speed.turn_profile speed.stream_speed speed.completion_speed speed.first_prompt speed.rename_speed speed.mcp_speed speed.serve_speed speed.hostile_vault speed.vector_speed retrieval.answers retrieval.quote retrieval.retrieval retrieval.newest retrieval.contradictions retrieval.verification retrieval.time_questions context.assembly_speed context.meter context.long_inputs context.tool_definitions memory.needles memory.search_speed memory.long_session selection.selection links.mentions links.repairs attachments.pdf_text; do \
		echo "== $$name"; $(BIN)/python -m benchmarks.$$name || exit 1; done

faults: $(VENV)/.dev ## kill conversations, changes of notes and the embedding of notes at hundreds of moments, undo them, corrupt databases 1,000 times, rename 500 files, and start and stop MCP servers and clients
	@folder=$$(mktemp -d) && $(BIN)/python -m tests.faults.kill_turns $$folder/turns 200 20260301 && $(BIN)/python -m tests.faults.kill_prompts $$folder/questions 100 20260301 10 && $(BIN)/python -m tests.faults.corrupt_stores $$folder/stores 1000 20260301 && $(BIN)/python -m tests.faults.kill_changes $$folder/changes 200 20260301 && $(BIN)/python -m tests.faults.write_side_by_side $$folder/writers 100 200 20260301 && $(BIN)/python -m tests.faults.undo_sequences $$folder/undo 100 50 20260301 && $(BIN)/python -m tests.faults.rename_vaults 2000 500 20260301 && $(BIN)/python -m tests.faults.protocol_processes $$folder/protocols 10 50 && mkdir $$folder/vectors && $(BIN)/python -m tests.faults.kill_embedding $$folder/vectors 200; rm -rf $$folder

SECONDS ?= 600
SEED    ?= 20260301
fuzz: $(VENV)/.dev ## ten minutes of mutated input for everything that reads any (SECONDS, SEED, ONLY, NUMBER, FOLDER)
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) $(if $(NUMBER),--number $(NUMBER)) $(if $(FOLDER),--folder $(FOLDER))

browser: $(VENV)/.dev site ## test the pages of `zkchat serve` and `zkchat refs --graph`, and the site, in Chromium (Debian: apt install chromium)
	@$(BIN)/python -m pytest tests/browser/*_in_browser.py

shells: $(VENV)/.dev ## test completion in real shells (Debian: apt install bash zsh fish)
	@$(BIN)/python -m pytest tests/shells/completion_in_shells.py

screenshots: $(VENV)/.dev ## take the pictures of docs/pictures anew
	@$(BIN)/python -m scripts.screenshots

$(VENV)/.site: requirements-site.lock
	@$(PYTHON) -m venv $(VENV)/site
	@$(VENV)/site/$(notdir $(BIN))/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements-site.lock
	@touch $@

site: $(VENV)/.runtime $(VENV)/.site ## build the documentation as a site in build/site; a link that leads nowhere fails
	@$(VENV)/site/$(notdir $(BIN))/python -m scripts.site

dist: $(VENV)/.dev ## build wheel and sdist into dist/, twice, and compare the two
	@$(BIN)/python -m scripts.release --artefacts

release: $(VENV)/.dev ## prepare a release: version, changelog, artefacts and notes (VERSION=0.2.0)
	@$(BIN)/python -m scripts.release "$(VERSION)"

install-matrix: dist ## install wheel, sdist and extras with pip, uv and pipx on every Python from 3.11 to 3.14 that is found (ARGS="--python …")
	@$(BIN)/python -m tests.install.matrix $(ARGS)

lock: ## compile the hashed requirements anew (needs uv)
	@uv pip compile pyproject.toml --group build --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade -o requirements.lock
	@uv pip compile --group dev -c requirements.lock --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade -o requirements-dev.lock
	@uv pip compile --group site --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade -o requirements-site.lock

clean: ## remove the environment and all caches
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* htmlcov
