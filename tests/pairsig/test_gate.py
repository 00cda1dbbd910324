"""The gate for releases: its verdicts, limits, error rates, formats and workflows."""

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.stats import beta, binomtest, multinomial

import pairsig
import simulate
from conftest import repetitions
from pairsig import cli
from pairsig.comparisons import gate, methods
from pairsig.core.statistics import Statistics
from pairsig.io.errors import InputError
from pairsig.metrics import registry
from pairsig.metrics.counts import average
from pairsig.planning import sample_size
from pairsig.stats import pass_fail

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests/data/evaluation_logs"


def given(metric, **systems):
    """Statistics of two systems, as the gate takes them."""
    metric = registry.metric(metric)
    arrays = {name: np.asarray(own) for name, own in systems.items()}
    if metric.name == "accuracy":
        arrays = {name: np.stack([own, np.ones_like(own)], axis=1) for name, own in arrays.items()}
    arrays = {name: own[:, None] if own.ndim == 1 else own for name, own in arrays.items()}
    return replace(Statistics.from_arrays(arrays, metric.columns), metrics=(metric,))


def items(won, lost, n):
    """Outcomes of a baseline and a candidate that alone passes `won` of n items, and alone fails `lost`."""
    new, old = simulate.items(won, lost, n)
    return {"old": old, "new": new}


def only(data, *margins, **options):
    (check,) = gate.gate([data], margins, **options).checks
    return check


def test_a_candidate_that_is_shown_to_be_better_is_not_worse():
    """On 20 segments, a loss too rare to be seen could be 14 points; the exact test finds no loss at all."""
    rng = np.random.default_rng(3)
    old = rng.integers(0, 50, 20)
    check = only(given("mean", old=old, new=old + 5), "1")
    assert (check.verdict, check.largest_loss) == ("passed", 0)
    assert check.pvalue_not_worse == pairsig.exact_test(old, old + 5, alternative="less").pvalue == 2**-20
    worse = only(given("mean", old=old + 5, new=old), "1")
    assert (worse.verdict, worse.pvalue_worse) == ("worse", 2**-20)


@pytest.mark.parametrize(
    ("won", "lost", "n", "margin", "verdict"),
    [(5, 5, 1000, 2, "passed"), (2, 30, 1000, 1, "worse"), (5, 9, 100, 1, "undecided"), (0, 0, 300, 1, "passed"),
     (0, 0, 298, 1, "undecided"), (0, 9, 3000, 1, "passed")],
)  # fmt: skip
def test_verdicts_on_items_that_pass_or_fail_follow_from_two_exact_tests(won, lost, n, margin, verdict):
    new, old = simulate.items(won, lost, n)
    check = only(given("accuracy", old=old, new=new), str(margin))
    assert check.pvalue_not_worse == pairsig.margin_test(old, new, margin, "b-not-worse", metric="accuracy").pvalue
    assert check.pvalue_worse == pytest.approx(
        binomtest(lost, won + lost, alternative="greater").pvalue if won + lost else 1
    )
    expected = "passed" if check.pvalue_not_worse < 0.05 else "worse" if check.pvalue_worse < 0.05 else "undecided"
    assert check.verdict == expected == verdict
    for step, shown in ((-0.01, False), (0.01, True)):  # the largest loss is the smallest margin that passes
        p = pairsig.margin_test(old, new, check.largest_loss + step, "b-not-worse", metric="accuracy").pvalue
        assert (p < 0.05) == shown


def test_the_largest_loss_of_other_scores_is_the_end_of_an_interval():
    rng = np.random.default_rng(1)
    old, new = rng.random((2, 400))
    data = given("mean", old=old, new=0.9 * new)
    check = only(data, "20%")
    interval = pairsig.difference_interval(0.9 * new, old, metric="mean", confidence_level=0.9)
    assert check.largest_loss == pytest.approx(-interval.low)
    assert check.verdict == "passed"
    beyond = only(data, str(check.largest_loss * 1.001))
    assert beyond.verdict == "passed"
    assert beyond.pvalue_not_worse == pytest.approx(0.05, rel=0.02)
    assert only(data, str(check.largest_loss * 0.999)).verdict != "passed"


@pytest.mark.parametrize(("n", "verdict"), [(298, "undecided"), (299, "passed")])
def test_the_same_outputs_pass_where_a_rare_loss_would_have_been_seen(n, verdict):
    """0.99²⁹⁸ > 0.05 > 0.99²⁹⁹, whatever the metric."""
    counts = np.tile([3, 4, 5], (n, 1))
    check = only(given("f1", old=counts, new=counts), "1")
    assert check.verdict == verdict
    assert check.pvalue_not_worse == pytest.approx(0.99**n)
    assert check.n_needed == (None if verdict == "passed" else 299)


def test_rare_disasters_do_not_pass_on_few_units():
    old = np.linspace(0.5, 0.99, 100)
    new = old + 0.001 * (-1) ** np.arange(100)
    assert only(given("mean", old=old, new=new), "1%").verdict == "undecided"
    assert only(given("mean", old=old, new=new), "5%").verdict == "passed"


def test_lower_is_better_is_the_mirror_image():
    rng = np.random.default_rng(4)
    old, new = rng.random((2, 60))
    better, worse = average("value"), average("value", higher_is_better=False)
    arrays = Statistics.from_arrays({"old": old[:, None], "new": new[:, None]}, ["value"])
    turned = Statistics.from_arrays({"old": 1 - old[:, None], "new": 1 - new[:, None]}, ["value"])
    one, other = (only(replace(data, metrics=(m,)), "5%") for data, m in ((arrays, better), (turned, worse)))
    for name in ("verdict", "n_needed"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("largest_loss", "pvalue_not_worse", "pvalue_worse"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))
    assert one.change == pytest.approx(-other.change)
    assert other.lower_is_better


@pytest.fixture
def verdicts_alone(monkeypatch):
    """Leave out what takes most of the time of a check, and does not change its verdict."""
    monkeypatch.setattr(gate._Score, "needed", lambda *_: None)
    # The largest loss: the end of its bracket that is the margin itself, from which on the verdict is another.
    monkeypatch.setattr("scipy.optimize.brentq", lambda _, low, high, **__: low if low > gate._STEP else high)


def test_all_scores_must_pass_and_worse_ones_are_adjusted_by_holm(verdicts_alone):
    def scores(*outcomes):
        return gate.gate(tasks([given("mean", **items(*own)) for own in outcomes]), ["3%"])

    good, bad, unclear = (4, 0, 150), (0, 6, 100), (2, 4, 100)
    assert scores(good, good).verdict == "passed"
    assert scores(good, unclear).verdict == "undecided"
    assert scores(unclear, bad).verdict == "worse"  # p = 1/64, and 2/64 with Holm
    four = scores(bad, unclear, unclear, unclear)
    assert four.verdict == "undecided"  # 4/64
    assert four.checks[0].pvalue_holm == pytest.approx(4 / 64)
    assert [scores(good).status, scores(bad).status, scores(unclear).status] == [0, 1, 3]


def tasks(data):
    """The statistics of several tasks, each metric called after its own."""
    return [replace(own, metrics=(replace(own.metrics[0], name=f"t{place}/acc"),)) for place, own in enumerate(data)]


def test_margins_are_chosen_by_score_task_and_metric():
    names = ["a/acc", "a/f1", "b/acc", "b/f1"]
    assert gate._margins(["1", "A=2", "f1=3", "b/f1=4"], names) == {
        "a/acc": "2", "a/f1": "2", "b/acc": "1", "b/f1": "4",
    }  # fmt: skip
    assert gate._margins(["1", "t=2"], ["t/match/first"]) == {"t/match/first": "2"}
    for margins, message in (
        (["c=1", "1"], "found a margin for 'c', expected one of a/acc, a"),
        (["1", "2"], "found two margins for all scores"),
        (["a=1"], "found no margin for b/acc, expected one: add --margin b/acc=M"),
    ):
        with pytest.raises(InputError, match=message):
            gate._margins(margins, names)
    data = given("accuracy", old=[0, 1, 1], new=[1, 1, 1])
    for margin in ("0", "-1", "x", "100", "1000%", "nan"):
        with pytest.raises(InputError, match="margin"):
            gate.gate([data], [margin])
    with pytest.raises(InputError, match="significance level"):
        gate.gate([data], ["1"], alpha=1.5)


@pytest.mark.parametrize("lower", [False, True])
def test_several_runs_are_compared_as_methods(lower):
    rng = np.random.default_rng(7)
    runs = {"old": rng.random((3, 80, 1)), "new": rng.random((4, 80, 1)) + (0.1 if lower else -0.1)}
    metric = average("value", higher_is_better=not lower)
    data = replace(Statistics.from_arrays(runs, ["value"]), metrics=(metric,))
    check = only(data, "0.3")
    row = methods.compare_runs(data, confidence_level=0.9).table.iloc[0]
    assert row["better"] == "old"
    assert check.largest_loss == pytest.approx(row["ci_high"])
    assert check.pvalue_worse == pytest.approx(row["pvalue_method"] / 2)
    assert check.verdict == "passed"
    assert only(data, "0.001").verdict == ("worse" if check.pvalue_worse < 0.05 else "undecided")


def of_four_runs(shift):
    """Runs of two systems, the candidate better by about `shift`, on 80 segments; and the row that compares them."""
    rng = np.random.default_rng(7)
    old, new = rng.normal(0, 0.02, (2, 4, 1, 1))
    runs = {"old": old + rng.random((4, 80, 1)), "new": new + shift + rng.random((4, 80, 1))}
    data = replace(Statistics.from_arrays(runs, ["value"]), metrics=(average("value"),))
    return data, methods.compare_runs(data, baseline="old", confidence_level=0.9).table.iloc[0]


def test_runs_that_are_shown_to_be_better_are_not_worse():
    """Half of the two-sided p-value is that of the better direction."""
    data, row = of_four_runs(0.06)
    assert row["pvalue_method"] / 2 < 0.05 < row["pvalue_method"]
    assert (only(data, "0.02").largest_loss, only(data, "0.02").verdict) == (0.0, "passed")


@pytest.mark.parametrize("shift", [0.02, 0.03])
def test_more_segments_leave_the_variance_of_training(shift):
    """V = S²/n + T; the reported number is the first with the power of one of the two claims."""
    data, row = of_four_runs(shift)
    check = only(data, "0.02")
    of_segments = 2 * (row["standard_error"] ** 2 - row["error_twice_segments"] ** 2)  # S²/n
    training = row["standard_error"] ** 2 - of_segments
    assert (check.verdict, training > 1e-4) == ("undecided", True)
    not_worse = sample_size.Design(claim="not-worse", margin=0.02, training=training)
    better = sample_size.Design(training=training, test=gate.find("randomization", None, "greater"))

    def power(n):
        return max(sample_size.power(80 * of_segments, n, check.change, design) for design in (not_worse, better))

    assert power(check.n_needed - 1) < 0.8 <= power(check.n_needed)


def test_runs_without_variance_show_neither_claim():
    data = Statistics.from_arrays({"old": np.ones((2, 3, 1)), "new": np.zeros((2, 3, 1))}, ["value"])
    for statistics in (data, data.select(systems=data.systems[2:] + data.systems[:2])):
        check = only(replace(statistics, metrics=(average("value"),)), "0.01")
        assert (check.verdict, check.pvalue_worse) == ("undecided", 0.5)
        assert check.largest_loss >= 1 - 0.05 ** (1 / 3)


def test_the_reported_number_of_segments_decides_with_the_planned_power():
    check = only(given("accuracy", **items(6, 8, 200)), "2")
    psi, delta = 14 / 200, -2 / 200
    spread = 1e4 * (psi - delta**2)
    powers = {
        n: max(
            sample_size.power(spread, n, 100 * delta, sample_size.Design(claim="not-worse", margin=2), passed=100),
            sample_size.power(spread, n, 1, sample_size.Design(test=gate.find("exact", None, "greater")), passed=100),
        )
        for n in (check.n_needed, int(0.8 * check.n_needed))
    }
    above, below = powers.values()
    assert below < 0.8 <= above + 0.01
    assert "probably decide" in str(gate.Gate(baseline="a", candidate="b", alpha=0.05, checks=(check,)))


HIGHER = ["--higher-is-better"]


STRANGE = "a<b>&\"'|`*_.txt"


def files(folder, old="1110", new="0001", names=("old.txt", "new.txt"), times=1):
    for name, outcomes in zip(names, (old, new), strict=True):
        (folder / name).write_text("\n".join(outcomes * times) + "\n")
    return [str(folder / name) for name in names]


def test_the_line_and_json_say_the_same(tmp_path, capsys):
    paths = files(tmp_path, "110", "110", names=("old.txt", STRANGE), times=50)
    written = tmp_path / "gate.json"
    words = ["gate", *paths, *HIGHER, "--margin", "2%"]
    assert cli.main([*words, "--output", str(written)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(written.read_text(encoding="utf-8"))
    name = STRANGE.removesuffix(".txt")
    assert (found["verdict"], found["status"], found["candidate"]) == ("passed", 0, name)
    assert [f"passed: {check['sentence']}" for check in found["checks"]] == [line]
    assert cli.main([*words, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == found


def test_an_assumed_direction_is_refused(tmp_path, capsys):
    """A gate that passes a candidate with more errors is worse than none."""
    assert cli.main(["gate", *files(tmp_path, times=5), "--margin", "2%"]) == 2
    message = capsys.readouterr().err
    assert "found score without a direction" in message
    commands = [line for line in message.splitlines() if line.startswith("pairsig gate")]
    verdicts = [cli.main(shlex.split(command)[1:]) for command in commands]
    assert verdicts == [0, 1]  # lower is better: the candidate has two losses less, of every four items


def test_bad_input_keeps_its_status(tmp_path, capsys):
    old, new = files(tmp_path)
    for words, message in (
        ([old, "--margin", "1%"], "expected two"),
        ([old, new, "--margin", "1%", "--reader", "nonsense"], "nonsense"),
        ([old, new, "--margin", "2"], "--margin 2%"),
    ):
        assert cli.main(["gate", *words, *HIGHER]) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        cli.main(["gate", old, new, "--margin", "1%", "--output", str(tmp_path / "gate.pdf")])
    assert stop.value.code == 2


# ---------------------------------------------------------------------------------------------------- error rates


def world(kind, n, loss, rng):
    """Counts of a baseline and a candidate that is worse by `loss`, a share, on the population."""
    if kind == "items":  # passed or failed
        apart = max(0.2, 1.2 * loss)
        draw, both = rng.random(n), rng.random(n) < 0.6
        lost, won = draw < (apart + loss) / 2, (draw >= (apart + loss) / 2) & (draw < apart)
        return given(
            "accuracy",
            old=np.where(lost | won, lost, both).astype(int),
            new=np.where(lost | won, won, both).astype(int),
        )
    if kind == "shares":
        shared, old, new = rng.beta(0.5, 0.5, n), rng.random(n), rng.random(n)
        return given("mean", old=(shared + old) / 2, new=(shared + new) / 2 * (1 - 2 * loss))
    if kind == "rare":  # the candidate loses everything on few units
        kept = rng.random(n) >= loss / 0.9
        return given("mean", old=np.full(n, 0.9), new=np.where(kept, 0.9 + 0.02 * (rng.random(n) - 0.5), 0.0))
    gold, skill = rng.integers(5, 40, n), rng.beta(8, 2, n)
    counts = [np.stack([rng.binomial(gold, skill * share), gold, gold], axis=1) for share in (1, 1 - loss / 0.8)]
    return given("f1", old=counts[0], new=counts[1])


def rates(kind, n, margin, loss, times, n_tasks=1, seed=0):
    """Shares of gates with each verdict."""
    rng = np.random.default_rng([seed, n, int(1000 * loss)])
    found = []
    for number in range(times):
        data = tasks([world(kind, n, loss, rng) for _ in range(n_tasks)])
        found.append(gate.gate(data, [f"{100 * margin:g}%"], n_resamples=199, rng=number).verdict)
    return {verdict: found.count(verdict) for verdict in gate.STATUS}


def at_least(k, n):
    """Lower limit of Clopper and Pearson (99.9 %) of a probability."""
    return float(beta.ppf(0.001, k, n - k + 1)) if k else 0.0


def test_error_rates_on_eight_items_that_pass_or_fail(verdicts_alone):
    """The probability of each of the 45 tables is known, and therefore that of each verdict."""
    n = 8
    verdicts = {
        (won, lost): only(given("accuracy", **items(won, lost, n)), "30").verdict
        for won in range(n + 1)
        for lost in range(n + 1 - won)
    }

    def chance(verdict, p_won, p_lost):
        tables = [table for table, found in verdicts.items() if found == verdict]
        shares = [p_won, p_lost, 1 - p_won - p_lost]
        return sum(multinomial.pmf([won, lost, n - won - lost], n, shares) for won, lost in tables)

    for apart in (0.3, 0.4, 0.6, 0.8, 1.0):
        assert chance("passed", (apart - 0.3) / 2, (apart + 0.3) / 2) <= 0.05
        assert chance("worse", apart / 2, apart / 2) <= 0.05
    assert chance("passed", 0.15, 0.15) > 0.2
    assert chance("worse", 0.0, 0.6) > 0.5


@pytest.mark.parametrize("kind", ["shares", "rare", "f1"])
def test_error_rates_on_ten_segments(kind, verdicts_alone):
    times = 40
    assert at_least(rates(kind, 10, 0.3, 0.3, times)["passed"], times) <= 0.05
    assert at_least(rates(kind, 10, 0.3, 0.0, times)["worse"], times) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["items", "shares", "rare", "f1"])
@pytest.mark.parametrize(("n", "margin"), [(10, 0.3), (50, 0.08), (500, 0.02)])
def test_error_rates(kind, n, margin, verdicts_alone):
    """At the margin the candidate passes in at most 5 % of cases (8 % where the test is approximate).

    If both are equal, it is called worse in at most 5 %.
    """
    times = repetitions(200)
    passed, worse = rates(kind, n, margin, margin, times)["passed"], rates(kind, n, margin, 0.0, times)["worse"]
    assert at_least(passed, times) <= (0.05 if kind == "items" else 0.08)
    assert at_least(worse, times) <= 0.05


@pytest.mark.slow
def test_error_rates_of_several_tasks(verdicts_alone):
    times = repetitions(150)
    worse = rates("f1", 50, 0.08, 0.0, times, n_tasks=4)["worse"]
    passed = rates("f1", 50, 0.08, 0.08, times, n_tasks=4)["passed"]
    assert at_least(worse, times) <= 0.05
    assert at_least(passed, times) <= 0.05


# ------------------------------------------------------------------------------------------------------- workflows

PAGE = (ROOT / "docs/gate.md").read_text(encoding="utf-8")


def test_the_workflows_run(tmp_path, monkeypatch, capsys):
    """Every workflow of the page is one, and its command gives a verdict on small files."""
    lines = ["id,correct", *(f"{number},{number % 3 > 0:d}" for number in range(60))]
    for name, model, log in (("baseline", "a", "strong"), ("candidate", "b", "weak")):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
        (tmp_path / name).symlink_to(LOGS / "lm_eval" / model)
        (tmp_path / f"{name}.eval").symlink_to(LOGS / f"inspect/{log}.eval")
    monkeypatch.chdir(tmp_path)
    found = []
    for workflow in map(yaml.safe_load, re.findall(r"```yaml\n(name:.*?)```", PAGE, re.DOTALL)):
        assert True in workflow  # `on`, which is true in YAML 1.1
        (job,) = workflow["jobs"].values()
        assert job["steps"][0]["uses"].startswith("actions/checkout@")
        (command,) = (step["run"] for step in job["steps"] if "pairsig gate" in step.get("run", ""))
        found.append(cli.main(shlex.split(command)[1:]))
        assert json.loads((tmp_path / "gate.json").read_text())["status"] == found[-1]
        (tmp_path / "gate.json").unlink()
    assert found == [1, 3, 0]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq, which GitHub's machines have, is not installed")
def test_the_comment_has_a_line_for_each_score(tmp_path, capsys):
    """The command of the page, with another program to post what it writes."""
    (step,) = yaml.safe_load(re.search(r"```yaml\n( +- if: always.*?)```", PAGE, re.DOTALL)[1])
    command, _, post = step["run"].partition(" | gh pr comment ")
    assert post.endswith("--body-file -")
    paths = files(tmp_path, names=("old.txt", STRANGE), times=5)
    assert cli.main(["gate", *paths, *HIGHER, "--margin", "2%", "--output", str(tmp_path / "gate.json")]) == 1
    printed = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    (line,) = printed.stdout.splitlines()
    assert line == f"- {capsys.readouterr().out.strip()}".replace("worse:", "worse,", 1)


def test_a_better_candidate_needs_no_more_segments_than_show_that_it_is_better():
    """The rule of three would ask for 299 segments, for a margin of 1 %; winning 8 of 11 differences passes earlier."""
    check = only(given("accuracy", **items(8, 3, 60)), "1")
    assert check.verdict == "undecided"
    power = pass_fail.Difference(11 / 60, 5 / 60, 0.05, sides=1).power
    assert power(check.n_needed) >= 0.8
    assert check.n_needed < 299
    assert power(int(0.8 * check.n_needed)) < 0.8


def test_with_several_scores_more_segments_are_needed_to_show_that_one_is_worse():
    """Holm's adjustment: with two scores, the first p-value is compared with half of alpha."""
    outcomes = items(8, 15, 100)
    alone = only(given("accuracy", **outcomes), "1")
    counts = {name: np.stack([own, np.ones_like(own)], axis=1) for name, own in outcomes.items()}
    data = Statistics.from_arrays(counts, ("correct", "total"))
    metrics = [replace(registry.metric("accuracy"), name=name) for name in ("one", "two")]
    both = gate.gate([replace(data, metrics=tuple(metrics))], ["1"]).checks[0]
    assert (alone.verdict, both.verdict) == ("undecided", "undecided")
    power = [
        pass_fail.Difference(23 / 100, 7 / 100, alpha, sides=1).power(check.n_needed)
        for alpha, check in ((0.05, alone), (0.025, both))
    ]
    assert min(power) >= 0.8 - 1e-9
    assert both.n_needed > 1.15 * alone.n_needed
