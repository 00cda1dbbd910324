# The study and its checks. They require Python (3.11 to 3.14) and make: every target installs what it needs in .venv.
#   make reproduce   run the study: figures, tables, findings and results/report.html (a repeated run continues)
#   make quick       a small run in results/quick, with its report;  make slurm: the study on a SLURM cluster (CONFIG=...)
#   make retrain     train the base models again; requires Java, Maven and the corpora (DATA_DIR=...)
#   make test        run the tests;  also test-all, test-wheel, test-slurm, test-cloud;  make lint: style, types and workflow
#   make findings    fill in the findings and the numbers on pages from results/reference
#   make docs        build the documentation: docs/_build/html/index.html;  make bench: speed as ratios (SMALL=yes)
#   make container   build the image of the jobs;  make lock: renew the locked versions
help:
	@sed -n 's/^#   //p' Makefile

# The Python of .venv, once, and of the tests of the package; `make PYTHON=...` selects another one.
PYTHON := $(firstword $(foreach python,python3 python3.14 python3.13 python3.12 python3.11,$(shell command -v $(python))))
# pip, which every environment has, or the program UV, which installs the same files in a third of the time.
INSTALL := $(if $(UV),$(UV) pip install --compile-bytecode --python .venv/bin/python,python -m pip install) --quiet
SHELL := bash
export PATH := $(CURDIR)/.venv/bin:$(PATH)

# CC=true builds immutables, which has no wheel for Python 3.14, without its optional C part: no compiler is required.
.venv/ready: requirements.lock pyproject.toml
	[ -x .venv/bin/python ] || $(PYTHON) -m venv .venv
	CC=true $(INSTALL) --requirement requirements.lock
	$(INSTALL) --no-deps --editable .
	touch $@
.venv/%: requirements-%.lock .venv/ready
	$(INSTALL) --requirement $<
	touch $@
setup: .venv/ready
setup-retrain: .venv/retrain

reproduce: setup
	snakemake --report results/report.html --report-after-run
quick: setup
	snakemake --configfile config/quick.yaml --report results/quick/report.html --report-after-run
retrain: setup-retrain
	snakemake --configfile config/retrain.yaml --config data_dir=$(or $(DATA_DIR),data) scale=$(or $(SCALE),1)
# Cancel the jobs of a killed run, which would otherwise continue.
slurm: setup
	workflow/profiles/slurm/cancel
	snakemake --unlock $(CONFIG)
	snakemake --workflow-profile workflow/profiles/slurm $(CONFIG)

# All tests of a file run in the same process, so that they share fixtures.
PYTEST := python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile --durations=30
test: setup
	$(PYTEST) -m "not slow"
test-all: setup
	$(if $(SMALL),FEWER=4) $(PYTEST) --dist worksteal
test-wheel:
	tests/wheel $(if $(SMALL),--small) $(PYTHON)
test-slurm: quick
	tests/slurm/cluster start
	tests/slurm/quick && PAIRSIG_TEST_SLURM=1 python -m pytest tests/workflow/test_slurm.py; status=$$?; tests/slurm/cluster stop; exit $$status
test-cloud: setup
	$(INSTALL) --editable ".[cloud]"
	python -m pytest tests/workflow/test_no_shared_folder.py
bench: setup
	python tests/bench.py $(if $(SMALL),--small)
lint: setup
	ruff check .
	ruff format --check .
	mypy
	lint-imports --no-cache
	shellcheck workflow/envs/lock workflow/profiles/slurm/cancel tests/slurm/cluster tests/slurm/quick tests/wheel .ci/run
	snakefmt --check Snakefile workflow
	snakemake --lint --cores 1

# Take the tables and figures of a finished `make reproduce` as the reference of this version.
reference:
	cp results/tables/*.tsv results/reference/
	cd results/figures && cp $$(grep -ohE 'reference/[a-z0-9_]+\.png' ../README.md ../../README.md ../../docs/*.md | sort -u | sed 's#reference/##') ../reference/
# What stands between <!-- NAME --> and <!-- /NAME --> on a page comes from src/study/findings/fragments.jinja.
findings: setup
	python -m study.findings results/reference results/README.md $$(grep -lE '<!-- /[a-z0-9_]+ -->' README.md docs/*.md)
# The build fails on a broken link or reference, and on an example with another output than the documented one.
.PHONY: docs
docs: .venv/docs
	python -m sphinx --quiet --fail-on-warning --keep-going --builder html docs docs/_build/html

container:
	docker build --file workflow/envs/Dockerfile --tag pairsig .
	apptainer build --force pairsig.sif docker-daemon:pairsig:latest
lock: setup
	$(INSTALL) uv && workflow/envs/lock
