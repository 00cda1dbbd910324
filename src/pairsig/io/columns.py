"""Declarations of the columns of the library's tables.

Types, checks, headings, rounding and the documentation (docs/made/tables.md) are derived from these declarations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

Shown = Literal["as it is", "count", "p-value", "bound", "share", "change of share", "two decimals", "by unit"]
"""How a number is rounded in tables for readers; `pairsig.io.rendering` does it."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    type: type[Any]  # `str`, `bool`, `int`, `float`, or `list` (of sentences, in JSON only)
    meaning: str  # one line that explains its cells
    unit: str = ""  # of its numbers; shares and p-values have none
    heading: str = ""  # for readers; by default the name with spaces
    shown: Shown = "as it is"  # how its numbers are rounded for readers
    missing: bool = False  # whether a cell may be missing; text is never missing, but it may be empty
    choices: tuple[str, ...] = ()  # the permitted cells, if there are only a few
    # Columns with the ends of its interval, which readers see beside its numbers; by default `NAME_low` and
    # `NAME_high`, where a table has them.
    ends: tuple[str, ...] = ()
    least: float = 0.0  # smaller p-values are shown as below this number

    @property
    def title(self) -> str:
        """The heading for readers."""
        return self.heading or self.name.replace("_", " ")

    @property
    def interval(self) -> tuple[str, ...]:
        """The columns with the ends of its interval, if a table has them."""
        return self.ends or (f"{self.name}_low", f"{self.name}_high")


@dataclass(frozen=True)
class Table:
    """The columns of a table in order, and its key: the columns whose cells together identify a row."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    caption: str = ""  # what the table shows, for readers of a page with it

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def view(self, **headings: str) -> list[Column]:
        """Choose columns to print, with their headings; "" keeps the declared one. Other names are columns of text."""
        declared = {column.name: column for column in self.columns}
        chosen = [declared.get(name, Column(name, str, "")) for name in headings]
        return [replace(column, heading=headings[column.name] or column.heading) for column in chosen]


def texts(tables: Iterable[Table]) -> list[str]:
    """Names of the columns of text, which cells alone do not show: a system may be called 12."""
    columns = chain.from_iterable(table.columns for table in tables)
    return list({column.name: None for column in columns if column.type is str})


def points(name: str, meaning: str, heading: str = "", *, missing: bool = False, ends: tuple[str, ...] = ()) -> Column:
    """A column of scores, gains or thresholds."""
    return Column(name, float, meaning, "points", heading, "two decimals", missing, ends=ends)


def count(name: str, meaning: str, unit: str | None = None, heading: str = "", *, missing: bool = False) -> Column:
    """A column of counts; without a unit, `n_pairs` has the unit and the heading "pairs"."""
    noun = name.removeprefix("n_").replace("_", " ")
    return Column(name, int, meaning, *((noun, noun) if unit is None else (unit, heading)), "count", missing)


def share(name: str, meaning: str, *, missing: bool = True) -> Column:
    """A column of shares."""
    return Column(name, float, meaning, shown="share", missing=missing)


def p_value(name: str, meaning: str, heading: str = "", *, missing: bool = False, least: float = 0.0) -> Column:
    """A column of p-values."""
    return Column(name, float, meaning, "", heading, "p-value", missing, least=least)


def ends(name: str, of: str = "its 95 % interval", *, missing: bool = False) -> tuple[Column, Column]:
    """The columns with the ends of an interval, in points."""
    low, high = (f"{end} end of {of}" for end in ("lower", "upper"))
    return points(f"{name}_low", low, missing=missing), points(f"{name}_high", high, missing=missing)


DATASET = Column("dataset", str, "name of the dataset")
TEST_SET = Column("test_set", str, "label of the test set: `whole`, or the part of the dataset, such as `first-400`")
METRIC = Column("metric", str, "name of the metric")
TEST = Column("test", str, "name of the test")
METHOD = Column("method", str, "method of the test; empty if it has only one")
ALTERNATIVE = Column("alternative", str, "alternative hypothesis of the test")
SYSTEM_A = Column("system_a", str, "one system of the pair", heading="system A")
SYSTEM_B = Column("system_b", str, "the other system of the pair", heading="system B")
SAME_GROUP = Column("same_group", bool, "whether the systems belong to the same group")
N_SEGMENTS = count("n_segments", "size of the test set")
SCORE_A = points("score_a", "score of system A", "score A")
SCORE_B = points("score_b", "score of system B", "score B")
_CI = ("ci_low", "ci_high")
DIFFERENCE = points("difference", "score of system A minus score of system B", ends=_CI)
GAIN = points("gain", "difference between the scores of the better and the worse system, 0 or more", ends=_CI)
STANDARD_ERROR = points(
    "standard_error",
    "standard error of the gain, to first order: the standard deviation of its bootstrap distribution",
    "s.e. of gain",
)
CORRELATION = Column(
    "correlation",
    float,
    "correlation between the two systems' per-segment contributions to their scores; missing if one is constant",
    shown="two decimals",
    missing=True,
)
PVALUE = p_value("pvalue", "the p-value", "p")
PVALUE_ONE_SIDED = replace(
    p_value("pvalue_one_sided", "one-sided p-value, for system A, as in the 2012 paper", "p (one-sided)"),
    ends=("pvalue_low", "pvalue_high"),
)
P_LOW = p_value("pvalue_low", "lower bound of the p-value: its Monte Carlo error at 95 %")
P_HIGH = p_value("pvalue_high", "upper bound of the p-value")
SIGNATURE = Column("signature", str, "all settings of the test, and the version of pairsig")

ESTIMATOR = Column(
    "estimator",
    str,
    "how the p-value of randomization was estimated: plain, near-exact, or as a bound; empty for other tests",
)

STATISTICS = Table(
    "statistics",
    (
        Column("system", str, "name of the system, or of the method if the system is one of its runs"),
        Column("run", str, "label of the run of the method; empty if there is only one run"),
        Column("group", str, "author or base model of the system; by default the name of the system"),
        Column("kind", str, "kind of entry, such as submission or online"),
        Column("segment", str, "id of the segment"),
        Column("document", str, "document of the segment"),
        Column("domain", str, "domain of the segment"),
    ),
    key=("system", "run", "segment"),
)
"""Key columns of statistics; all others hold counts of the metric. Only `system` and `segment` are required."""

COMPARISONS = Table(
    "comparisons",
    (
        DATASET,
        TEST_SET,
        Column(
            "derived",
            str,
            "how the test set was made from the dataset: all of it, its initial segments, the segments of a domain or "
            "document, a draw with replacement, or a random half",
            choices=("whole", "initial", "domain", "document", "draw", "half"),
        ),
        Column("domain", str, "domain or document of the test set; empty if derived otherwise"),
        Column("number", int, "number of the draw or half, from 1; 0 if derived otherwise"),
        METRIC,
        TEST,
        Column("system_a", str, "the better system of the pair", heading="system A"),
        SYSTEM_B,
        SAME_GROUP,
        Column("kind_a", str, "kind of system A", heading="kind A"),
        Column("kind_b", str, "kind of system B", heading="kind B"),
        N_SEGMENTS,
        SCORE_A,
        SCORE_B,
        GAIN,
        STANDARD_ERROR,
        CORRELATION,
        count("n_resamples", "number of resamples or shuffles"),
        count("n_greater", "resamples whose gain is beyond the bound in the formula", "resamples", "greater"),
        count("n_equal", "resamples whose gain is equal to the bound", "resamples", "ties"),
        PVALUE_ONE_SIDED,
        P_LOW,
        P_HIGH,
        SIGNATURE,
    ),
    key=("dataset", "test_set", "metric", "test", "system_a", "system_b"),
)
"""Table of the study: one row per pair of systems. The test set has `n_segments`."""

BASELINE = Table(
    "baseline",
    (
        METRIC,
        TEST,
        METHOD,
        ALTERNATIVE,
        SYSTEM_A,
        SYSTEM_B,
        SCORE_A,
        SCORE_B,
        DIFFERENCE,
        *ends("ci", "the 95 % interval of the difference", missing=True),
        Column("better", str, "name of the better system; empty if the scores are equal"),
        PVALUE,
        Column("log10_pvalue", float, "decimal logarithm of the p-value, for p-values too small for a float"),
        p_value("pvalue_low", "lower bound of the p-value"),
        P_HIGH,
        p_value("pvalue_holm", "p-value adjusted for `n_compared` (Holm 1979)", "p (Holm)"),
        count("n_compared", "p-values that are adjusted together", "comparisons", "comparisons"),
        N_SEGMENTS,
        count("n_units", "segments, or documents if these are the unit"),
        count("n_different", "segments on which the systems' counts differ", "segments", "different"),
        count("only_a", "segments right only for A, if each is right or wrong", "segments", "only A", missing=True),
        count("only_b", "segments right only for B", "segments", "only B", missing=True),
        count("n_resamples", "resamples or shuffles drawn", missing=True),
        count("n_greater", "those with a gain beyond the formula's bound", "resamples", "greater", missing=True),
        count("n_equal", "those with a gain at the bound", "resamples", "ties", missing=True),
        ESTIMATOR,
        points("margin", "margin of the test `margin`", missing=True),
        SIGNATURE,
        Column("notes", list, "limits of the p-value and the interval of this row"),
    ),
    key=("metric", "test", "method", "alternative", "system_a", "system_b"),
)  # fmt: skip
"""Table of `pairsig compare`: one row per metric, system and test."""

RANKS = Table(
    "ranks",
    (
        METRIC,
        Column("rank", int, "1 + the number of systems with a better score"),
        Column("rank_low", int, "1 + the number of significantly better systems", heading="from"),
        Column("rank_high", int, "the number of systems minus the number of significantly worse ones", heading="to"),
        Column(
            "cluster", int, "number of the group, from 1; each system is significantly better than all of later groups"
        ),
        Column("system", str, "name of the system"),
        points("score", "score of the system"),
        points("behind", "gain of the first system over this one, 0 or more"),
        *ends("behind", "its simultaneous interval", missing=True),
        p_value("p_next", "adjusted p-value against the system in the next row", "p (next)", missing=True),
        SIGNATURE,
    ),
    key=("metric", "system"),
)  # fmt: skip
"""Table that `pairsig rank` prints: one row per system, the best first."""

RANKED_PAIRS = Table(
    "ranked_pairs",
    (
        METRIC,
        Column("system_a", str, "the better system of the pair", heading="system A"),
        SYSTEM_B,
        SCORE_A,
        SCORE_B,
        GAIN,
        *ends("ci", "its simultaneous interval", missing=True),
        CORRELATION,
        PVALUE,
        p_value("pvalue_adjusted", "p-value adjusted for the number of pairs", "p (adjusted)"),
        SIGNATURE,
    ),
    key=("metric", "system_a", "system_b"),
)
"""Table that `pairsig rank --pairs` writes: one row per pair, the smallest p-value first."""

_BOTH = "standard deviation of the gain between one run of each system"
_OVER_RUNS = "p-value over test sets and runs"

RUNS = Table(
    "runs",
    (
        METRIC,
        SYSTEM_A,
        SYSTEM_B,
        count("n_runs_a", "runs of system A", "runs", "runs A"),
        count("n_runs_b", "runs of system B", "runs", "runs B"),
        N_SEGMENTS,
        points("score_a", "mean score of the runs of system A", "score A"),
        points("score_b", "mean score of the runs of system B", "score B"),
        DIFFERENCE,
        *ends("ci", "the 95 % interval of the difference over test sets and runs; none without variance", missing=True),
        Column("better", str, "name of the system with the better mean; empty if they are equal"),
        points("standard_error", "standard error of the difference over test sets and runs", "s.e. of difference"),
        p_value("pvalue_outputs", "p-value for these outputs (over test sets only)", "p (outputs)"),
        p_value("pvalue", _OVER_RUNS, "p"),
        p_value("pvalue_holm", f"{_OVER_RUNS}, adjusted by Holm for `n_compared` pairs", "p (Holm)"),
        count("n_compared", "p-values that are adjusted together", "comparisons", "comparisons"),
        points("sd_test_set", f"{_BOTH}: part due to the test set", missing=True),
        points("sd_training", f"{_BOTH}: part due to training", missing=True),
        *ends("sd_training", missing=True),
        points("sd_rest", f"{_BOTH}: part due to differences between runs on single segments", missing=True),
        SIGNATURE,
        Column("notes", list, "limits of the p-value and the interval of this row"),
    ),
    key=("metric", "system_a", "system_b"),
)  # fmt: skip
"""Table that `pairsig runs` writes, and `pairsig compare` prints for runs: one row per pair of systems."""


GATE = Table(
    "gate",
    (
        Column("score", str, "METRIC, or TASK/METRIC for logs with several tasks"),
        Column("verdict", str, "of this score", choices=("passed", "worse", "undecided")),
        points("margin", "tolerated loss"),
        points("score_baseline", "score of the baseline"),
        points("score_candidate", "score of the candidate"),
        points("change", "score of the candidate minus that of the baseline"),
        Column("lower_is_better", bool, "whether lower scores are better"),
        points("largest_loss", "upper confidence limit of the loss: with a larger margin it passes", missing=True),
        p_value("pvalue_worse", "one-sided p-value of a loss"),
        p_value("pvalue_holm", "the same, adjusted for the number of scores"),
        N_SEGMENTS,
        Column("unit", str, "what was drawn or swapped as a whole"),
        SIGNATURE,
        Column("sentence", str, "the verdict in words"),
        Column("notes", list, "caveats"),
    ),
    key=("score",),
)
"""Table of `pairsig gate`: one row per score."""

GIVEN = ("correlation", "nothing")
"""What is known about the correlation of two systems: the correlation itself, only their outputs, or nothing."""

VARIANCE_MODEL = Table(
    "variance_model",
    (
        replace(METRIC, meaning="name of the metric, without `conll_`"),
        Column("given", str, "what is known about the correlation of the two systems", choices=GIVEN),
        Column("overdispersion", float, "φ: variance relative to that of √length independent answers", missing=True),
        count("n_datasets", "test sets over which φ is averaged"),
        count("n_pairs", "pairs of systems on these test sets"),
        Column("between", float, "standard deviation between test sets of the logarithm of the variance", missing=True),
        Column("within", float, "the same between the pairs of systems of a test set"),
        count("degrees", "degrees of freedom of `between`", "degrees of freedom", "degrees of freedom"),
        count("n_left_out", "test sets in the leave-one-out validation", "datasets", "left out"),
        Column("error", float, "root mean square error of the predicted logarithm of their variances", missing=True),
        Column("error_low", float, "lower end of its 95 % interval, over test sets", missing=True),
        Column("error_high", float, "upper end of its 95 % interval, over test sets", missing=True),
        share("coverage", "share of their pairs within the 95 % interval"),
        share("coverage_low", "lower end of its 95 % interval, over test sets"),
        share("coverage_high", "upper end of its 95 % interval, over test sets"),
    ),
    key=("metric", "given"),
    caption=(
        "The variance model of `pairsig plan`: the variance of the difference between two systems on one segment "
        "is 10⁴ · φ · 2(1 − correlation) · p(1 − p) / √length. The table contains φ by metric, the scatter of "
        "test sets and pairs, and the accuracy on test sets that were left out of the fit"
    ),
)
"""The variance model that `pairsig plan` uses without a pilot, see `planning`; the metric `all` means all metrics."""

PLAN = Table(
    "plan",
    (
        METRIC,
        points("gain", "true gain"),
        count("n_segments", "the smallest sufficient test set; missing if none is", "segments", missing=True),
        count("n_low", "lower end of its interval", "segments", missing=True),
        count("n_high", "upper end of its interval; missing if no size is sufficient", "segments", missing=True),
        count("n_documents", "the size in documents, if these are the unit", "documents", missing=True),
        share("power", "probability that the test detects the gain", missing=False),
        Column("power_low", float, "lower end of its interval; missing if no size is sufficient", missing=True),
        Column("power_high", float, "upper end of its interval; missing if no size is sufficient", missing=True),
        Column("alpha", float, "significance level"),
        points("deviation", "standard deviation of the per-unit difference between two systems"),
        Column("source", str, "source of this standard deviation", choices=("pilot", "variance model", "outcomes")),
        Column("given", str, "what was known about the correlation of the systems; empty for a pilot"),
        Column("notes", list, "caveats about the numbers of this row"),
    ),
    key=("metric", "gain"),
)
"""Table that `pairsig plan` prints."""

FLIPS = Table(
    "flips",
    (
        METRIC,
        Column("system_a", str, "one system: the first, or with a baseline every other"),
        Column("system_b", str, "the system that it is compared with"),
        Column(
            "direction", str, "gained: system A is better on the segment; lost: it is worse",
            choices=("lost", "gained"),
        ),
        Column("segment", str, "id of the segment"),
        Column("domain", str, "domain of the segment; empty if unknown"),
        points("score_a", "score of system A on the segment"),
        points("score_b", "score of system B on the segment"),
        Column("contribution", float, "contribution of the segment to the gain of system A over system B", "points"),
    ),
    ("metric", "system_a", "system_b", "segment"),
)  # fmt: skip
"""Table of `--flips`: segments that pass for only one of two systems, or that change most."""

TABLES = (
    STATISTICS, COMPARISONS, BASELINE, FLIPS, RUNS, RANKS, RANKED_PAIRS,
    VARIANCE_MODEL,
)  # fmt: skip
