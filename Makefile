# Needs Python (3.11 to 3.14) and make; every target sets up what it needs in .venv. PYTHON=... says which Python.
#   make reproduce   the study: figures, tables, ours beside the paper's, report (again: goes on, or does nothing)
#   make quick       the main figures with 10,000 resamples
#   make retrain     train the base models again: needs Java, Maven and the corpora (DATA_DIR=...)
#   make slurm       the study on a SLURM cluster, or what CONFIG names: docs/cluster.md; make test-slurm: its tests
#   make test        the tests;  make test-all: those that take minutes, too;  make test-wheel: the package alone (SMALL=yes: few tests)
#   make docs        the documentation as a site: docs/_build/html/index.html
#   make lint        style, types, workflow;  make bench: speed, as ratios (SMALL=yes: on little data)
#   make fuzz        the tests of properties on other examples, and more (EXAMPLES=2000), than those of `make test`
#   make mutants     how many small faults in the library the tests notice (SAMPLE=200: of so many; SECONDS=30: for each; again: goes on)

PYTHON ?=
CORES ?= all
DATA_DIR ?= data
SCALE ?= 1
CONFIG ?=
EXAMPLES ?= 2000
BIN := .venv/bin
READY := .venv/ready
RETRAINABLE := .venv/retrainable
DOCUMENTED := .venv/documented

.PHONY: help setup setup-retrain reproduce quick retrain slurm test test-all test-rest test-rebuilt test-wheel test-slurm docs lint bench fuzz mutants lock clean

help:
	@sed -n 's/^#   //p' Makefile

# An environment that does not run any more, or is of another Python than the one named, is made anew.
ifneq ($(shell workflow/venv --check .venv $(PYTHON) && echo stays),stays)
.PHONY: $(READY)
endif

# Snakemake's immutables (0.21) has no wheel for Python 3.14. Where it is built, no compiler is needed: CC=true leaves out
# its part in C, which it can do without.
$(READY): requirements.lock pyproject.toml
	workflow/venv .venv $(PYTHON)
	awk '/^[^ #]/ { own = /^immutables==/ } own' requirements.lock >.venv/immutables.lock
	CC=true $(BIN)/python -m pip install --quiet --no-deps --requirement .venv/immutables.lock
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

$(RETRAINABLE): $(READY) requirements-retrain.lock
	$(BIN)/python -m pip install --quiet --requirement requirements-retrain.lock
	touch $@

$(DOCUMENTED): $(READY) requirements-docs.lock
	$(BIN)/python -m pip install --quiet --requirement requirements-docs.lock
	touch $@

setup: $(READY)

setup-retrain: $(RETRAINABLE)

reproduce: $(READY)
	workflow/run --cores $(CORES) --

quick: $(READY)
	workflow/run --cores $(CORES) -- --configfile config/quick.yaml

retrain: $(RETRAINABLE)
	workflow/run --cores $(CORES) -- --configfile config/retrain.yaml --config data_dir=$(DATA_DIR) scale=$(SCALE)

# Jobs of a run that was killed would go on, and are cancelled.
slurm: $(READY)
	workflow/run --before workflow/profiles/slurm/cancel --workflow-profile workflow/profiles/slurm -- $(CONFIG)

# A file of tests stays with one process: what its tests share is made once.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile

test: $(READY)
	$(PYTEST) -m "not slow"

# With setup-retrain, also the base models that are Python packages; with PAIRSIG_DATA_DIR, the public corpora.
test-all: $(READY)
	$(PYTEST)

# What `make test` leaves out, or skips before setup-retrain, but for systems that take long to train.
test-rest: $(READY)
	$(PYTEST) -m "(slow or packages) and not rebuilt"

# A system of every base model, trained again: half an hour. Needs setup-retrain, Java, Maven and the corpora.
test-rebuilt: $(READY)
	$(BIN)/python -m pytest -m rebuilt tests/test_retrain.py

# The package as a user gets it: the tests of two systems, run against the installed wheel alone.
test-wheel:
	tests/wheel $(if $(SMALL),--small) $(PYTHON)

# Starts a SLURM of three nodes on this machine, and stops it again; `tests/slurm/cluster install` gets what it needs.
test-slurm: quick
	tests/slurm/cluster start
	tests/slurm/quick && $(BIN)/python -m pytest tests/test_slurm.py; status=$$?; tests/slurm/cluster stop; exit $$status

# A link or reference that leads nowhere stops it, and an example that prints something else than stands there.
docs: $(DOCUMENTED)
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --builder html docs docs/_build/html

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/shellcheck workflow/run workflow/venv workflow/profiles/slurm/cancel tests/slurm/cluster tests/slurm/quick \
		tests/wheel .ci/run
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint --cores 1

bench: $(READY)
	$(BIN)/python tests/bench.py $(if $(SMALL),--small)

fuzz: $(READY)
	EXAMPLES=$(EXAMPLES) $(PYTEST) --hypothesis-profile fuzz -m "hypothesis and not slow" \
		$$(grep -l "^from hypothesis" tests/test_*.py)

mutants: $(READY)
	$(BIN)/python tests/mutation.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SECONDS),--seconds $(SECONDS))

# One set of versions for every Python from 3.11 on, and every system.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

lock: $(READY)
	$(BIN)/python -m pip install --quiet uv
	$(LOCK) --extra workflow --extra cluster --extra dev --output-file requirements.lock pyproject.toml
	$(LOCK) --extra retrain --constraint requirements.lock --output-file requirements-retrain.lock pyproject.toml
	$(LOCK) --extra docs --extra completion --constraint requirements.lock --output-file requirements-docs.lock pyproject.toml

clean:
	find results -mindepth 1 -maxdepth 1 ! -name README.md ! -name reference -exec rm -rf {} +
