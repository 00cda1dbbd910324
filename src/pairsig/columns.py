"""The columns of the library's tables: every column is declared here, once.

Types, checks, headings, rounding and the documentation (docs/tables.md) follow from the declarations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

Shown = Literal["as it is", "count", "p-value", "bound", "share", "change of share", "two decimals", "by unit"]
"""How a number is shown to people; `study.presentation` rounds."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name
        Its name in files.
    type
        `str`, `bool`, `int`, `float`, or `list` (of sentences, in JSON only).
    meaning
        One line on what its cells say.
    unit
        Unit of its numbers; shares and p-values have none.
    heading
        What people read above it; by default its name with spaces.
    shown
        How its numbers are rounded for people.
    missing
        Whether a cell may be missing. Text is never missing, but it may be empty.
    choices
        The only cells there can be, where they are few.
    """

    name: str
    type: type[Any]
    meaning: str
    unit: str = ""
    heading: str = ""
    shown: Shown = "as it is"
    missing: bool = False
    choices: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The heading for people."""
        return self.heading or self.name.replace("_", " ")


@dataclass(frozen=True)
class Table:
    """The columns of a table, in order, and those whose cells, taken together, tell its rows apart."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


def kinds(tables: Iterable[Table]) -> dict[str, type[Any]]:
    """The columns that hold text, or true and false, whatever their cells look like: a system may be called 12."""
    return {column.name: column.type for table in tables for column in table.columns if column.type in (str, bool)}


def points(name: str, meaning: str, heading: str = "", *, missing: bool = False) -> Column:
    """A column of scores, gains or thresholds."""
    return Column(name, float, meaning, "points", heading, "two decimals", missing)


def count(name: str, meaning: str, unit: str, heading: str = "") -> Column:
    """A column of whole numbers of something."""
    return Column(name, int, meaning, unit, heading, "count")


DATASET = Column("dataset", str, "name of the dataset")
TEST_SET = Column("test_set", str, "label of the test set: `whole`, or how it was made of the dataset: `first-400`, …")
METRIC = Column("metric", str, "name of the metric")
TEST = Column("test", str, "name of the test")
VARIANT = Column("variant", str, "variant of the test")
SYSTEM_A = Column("system_a", str, "one system of the pair", heading="system A")
SYSTEM_B = Column("system_b", str, "the other", heading="system B")
SAME_GROUP = Column("same_group", bool, "whether the systems are of one group")
N_SEGMENTS = count("n_segments", "size of the test set", "segments", "segments")
SCORE_A = points("score_a", "score of system A", "score A")
SCORE_B = points("score_b", "score of system B", "score B")
GAIN = points("gain", "by how much the better system is better, 0 or more")
STANDARD_ERROR = points(
    "standard_error", "of the gain, to first order: the spread of the bootstrap's gains", "s.e. of gain"
)
SIMILARITY = Column(
    "similarity",
    float,
    "of the two systems: the correlation of what segments contribute to their scores; missing where these do not vary",
    shown="two decimals",
    missing=True,
)
P_VALUE = Column("p_value", float, "the p-value", heading="p", shown="p-value")
P_LOW = Column("p_low", float, "lower bound of the p-value: its Monte Carlo error at 95 %", shown="p-value")
P_HIGH = Column("p_high", float, "upper bound of the p-value", shown="p-value")
SIGNATURE = Column("signature", str, "all settings of the test, with the version")

STATISTICS = Table(
    "statistics",
    (
        Column("system", str, "name of the system, or of the method that it is a run of"),
        Column("run", str, "which run of the method it is; empty where it is the only one"),
        Column("group", str, "who made it, or its base model; its own name if not given"),
        Column("kind", str, "sort of entry, such as submission or online"),
        Column("segment", str, "id of the segment"),
        Column("document", str, "document of the segment"),
        Column("domain", str, "domain of the segment"),
    ),
    key=("system", "run", "segment"),
)
"""Keys of statistics; every further column is a count of the metric's. All but `system` and `segment` may be absent."""

COMPARISONS = Table(
    "comparisons",
    (
        DATASET,
        TEST_SET,
        Column(
            "derived",
            str,
            "how the test set was made of the dataset's: all of it, initial segments, those of a domain or "
            "document, a draw with replacement, a random half",
            choices=("whole", "initial", "domain", "document", "draw", "half"),
        ),
        Column("domain", str, "the domain or document that it is of; empty if derived otherwise"),
        Column("number", int, "which of the draws or halves it is, from 1; 0 if derived otherwise"),
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
        SIMILARITY,
        count("n_resamples", "resamples or shuffles drawn", "resamples", "resamples"),
        count("n_greater", "those whose gain is beyond the formula's bound", "resamples", "greater"),
        count("n_equal", "those whose gain is at the bound", "resamples", "ties"),
        P_VALUE,
        P_LOW,
        P_HIGH,
        SIGNATURE,
    ),
    key=("dataset", "test_set", "metric", "test", "system_a", "system_b"),
)
"""Table of `pairsig compare` and `pairsig merge`: one row a pair of systems. The size of a test set is `n_segments`."""

VERSUS = Table(
    "versus",
    (
        METRIC,
        TEST,
        VARIANT,
        SYSTEM_A,
        SYSTEM_B,
        SCORE_A,
        SCORE_B,
        Column("better", str, "name of the better system; empty where the scores are equal"),
        GAIN,
        points("ci_low", "lower end of the 95 % interval of the gain", missing=True),
        points("ci_high", "upper end of the 95 % interval of the gain", missing=True),
        P_VALUE,
        Column("log10_p_value", float, "its decimal logarithm, for p-values too small for a float"),
        Column("p_low", float, "lower bound of the p-value", shown="p-value"),
        P_HIGH,
        Column("error_bound", float, "bound on the relative error of an exact p-value", missing=True),
        Column("alpha", float, "level that p was to be told from", missing=True),
        Column("confidence", float, "confidence of that decision", missing=True),
        Column("significant", bool, "whether p < alpha; missing where the resamples did not tell", missing=True),
        Column("p_holm", float, "p-value adjusted for the number of systems (Holm 1979)", shown="p-value"),
        Column("p_bh", float, "the same (Benjamini and Hochberg 1995)", shown="p-value"),
        N_SEGMENTS,
        count("n_different", "segments on which the systems' counts differ", "segments", "different"),
        Column("n_resamples", int, "resamples or shuffles drawn", "resamples", "resamples", "count", missing=True),
        Column("n_greater", int, "those beyond the formula's bound", "resamples", "greater", "count", missing=True),
        Column("n_equal", int, "those at the bound", "resamples", "ties", "count", missing=True),
        points("margin", "that the test `margin` is against", missing=True),
        SIGNATURE,
        Column("notes", list, "what the p-value or the interval of this row does not say"),
    ),
    key=("metric", "test", "variant", "system_a", "system_b"),
)
"""What `pairsig test` prints: one row a metric, system, test and variant."""

TRANSFER = Table(
    "transfer",
    (
        METRIC,
        Column("system_a", str, "the system with the higher mean", heading="system A"),
        SYSTEM_B,
        count("n_test_sets", "test sets that both are on", "test sets", "test sets"),
        count("n_won", "those on which A is better", "test sets", "won"),
        points("gain", "mean over test sets of this sort of what A is better by"),
        points("ci_low", "lower end of its 95 % interval"),
        points("ci_high", "upper end of its 95 % interval"),
        points("heterogeneity", "standard deviation of true gains between test sets"),
        points("heterogeneity_low", "lower end of its 95 % interval", missing=True),
        points("heterogeneity_high", "upper end of its 95 % interval", missing=True),
        points("prediction_low", "lower end of the 95 % interval of the true gain on the next test set"),
        points("prediction_high", "upper end of the 95 % interval of the true gain on the next test set"),
        Column("p_iid", float, "p-value as if all segments were one sample of one source", "", "p (i.i.d.)", "p-value"),
        Column("p_next", float, "chance that B is the better one on the next test set", "", "p (next)", "p-value"),
        points("floor", "gain that makes the chance on the next one 95 %, however large one test set is: 1.645 √2 τ"),
        Column("borrowed", bool, "whether the heterogeneity was given, not estimated from these test sets"),
        Column("like", str, "the family of test sets that it was borrowed from; empty if none"),
    ),
    key=("metric", "system_a", "system_b"),
)
"""Table of `pairsig transfer`: one row a pair of systems."""

RANKS = Table(
    "ranks",
    (
        METRIC,
        Column("rank", int, "1 + the number of systems with a better score"),
        Column("rank_low", int, "1 + the number of systems told to be better", heading="from"),
        Column("rank_high", int, "the number of systems, less those told to be worse", heading="to"),
        Column("cluster", int, "from 1: every system of one is told to be better than every system of the next"),
        Column("system", str, "name of the system"),
        points("score", "its score"),
        points("behind", "by how much the first system is better, 0 or more"),
        points("behind_low", "lower end of its interval, of which all hold at once", missing=True),
        points("behind_high", "upper end of its interval", missing=True),
        Column(
            "p_next", float, "adjusted p-value against the system in the next row", heading="p (next)", shown="p-value",
            missing=True,
        ),
        SIGNATURE,
    ),
    key=("metric", "system"),
)  # fmt: skip
"""What `pairsig rank` prints: one row a system, the best first."""

RANKED_PAIRS = Table(
    "ranked_pairs",
    (
        METRIC,
        Column("system_a", str, "the better system of the pair", heading="system A"),
        SYSTEM_B,
        SCORE_A,
        SCORE_B,
        GAIN,
        points("ci_low", "lower end of its interval, of which all hold at once", missing=True),
        points("ci_high", "upper end of its interval", missing=True),
        SIMILARITY,
        P_VALUE,
        Column("p_adjusted", float, "the p-value, adjusted for all pairs", heading="p (adjusted)", shown="p-value"),
        SIGNATURE,
    ),
    key=("metric", "system_a", "system_b"),
)
"""What `pairsig rank --pairs` writes: one row a pair, the most certain first."""

_BOTH = "of a gain between one run of each method"

METHODS = Table(
    "methods",
    (
        METRIC,
        Column("method_a", str, "one method of the pair", heading="method A"),
        Column("method_b", str, "the other", heading="method B"),
        count("n_runs_a", "runs of method A", "runs", "runs A"),
        count("n_runs_b", "runs of method B", "runs", "runs B"),
        N_SEGMENTS,
        Column(
            "design", str, "whether a run is the same for all segments, or every segment is sampled anew",
            choices=("crossed", "nested"),
        ),
        points("score_a", "mean score of the runs of method A", "score A"),
        points("score_b", "mean score of the runs of method B", "score B"),
        Column("better", str, "name of the method with the better mean; empty where they are equal"),
        GAIN,
        points("ci_low", "lower end of the 95 % interval of the gain of the method"),
        points("ci_high", "upper end of the 95 % interval of the gain of the method"),
        points("standard_error", "of the gain of the method: over test sets and runs", "s.e. of gain"),
        Column("p_outputs", float, "p-value of these outputs: over test sets alone", "", "p (outputs)", "p-value"),
        Column(
            "p_method", float, "p-value of the method: over test sets and runs", heading="p (method)", shown="p-value"
        ),
        Column(
            "p_bootstrap", float, "p-value of the method, by the bootstrap of both levels", heading="p (bootstrap)",
            shown="p-value", missing=True,
        ),
        count("n_resamples", "resamples drawn by it", "resamples", "resamples"),
        points("sd_test_set", f"standard deviation {_BOTH}: part of the test set", missing=True),
        points("sd_test_set_low", "lower end of its 95 % interval", missing=True),
        points("sd_test_set_high", "upper end of its 95 % interval", missing=True),
        points("sd_training", f"standard deviation {_BOTH}: part of training", missing=True),
        points("sd_training_low", "lower end of its 95 % interval", missing=True),
        points("sd_training_high", "upper end of its 95 % interval", missing=True),
        points("sd_rest", f"standard deviation {_BOTH}: what runs differ by on single segments", missing=True),
        points("sd_rest_low", "lower end of its 95 % interval", missing=True),
        points("sd_rest_high", "upper end of its 95 % interval", missing=True),
        points("error_twice_segments", "standard error expected of twice the segments"),
        Column("p_twice_segments", float, "p-value of the method then, if the gain stays", shown="p-value"),
        points("error_twice_runs", "standard error expected of twice the runs", missing=True),
        Column("p_twice_runs", float, "p-value of the method then, if the gain stays", shown="p-value", missing=True),
        Column("borrowed", bool, "whether the variance of training was given, not estimated from the runs"),
        Column("doubt", str, "what the p-value of the method does not say; empty where nothing is doubted"),
    ),
    key=("metric", "method_a", "method_b"),
)  # fmt: skip
"""What `pairsig methods` writes, and `pairsig test` prints where there are runs: one row a pair of methods."""


def _known(name: str, meaning: str) -> Column:
    return Column(name, float, meaning, shown="share", missing=True)


BORROWED = Table(
    "borrowed",
    (
        Column("family", str, "name of a family of test sets"),
        METRIC,
        Column("about", str, "what its test sets are"),
        count("n_test_sets", "test sets", "test sets", "test sets"),
        count("n_systems", "systems", "systems", "systems"),
        Column(
            "kappa_squared",
            float,
            "κ²: variance of a pair's true gain between test sets, over that of what a segment contributes to it",
        ),
        Column("kappa_squared_low", float, "lower end of its 95 % interval over systems and test sets"),
        Column("kappa_squared_high", float, "upper end of its 95 % interval over systems and test sets"),
        count("n_validated", "pairs of systems, on each ordered pair of test sets, predicted from others", "pairs"),
        _known("held", "share of them whose better system is the better one on the second test set, too"),
        _known("predicted_iid", "mean chance of that, i.i.d."),
        _known("predicted", "mean chance of that, with κ² of other test sets and systems"),
        _known("coverage_iid", "share of gains on the second test set in their 95 % prediction interval, i.i.d."),
        _known("coverage", "the same with κ² of other test sets and systems"),
    ),
    key=("family", "metric"),
)
"""What the library knows of families of test sets: `pairsig.heterogeneity.families`."""


def _size(name: str, meaning: str, unit: str) -> Column:
    return Column(name, int, meaning, unit, shown="count", missing=True)


GIVEN = ("likeness", "outputs", "nothing")
"""What may be known of how alike two systems are: their likeness, their outputs alone, or nothing."""

LAW = Table(
    "law",
    (
        replace(METRIC, meaning="name of the metric, without `conll_`"),
        Column("given", str, "what is known of how alike the two systems are", choices=GIVEN),
        Column("overdispersion", float, "φ: variance beside that of √length independent answers", missing=True),
        count("n_datasets", "test sets that φ is the mean of", "datasets", "datasets"),
        count("n_pairs", "pairs of systems on them", "pairs", "pairs"),
        Column("between", float, "standard deviation between test sets of the logarithm of the variance", missing=True),
        Column("within", float, "the same between the pairs of systems of a test set"),
        count("degrees", "degrees of freedom of `between`", "degrees of freedom", "degrees of freedom"),
        count("n_left_out", "test sets whose variances were told without them", "datasets", "left out"),
        Column("error", float, "root mean square error of the logarithm of these variances", missing=True),
        Column("coverage", float, "share of their pairs within the 95 % interval", shown="share", missing=True),
        Column("coverage_low", float, "lower end of its 95 % interval, over test sets", shown="share", missing=True),
        Column("coverage_high", float, "upper end of its 95 % interval, over test sets", shown="share", missing=True),
    ),
    key=("metric", "given"),
)
"""The law that `pairsig plan` uses where there is no pilot, see `planning`; `all` is all metrics together."""

PLAN = Table(
    "plan",
    (
        METRIC,
        Column("question", str, "what was asked for", choices=("segments", "gain", "margin")),
        Column("claim", str, "what is to be shown", choices=("difference", "equivalence", "not-worse")),
        points("gain", "true gain: as given, or the smallest that is shown; 0 for equal systems", missing=True),
        points("gain_low", "lower end of its interval, where it was asked for", missing=True),
        points("gain_high", "upper end of its interval, where it was asked for", missing=True),
        points("margin", "of equivalence or non-inferiority: as given, or the smallest that is shown", missing=True),
        points("margin_low", "lower end of its interval, where it was asked for", missing=True),
        points("margin_high", "upper end of its interval, where it was asked for", missing=True),
        _size("n_segments", "size of the test set: as given, or the smallest that shows it", "segments"),
        _size("n_low", "lower end of its interval, where it was asked for", "segments"),
        _size("n_high", "upper end of its interval; missing where no size is enough", "segments"),
        _size("n_documents", "the same size in documents, where these are the unit", "documents"),
        Column("power", float, "chance that the test shows it", shown="share"),
        Column("power_low", float, "lower end of its interval; missing where no size is enough", missing=True),
        Column("power_high", float, "upper end of its interval; missing where no size is enough", missing=True),
        Column("alpha", float, "level of the test"),
        Column("test", str, "test that has this power, with its variant"),
        points("deviation", "standard deviation of the difference of two systems on a unit"),
        Column("source", str, "what it is taken from", choices=("pilot", "law", "outcomes")),
        Column("given", str, "what was known of how alike the systems are; empty for a pilot"),
        Column("notes", list, "what the numbers of this row do not say"),
    ),
    key=("metric", "question", "claim", "gain", "margin", "n_segments"),
)
"""What `pairsig plan` prints."""

TABLES = (STATISTICS, COMPARISONS, VERSUS, TRANSFER, METHODS, RANKS, RANKED_PAIRS, BORROWED, LAW)
