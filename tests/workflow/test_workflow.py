"""The workflow as its users run it: in a process of its own, in a folder of its own."""

import re
import sys
import zipfile

import pandas as pd
import pytest
import yaml

import simulate
from conftest import clone, own_code, worked_example
from pairsig.core import statistics
from pairsig.io import tables
from planning import Planner
from running import BIN, ROOT, jobs, run, snakemake


@pytest.fixture
def small(project):
    """A study of simulated systems: two datasets and a pool of them, every kind of test set."""
    (project / "resources").unlink()
    (project / "resources" / "statistics").mkdir(parents=True)
    (project / "resources" / "overlaps.tsv").symlink_to(ROOT / "resources" / "overlaps.tsv")
    for seed, name in enumerate(("alpha", "beta")):
        made = simulate.statistics("bleu", n_systems=12, n_segments=150, n_groups=4, seed=seed, dataset=name)
        statistics.write(made, project / "resources" / "statistics" / f"{name}.parquet")
    sheets = {
        "datasets": [
            "dataset task metric corpus pool test_sets figures",
            "alpha mt bleu made . initial=50,100;halves=1 gain_confidence;sizes;figure_4;figure_9",
            "beta mt bleu made . . gain_confidence;correlation",
            "both mt bleu . alpha;beta domain_size=100;draws=2;draw_size=50 domains",
        ],
        "systems": ["dataset system output", *(f"{d} s{i} {d}-{i}.txt" for d in ("alpha", "beta") for i in range(2))],
        "corpora": ["corpus url sha256 licence citation", f"made https://example.org {'0' * 64} CC0 none"],
        "calibrations": [
            "calibration distance on_dataset on_test_set against_dataset against_test_set",
            "simulated iid both draw-* both whole",
            "simulated near alpha half-1 alpha half-2",
            "simulated far alpha whole beta whole",
        ],
        "families": ["family about dataset test_set compared", "one simulated alpha;beta whole all"],
    }
    for name in ("training_sets", "base_models"):  # nothing is retrained
        (project / "config" / f"{name}.yaml").write_text("", encoding="utf-8")
    for name, lines in sheets.items():
        rows = [line.replace(" ", "\t").replace(".\t", "\t").replace(";", " ") for line in lines]
        (project / "config" / f"{name}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return project


@pytest.mark.data
@pytest.mark.slow
def test_dry_run_of_the_derivation(project, data_dir):
    printed = snakemake("--dry-run", "--config", "source=derived", f"data_dir={data_dir}", cwd=project)
    planned = jobs(printed)
    sheet = pd.read_csv(ROOT / "config" / "datasets.tsv", sep="\t")
    assert planned["fetch"] == sheet.query("study != 'synthetic'")["corpus"].nunique()
    assert planned["extract"] > 900
    assert planned["count"] == (sheet["study"] == "benchmark").sum()
    assert planned["collect"] == (sheet.query("pool.isna()")["study"] == "natural").sum()


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    """Plans of one project, from one process that has imported Snakemake."""
    with Planner(clone(tmp_path_factory.mktemp("project"))) as planner:
        yield planner


def test_a_mistake_in_a_sheet_stops_before_any_job(planner):
    sheet = planner.project / "config" / "datasets.tsv"
    shipped = sheet.read_text(encoding="utf-8")
    sheet.write_text(shipped.replace("\tmetric\t", "\tmetrics\t"), encoding="utf-8")
    printed = planner.run("--dry-run", status=1)
    sheet.write_text(shipped, encoding="utf-8")
    assert "config/datasets.tsv, line 1: found the column 'metrics'" in printed
    assert "Traceback" not in printed
    assert not (planner.project / "results").exists()


@pytest.mark.parametrize("heading", ["Your own systems", "Your own base model"])
def test_the_rows_of_the_worked_examples_are_in_the_sheets_that_they_name(heading):
    blocks, command, _ = worked_example(heading)
    named = yaml.safe_load((ROOT / "config/own.yaml").read_text(encoding="utf-8"))["own_sheets"].values()
    sheets = "".join((ROOT / path).read_text(encoding="utf-8") for path in named)
    assert "--configfile config/own.yaml" in command
    for block in blocks:
        assert set(block.splitlines()) <= set(sheets.splitlines())


@pytest.mark.slow
def test_the_worked_example_of_the_readme(project):
    _, command, promised = worked_example("Your own systems")
    assert len(promised) == 2
    own_code(project)
    study = project / "results" / "site" / "index.html"
    study.parent.mkdir(parents=True)
    study.write_text("the study's", encoding="utf-8")
    run("bash", "-e", "-c", command, cwd=project)
    for path in promised:
        assert (project / path).stat().st_size > 0
    page = (project / promised[0]).read_text(encoding="utf-8")
    answer = re.search(r'<p class="standfirst">(.*?)</p>', page).group(1)
    assert "tuned" in answer
    assert "of 3 differences" in answer
    assert (project / "results/figures/gain_confidence/example.bootstrap.svg").stat().st_size > 0
    # The pages of the study stay, and none of its analyses runs.
    assert study.read_text(encoding="utf-8") == "the study's"
    made = {path.name for path in (project / "results").iterdir()}
    assert made == {"site", "pages", "figures", "comparisons", "statistics", "counts", "logs", "benchmarks"}
    compared = tables.read(project / promised[1])
    assert len(compared) == 3
    best = compared.loc[compared["gain"].idxmax()]
    assert (best["system_a"], best["system_b"]) == ("tuned", "other")
    assert compared["same_group"].sum() == 1
    # An edit of the code that compares plans the comparisons again, but not the counts.
    with (project / "src/pairsig/core/random_streams.py").open("a", encoding="utf-8") as module:
        module.write("# edited\n")
    again = f"{command} -- {promised[1]}".replace("snakemake", "snakemake --dry-run")
    assert jobs(run("bash", "-e", "-c", again, cwd=project)) == {"compare": 1, "total": 1}


@pytest.mark.slow
def test_exact_tests_draw_where_they_have_to(project):
    """Asked for in the config they are instead of those that draw, cut into parts or not; every table says it."""
    (project / "exact.yaml").write_text(
        "tests: {exact-bootstrap: {method: shifted, alternative: observed}}\n"
        "datasets: [conll2018-ko_kaist, realsumm]\nresampling: {n_resamples: 300}\n",
        encoding="utf-8",
    )
    wanted = [f"results/comparisons/{name}.exact-bootstrap.parquet" for name in ("conll2018-ko_kaist", "realsumm")]
    thresholds = "results/tables/thresholds.tsv"
    snakemake("--configfile", "exact.yaml", "--set-scatter", "resamples=2", "--", *wanted, thresholds, cwd=project)
    exact, drawn = (tables.read(project / path) for path in wanted)
    assert (set(exact["test"]), set(drawn["test"])) == ({"exact-bootstrap"}, {"bootstrap"})
    assert (set(exact["n_resamples"]), set(drawn["n_resamples"])) == ({0}, {300})
    tests = tables.read(project / thresholds).groupby("dataset")["test"].unique()
    assert (tests["conll2018-ko_kaist"], tests["realsumm"]) == ("exact-bootstrap", "bootstrap")


@pytest.mark.slow
def test_a_small_study_from_end_to_end(small):
    few = "resampling: {n_resamples: 200}\nfigure_formats: [svg, pdf]\n"
    (small / "few.yaml").write_text(few, encoding="utf-8")
    settings = ["--configfile", "few.yaml"]
    snakemake(*settings, cwd=small)
    results = small / "results"
    compared = tables.read(results / "comparisons" / "both.bootstrap.parquet")
    assert len(compared) == 12 * 11 / 2
    assert set(compared["n_segments"]) == {300}
    assert set(compared["n_resamples"]) == {200}
    resized = pd.concat(tables.read(results / "test_sets" / f"{name}.bootstrap.parquet") for name in ("alpha", "both"))
    assert set(resized["test_set"]) == {
        *("first-50", "first-100", "half-1", "half-2"),
        *("draw-1", "draw-2", "alpha-first-100", "beta-first-100"),
    }  # fmt: skip
    calibration = tables.read(results / "tables" / "calibration.tsv")
    assert set(calibration["distance"]) == {"iid", "near", "far"}
    (one,) = tables.read(results / "tables" / "heterogeneity.tsv").to_dict("records")
    assert (one["n_test_sets"], one["n_pairs"], one["verdict"]) == (2, 66, "not validated")
    reproduction = tables.read(results / "tables" / "reproduction.tsv").set_index("item")
    assert "not comparable" in set(reproduction["verdict"])
    assert reproduction.loc["exact-seconds", "verdict"] != "not comparable"  # it was timed
    figures = (
        "overview size_scaling table_1 figure_4 figure_9 thresholds relative_error run_time next_test_sets documents "
        "leaderboards sizes/alpha.bootstrap domains/both.bootstrap"
    )
    for figure in figures.split():
        for suffix in ("svg", "pdf"):
            assert (results / "figures" / f"{figure}.{suffix}").stat().st_size > 0

    pages = {path.relative_to(results / "site").as_posix() for path in (results / "site").rglob("*.html")}
    assert {"index.html", "explorer.html", *(f"datasets/{name}.html" for name in ("alpha", "beta", "both"))} <= pages
    assert "200 resamples" in (results / "site" / "index.html").read_text(encoding="utf-8")

    assert "Nothing to be done" in snakemake(*settings, cwd=small)
    snakemake("--report", "results/report.zip", *settings, cwd=small)
    with zipfile.ZipFile(results / "report.zip") as report:
        page = next(name for name in report.namelist() if name.endswith("report.html"))
        assert b"200 resamples" in report.read(page)

    before = (results / "comparisons" / "alpha.bootstrap.parquet").read_bytes()
    (results / "comparisons" / "alpha.bootstrap.parquet").unlink()
    snakemake(*settings, "--forcerun", "resize", cwd=small)
    assert (results / "comparisons" / "alpha.bootstrap.parquet").read_bytes() == before

    # Cut into parts, it gives the same bytes.
    tested = {path: path.read_bytes() for name in ("comparisons", "test_sets") for path in (results / name).iterdir()}
    for path in tested:
        path.unlink()
    printed = snakemake(
        *settings, "--set-scatter", "resamples=3", "--", *(str(path.relative_to(small)) for path in tested), cwd=small
    )
    planned = jobs(printed)
    assert planned["compare_part"] + 2 * planned["resize_part"] == 3 * planned["merge"] == 3 * len(tested)
    assert {path: path.read_bytes() for path in tested} == tested


def own_systems(project, n):
    """Let a run in the project consist of one dataset of n systems."""
    (project / "mine").mkdir(exist_ok=True)
    outputs = [project / "mine" / f"{name}.txt" for name in ("reference", *range(n))]
    for path in outputs:
        path.write_text("a b c d\n", encoding="utf-8")
    sheets = {
        "datasets": ["dataset task metric reader reference study", "many mt bleu text mine/reference.txt natural"],
        "systems": ["dataset system output", *(f"many s{number} mine/{number}.txt" for number in range(n))],
    }
    for name, lines in sheets.items():
        text = "\n".join(line.replace(" ", "\t") for line in lines)
        (project / "mine" / f"{name}.tsv").write_text(text + "\n", encoding="utf-8")
    (project / "mine.yaml").write_text(
        "datasets: [many]\nown_sheets: {datasets: mine/datasets.tsv, systems: mine/systems.tsv}\n", encoding="utf-8"
    )


@pytest.mark.slow
def test_planning_takes_time_in_proportion_to_the_number_of_systems(project):
    """The cost is counted in calls of functions, which every machine has the same."""
    calls = []
    for n in (250, 500, 1000):
        own_systems(project, n)
        plan = ("--dry-run", "--quiet", "all", "--configfile", "mine.yaml")
        printed = run(sys.executable, "-m", "cProfile", BIN / "snakemake", *plan, cwd=project)
        calls.append(int(re.search(r"(\d+) function calls", printed)[1]))
    assert (calls[2] - calls[1]) / (calls[1] - calls[0]) < 2.2


def test_scores_in_a_table_are_counted_and_compared(project):
    """Without a corpus, without outputs and without figures; the sums are those of the lines."""
    wanted = ("results/statistics/example-scores.parquet", "--configfile", "config/own.yaml")
    snakemake(*wanted, "--config", "datasets=[example-scores]", cwd=project)
    made = statistics.read(project / wanted[0])
    assert made.systems == ("baseline", "tuned", "other")
    lines = (project / "config/example/scores.tsv").read_text(encoding="utf-8").splitlines()
    right = [sum(line.startswith(f"{name}\t") and line.endswith("\t1") for line in lines) for name in made.systems]
    assert made.counts.sum(axis=1).tolist() == [[number, 40] for number in right]


@pytest.mark.parametrize(("chosen", "own"), [("[example, example-scores]", True), ("[example, realsumm]", False)])
def test_only_a_run_without_a_dataset_of_the_study_leaves_its_pages_alone(planner, chosen, own):
    own_sheets = ("--configfile", "config/own.yaml", "--config", f"datasets={chosen}")
    planned = jobs(planner.run("--dry-run", *own_sheets))
    assert planned.get("page") == (2 if own else None)
    assert planned.keys().isdisjoint({"site", "findings", "race", "leaderboards", "check"}) == own
