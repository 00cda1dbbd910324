"""Comparisons of one system with others, all tests and metrics in one table: the first system, or a baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core import definitions
from pairsig.core.definitions import Test, find
from pairsig.core.engine import Progress, Resampling
from pairsig.core.influence import design_effect, errors_and_correlations, influence_values
from pairsig.core.statistics import Statistics, unused_documents
from pairsig.io import rendering
from pairsig.io.choices import choose, once
from pairsig.io.columns import BASELINE
from pairsig.io.errors import InputError, listed, quoted
from pairsig.io.packages import pd
from pairsig.io.tables import Row, records
from pairsig.metrics import Metric, Ratio
from pairsig.stats import intervals, kernels, near_exact, studentized
from pairsig.stats.exact import ExactResult, TooManyValuesError
from pairsig.stats.multiple_testing import benjamini_hochberg, holm
from pairsig.stats.paired import Pair, Unit
from pairsig.stats.resampling import TestResult
from pairsig.stats.results import Result

if TYPE_CHECKING:
    from pairsig.planning.sample_size import Amount

ADJUSTMENTS = {"pvalue_holm": holm, "pvalue_bh": benjamini_hochberg}
"""Columns of p-values adjusted for the number of systems, and what adjusts them."""

COLUMNS = BASELINE.names
"""Columns of the table."""

OVERLAP = (
    "the intervals of two scores may overlap although A − B is significant: both systems were scored on the same "
    "segments, and only the interval of A − B shows whether they differ"
)
"""What intervals of scores do not show."""

ENOUGH_DOCUMENTS = 15
"""With fewer documents their effect on the standard error is not reported: its relative error would exceed a fifth."""


def compare_with_one(
    statistics: Statistics,
    metrics: Sequence[Metric],
    tests: Sequence[str] = (),
    *,
    baseline: str | None = None,
    methods: Sequence[str] = (),
    alternatives: Sequence[str] = (),
    resampling: Resampling,
    unit: Unit = "segment",
    stop_at: tuple[float, float] | None = None,
    margin: Amount | None = None,
    family: str = "",
    score_intervals: bool = False,
    progress: Progress | None = None,
) -> tuple[list[Row], list[str]]:
    """Compare the first system with every other, or every other with the baseline: table `BASELINE`, and notes.

    System A of a row is the first system, and B another; with `baseline`, the name of a system, A is another and B the
    baseline. Differences are score(A) − score(B), and with "greater", A is expected to have the greater score. Every
    test is done with every method that it has (default: shifted) and every alternative (default: two-sided). The
    default test is the exact one or, where a metric and these systems have none that takes seconds, randomization.

    With `stop_at`, (alpha, confidence level), bootstrap and randomization stop once p is clearly on one side of alpha,
    see `sequential_test`; `pvalue_low` and `pvalue_high` are then its confidence sequence, and `significant` is missing
    if the resamples did not suffice. A `margin`, in the unit of the scores or as a percentage, adds three rows for
    every metric and system, one per claim of `margin_test`. With a `family` of test sets, notes predict who wins on its
    next test set. With `score_intervals`, each score has its own interval, too.

    Returns
    -------
    One row per metric, system and test. The interval of a two-sided test excludes 0 exactly if p < 0.05. An exact p is
    rounded to its certain digits. The notes of a row are caveats, the most important one first; the other notes are
    about named tests that do not exist for a metric.
    """
    if family:
        from pairsig.planning import heterogeneity

        heterogeneity.known_family(family)
    documents = statistics.documents_if(unit)
    if stop_at is not None:
        from pairsig.stats import sequential

        sequential.check_levels(*stop_at)
    planned = _planned(tests, methods, alternatives)
    once([metric.name for metric in metrics], "metric")
    if not metrics:
        raise InputError("found no metric, expected at least one")
    if len(statistics.systems) < 2:
        raise InputError("found one system, expected at least two to compare")

    place = {name: row for row, name in enumerate(statistics.systems)}
    pairs = pairs_with_one(statistics.systems, baseline)
    rows: list[Row] = []
    notes: list[str] = []
    for metric in metrics:
        counts = statistics.of(metric)
        for name_a, name_b in pairs:
            pair = Pair(metric, counts[[place[name_a], place[name_b]]], documents)
            interval = intervals.signed(pair)
            of_units, of_next_test_set = unused(pair, statistics.documents), _elsewhere(pair, family)
            cells = _cells(pair, interval, name_a, name_b, score_intervals)
            run = partial(kernels.run, pair, resampling=resampling, stop_at=stop_at, progress=progress)
            results, refused = _tested(pair, run, planned, f"{name_a} and {name_b}" if tests else "")
            notes += refused
            if margin is not None:
                results += _against(pair, margin, name_a, name_b)
            for note, result in results:
                about_p = _pvalue(result, stop_at)
                shown = kernels.interval(result, interval, about_p["pvalue"])
                caveats = [OVERLAP * score_intervals, of_units, interval.doubt, note, *of_next_test_set]
                rows.append(
                    dict.fromkeys(COLUMNS)
                    | cells
                    | {
                        "test": result.test,
                        "method": result.method,
                        "alternative": result.alternative,
                        **_ends("ci", shown.low, shown.high),
                        "margin": getattr(result, "margin", None),
                        "signature": _signed(result.signature, statistics.provenance.get("missing", "")),
                        "notes": list(filter(None, caveats)),
                    }
                    | about_p
                )
    if not rows:
        raise InputError(notes[0])
    return adjust(rows), list(dict.fromkeys(notes))


def _cells(pair: Pair, interval: intervals.Interval, name_a: str, name_b: str, score_intervals: bool) -> Row:
    """The cells of a row that are the same for all tests of a pair."""
    score_a, score_b = (float(score) for score in pair.scorer.scores)
    ends_a, ends_b = intervals.of_scores(pair.units, pair.metric) if score_intervals else [(math.nan, math.nan)] * 2
    only_a, only_b = intervals.right_alone(pair) or (None, None)
    return {
        "metric": pair.metric.name,
        "system_a": name_a,
        "system_b": name_b,
        "score_a": score_a,
        "score_b": score_b,
        **_ends("score_a", *ends_a),
        **_ends("score_b", *ends_b),
        "better": {"a": name_a, "b": name_b, None: ""}[pair.better],
        "difference": pair.statistic,
        "n_segments": pair.n_segments,
        "n_units": interval.n_units,
        "n_different": pair.n_different,
        "only_a": only_a,
        "only_b": only_b,
    }


def _tested(
    pair: Pair, run: Callable[[Test], TestResult | ExactResult], planned: Sequence[Test], named: str
) -> tuple[list[tuple[str, Result]], list[str]]:
    """The result of each test with a caveat, and notes on those that do not exist for this pair.

    `named` are the systems, if the user named the tests: tests that do not exist are then noted, or done by drawing.
    """
    results: list[tuple[str, Result]] = []
    notes: list[str] = []
    for test in planned:
        try:
            tested = run(test)
        except InputError as error:
            if not test.exact:
                raise
            if named and (test.drawn in planned or not isinstance(error, TooManyValuesError)):
                notes.append(str(error))
                continue
            if named:
                notes.append(f"{named} were tested by {test.drawn.label}: {error}")
            tested = run(test.drawn)
        doubt = tested.doubt if isinstance(tested, ExactResult) else ""
        results.append((doubt or test.warning or studentized.warning(pair, test), tested))
    return results, notes


def _against(pair: Pair, margin: Amount, name_a: str, name_b: str) -> list[tuple[str, Result]]:
    """The result of each claim about the margin, with what it means."""
    from pairsig.planning.sample_size import best_score, in_unit
    from pairsig.stats import margins

    points = in_unit(margin, "margin", best_score(pair)) if isinstance(margin, str) else margin
    shown = (margins.against(pair, points, claim) for claim in margins.CLAIMS)
    return [(result.says(name_a, name_b), result) for result in shown]


def _ends(name: str, low: float, high: float) -> Row:
    """The cells of an interval, which are missing if there is none."""
    return {f"{name}_{end}": None if math.isnan(value) else value for end, value in (("low", low), ("high", high))}


def pairs_with_one(systems: Sequence[str], baseline: str | None = None) -> list[tuple[str, str]]:
    """System A and B of each comparison: the first system and every other, or every other and the baseline.

    A difference is always score(A) − score(B), the score of the system that is named first minus that of the other, as
    in scipy. A declared baseline is B, so that a difference shows what a system adds to it.

    >>> pairs_with_one(["x", "y", "z"]), pairs_with_one(["x", "y", "z"], baseline="x")
    ([('x', 'y'), ('x', 'z')], [('y', 'x'), ('z', 'x')])
    """
    if baseline is None:
        first, *others = systems
        return [(first, other) for other in others]
    choose(baseline, systems, "baseline")
    return [(other, baseline) for other in systems if other != baseline]


def n_drawn(
    statistics: Statistics,
    metrics: Sequence[Metric],
    tests: Sequence[str],
    methods: Sequence[str] = (),
    alternatives: Sequence[str] = (),
) -> int:
    """Number of Monte Carlo tests that `compare_with_one` does, if every ratio of counts gets its exact test."""
    planned = _planned(tests, methods, alternatives)
    inexact = 0 if tests else sum(not isinstance(metric.function, Ratio) for metric in metrics)
    drawn = sum(not test.exact for test in planned) * len(metrics) + len(planned) * inexact
    return drawn * (len(statistics.systems) - 1)


def _planned(tests: Sequence[str], methods: Sequence[str], alternatives: Sequence[str]) -> list[Test]:
    """Every test with each of the methods that it has, or its default, and with each alternative."""
    for test in tests:
        choose(test, definitions.names(), "test")
    once(tests, "test")
    tests = tests or [definitions.DEFAULT_TEST]
    known = list(dict.fromkeys(chain.from_iterable(definitions.methods(test) for test in tests)))
    for method in filter(None, methods):
        if not known:
            choice = [name for name in definitions.names() if definitions.methods(name)]
            raise InputError(
                f"found the method {quoted(method)}, expected none for the test {listed(tests)}: only {listed(choice)} "
                "have methods"
            )
        choose(method, known, "method:")
    once(methods, "method")
    for alternative in alternatives:
        choose(alternative, definitions.alternatives(tests[0]), "alternative:")
    once(alternatives, "alternative")
    planned = []
    for test in tests:
        planned += [find(test, *choice) for choice in product(_methods_of(test, methods), alternatives or ("",))]
    return planned


def _methods_of(test: str, methods: Sequence[str]) -> list[str]:
    """Those of the methods that a test has; else its default."""
    chosen = [method for method in methods if method in (*definitions.methods(test), definitions.default_method(test))]
    return chosen or [definitions.default_method(test)]


def _signed(signature: str, missing: str) -> str:
    """The signature, with what was done with items without a score."""
    settings, version = signature.rsplit("|", 1)
    return f"{settings}|missing:{missing}|{version}" if missing else signature


def unused(pair: Pair, documents: NDArray[np.str_]) -> str:
    """A warning if the documents of the segments are known and were not used; else nothing."""
    description = unused_documents(documents) if pair.documents is None else ""
    if not description:
        return ""
    if len(np.unique(documents)) >= ENOUGH_DOCUMENTS:
        contributed = influence_values(pair.segments, pair.metric)
        effect = float(design_effect(contributed, documents, np.array([[0, 1]]))[0])
        if math.isfinite(effect):
            description += (
                f"; with documents as units the standard error of the gain is {math.sqrt(effect):.2f} times as large"
            )
    return f"{description} (--unit document)"


def _elsewhere(pair: Pair, family: str) -> list[str]:
    """Sentences on the next test set of a family, if one is named and the systems differ."""
    if not family:
        return []
    positions = np.array([[0, 1]])
    by_unit, by_segment = (
        float(errors_and_correlations(counts, pair.metric, positions)[0][0]) for counts in (pair.units, pair.segments)
    )
    if by_segment == 0:
        return []
    from pairsig.planning import heterogeneity

    return heterogeneity.elsewhere(
        abs(pair.difference), (by_unit, by_segment), pair.n_segments, pair.metric.name, family
    )


def _pvalue(result: Result, stop_at: tuple[float, float] | None) -> dict[str, Any]:
    """The cells about the p-value, and about the decision with `stop_at`."""
    p = low = high = result.pvalue
    cells: dict[str, Any] = {
        "significant": None,
        "estimator": "",
        "log10_pvalue": math.log10(p) if p > 0 else -math.inf,
    }
    if isinstance(result, TestResult):
        low, high = result.pvalue_low, result.pvalue_high
        cells |= {"n_resamples": result.n_resamples, "n_greater": result.n_greater, "n_equal": result.n_equal}
        if result.estimator != near_exact.PLAIN or not math.isnan(result.disagreement):
            cells |= {"estimator": result.estimator, "disagreement": result.disagreement}
    elif isinstance(result, ExactResult):
        p, log10_p, error = result.pvalue, result.log10_pvalue, result.error_bound
        if not result.doubt:  # the middle of two bounds is rounded already
            p, log10_p, error = certain(p, log10_p, error)
        low, high = p * (1 - error), min(p * (1 + error), 1.0)
        cells |= {"log10_pvalue": log10_p, "error_bound": error}
    if stop_at is not None:
        alpha, level = stop_at
        cells |= {"alpha": alpha, "confidence_level": level}
        if hasattr(result, "significant"):
            cells["significant"] = result.significant
        elif not low < alpha <= high:
            cells["significant"] = high < alpha
    return cells | {"pvalue": p, "pvalue_low": low, "pvalue_high": high}


def certain(p: float, log10_p: float, error: float) -> tuple[float, float, float]:
    """Round a p-value, its logarithm and the bound on its relative error to the digits that the bound makes certain.

    Further digits differ between processors. The rounded numbers agree, unless p is within its error of a number at
    which rounding changes.

    >>> certain(0.0123456789123456, -1.908485018, 3e-11)
    (0.01234567891, -1.908485018, 6e-10)
    >>> certain(0.25, -0.6020599913279624, 0.0)
    (0.25, -0.6020599913279624, 0.0)
    """
    if error == 0:
        return p, log10_p, 0.0
    digits = max(1, math.floor(-math.log10(error)))  # the error is at most 10⁻ᵈ of p, rounding to d digits 5·10⁻ᵈ
    return float(f"{p:.{digits - 1}e}"), round(log10_p, digits), float(f"6e-{digits}")


def render(table: pd.DataFrame | Sequence[Row], format: str, *, details: bool = True) -> str:  # noqa: A002
    """Render the table of `compare_with_one` as `table` (for a terminal), `markdown` or `latex`.

    The notes of its rows are printed below it, in LaTeX as comments, without `details` at most `SHOWN`; in Markdown and
    LaTeX the signatures follow.
    """
    table = records(table)
    a, b = (list(dict.fromkeys(row[side] for row in table)) for side in ("system_a", "system_b"))
    headings = {"score_a": f"A: {a[0]}"} if len(a) == 1 else {"system_a": "A", "score_a": "score"}
    headings |= {"score_b": f"B: {b[0]}"} if len(b) == 1 else {"system_b": "B", "score_b": "score"}
    of_pair = {"metric": "", "n_units": "n"} | headings | {"difference": "A − B [95 %]"}
    alone = {"only_a": "", "only_b": ""} if any(row["only_a"] is not None for row in table) else {}
    columns = BASELINE.view(**of_pair, **alone, test="", pvalue="")
    falls = {row["metric"] for row in table if lower_is_better(row, row["system_b"])}
    rows = [
        row
        | {
            "metric": row["metric"] + " ↓" * (row["metric"] in falls),  # lower is better
            "difference": _with_interval(row),
            "test": label(row["test"], row["method"], row["alternative"]),
            "pvalue": shown_p(row),
            "pvalue_holm": adjusted,
            "significant": {True: "yes", False: "no"}.get(row["significant"], "undecided"),
        }
        for row, adjusted in zip(table, shown_adjusted(table), strict=True)
    ]
    if table[0]["alpha"] is not None:
        columns[-1:] = BASELINE.view(
            pvalue=f"p [{100 * table[0]['confidence_level']:g} %]", significant=f"p < {table[0]['alpha']:g}"
        )
    if any(row["n_compared"] > 1 for row in table):
        columns += BASELINE.view(pvalue_holm="")
    notes = footnotes(table) if details else most_important(footnotes(table))
    signatures = [row["signature"] for row in table]
    return rendering.render(rows, columns, format, notes=notes, signatures=signatures, once=len(of_pair))


def lower_is_better(row: Any, b: str) -> bool:
    """Whether the better of two systems, of which `b` is the second, has the lower score."""
    return bool(row["better"]) and (row["better"] == b) == (row["score_b"] < row["score_a"])


def _with_interval(row: Row) -> str:
    shown = rounded(row["difference"], 2)
    return shown if row["ci_low"] is None else f"{shown} [{rounded(row['ci_low'], 2)}, {rounded(row['ci_high'], 2)}]"


def rounded(value: float, places: int) -> str:
    """A number with decimals; one that is not 0 never looks like 0, because an interval may end just beside it.

    >>> rounded(-1.234, 2), rounded(0.0004, 2), rounded(0.0, 2)
    ('−1.23', '0.0004', '0.00')
    """
    text = f"{value:.{places}f}" if value == 0 or round(value, places) else f"{value:.1g}"
    return text.replace("-", "−")


SHOWN = 2
"""Number of notes that are shown without `--details`."""


def most_important(notes: Sequence[str]) -> list[str]:
    """The first notes, and how many more there are."""
    left = len(notes) - SHOWN
    return [*notes[:SHOWN], *([f"{left} more note{'s' * (left > 1)}: --details"] if left > 0 else [])]


def shown_adjusted(table: pd.DataFrame | Sequence[Row]) -> list[str]:
    """The p-values adjusted by Holm as text; imprecise ones, and 0, are shown as an upper bound."""
    rows = records(table)
    return [
        below(bound) if row["pvalue_holm"] == 0 or _is_rough(row) else f"{row['pvalue_holm']:.3g}"
        for row, bound in zip(rows, _adjusted(rows, "pvalue_high", holm), strict=True)
    ]


def decisive(table: pd.DataFrame | Sequence[Row]) -> list[float]:
    """The p-values adjusted by Holm to compare with a level; 0 is replaced by its upper bound."""
    rows = records(table)
    bounds = _adjusted(rows, "pvalue_high", holm)
    return [row["pvalue_holm"] or bound for row, bound in zip(rows, bounds, strict=True)]


def _is_rough(row: Row) -> bool:
    """Whether drawing stopped before p was precise."""
    return row["n_resamples"] is not None and row["confidence_level"] is not None


def below(bound: float) -> str:
    """The text "< bound" with three digits; the bound 0 stands for exact p-values that are too small for a float."""
    return f"< {_outward(bound, ROUND_CEILING) if bound > 0 else '1e-300'}"


def label(test: str, method: str, alternative: str) -> str:
    """The label of a test in printed tables."""
    return f"margin {alternative}" if test == "margin" else find(test, method, alternative).label


def footnotes(table: pd.DataFrame | Sequence[Row]) -> list[str]:
    """Every note once, with the metrics and systems that it is about unless these are all."""
    rows = records(table)
    several = len({(row["system_a"], row["system_b"]) for row in rows}) > 1
    about: dict[str, dict[str, None]] = {}
    everything = set()
    for row in rows:
        name = row["metric"] + f" for {row['system_a']} and {row['system_b']}" * several
        everything.add(name)
        for note in row["notes"]:
            about.setdefault(note, {})[name] = None
    return [note if len(on) == len(everything) else f"{'; '.join(on)}: {note}" for note, on in about.items()]


def shown_p(row: Row) -> str:
    """A p-value with three digits; with its interval if that is wide, or as a bound if it is too small to know."""
    p = row["pvalue"]
    if row["n_resamples"] is not None and p == 0:
        return below(row["pvalue_high"])
    if p < 1e-300 and np.isfinite(row["log10_pvalue"]):
        return f"1e{row['log10_pvalue']:.1f}"
    if _is_rough(row) and p < 1:
        return f"{p:.3g} [{_outward(row['pvalue_low'], ROUND_FLOOR)}, {_outward(row['pvalue_high'], ROUND_CEILING)}]"
    return f"{p:.3g}" if p > 0 else below(0)


def equation(shown: str) -> str:
    """The output of `shown_p` and `shown_adjusted` in a sentence: "p = 0.03", "p < 0.001"."""
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def _outward(bound: float, rounding: str) -> str:
    """A bound with three digits, rounded outward."""
    return f"{float(Context(prec=3, rounding=rounding).create_decimal(float(bound))):.3g}"


def adjust(rows: list[Row]) -> list[Row]:
    """The rows with p-values adjusted for the number of systems, metrics and tasks, separately for each test.

    Where one test stands for another that does not exist, as randomization for the exact test, both are one family.
    """
    for column, method in ADJUSTMENTS.items():
        for row, p in zip(rows, _adjusted(rows, "pvalue", method), strict=True):
            row[column] = p
    for family in _families(rows):
        for place in family:
            rows[place]["n_compared"] = len(family)
    return rows


def _families(rows: Sequence[Row]) -> list[list[int]]:
    """The positions of the rows of each family."""
    keys = [(row["test"], row["method"], row["alternative"]) for row in rows]
    drawn = [key if key[0] == "margin" else (find(*key).drawn.name, *key[1:]) for key in keys]
    of_pair = ("metric", "system_a", "system_b", "n_segments", "score_a", "score_b")
    pairs = {(*(row[name] for name in of_pair), *key) for row, key in zip(rows, drawn, strict=True)}
    with_both_tests = len(pairs) < len(rows)  # of a pair, the exact and the Monte Carlo test
    families: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys if with_both_tests else drawn):
        families.setdefault(key, []).append(place)
    return list(families.values())


def _adjusted(rows: Sequence[Row], column: str, method: Callable[[NDArray[Any]], NDArray[Any]]) -> list[float]:
    adjusted = np.empty(len(rows))
    for family in _families(rows):
        adjusted[family] = method(np.array([rows[place][column] for place in family]))
    return adjusted.tolist()
