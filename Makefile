# Each target works alone on a fresh Debian or Ubuntu with Python: it makes .venv, installs what it needs and does its job.
# Another interpreter: make test PYTHON=python3.12
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-long bench format clean

demo: $(VENV)/installed
	$(BIN)/windrow demo

test: $(VENV)/installed-dev $(VENV)/system
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src
	$(BIN)/python -m pytest -q

test-long: $(VENV)/installed-dev $(VENV)/system
	$(BIN)/python -m pytest -q -m long -o faulthandler_timeout=1200

bench:
	@sed -n '/^## Commands/,/^## /p' benchmarks/README.md | sed '/^## /d'

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV)

# A half-made environment (Debian's python3 without python3-venv leaves one) is thrown away, so that the next run starts afresh.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Windrow needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || sh .ci/system $(notdir $(PYTHON))-venv
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 2; }

$(VENV)/installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/installed-dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/installed

# nginx serves the shared webs; without it (and without root) the tests that want it are skipped.
$(VENV)/system: $(BIN)/python
	@command -v nginx >/dev/null || sh .ci/system nginx-light || echo "no nginx: the tests on the shared webs are skipped"
	@touch $@
