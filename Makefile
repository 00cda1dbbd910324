# Requires Python (3.11 to 3.14) and make. Every target installs its requirements in .venv. PYTHON=... selects the Python.
#   make reproduce   run the study: figures, tables, published numbers beside ours (a repeated run continues)
#   make quick       plot the main figures with 10,000 resamples
#   make report      write everything that the last of these runs has made to one file, results/report.html
#   make figure FIGURE=thresholds   plot one figure from the tables of the last run, or else from results/reference
#   make retrain     train the base models again; requires Java, Maven and the corpora (DATA_DIR=...)
#   make slurm       run the study, or the configuration CONFIG, on a SLURM cluster (docs/cluster.md); make test-slurm: its tests
#   make test        run the tests;  make test-all: also slow tests;  make test-wheel: the package alone (SMALL=yes: no tests)
#   make findings    render the findings and the numbers on other pages from results/reference/, the pages on sheets from the models
#   make docs        build the documentation: docs/_build/html/index.html
#   make lint        check style, types and workflow;  make bench: measure speed as ratios (SMALL=yes: on small data)
#   make fuzz        run the property tests on more examples than `make test` (EXAMPLES=2000)
#   make mutants     count the small faults in the library that the tests detect (SAMPLE=200 faults, MODULE=readers, SECONDS=30 each; continues)

PYTHON ?=
CORES ?= all
DATA_DIR ?= data
SCALE ?= 1
CONFIG ?=
EXAMPLES ?= 2000
FIGURE ?= thresholds
DATASET ?=
BIN := .venv/bin
READY := .venv/ready
RETRAINABLE := .venv/retrainable
DOCUMENTED := .venv/documented
# pip, which every environment has, or the program UV, which installs the same files in a third of the time.
INSTALL := $(if $(UV),$(UV) pip install --compile-bytecode --python $(BIN)/python,$(BIN)/python -m pip install) --quiet

.PHONY: help setup setup-retrain reproduce quick report figure retrain slurm test test-all test-packages test-rebuilt test-wheel test-slurm docs lint bench fuzz mutants findings lock clean

help:
	@sed -n 's/^#   //p' Makefile

# A broken environment, or one with another Python than requested, is replaced.
ifneq ($(shell workflow/venv --check .venv $(PYTHON) && echo stays),stays)
.PHONY: $(READY)
endif

# Snakemake requires immutables (0.21), which has no wheel for Python 3.14. CC=true builds it without its optional C part,
# so that no compiler is required.
$(READY): requirements.lock pyproject.toml
	workflow/venv .venv $(PYTHON)
	awk '/^[^ #]/ { own = /^immutables==/ } own' requirements.lock >.venv/immutables.lock
	CC=true $(INSTALL) --no-deps --requirement .venv/immutables.lock
	$(INSTALL) --requirement requirements.lock
	$(INSTALL) --no-deps --editable .
	touch $@

$(RETRAINABLE): $(READY) requirements-retrain.lock
	$(INSTALL) --requirement requirements-retrain.lock
	touch $@

$(DOCUMENTED): $(READY) requirements-docs.lock
	$(INSTALL) --requirement requirements-docs.lock
	touch $@

setup: $(READY)

setup-retrain: $(RETRAINABLE)

reproduce: $(READY)
	workflow/run --cores $(CORES) --

quick: $(READY)
	workflow/run --cores $(CORES) -- --configfile config/quick.yaml

# Everything that the last run has made, in one file, which appears when it is complete.
report: $(READY)
	eval "$(BIN)/snakemake --cores 1 --quiet rules host --report results/report.part.html $$(cat .snakemake/options)"
	mv results/report.part.html results/report.html

# One figure in seconds; DATASET=wmt24-en-de selects the dataset of a figure that is drawn for each of them.
figure: $(READY)
	@mkdir -p results/preview
	@PYTHONPATH=src $(BIN)/python -m study figure $(FIGURE) $(if $(DATASET),--dataset $(DATASET)) --output results/preview/$(FIGURE).png

retrain: $(RETRAINABLE)
	workflow/run --cores $(CORES) -- --configfile config/retrain.yaml --config data_dir=$(DATA_DIR) scale=$(SCALE)

# Cancel the jobs of a killed run, which would otherwise continue.
slurm: $(READY)
	workflow/run --before workflow/profiles/slurm/cancel --workflow-profile workflow/profiles/slurm -- $(CONFIG)

# All tests of a file run in the same process, so that they share fixtures.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile

test: $(READY)
	$(PYTEST) -m "not slow"

# With setup-retrain, also base models that are Python packages; with PAIRSIG_DATA_DIR, also the public corpora. Slow tests
# share little, and some files take minutes, so idle processes take over tests from others. SMALL=yes repeats the long
# simulations of error rates and coverage a quarter as often, with limits that allow for it.
test-all: $(READY)
	$(if $(SMALL),FEWER=4) $(PYTEST) --dist worksteal -m "not rebuilt"

# The base models that are Python packages, which `make test` skips without setup-retrain.
test-packages: $(RETRAINABLE)
	$(PYTEST) -m "packages and not slow and not rebuilt" $$(grep -l "mark\.packages" tests/*/test_*.py)

# Train one system of every base model (half an hour). Requires setup-retrain, Java, Maven and the corpora.
test-rebuilt: $(READY)
	$(BIN)/python -m pytest -m rebuilt tests/workflow/test_retrain.py

# The package as users install it: its files, what it refuses without extras, and the tests of the library against it.
test-wheel:
	tests/wheel $(if $(SMALL),--small) $(PYTHON)

# Start a SLURM with three nodes on this machine, and stop it again; `tests/slurm/cluster install` installs it.
test-slurm: quick
	tests/slurm/cluster start
	tests/slurm/quick && PAIRSIG_TEST_SLURM=1 $(BIN)/python -m pytest tests/workflow/test_slurm.py; status=$$?; tests/slurm/cluster stop; exit $$status

# What stands between <!-- NAME --> and <!-- /NAME --> on a page comes from src/study/site/templates/fragments.md.
findings: $(READY)
	$(BIN)/python -m study findings results/reference/*.tsv --output results/README.md \
		--fill $$(grep -lE '<!-- /[a-z0-9_]+ -->' README.md docs/*.md)
	$(BIN)/python -m study sheets docs/sheets/*.md

# The build fails on a broken link or reference, and on an example with another output than the documented one.
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
	EXAMPLES=$(EXAMPLES) $(PYTEST) -m "hypothesis and not slow" \
		$$(grep -l "^from hypothesis" tests/*/test_*.py)

mutants: $(READY)
	$(BIN)/python tests/mutation.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(MODULE),--module $(MODULE)) $(if $(SECONDS),--seconds $(SECONDS))

# One set of versions for every Python from 3.11 on, and every operating system.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

lock: $(READY)
	$(INSTALL) uv
	$(LOCK) --extra workflow --extra cluster --extra dev --output-file requirements.lock pyproject.toml
	$(LOCK) --extra retrain --constraint requirements.lock --output-file requirements-retrain.lock pyproject.toml
	$(LOCK) --extra docs --constraint requirements.lock --output-file requirements-docs.lock pyproject.toml
	$(LOCK) --extra jobs --constraint requirements.lock --format pylock.toml pyproject.toml \
		| $(BIN)/python workflow/envs/from_lock.py workflow/envs/pairsig.yaml python=3.11
	$(LOCK) --extra jobs --extra retrain --constraint requirements.lock --constraint requirements-retrain.lock \
		--format pylock.toml pyproject.toml \
		| $(BIN)/python workflow/envs/from_lock.py workflow/envs/retrain.yaml python=3.11 openjdk=17 maven=3.9

clean:
	find results -mindepth 1 -maxdepth 1 ! -name README.md ! -name reference -exec rm -rf {} +
