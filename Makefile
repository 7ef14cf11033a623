# Everything that `make` needs it makes: a virtual environment in .venv with the package and its
# development tools. `make PYTHON=/path/to/python3.12 …` takes another interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo demo-mcp demo-pi test test-all bench docs-fluff lint clean
.DEFAULT_GOAL := test

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tool-intent needs Python 3.11 or later; $(PYTHON) is older (make PYTHON=… names another)" >&2; exit 1; }
	@echo "setting up $(VENV) (once; takes a minute)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The main job on real input: a session of tool calls, judged, stripped, carried out.
demo: $(READY)
	@BIN=$(BIN) sh tests/assets/demo/demo.sh

# The proxy between the official MCP client and servers, in both protocols; no node needed.
demo-mcp: $(READY)
	@$(BIN)/python tests/assets/demo/mcp/demo.py

# A real session of each line of pi: three calls refused, two carried out, nothing left of the
# refused ones. Installs both lines (npm) the first time.
demo-pi: $(READY)
	@cd tests && ../$(BIN)/python -m agents.demo

# Fast: what a change has to pass while it is being written.
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# Everything: long property tests, packaging, catalogs, every interpreter, benchmarks.
test-all: $(READY)
	HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -n 2 --dist worksteal
	$(BIN)/python tests/packaging/interpreters.py

# JSON lines of ratios and budgets on standard output, a table on standard error.
bench: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@$(BIN)/python tests/benchmarks/bench.py

# The measured tables of docs/anti-fluff.md; fails where a rule is below its tier.
docs-fluff: $(READY)
	$(BIN)/tool-intent eval std/anti-fluff tests/corpus/fluff.jsonl --into docs/anti-fluff.md

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/tool-intent check --strict policies/packs/std/*.yaml

clean:
	rm -rf $(VENV) .venv-* dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
