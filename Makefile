# Everything here sets up what it needs, in .venv, from Python alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
REPRODUCE := $(BIN)/microveil reproduce $(FLAGS) -o build/reproduce
# A container may see all cores of its host: no more processes than pay off. Each is one worker:
# threads of libraries would but wait for each other. Bytecode is kept, or each rewrites all tests.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 \
  $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal

# Of a wheelhouse: all that a steward's installation may use; Spark is its cluster's.
EXTRAS ?= app,files,report

PYTHONS ?= 3.11 3.12 3.13 3.14

KERNEL_TESTS := $(addprefix tests/unit/test_,noise.py record_linkage.py intervals.py \
  neighbourhoods.py attacks_against_oracle.py goodness_of_fit.py distributions.py columns.py)

.DEFAULT_GOAL := help
.PHONY: help demo reproduce test mutants test-papers coverage test-slow test-spark test-browser \
	pictures test-record record record-papers check docs site dist test-dist test-extras \
	test-pythons wheelhouse bench format clean named-data

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras, renewed when the project's requirements change.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[$*]'
	@touch $@

$(VENV)/.installed-papers: pyproject.toml papers/pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[test]' -e ./papers
	@touch $@

# All of .ci/run by one call: each looks anew for what every requirement needs.
$(VENV)/.installed-ci: pyproject.toml papers/pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[test,check,site,spark]' -e ./papers
	@touch $(addprefix $(VENV)/.installed-,test check papers site test,spark) $@

# Said before anything is installed.
named-data:
	@test -n "$$MICROVEIL_DATA" || \
	  { echo "MICROVEIL_DATA must name the folder of the data: see docs/reproduce.md" >&2; exit 2; }

demo: $(VENV)/.installed-report ## Protect invented people by one command and show what came out
	rm -rf build/demo
	$(BIN)/microveil demo -o build/demo

# One paper after another; a call that was stopped is continued. FLAGS=--quick is for a look.
reproduce: named-data $(VENV)/.installed-papers ## Reproduce the papers with the data of MICROVEIL_DATA
	$(REPRODUCE)/kanon-2013 kanon-2013 --data census="$$MICROVEIL_DATA/census.csv"
	$(REPRODUCE)/record-2018 record-2018 --data census="$$MICROVEIL_DATA/census.csv"
	$(REPRODUCE)/knoise knoise --data adult="$$MICROVEIL_DATA/adult.csv"
	$(REPRODUCE)/idp-2025 idp-2025 --data census="$$MICROVEIL_DATA/census.csv" \
	  --data wine="$$MICROVEIL_DATA/winequality-white.csv"

test: $(VENV)/.installed-test ## Run the tests, but for the long statistical ones
	$(PYTEST) -m "not slow and not record and not spark and not dist and not browser"

mutants: $(VENV)/.installed-test ## Break the core in many places, and see that the tests notice each
	$(BIN)/python tests/mutants.py $(NAMES)

test-papers: $(VENV)/.installed-papers ## Run the tests of the papers, but for the long ones
	$(PYTEST) -m "not slow" papers

# First all tests, then those of kernels as plain Python: compiled lines are seen by nobody.
coverage: $(VENV)/.installed-coverage ## Say which lines the tests run, kernels included
	$(PYTEST) -m "not slow and not record and not dist and not browser" --cov=microveil --cov-report=
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not slow" --cov=microveil --cov-append --cov-report=term \
	  tests/properties $(KERNEL_TESTS)

test-slow: $(VENV)/.installed-papers ## Run the long tests, statistical and of the papers
	$(PYTEST) -m slow
	$(PYTEST) -m "hypothesis and not slow and not record" --hypothesis-profile thorough
	@if [ -n "$(MICROVEIL_DATA)" ]; then set -x; $(PYTEST) -m slow papers; \
	else echo "slow tests of the papers left out: set MICROVEIL_DATA to the reference data" >&2; fi

# One session of Spark at a time: workers of pytest would each start one.
test-spark: $(VENV)/.installed-test,spark ## Run the tests in a session of Spark: Java 17
	PYSPARK_PYTHON=$(abspath $(BIN))/python $(BIN)/python -m pytest -q tests/contract/test_spark*.py

test-browser: $(VENV)/.installed-test,browser ## Drive the page in a browser: Chromium
	PYTHONPATH=tests $(BIN)/python -m steward
	$(BIN)/python -m pytest -q -m browser tests/browser

# Those of the docs, as the tests made them last.
pictures: test-browser ## Take the pictures of the docs anew
	mkdir -p docs/pictures
	cp $(addprefix build/pictures/docs/,$(addsuffix .png,data promise trade-off release)) docs/pictures
	PYTHONPATH=tests $(BIN)/python tests/report_pictures.py

test-record: $(VENV)/.installed-test ## Hold releases, help and messages to their record
	$(PYTEST) -m record tests/record

record: $(VENV)/.installed-test ## Write that record anew, where a change is meant
	PYTHONPATH=tests $(BIN)/python -m record $(TEXTS:%=--texts %)

record-papers: named-data $(VENV)/.installed-papers ## Write the record of reproduced papers anew
	PYTHONPATH=tests:papers/tests $(BIN)/python -m record_papers $(TEXTS:%=--texts %)

# The two contracts on imports would take each other's cache for their own.
check: $(VENV)/.installed-check ## Lint, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	PYTHONPATH=papers/src $(BIN)/lint-imports --no-cache --config papers/pyproject.toml
	$(BIN)/codespell

docs: $(VENV)/.installed-test ## Write the parts of the docs that are made of the code
	$(BIN)/python docs/made.py

dist: $(VENV)/.installed-dist ## Build the wheel and the source distribution, in build/dist
	rm -rf build/dist
	$(BIN)/python -m build --no-isolation -o build/dist .

# PLATFORM, tags of wheels, and PYTHON_VERSION are for another machine: see docs/install.md.
wheelhouse: dist ## Gather all wheels that an installation without a network needs
	rm -rf build/wheelhouse
	$(BIN)/python distribution/wheelhouse.py build/dist/microveil-*.whl build/wheelhouse \
	  --extras '$(EXTRAS)' --platform '$(PLATFORM)' --python '$(PYTHON_VERSION)'

test-dist: $(VENV)/.installed-test,dist,site ## Build wheel, wheelhouse and site, and try them: needs an index
	$(BIN)/python -m pytest -q -m dist tests/distribution

test-extras: $(VENV)/.installed-test,dist,site ## Try each extra alone, in a fresh environment: needs an index
	$(BIN)/python -m pytest -q -m dist -rs tests/distribution -k extra

# The tests that show soonest what another Python, or the libraries that it takes, would break.
test-pythons: $(PYTHONS:%=test-python-%) ## Run contracts and the record in each Python of PYTHONS

test-python-%:
	@found=; for each in python$* $(wildcard $(HOME)/.pyenv/versions/$*.*/bin/python); do \
	  $$each -c "" 2> /dev/null && found=$$each && break; done; \
	if [ -z "$$found" ]; then echo "Python $*: not found" >&2; exit; fi; \
	set -ex; $$found -m venv --clear build/python-$*; \
	build/python-$*/bin/python -m pip --disable-pip-version-check --quiet install -e '.[test]'; \
	build/python-$*/bin/python -m pytest -q -n auto --maxprocesses 4 \
	  -m "not slow and not spark and not dist and not browser" \
	  tests/contract tests/record tests/test_public_api.py tests/test_surface.py src

site: $(VENV)/.installed-site ## Build the docs as a site, in build/site; any warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --config-file site/mkdocs.yml

bench: $(VENV)/.installed-bench ## Print speed and memory as ratios to peers, in one table
	$(BIN)/python -m benchmarks

format: $(VENV)/.installed-check ## Put the code in its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove what the targets made
	rm -rf $(VENV) build .hypothesis .pytest_cache papers/.pytest_cache .mypy_cache .ruff_cache
