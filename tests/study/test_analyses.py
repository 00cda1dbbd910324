"""What every analysis must do, by its record: declared columns, empty input, the same bytes twice."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import simulate
from conftest import own_code
from pairsig import cli as library
from pairsig.core import statistics
from pairsig.io import tables
from pairsig.io.columns import COMPARISONS, STATISTICS
from running import ROOT, environment, snakemake
from study import analysis, cli
from study.analysis.record import Comparisons, Data, Rows, Setting
from study.sheets import code, jobs
from study.tables import columns
from test_columns import check_cells, run

ANALYSES = [name for name, record in analysis.every().items() if record.function]
SIZES = {"one": 300, "two": 400, "three": 500}
SETTINGS = {
    "n_resamples": 100, "n_simulated": 4, "n_pairs": 1, "n_runs": 1, "n_sizes": 2, "n_repeats": 1, "n_segments": 50,
    "splits": 2, "min_pairs": 1, "percentile": 90, "threads": 1, "seed": 1,
}  # fmt: skip
SHEETS = {
    "datasets": [[name, "tagging", "", "two" if name == "one" else ""] for name in SIZES],
    "calibrations": [["c", "near", "one", "half-1", "one", "half-2"], ["d", "iid", "one two", "draw-*", "=", "whole"]],
    "published": [
        ["t", "998", "threshold", "1.1", "points", "300", "", "", "58", "47", "threshold:one:all", ""],
        ["c", "1000", "share", "90", "%", "", "", "", "", "58", "share:c:near:0.04-0.08", ""],
    ],
    "families": [["f", "simulated", name, "half:*", "all"] for name in ("one", "two")],
    "overlaps": [["one", "m0-0", "m0-1", "50.0", "0.5"]],
}


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Three simulated datasets with runs of methods, documents and costs, their comparisons, and small sheets."""
    work = tmp_path_factory.mktemp("work")
    for seed, (name, n_segments) in enumerate(SIZES.items()):
        data = simulate.statistics("accuracy", n_systems=8, n_segments=n_segments, n_groups=2, spread=0.03, seed=seed)
        more = np.broadcast_to([1, 1000], (*data.counts.shape[:2], 2))
        data = replace(
            data, dataset=name, systems=tuple(f"m{i // 4}-{i % 4}" for i in range(8)),
            documents=np.repeat(np.arange(n_segments // 10), 10).astype(str),
            columns=(*data.columns, "runs", "microdollars"), counts=np.concatenate([data.counts, more], axis=2),
        )  # fmt: skip
        statistics.write(data, work / f"{name}.parquet")
        options = [work / f"{name}.parquet", "--test", "bootstrap", "--metric", "accuracy", "--n-resamples", 200]
        run(library.main, "all-pairs", *options, "--output", work / f"{name}.tsv")
        made = ["--initial", "50,100", "--halves", 1, "--draws", 2]
        run(cli.main, "resize", *options, *made, "--output", work / f"{name}-sets.tsv")
    for table in (*columns.SHEETS, columns.OVERLAPS):
        rows = SHEETS.get(table.name, [])
        (work / f"{table.name}.tsv").write_text("".join("\t".join(row) + "\n" for row in [table.names, *rows]))
    return work


def output(folder, one):
    return folder / f"{one.name}.tsv"


def command(name, work, given, folder):
    """The command of an analysis on these files; `given` has the tables of other analyses."""
    record, words, files = analysis.load(name), [name.replace("_", "-")], []
    for place, (key, source) in enumerate(record.inputs.items()):
        match source:
            case Comparisons():
                added = [work / f"{one}{end}.tsv" for one in SIZES for end in ([""] if source.once else ["", "-sets"])]
            case Data():
                added = [f"{work / one}.parquet:accuracy" for one in SIZES]
            case Rows():
                added = [(given if isinstance(source.table, str) else work) / f"{source.name}.tsv"]
            case Setting():
                added = [SETTINGS[key]]
        if place == 0 and isinstance(source, Comparisons | Data):
            files = added
        else:
            words += [f"--{key.replace('_', '-')}", *added]
    for one in record.tables[1:]:
        words += [f"--{one.name.replace('_', '-')}", output(folder, one)]
    words = [words[0], *files, *words[1:], "--output", output(folder, record.tables[0])]
    return [str(word) for word in words]


@pytest.fixture(scope="module")
def written(work, tmp_path_factory):
    """The tables of all analyses."""
    folder = tmp_path_factory.mktemp("written")
    for name in ANALYSES:
        run(cli.main, *command(name, work, folder, folder))
    return folder


@pytest.mark.parametrize("name", ANALYSES)
def test_tables_have_the_declared_columns(written, name):
    for one in analysis.load(name).tables:
        read = check_cells(output(written, one), one.table)
        assert len(read) or one.name == "family_heterogeneity"  # which has only families that are heterogeneous


def test_comparisons_overlaps_and_pools_have_the_declared_columns(work):
    for name in ("one", "one-sets"):
        read = check_cells(work / f"{name}.tsv", COMPARISONS)
        pd.testing.assert_frame_equal(tables.frame(COMPARISONS, read), read)
    for name in "abc":
        (work / f"{name}.txt").write_text(f"the cat sat on the mat\nno one knows what {name} is for\n")
    run(cli.main, "overlaps", "o", *(f"{name}={work / name}.txt" for name in "abc"), "--output", work / "o.tsv")
    assert len(check_cells(work / "o.tsv", columns.OVERLAPS)) == 3
    pooled = [work / f"{name}.parquet" for name in ("one", "two")]
    run(library.main, "pool", *pooled, "--dataset", "p", "--output", work / "pool.tsv")
    assert (work / "pool.tsv").read_text(encoding="utf-8").split("\n")[0].split("\t") == [
        *(name for name in STATISTICS.names if name != "run"), "correct", "total", "runs", "microdollars", "n_rows"
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in ANALYSES if "seed" in analysis.load(name).inputs])
def test_the_same_seed_gives_the_same_bytes(work, written, tmp_path, name):
    run(cli.main, *command(name, work, written, tmp_path))
    for one in analysis.load(name).tables:
        if name == "race":  # it measures time
            first, second = (analysis.read(output(folder, one), one.name) for folder in (written, tmp_path))
            assert first.filter(regex="^(?!seconds)").equals(second.filter(regex="^(?!seconds)"))
        else:
            assert output(tmp_path, one).read_bytes() == output(written, one).read_bytes()


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Every sheet and table without rows."""
    folder = tmp_path_factory.mktemp("empty")
    for one in (*columns.SHEETS, columns.OVERLAPS, *(output.table for output in analysis.outputs().values())):
        tables.write(tables.frame(one, []), folder / f"{one.name}.tsv")
    for one in SIZES:
        for end in ("", "-sets"):
            tables.write(tables.frame(COMPARISONS, []), folder / f"{one}{end}.tsv")
    return folder


@pytest.mark.parametrize(
    "name", [name for name in ANALYSES if name not in ("approximate", "race")]
)  # they have no input
def test_empty_input_gives_empty_tables_or_one_sentence(empty, tmp_path, capsys, name):
    record = analysis.load(name)
    words = [word for word in command(name, empty, empty, tmp_path) if not word.endswith(".parquet:accuracy")]
    capsys.readouterr()
    try:
        status = cli.main(words)
    except SystemExit as stop:  # argparse
        status = stop.code
    errors = [line for line in capsys.readouterr().err.splitlines() if "warning: " not in line]
    if status == 0:
        for one in record.tables:
            found = analysis.read(output(tmp_path, one), one.name)
            assert tuple(found.columns) == one.table.names
            assert found.empty or name in ("claims", "calibrate")  # the latter repeats the paper's rows
    else:
        assert (status, len(errors)) == (2, 1), errors
        assert not any(output(tmp_path, one).exists() for one in record.tables)


def test_records_are_consistent():
    assert len(analysis.outputs()) == sum(len(record.tables) for record in analysis.every().values())
    assert len(analysis.figures()) == sum(len(record.figures) for record in analysis.every().values())
    for name, record in analysis.every().items():
        assert not record.function or (record.function.__doc__ and record.tables), name
        for source in record.inputs.values():
            if isinstance(source, Rows) and isinstance(source.table, str):
                assert analysis.table(source.table)
        for figure in record.figures:
            assert all(analysis.table(table) for table in figure.tables)


def test_records_are_read_without_heavy_modules():
    """Snakemake reads them for every job; it has imported pandas itself."""
    program = (
        "import sys; from study import analysis; from study.sheets import jobs; analysis.every();"
        "print(*{'numba', 'scipy', 'matplotlib', 'sacrebleu'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def module_file(name):
    return f"{analysis.MODULES[name].replace('.', '/')}.py"


def test_an_edit_repeats_what_it_can_change():
    """An edited figure draws the figures again; an edited analysis is run again with those that use its functions."""
    found = {
        name: {path.relative_to(code.SOURCES).as_posix() for path in code.of(name)} for name in [*ANALYSES, "plot"]
    }
    for path in (code.SOURCES / "study" / "figures").glob("*.py"):
        edited = [name for name, files in found.items() if f"study/figures/{path.name}" in files]
        assert edited == ["plot"], path.name
    users = {name: {user for user in found if module_file(name) in found[user]} for name in ANALYSES}
    used = {"describe": {"claims"}, "thresholds": {"claims", "validate", "threshold_errors", "plot"}}
    assert users == {name: {name} | used.get(name, set()) for name in ANALYSES}


SPREAD = '''
"""The spread of gains."""

import pandas as pd

from pairsig.io.columns import DATASET, Table, points
from pairsig.io.tables import frame
from study.analysis.record import Analysis, Comparisons, Figure, Output

SPREAD = Table("spread", (DATASET, points("spread", "standard deviation of the gains")), key=("dataset",))


def spread(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Measure the spread of gains."""
    return frame(SPREAD, comparisons.groupby("dataset")["gain"].std().rename("spread").reset_index())


ANALYSIS = Analysis(
    spread,
    {"comparisons": Comparisons(once=True)},
    tables=(Output(SPREAD, "one row per dataset", "Spread of the gains"),),
    figures=(Figure("spread", "spread", ("spread",), "Gains differ", "Spread of the gains."),),
)
'''
DRAWN = """
from matplotlib.figure import Figure

from study.figures.style import styled


@styled
def spread(spread):
    figure = Figure()
    figure.subplots().bar(spread["dataset"], spread["spread"])
    return figure
"""


@pytest.mark.slow
def test_a_new_analysis_is_a_module_and_one_line(project, work):
    """Its command, rule, report, figure and documentation follow; nothing else is edited."""
    own_code(project)
    folder = project / "src" / "study"
    (folder / "beyond" / "spread.py").write_text(SPREAD, encoding="utf-8")
    (folder / "figures" / "spread.py").write_text(DRAWN, encoding="utf-8")
    names = folder / "analysis" / "__init__.py"
    names.write_text(names.read_text(encoding="utf-8").replace("BEYOND = (", 'BEYOND = ("spread", '), encoding="utf-8")

    (project / "new" / "tables").mkdir(parents=True)
    program = (
        "import sys; from study import cli; sys.path[:0] = [sys.argv[2]]; import generated;"
        "assert cli.main(['spread', sys.argv[1], '--output', 'new/tables/spread.tsv']) == 0;"
        "assert cli.main(['figure', 'spread', '--results', 'new', '--output', 'spread.png']) == 0;"
        "print(generated.tables())"
    )
    words = [sys.executable, "-c", program, str(work / "one.tsv"), str(ROOT / "docs")]
    settings = environment(project) | {"PYTHONPATH": str(project / "src")}
    done = subprocess.run(words, cwd=project, env=settings, capture_output=True, text=True)
    page = done.stdout
    assert done.returncode == 0, done.stderr
    expected = tables.read(work / "one.tsv", COMPARISONS)["gain"].std()
    assert tables.read(project / "new/tables/spread.tsv")["spread"].tolist() == pytest.approx([expected])
    assert (project / "spread.png").stat().st_size > 1000
    assert "| `spread` | number | points | standard deviation of the gains |" in page

    wanted = [f"results/{path}" for path in ("tables/spread.html", "figures/spread.svg", "site")]
    planned = snakemake("--dry-run", "--config", "datasets=[realsumm]", "--", *wanted, cwd=project)
    assert re.search(r"^spread +1$", planned, re.MULTILINE)
    assert "results/tables/spread.tsv" in planned
    assert "Spread of the gains." in (project / ".snakemake/captions/figures/spread.rst").read_text(encoding="utf-8")


def test_the_first_page_of_the_report_has_the_verdict_of_the_run(tmp_path):
    about, findings, page = (tmp_path / name for name in ("about.rst", "findings.md", "captions/workflow.rst"))
    about.write_text("How it was made.\n", encoding="utf-8")
    jobs.first_page(about, findings, page)
    assert page.read_text(encoding="utf-8") == "How it was made.\n"
    findings.write_text("# Findings\n\n**Yes.** {{ 7 }}\n\n![a](b.png)\n\n## Details\n", encoding="utf-8")
    os.utime(page, (0, 0))
    jobs.first_page(about, findings, page)
    shown = page.read_text(encoding="utf-8")
    assert "<strong>Yes.</strong> {{ 7 }}" in shown.partition("{% raw %}")[2].partition("{% endraw %}")[0]
    assert shown.endswith("How it was made.\n")
    assert "Details" not in shown
    findings.unlink()
    jobs.first_page(about, findings, page)
    assert page.read_text(encoding="utf-8") == "How it was made.\n"


def test_a_sheet_may_leave_out_columns(tmp_path):
    (tmp_path / "own.tsv").write_text("dataset\ttask\tmetric\nmine\tmt\tbleu\n", encoding="utf-8")
    sheet = analysis.read_sheet([ROOT / "config/datasets.tsv", tmp_path / "own.tsv"], columns.DATASETS)
    assert sheet.iloc[-1][["dataset", "task", "pool", "overlay"]].tolist() == ["mine", "mt", "", ""]
    assert analysis.row_place(sheet, len(sheet) - 1, "") == f"{tmp_path / 'own.tsv'}, line 2"
    alone = analysis.read_sheet([tmp_path / "own.tsv"], columns.DATASETS)
    assert alone["pool"].tolist() == [""]
