"""The columns of the study's tables, declared as those of the library are (`pairsig.columns`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pairsig import columns
from pairsig.columns import (
    BORROWED,
    COMPARISONS,
    DATASET,
    METRIC,
    N_SEGMENTS,
    TEST,
    TEST_SET,
    Column,
    Shown,
    Table,
    count,
    points,
)

if TYPE_CHECKING:
    import pandas as pd

TASK = Column("task", str, "task of the dataset")
SUBSET = Column("subset", str, "which pairs: all, same or different group, two kinds; `full sets`: of training sets")
N_PAIRS = count("n_pairs", "pairs with a p-value in the window", "pairs", "pairs in range")
CALIBRATION = Column("calibration", str, "name of the calibration")
FAMILY, ABOUT = BORROWED["family"], BORROWED["about"]
DISTANCE = Column("distance", str, "how far the second test set is from the first")


def _number(
    name: str,
    meaning: str,
    unit: str = "",
    heading: str = "",
    shown: Shown = "as it is",
    *,
    missing: bool = False,
) -> Column:
    return Column(name, float, meaning, unit, heading, shown, missing)


def _with_interval(name: str, meaning: str, shown: Shown) -> list[Column]:
    ends = (("", meaning), ("_low", "lower end of its 95 % interval"), ("_high", "upper end of its 95 % interval"))
    return [_number(f"{name}{end}", means, shown=shown, missing=True) for end, means in ends]


SYSTEMS = Table(
    "systems",
    (
        DATASET,
        TASK,
        METRIC,
        Column("group", str, "`all`, or a base model"),
        count("n_systems", "number of systems", "systems", "n systems"),
        N_SEGMENTS,
        _number("per_segment", "what carries the information (words, brackets, links) in a segment", missing=True),
        Column("carrier", str, "what that is"),
        _number("score_low", "lowest of their scores", "points"),
        _number("score_mean", "mean of their scores", "points"),
        _number("score_high", "highest of their scores", "points"),
        Column("left_out", str, "systems that failed, with the reason; or none"),
    ),
    key=("dataset", "metric", "group"),
)

RANKED = Table(
    "ranked",
    (
        DATASET,
        METRIC,
        *(columns.RANKS[name] for name in ("rank", "rank_low", "rank_high", "cluster", "system")),
        Column("group", str, "who made it, or its base model"),
        Column("kind", str, "what sort of entry it is"),
        N_SEGMENTS,
        points("score", "its score"),
        points("score_low", "lower end of its 95 % interval, over segments", missing=True),
        points("score_high", "upper end of its 95 % interval, over segments", missing=True),
        columns.RANKS["p_next"],
    ),
    key=("dataset", "metric", "system"),
)

THRESHOLDS = Table(
    "thresholds",
    (
        replace(TASK, meaning="task of the dataset; empty for a pool"),
        replace(DATASET, meaning="name of the dataset; `task=…` for all datasets of a task"),
        TEST_SET,
        METRIC,
        TEST,
        SUBSET,
        N_SEGMENTS,
        count("n_all", "pairs of the subset that differ", "pairs", "pairs"),
        count("n_systems", "their systems", "systems", "systems"),
        points("need", "gain at p = 0.05 of the median pair: 1.645 of its standard errors", missing=True),
        points("need_low", "lower end of its 95 % interval over systems", missing=True),
        points("need_high", "upper end of its 95 % interval over systems", missing=True),
        N_PAIRS,
        points("threshold", "gain at p = 0.05 of 95 of 100 pairs near there", missing=True),
        points("low", "lower end of its 95 % interval over systems", missing=True),
        points("high", "upper end of its 95 % interval over systems", missing=True),
        points("printed", "the same by the paper's definition: of the gains in the window", missing=True),
        Column("verdict", str, "whether there are enough pairs", choices=("estimated", "need only", "too few")),
    ),
    key=("dataset", "test_set", "metric", "test", "subset"),
)

SIZE_LAW = Table(
    "size_law",
    (
        replace(DATASET, meaning="name of the dataset; `task=…` for all datasets of a task"),
        METRIC,
        TEST,
        SUBSET,
        count("n_sizes", "sizes it is fitted to", "sizes", "sizes"),
        count("n_low", "the smallest of them", "segments", "from"),
        count("n_high", "the largest of them", "segments", "to"),
        count("n_all", "pairs, the same at all sizes", "pairs", "pairs"),
        count("n_systems", "their systems", "systems", "systems"),
        _number("exponent", "exponent of the number of segments, for the median pair's need", shown="two decimals"),
        _number("exponent_low", "lower end of its 95 % interval over systems", shown="two decimals"),
        _number("exponent_high", "upper end of its 95 % interval over systems", shown="two decimals"),
        _number("coefficient", "need on one segment, by the law", "points"),
    ),
    key=("dataset", "metric", "test", "subset"),
)

OVERLAPS = Table(
    "overlaps",
    (
        DATASET,
        columns.SYSTEM_A,
        columns.SYSTEM_B,
        _number("bleu", "BLEU of system A's outputs against system B's", "points"),
        _number("same", "share of the segments on which both outputs are the same", shown="share"),
    ),
    key=("dataset", "system_a", "system_b"),
)

LAW_ERRORS = Table(
    "law_errors",
    (
        Column("law", str, "what the variance of a segment's difference goes with"),
        Column("given", str, "what it is told of how alike two systems are", choices=columns.GIVEN),
        Column("used", bool, "whether `pairsig plan` uses it"),
        count("n_datasets", "test sets that were left out, each in turn", "datasets", "test sets"),
        count("n_pairs", "their pairs of systems", "pairs", "pairs"),
        _number("error", "root mean square error of the logarithm of the variance", shown="two decimals"),
        _number("error_low", "lower end of its 95 % interval, over test sets", shown="two decimals", missing=True),
        _number("error_high", "upper end of its 95 % interval", shown="two decimals", missing=True),
        *_with_interval("coverage", "share of pairs whose variance was in the 95 % interval", "share"),
    ),
    key=("law", "given"),
)

CALIBRATIONS = Table(
    "calibrations",
    (
        CALIBRATION,
        DISTANCE,
        Column("on_dataset", str, "the dataset with the p-values; patterns"),
        Column("on_test_set", str, "its test set; patterns"),
        Column("against_dataset", str, "the dataset that tells whether they held; patterns, or `=`"),
        Column("against_test_set", str, "its test set; patterns, or `=`"),
    ),
    key=("calibration", "distance", "on_dataset", "on_test_set", "against_dataset", "against_test_set"),
)
"""The sheet of calibrations."""

CALIBRATION_TABLE = Table(
    "calibration",
    (
        CALIBRATION,
        DISTANCE,
        _number("p_low", "lower end of the range of p-values on the first test set", shown="bound"),
        _number("p_high", "upper end of the range", shown="bound"),
        count("n_systems", "systems", "systems", "systems"),
        count("n_test_sets", "ordered pairs of test sets", "pairs", "pairs of test sets"),
        count("n_pairs", "pairs with a p-value in the range, on each first test set", "pairs", "pairs in range"),
        count("n_held", "those whose better system is the better one on the second test set, too", "pairs", "held"),
        *_with_interval("share", "their share", "share"),
        *_with_interval("expected", "the share expected if both test sets were of one population", "share"),
        *_with_interval("difference", "the share less the expected one", "change of share"),
    ),
    key=("calibration", "distance", "p_low", "p_high"),
)

DISTANCES = ("near", "middle", "far")
"""Distances of the paper's Table 1: sections 22 and 24 of the treebank, and another corpus."""

CALIBRATED = Table(
    "calibrated",
    (
        CALIBRATION,
        DISTANCE,
        Column("on_dataset", str, "dataset of the first test set"),
        Column("on_test_set", str, "name of the first test set"),
        Column("against_dataset", str, "dataset of the second"),
        Column("against_test_set", str, "name of the second"),
        Column("system_a", str, "the better system of the pair on the first test set", heading="system A"),
        columns.SYSTEM_B,
        columns.P_VALUE,
        columns.GAIN,
        points("gain_against", "what A is better by on the second test set; below 0 where B is the better one there"),
    ),
    key=(
        "calibration", "on_dataset", "on_test_set", "against_dataset", "against_test_set", "system_a", "system_b"
    ),
)  # fmt: skip

TABLE_1 = Table(
    "table_1",
    (
        replace(CALIBRATION, meaning="name of the calibration; or `the paper`"),
        Column("p_range", str, "range of p-values"),
        *(
            column
            for distance in DISTANCES
            for column in (
                Column(distance, str, f"share that held at this distance ({distance}), its interval, number of pairs"),
                Column(f"{distance}_expected", str, "share expected of one population, and its interval"),
            )
        ),
    ),
    key=("calibration", "p_range"),
)

VALIDATION = Table(
    "validation",
    (
        replace(DATASET, meaning="name of the synthetic dataset"),
        Column("overlay", str, "name of the natural dataset that it is compared with"),
        TEST_SET,
        METRIC,
        TEST,
        SUBSET,
        N_SEGMENTS,
        count("n_synthetic", "synthetic pairs near p = 0.05", "pairs", "n synthetic"),
        count("n_natural", "natural pairs near p = 0.05", "pairs", "n natural"),
        *(
            _number(f"{side}{end}", meaning, unit, missing=True)
            for side in ("synthetic", "natural")
            for end, meaning, unit in (
                ("", f"median gain that {side} pairs near p = 0.05 need for it", "points"),
                ("_low", "lower end of its 95 % interval over systems", "points"),
                ("_high", "upper end of its 95 % interval over systems", "points"),
                ("_similarity", "median similarity of these pairs", ""),
            )
        ),
        *(
            column
            for name, verdict, meaning in (
                ("ratio", "verdict", "the synthetic gain over the natural one"),
                ("alike_ratio", "alike_verdict", "the same for pairs that are equally alike"),
            )
            for column in (
                _number(name, meaning, shown="two decimals", missing=True),
                _number(f"{name}_low", "lower end of its 95 % interval over systems", missing=True),
                _number(f"{name}_high", "upper end of its 95 % interval over systems", missing=True),
                Column(verdict, str, "whether that interval contains 1", choices=("agrees", "differs", "too few")),
            )
        ),
    ),
    key=("dataset", "overlay", "test_set", "metric", "test", "subset"),
)

CLAIMS = Table(
    "claims",
    (
        Column("claim", str, "name of the claim; `factor-of-two`: why a number of ours is not the paper's"),
        Column("section", str, "of the paper"),
        Column("dataset", str, "dataset, `task=…` or all"),
        Column("measured", str, "what `value` is"),
        count("n", "pairs (systems, test sets) it is measured on", "", "n"),
        _number("value", "the number"),
        _number("low", "lower end of its 95 % interval, over systems unless `measured` says otherwise", missing=True),
        _number("high", "upper end of its 95 % interval", missing=True),
        _number("reference", "what the claim, or theory, would have it be", missing=True),
    ),
    key=("claim", "dataset", "measured"),
)

IN_ORDER = "exponent of the median need by segments (interval: in 95 of 100 random orders of them)"
"""What `measured` says in `claims` of the exponent of a test set as it is."""

RELATIVE_ERROR = Table(
    "relative_error",
    (
        METRIC,
        N_SEGMENTS,
        _number("factor", "mean accuracy of system b over that of system a"),
        count("n_simulated", "pairs of systems simulated", "pairs", "simulated pairs"),
        _number("p_mean", "mean of their exact p-values", heading="mean p"),
        _number("p_sd", "standard deviation of their exact p-values", heading="s.d. of p", missing=True),
        count("n_pairs", "those whose Monte Carlo error is measured", "pairs", "pairs in range"),
        count("n_runs", "Monte Carlo runs of each", "runs", "runs"),
        count("n_resamples", "Monte Carlo samples of a run", "samples", "resamples"),
        _number("error", "mean relative error of the Monte Carlo p-value"),
        _number("error_low", "lower end of its 95 % interval", missing=True),
        _number("error_high", "upper end of its 95 % interval", missing=True),
        _number("closed_form", "the error expected by the binomial law"),
    ),
    key=("metric", "n_segments", "n_resamples"),
)

RUN_TIME = Table(
    "run_time",
    (
        METRIC,
        N_SEGMENTS,
        replace(TEST, meaning="exact or randomization"),
        _number("n_resamples", "Monte Carlo samples; missing for exact", "samples", "resamples", "count", missing=True),
        count("n_repeats", "times that it was timed", "runs", "repeats"),
        _number("seconds", "median time", "seconds"),
        _number("seconds_low", "shortest time", "seconds"),
        _number("seconds_high", "longest time", "seconds"),
    ),
    key=("metric", "n_segments", "test", "n_resamples"),
)

_ITEM = (
    Column("item", str, "name of the number"),
    Column("page", str, "its page in the proceedings"),
    Column("what", str, "what it is, and what ours is where it is something else"),
    _number("published", "the number; missing where none is printed", "see `unit`", shown="by unit", missing=True),
    Column("unit", str, "its unit"),
    _number("n_segments", "segments of the paper's test set", "segments", "segments", "count", missing=True),
)
_COMPARED_WITH = Column("compared_with", str, "address of our number")
_INFORMATION = _number("information", "words, brackets or links of the paper's test set", shown="count", missing=True)
_WHY = "why it cannot be compared, or what is assumed"

PUBLISHED = Table(
    "published",
    (
        *_ITEM,
        _INFORMATION,
        Column("information_from", str, "where that is from"),
        _number("n_pairs", "pairs behind the number, where the paper says so", "pairs", "", "count", missing=True),
        _COMPARED_WITH,
        Column("why", str, "why it cannot be compared; empty where it can"),
    ),
    key=("item",),
)
"""The sheet of numbers printed in the papers."""

REPRODUCTION = Table(
    "reproduction",
    (
        *_ITEM,
        _COMPARED_WITH,
        _number("ours", "our number", "see `unit`", shown="by unit", missing=True),
        _number("low", "lower end of its 95 % interval", "see `unit`", shown="by unit", missing=True),
        _number("high", "upper end of its 95 % interval", "see `unit`", shown="by unit", missing=True),
        _number("ours_n_segments", "segments of our test set", "segments", "our segments", "count", missing=True),
        _number(
            "expected",
            "what the published number would be on a test set of our size",
            "see `unit`",
            "published, scaled",
            "by unit",
            missing=True,
        ),
        _INFORMATION,
        _number("ours_information", "those of ours", "", "our information", "count", missing=True),
        _number(
            "expected_by_information",
            "what the published number would be on a test set with as many of these as ours",
            "see `unit`",
            "scaled by information",
            "by unit",
            missing=True,
        ),
        _number(
            "ratio",
            "our number over the expected one (by information where known)",
            "",
            "",
            "two decimals",
            missing=True,
        ),
        _number("z", "their difference in standard errors of both sides", shown="two decimals", missing=True),
        Column(
            "verdict",
            str,
            "whether the two agree",
            choices=("agrees", "differs", "better", "too few", "not comparable"),
        ),
        Column("why", str, _WHY),
    ),
    key=("item",),
)

FAMILIES = Table(
    "families",
    (
        FAMILY,
        ABOUT,
        Column("dataset", str, "its datasets; patterns"),
        Column("test_set", str, "their test sets: `whole`, `domain:…`, `document:…`, `half:…`; patterns"),
        Column("compared", str, "with which of the others", choices=("all", "within datasets")),
    ),
    key=("family", "dataset", "test_set"),
)
"""The sheet of families of test sets."""

HETEROGENEITY = Table(
    "heterogeneity",
    (
        *(BORROWED[name] for name in ("family", "metric", "about", "n_test_sets", "n_systems")),
        count("n_pairs", "pairs of systems, on each pair of test sets", "pairs", "pairs"),
        *(BORROWED[f"kappa_squared{end}"] for end in ("", "_low", "_high")),
        *_with_interval(
            "worth",
            "1/(2κ²): as many segments of the next test set say as much of the gain there as a test set of any size",
            "count",
        ),
        *_with_interval("beta_squared", "β²: how much the variance grows with the square of the gain", "as it is"),
        points(
            "floor", "gain that on one test set of any size gives 95 % chance on the next: 1.645 √2 κσ, median pair"
        ),
        points("floor_low", "lower end of its 95 % interval"),
        points("floor_high", "upper end of its 95 % interval"),
        BORROWED["n_validated"],
        *_with_interval("held", BORROWED["held"].meaning, "share"),
        BORROWED["predicted_iid"],
        BORROWED["predicted"],
        _number("loss_iid", "mean log loss of the chances, i.i.d.", "nats", shown="two decimals", missing=True),
        _number("promised_iid", "what it would be if they were true", "nats", shown="two decimals", missing=True),
        _number("loss", "mean log loss of the chances, with κ²", "nats", shown="two decimals", missing=True),
        _number("promised", "what it would be if they were true", "nats", shown="two decimals", missing=True),
        *_with_interval("saved", "loss by i.i.d. chances less that by chances with κ²", "two decimals"),
        _number("loss_constant", "mean log loss with one τ for all pairs", "nats", shown="two decimals", missing=True),
        *_with_interval("saved_by_scale", "loss with one τ for all pairs less that with κ²", "two decimals"),
        BORROWED["coverage_iid"],
        *_with_interval("coverage", BORROWED["coverage"].meaning, "share"),
        Column(
            "verdict",
            str,
            "whether κ² predicts better than i.i.d. on test sets and systems it has not seen",
            choices=("better", "no better", "worse", "not validated"),
        ),
    ),
    key=("family", "metric"),
)

NEXT_TEST_SETS = Table(
    "next_test_sets",
    (
        FAMILY,
        METRIC,
        Column("by", str, "how the chance was predicted", choices=("i.i.d.", "next")),
        _number("chance_low", "lower end of the range of predicted chances", shown="bound"),
        _number("chance_high", "upper end of the range", shown="bound"),
        count("n_pairs", "pairs of systems, on each ordered pair of test sets", "pairs", "pairs in range"),
        _number("predicted", "mean predicted chance that the better system is the better one", shown="share"),
        *_with_interval("held", "share of pairs of which it is", "share"),
    ),
    key=("family", "metric", "by", "chance_low"),
)


def _by_unit(unit: str, by: str) -> list[Column]:
    return [
        *_with_interval(
            f"excess_{unit}",
            f"squared difference of gains on two halves, over the squared standard errors {by}",
            "two decimals",
        ),
        _number(
            f"held_{unit}",
            f"share of pairs with p {by} near 0.05 on one half that hold on the other",
            shown="share",
            missing=True,
        ),
        _number(f"expected_{unit}", f"what is expected with the standard errors {by}", shown="share", missing=True),
        *_with_interval(f"difference_{unit}", "the share that held less the expected one", "change of share"),
    ]


DOCUMENTS = Table(
    "documents",
    (
        replace(
            DATASET, meaning="name of the dataset; `all` for the halves of all with this metric, each counting alike"
        ),
        METRIC,
        N_SEGMENTS,
        count("n_documents", "documents", "documents", "documents"),
        count("n_systems", "systems", "systems", "systems"),
        count("n_pairs", "pairs of systems that differ", "pairs", "pairs"),
        *_with_interval(
            "design_effect", "variance of a gain by documents over that by segments, mean over pairs", "two decimals"
        ),
        _number("by_chance_low", "lower end of 95 of 100 with segments dealt out at random", missing=True),
        _number("by_chance_high", "upper end of them", missing=True),
        *_by_unit("segment", "by segments"),
        *_by_unit("document", "by documents"),
    ),
    key=("dataset", "metric"),
)

DATASETS = Table(
    "datasets",
    (DATASET, TASK, Column("pool", str, "datasets that it is the pool of")),
    key=("dataset",),
)
"""Of the sheet of datasets, the columns that analyses need."""

CORPORA = Table(
    "corpora",
    (
        Column("corpus", str, "name of the corpus"),
        Column("url", str, "where it is from, with the commit"),
        Column("sha256", str, "checksum of the list of its checksums"),
        Column("licence", str, "licence"),
        Column("citation", str, "whose it is"),
    ),
    key=("corpus",),
)
"""The sheet of corpora."""

SHEETS = (CALIBRATIONS, PUBLISHED, DATASETS, CORPORA, FAMILIES)
"""What the analyses read of the sheets; the whole of these is declared in workflow/schemas."""

_METHODS = (
    replace(DATASET, meaning="name of the dataset; `all` for those that have a test set of that size"),
    METRIC,
    N_SEGMENTS,
    count("n_methods", "methods with several runs: a base model and a size of training set", "methods", "methods"),
    count("n_runs", "their runs", "runs", "runs"),
)
_ENOUGH = Column("verdict", str, "whether there are enough runs", choices=("estimated", "too few"))

TRAININGS = Table(
    "trainings",
    (
        *_METHODS,
        *(
            points(f"sd_training{end}", what, missing=True)
            for end, what in (
                ("", "standard deviation of a score between trainings of a method, on a test set without end"),
                ("_low", "lower end of its 95 % interval"),
                ("_high", "upper end of its 95 % interval"),
            )
        ),
        points("sd_rest", "the same: what they differ by on single segments", missing=True),
        points("sd_test_set", "standard deviation of a gain between two methods: of the test set", missing=True),
        *_with_interval("share", "training's share of the variance of a gain between one run each", "share"),
        _number("n_pairs", "pairs of runs of the same method", "pairs", "pairs", "count", missing=True),
        *_with_interval("differ", "share of these with p < 0.05, two-sided, by the outputs; 5 % by chance", "share"),
        _number("n_pairs_accounted", "those with three other runs or more", "pairs", "", "count", missing=True),
        *_with_interval("accounted", "share of these with p < 0.05 by the spread of the other runs", "share"),
        _ENOUGH,
    ),
    key=("dataset", "metric", "n_segments"),
)

BETTER_METHOD = Table(
    "better_method",
    (
        *_METHODS,
        Column(
            "question",
            str,
            "what p near 0.05 should name: the better outputs, the better method, or that by p that knows of training",
            choices=("outputs", "method", "accounted"),
        ),
        _number("n_pairs", "pairs of runs of two methods with p from 0.04 to 0.06", "pairs", "", "count", missing=True),
        _number("n_tested", "times they had", "", "times", "count", missing=True),
        *_with_interval("named", "share in which the better one is the better one on the other half", "share"),
        *_with_interval("expected", "the same by independent segments (and runs, where accounted for)", "share"),
        *_with_interval("difference", "named less expected", "change of share"),
        _ENOUGH,
    ),
    key=("dataset", "metric", "n_segments", "question"),
)

LEADERBOARDS = Table(
    "leaderboards",
    (
        DATASET,
        METRIC,
        count("n_systems", "systems on the leaderboard", "systems", "systems"),
        replace(N_SEGMENTS, meaning="items"),
        count("n_pairs", "pairs of systems", "pairs", "pairs"),
        count("n_neighbours", "those that follow each other by score", "pairs", "neighbours"),
        *_with_interval("apart", "share of neighbours with p < 0.05, exact and two-sided, uncorrected", "share"),
        _number("apart_by_chance", "the same, were all systems equal", shown="share"),
        *_with_interval("told", "share of neighbours told apart with Holm's correction over all pairs", "share"),
        _number("told_by_chance", "the same, were all systems equal, at most", shown="share"),
        *_with_interval("pairs_told", "share of all pairs told apart with Holm's correction", "share"),
        *_with_interval("likeness", "correlation of two systems' outcomes, of the median pair", "two decimals"),
        *_with_interval("overdispersion", "φ of the law of standard errors, 1 for pass and fail", "two decimals"),
        Column("n_runs", int, "runs of an item, where there are several", "runs", "runs", "count", missing=True),
        *_with_interval("sampling", "sampling's share of the variance of a gain, of one run each", "share"),
        _number("sampling_by_chance", "the same, did items not differ", shown="share", missing=True),
        *_with_interval("sampling_of_all", "the same of means of all runs", "share"),
    ),
    key=("dataset", "metric"),
)

_GAIN_SHOWN = "gain that {} items show at 80 % power (two-sided, 5 %), of the median pair, in points"

ITEMS_NEEDED = Table(
    "items_needed",
    (
        _number("score_low", "lower end of the range of the mean score of both systems", "points"),
        _number("score_high", "upper end of the range", "points"),
        _number("likeness_low", "lower end of the range of their likeness", shown="bound"),
        _number("likeness_high", "upper end of the range", shown="bound"),
        count("n_datasets", "benchmarks", "datasets", "benchmarks"),
        count("n_systems", "their systems, each on each benchmark", "systems", "systems"),
        count("n_pairs", "pairs in the range", "pairs", "pairs"),
        *(
            column
            for size in (500, 1000)
            for column in (
                *_with_interval(f"gain_{size}", _GAIN_SHOWN.format(f"{size:,}"), "two decimals"),
                _number(f"expected_{size}", "the same at median score and likeness, by φ = 1", "points"),
            )
        ),
    ),
    key=("score_low", "score_high", "likeness_low", "likeness_high"),
)

DOLLARS = Table(
    "dollars",
    (
        DATASET,
        METRIC,
        Column("true_gain", str, "that is decided, in points; `own`: that observed, of each pair", heading="true gain"),
        count("n_pairs", "pairs of systems", "pairs", "pairs"),
        count("n_systems", "their systems", "systems", "systems"),
        _number("items", "items that show it at 80 % power (two-sided, 5 %), of the median pair", "items"),
        *_with_interval("dollars", "dollars that these cost with both systems, of the median pair", "two decimals"),
        _number("dollars_quarter", "of a quarter of the pairs at most", "dollars"),
        _number("dollars_three_quarters", "of three quarters of the pairs at most", "dollars"),
    ),
    key=("dataset", "metric", "true_gain"),
)

TABLES = (
    SYSTEMS,
    RANKED,
    THRESHOLDS,
    SIZE_LAW,
    CALIBRATION_TABLE,
    CALIBRATED,
    TABLE_1,
    VALIDATION,
    CLAIMS,
    RELATIVE_ERROR,
    RUN_TIME,
    REPRODUCTION,
    HETEROGENEITY,
    NEXT_TEST_SETS,
    LAW_ERRORS,
    OVERLAPS,
    TRAININGS,
    BETTER_METHOD,
    DOCUMENTS,
    LEADERBOARDS,
    ITEMS_NEEDED,
    DOLLARS,
)
"""What commands of the study write, beside `COMPARISONS` (resize)."""

KNOWN = (*columns.TABLES, *TABLES, *SHEETS)


def declared(names: Sequence[str]) -> list[Column | None]:
    """The declarations of columns: those of the table that has exactly these, else of the first that has the name."""
    table = next((table for table in KNOWN if table.names == tuple(names)), None)
    if table is not None:
        return list(table.columns)
    first = {column.name: column for table in reversed(KNOWN) for column in table.columns}
    return [first.get(name) for name in names]


def read(path: str | Path, table: Table | None = None) -> pd.DataFrame:
    """A table of the study; see `pairsig.tables.read`."""
    from pairsig import tables

    return tables.read(path, table, known=KNOWN)


def document() -> str:
    """Every table and its columns, in Markdown: docs/tables.md, made by `python -m study.columns`."""
    written = [
        (COMPARISONS, "`results/comparisons/`, `results/test_sets/`: one row a pair of systems"),
        (SYSTEMS, "`results/tables/systems`: one row a dataset and base model"),
        (RANKED, "`results/tables/ranks`: one row a system of a dataset, the best first"),
        (THRESHOLDS, "`results/tables/thresholds`: one row a test set and subset of pairs"),
        (SIZE_LAW, "`results/tables/size_law`: one row a dataset and subset of pairs"),
        (CALIBRATION_TABLE, "`results/tables/calibration`: one row a calibration, distance and range of p-values"),
        (CALIBRATED, "`results/calibrated.parquet`: one row a pair of systems and ordered pair of test sets"),
        (TABLE_1, "`results/tables/table_1`: the paper's Table 1, ours beside it"),
        (VALIDATION, "`results/tables/validation`: one row a synthetic dataset, test set and subset of pairs"),
        (CLAIMS, "`results/tables/claims`: one row a number that a claim is judged by"),
        (RELATIVE_ERROR, "`results/tables/relative_error`: one row a metric, number of sentences and of samples"),
        (RUN_TIME, "`results/tables/run_time`: one row a metric, number of sentences and test"),
        (REPRODUCTION, "`results/tables/reproduction`: one row a published number"),
        (HETEROGENEITY, "`results/tables/heterogeneity`: one row a family of test sets and metric"),
        (NEXT_TEST_SETS, "`results/tables/next_test_sets`: one row a family, metric and range of predicted chances"),
        (TRAININGS, "`results/tables/trainings`: one row a dataset and size of test set"),
        (BETTER_METHOD, "`results/tables/better_method`: one row a dataset, size of test set and question"),
        (DOCUMENTS, "`results/tables/documents`: one row a dataset whose segments come in documents"),
        (LEADERBOARDS, "`results/tables/leaderboards`: one row a benchmark"),
        (ITEMS_NEEDED, "`results/tables/items_needed`: one row a range of scores and of likeness"),
        (DOLLARS, "`results/tables/dollars`: one row a benchmark with costs and a true gain"),
        (columns.STATISTICS, "`results/statistics/`: one row a system and segment; further columns are counts"),
        (columns.TRANSFER, "`pairsig transfer`: one row a pair of systems"),
        (columns.METHODS, "`pairsig methods`, and `pairsig test` where there are runs: one row a pair of methods"),
        (columns.RANKS, "`pairsig rank`: one row a system, the best first"),
        (columns.RANKED_PAIRS, "`pairsig rank --pairs`: one row a pair of systems, the most certain first"),
        (columns.BORROWED, "`src/pairsig/borrowed.tsv`, for `pairsig transfer --like`: one row a family and metric"),
        (columns.LAW, "`results/tables/law`, and `src/pairsig/law.tsv`: one row a metric and what is given"),
        (LAW_ERRORS, "`results/tables/law_errors`: one row a law of the variance of a segment's difference"),
        (OVERLAPS, "`resources/overlaps.tsv`: one row a pair of systems of some translation datasets"),
        (columns.PLAN, "`pairsig plan --format json`: one object a gain, margin or size"),
        (columns.VERSUS, "`pairsig test --format json`: one object a metric, system, test and variant"),
    ]
    parts = [_HEAD]
    for table, where in written:
        rows = [f"| `{column.name}` | {_type(column)} | {column.unit} | {_said(column)} |" for column in table.columns]
        key = ", ".join(f"`{name}`" for name in table.key)
        head = "| column | type | unit | what it says |\n|---|---|---|---|"
        parts.append("\n".join([f"## {table.name}", "", f"{where}. Its key: {key}.", "", head, *rows, ""]))
    return "\n".join(parts)


_HEAD = """\
# Tables

The columns of every table, in their order. Text files have one more, `n_rows`, the number of rows, so that a table that
was cut is refused. This page is made from the declarations in `src/pairsig/columns.py` and `src/study/columns.py`
(`python -m study.columns > docs/tables.md`).
"""


def _type(column: Column) -> str:
    names = {str: "text", bool: "true or false", int: "whole number", float: "number", list: "sentences"}
    return names[column.type] + (", may be missing" if column.missing else "")


def _said(column: Column) -> str:
    return column.meaning + (f": {', '.join(f'`{choice}`' for choice in column.choices)}" if column.choices else "")


if __name__ == "__main__":
    print(document(), end="")
