# Needs python3 (3.11 or later) and make; uses uv if it is there. Everything else is installed into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := $(shell command -v uv 2>/dev/null)
PIP    := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check)
MAKE_VENV := $(if $(UV),$(UV) venv --quiet --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV))

# The lock files hold for every Python from 3.11 on, with the hash of each file of a package. httpx2 takes httpx2-jsfetch
# only inside a browser.
LOCK    := .lock-tools
COMPILE := $(LOCK)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock" --extra otlp --extra metrics --group build \
	--no-emit-package httpx2-jsfetch

# Four questions at once, then a document made of them. The offline model takes its time, as a real one would.
DEMO := "Which region grew fastest in 2025? What do customers say about the charging failures? What do competitors charge? How many support tickets did each product have? Then write a one-page brief and check its figures."

.PHONY: demo test check soak mutants bench format lock clean help

help: ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.ready ## a whole run, offline: plan, workers, answer
	@HANDOFF_OFFLINE_DELAY_S=$${HANDOFF_OFFLINE_DELAY_S:-0.25} $(BIN)/handoff ask $(DEMO)

test: $(VENV)/.ready-dev ## the whole suite
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 $(ARGS)

check: $(VENV)/.ready-dev ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

soak: $(VENV)/.ready-dev ## the simulation with new seeds, for ten minutes or ARGS="--minutes 60 --seeds 5000 --from 1"
	@PYTHONHASHSEED=0 $(BIN)/python tests/simulation/soak.py $(ARGS)

mutants: $(VENV)/.ready-dev ## plant deliberate bugs one after the other, which tests must find; one kind of them: ARGS="outbox"
	@$(BIN)/python tests/mutants/plant.py $(ARGS)

bench: $(VENV)/.ready-dev ## figures, each beside a thin JetStream round trip in the same run
	@$(BIN)/python -m benchmarks $(ARGS)

format: $(VENV)/.ready-dev ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## resolve the dependencies of pyproject.toml into the lock files; ARGS=--upgrade takes newer versions
	@test -x $(LOCK)/bin/uv || { $(PYTHON) -m venv $(LOCK) && $(LOCK)/bin/python -m pip install --quiet uv; }
	@$(COMPILE) -o requirements.lock $(ARGS) pyproject.toml
	@$(COMPILE) --group dev -c requirements.lock -o requirements-dev.lock $(ARGS) pyproject.toml
	@$(COMPILE) --extra mcp -c requirements-dev.lock -o requirements-image.lock $(ARGS) pyproject.toml

clean: ## remove what was installed and made
	rm -rf $(VENV) $(LOCK) build dist .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/.ready: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'
	@echo "setting up $(VENV) ..."
	@$(MAKE_VENV)
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready requirements-dev.lock
	@$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@
