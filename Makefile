# Everything here sets up what it needs, in .venv, from Python alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# A container may see all cores of its host: no more processes than pay off.
PYTEST := $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal

KERNEL_TESTS := $(addprefix tests/unit/test_,files.py noise.py record_linkage.py intervals.py \
  neighbourhoods.py attacks_against_oracle.py goodness_of_fit.py columns.py)

.DEFAULT_GOAL := help
.PHONY: help demo test coverage test-slow test-record record record-papers check docs bench format clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras, renewed when the project's requirements change.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install -e .
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[$*]'
	@touch $@

demo: $(VENV)/.installed ## Protect invented people in three ways and explain the outcome
	$(BIN)/microveil demo -o build/demo --overwrite

test: $(VENV)/.installed-test ## Run the tests, but for the long statistical ones
	$(PYTEST) -m "not slow and not record"

# First all tests, then those of kernels as plain Python: compiled lines are seen by nobody.
coverage: $(VENV)/.installed-coverage ## Say which lines the tests run, kernels included
	$(PYTEST) -m "not slow and not record" --cov=microveil --cov-report=
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not slow" --cov=microveil --cov-append --cov-report=term \
	  tests/properties $(KERNEL_TESTS)

test-slow: $(VENV)/.installed-test ## Run the long statistical tests
	$(PYTEST) -m slow

test-record: $(VENV)/.installed-test ## Hold releases, help and messages to their record
	$(PYTEST) -m record tests/record

record: $(VENV)/.installed-test ## Write that record anew, where a change is meant
	PYTHONPATH=tests $(BIN)/python -m record

record-papers: $(VENV)/.installed-test ## Write the record of reproduced papers anew
	PYTHONPATH=tests $(BIN)/python -m record --papers

# The two contracts on imports would take each other's cache for their own.
check: $(VENV)/.installed-check ## Lint, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	PYTHONPATH=papers/src $(BIN)/lint-imports --no-cache --config papers/pyproject.toml
	$(BIN)/codespell

docs: $(BIN)/python ## Write the parts of the docs that are made of the code
	$(BIN)/python docs/made.py

bench: $(VENV)/.installed-bench ## Print speed and memory as ratios to peers, in one table
	$(BIN)/python -m benchmarks

format: $(VENV)/.installed-check ## Put the code in its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove what the targets made
	rm -rf $(VENV) build .hypothesis .pytest_cache .mypy_cache .ruff_cache
