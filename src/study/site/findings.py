"""What the study found, in the order of the paper's sections: sentences with numbers, each a cell of a table.

A finding whose rows are not in the tables of a run is left out: a small run has fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pairsig.columns import LAW
from pairsig.metrics.names import metric_name
from pairsig.tables import frame
from study import columns
from study.presentation import by_unit, count, percent

Tables = Mapping[str, pd.DataFrame]

FEW = 0.01
"""Two tests are said to decide alike where the interval of the share they decide apart ends below this."""


@dataclass(frozen=True)
class Number:
    """One line of a finding: what it is, our number with its interval, what it is held against, and the verdict."""

    label: str
    ours: str
    beside: str = ""
    basis: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing the study says.

    Attributes
    ----------
    section
        Of the paper, or "" for what it has not.
    claim
        What the paper says, or what was asked.
    found
        One or two sentences with the numbers.
    meaning
        What it means, in a sentence.
    verdict
        One word, or a tally of those of the numbers.
    rule
        How the verdict was come by.
    beside
        Heading of what the numbers are held against.
    figure, tables
        Names of the figure and of the tables it is from.
    """

    key: str
    section: str
    claim: str
    found: str
    meaning: str
    verdict: str
    rule: str = ""
    beside: str = ""
    numbers: tuple[Number, ...] = ()
    figure: str = ""
    tables: tuple[str, ...] = ()
    page: str = ""


@dataclass(frozen=True)
class Chapter:
    """Findings under one heading."""

    key: str
    title: str
    about: str
    findings: tuple[Finding, ...] = field(default=())


def interval(value: float, low: float, high: float, shown: Callable[[float], str]) -> str:
    """A number with its 95 % interval.

    >>> interval(1.479, 1.34, 1.63, lambda value: f"{value:.2f}")
    '1.48 [1.34, 1.63]'
    """
    if pd.isna(value):
        return "–"
    return shown(value) + ("" if pd.isna(low) or pd.isna(high) else f" [{shown(low)}, {shown(high)}]")


def share(row: pd.Series, name: str = "share") -> str:
    """A share in per cent with its interval.

    >>> share(pd.Series({"share": 0.9, "share_low": 0.86, "share_high": 0.93}))
    '90 % [86, 93]'
    """
    low, high = row.get(f"{name}_low", np.nan), row.get(f"{name}_high", np.nan)
    if pd.isna(row[name]):
        return "–"
    return percent(row[name]) + ("" if pd.isna(low) or pd.isna(high) else f" [{100 * low:.0f}, {100 * high:.0f}]")


def in_points(row: pd.Series, name: str) -> str:
    """A number of points with its interval.

    >>> in_points(pd.Series({"gain": 5.55, "gain_low": 5.43, "gain_high": 5.67}), "gain")
    '5.5 [5.4, 5.7]'
    """
    return interval(row[name], row[f"{name}_low"], row[f"{name}_high"], lambda value: f"{value:.1f}")


def signed(value: float, digits: int = 2) -> str:
    """With a minus sign rather than a hyphen.

    >>> signed(-0.484)
    '−0.48'
    """
    return f"{value:.{digits}f}".replace("-", "−")


def small(row: pd.Series) -> str:
    """A share that may be far below one per cent, with two digits that matter and its interval.

    >>> small(pd.Series({"value": 0.00156, "low": 0.00104, "high": 0.00224}))
    '0.16 % [0.10, 0.22]'
    """
    ends = "" if pd.isna(row["low"]) else f" [{_two_digits(row['low'])}, {_two_digits(row['high'])}]"
    return f"{_two_digits(row['value'])} %{ends}"


def _two_digits(value: float) -> str:
    return f"{100 * value:#.2g}".rstrip(".") if value else "0"


def tally(verdicts: Sequence[str]) -> str:
    """Verdicts, counted, the most frequent first: `4 agree, 1 differs`.

    >>> tally(["agrees", "agrees", "differs"])
    '2 agree, 1 differs'
    >>> tally(["differs"])
    'differs'
    """
    if len(set(verdicts)) == 1 and len(verdicts) == 1:
        return verdicts[0]
    plural = {"agrees": "agree", "differs": "differ", "holds": "hold", "does not hold": "do not hold"}
    counted = Counter(verdicts).most_common()
    return ", ".join(f"{n:,} {plural.get(word, word) if n > 1 else word}" for word, n in counted)


def split_name(what: str) -> tuple[str, str]:
    """The name of a printed number and what stands in brackets behind it.

    >>> split_name("threshold, same base model (ours: English Web Treebank)")
    ('Threshold, same base model', 'ours: English Web Treebank')
    """
    name, bracket, rest = what.partition(" (")
    note = rest.removesuffix(")") if bracket and rest.endswith(")") else ""
    name = name if note else what
    return name[:1].upper() + name[1:], note


def complete(tables: Tables) -> Tables:
    """The tables of the study, those that a run has not as ones without rows, and whatever else it has."""
    known = {table.name: table for table in (*columns.TABLES, LAW)} | {"ranks": columns.RANKED}
    return {name: frame(table, []) for name, table in known.items()} | dict(tables)


def chapters(tables: Tables) -> list[Chapter]:
    """All findings that the tables of a run have the rows for."""
    found = []
    for key, title, about, makers in _CHAPTERS:
        findings = tuple(one for make in makers for one in make(tables))
        if findings:
            found.append(Chapter(key, title, about, findings))
    return found


def rows(tables: Tables, table: str, **cells: object) -> pd.DataFrame:
    """The rows of a table that have these cells."""
    found = tables[table]
    for name, cell in cells.items():
        found = found[found[name] == cell]
    return found


# What a p-value is (section 2)


def _t_test(tables: Tables) -> Iterator[Finding]:
    claims = rows(tables, "claims", claim="t-test", dataset="all").set_index("measured")
    mean, apart = (claims.filter(like=word, axis=0) for word in ("mean difference", "decide apart"))
    if mean.empty or apart.empty:
        return
    difference, decided = mean.iloc[0], apart.iloc[0]
    holds = "holds" if decided["high"] < FEW else "does not hold"
    numbers = (
        Number("mean difference of the two p-values", _of(difference, lambda v: f"{v:.4f}"), "0", _pairs(difference)),
        Number("decisions at 0.05 that differ", small(decided), "0 %", _pairs(decided)),
    )
    yield Finding(
        "t-test",
        "2.1",
        "The paired bootstrap’s p-value is that of the normal curve through the standard error of the gain",
        f"Bootstrap and Student’s t of the same standard error differ by {numbers[0].ours} on average, and decide "
        f"{numbers[1].ours} of {count(decided['n'])} pairs otherwise at p = 0.05.",
        "For a test set of the usual size the standard error says all that the resamples say."
        if holds == "holds"
        else "Here the resamples say something that the standard error does not.",
        holds,
        "holds where the interval of the share that is decided otherwise ends below 1 %",
        "if they were the same",
        numbers,
        "",
        ("claims",),
    )


def _footnote(tables: Tables) -> Iterator[Finding]:
    claims = rows(tables, "claims", claim="footnote-2")
    claims = claims[claims["measured"].str.contains("decide apart")]
    if claims.empty:
        return
    verdicts = [
        "holds" if row.high < FEW else "differs" if row.low > FEW else "not told" for row in claims.itertuples()
    ]
    numbers = tuple(
        Number(str(row["dataset"]), small(row), "0 %", _pairs(row), verdict)
        for (_, row), verdict in zip(claims.iterrows(), verdicts, strict=True)
    )
    yield Finding(
        "variants",
        "2.2",
        "It makes no difference which of the bootstrap’s two formulas is used",
        f"The formulas gt2 and percentile decide {_two_digits(claims['value'].min())} to "
        f"{_two_digits(claims['value'].max())} % "
        f"of the pairs of {len(claims)} datasets otherwise at p = 0.05.",
        "Say which formula was used, but expect no other conclusions from the other; on small test sets they "
        "may differ.",
        tally(verdicts),
        "a dataset: holds where the interval of the share ends below 1 %, differs where it begins above, else "
        "it is not told",
        "if they were the same",
        numbers,
        tables=("claims",),
    )


# Gains and confidence (sections 3.1 and 3.2)


def _curve(tables: Tables) -> Iterator[Finding]:
    thresholds = rows(tables, "thresholds", test_set="whole", subset="all")
    if thresholds.empty:
        return
    own = thresholds[~thresholds["dataset"].str.startswith("task=") & (thresholds["task"] != "")]
    tasks = own.dropna(subset=["need"]).groupby("task", sort=False)
    numbers = tuple(
        Number(
            f"{task_name(str(task))}, {metric_name(str(mine['metric'].iloc[0]))}",
            f"{mine['need'].min():.2f} to {mine['need'].max():.2f}",
            "",
            f"{len(mine)} test set{'s' * (len(mine) > 1)} of {_range(mine['n_segments'])} segments, "
            f"{count(mine['n_all'].sum())} pairs",
        )
        for task, mine in tasks
    )
    yield Finding(
        "curve",
        "3.1",
        "A larger gain means more confidence, along one curve",
        f"{len(own)} datasets, {count(own['n_all'].sum())} pairs of systems. The line in every panel is what "
        f"theory expects of "
        "the median pair, Φ(gain / its standard error); pairs that are more alike lie above it. For p = 0.05 "
        "the median pair needs "
        "1.645 of its standard errors.",
        "There is a gain from which almost any difference is significant, and it is another one for every "
        "metric, test set and "
        "kind of systems.",
        "",
        "",
        "",
        numbers,
        "overview",
        ("thresholds",),
        "explorer.html",
    )


def _alike(tables: Tables) -> Iterator[Finding]:
    claims = rows(tables, "claims", claim="factor-of-two")
    claims = claims[claims["measured"] == "exponent of the need by 1 − similarity, within test sets"]
    thresholds = rows(tables, "thresholds", test_set="whole")
    wide = thresholds[thresholds["subset"].isin(["same group", "different group"])]
    numbers: list[Number] = []
    if len(claims):
        row = claims.iloc[0]
        numbers.append(
            Number(
                "exponent of the need by 1 − likeness",
                _of(row, signed),
                signed(row["reference"]),
                _pairs(row),
                _within(row),
            )
        )
    both = {name: wide[(wide["subset"] == name) & wide["need"].notna()] for name in ("same group", "different group")}
    one = both["same group"].merge(both["different group"], on=["dataset", "metric", "test"], suffixes=("", "_other"))
    one = one[~one["dataset"].str.startswith("task=") & (one["n_systems"] >= 6) & (one["n_all"] >= 10)]
    one = one.dropna(subset=["need_high", "need_low_other"])
    if len(one):
        less = int((one["need"] < one["need_other"]).sum())
        numbers.append(
            Number(
                "datasets where pairs of one group need less than others",
                f"{less} of {len(one)}",
                f"{len(one) / 2:g} by chance",
                f"of {len(one)} with enough pairs of one group",
            )
        )
    if not numbers:
        return
    yield Finding(
        "likeness",
        "3.2",
        "Systems that are alike need smaller gains",
        "The gain a pair needs goes with the square root of how unlike the two systems are, as the variance "
        "of a difference must: " + "; ".join(f"{one.label}: {one.ours}" for one in numbers) + ".",
        "Two runs of one system are told apart by gains that say nothing between systems of two groups.",
        next((one.verdict for one in numbers if one.verdict), ""),
        "agrees where the interval has the exponent of theory in it",
        "expected",
        tuple(numbers),
        "",
        ("claims", "thresholds"),
    )


def _of_paper(
    key: str,
    section: str,
    claim: str,
    agreed: str,
    otherwise: str,
    chosen: Callable[[pd.DataFrame], pd.Series],
    figure: str,
) -> Callable[[Tables], Iterator[Finding]]:
    """A finding about numbers that the paper prints: rows of `reproduction`.

    `{printed}` in the claim are these numbers; what it means is `agreed` where none of those that can be judged
    differs.
    """

    def make(tables: Tables) -> Iterator[Finding]:
        table = tables["reproduction"]
        mine = table[chosen(table)]
        told = mine[mine["ours"].notna()]
        if mine.empty:
            return
        printed = " and ".join(
            dict.fromkeys(published(row) for _, row in mine.iterrows() if pd.notna(row["published"]))
        )
        judged = set(mine["verdict"]) & {"agrees", "better", "differs"}
        found = []
        for _, row in mine.iterrows():
            name, note = split_name(str(row["what"]))
            found.append(
                Number(
                    name + (f" ({note})" if note else ""),
                    ours(row),
                    expected(row),
                    basis(row),
                    str(row["verdict"]),
                )
            )
        said = "; ".join(f"{ours(row)} where {expected(row)} was to be expected" for _, row in told.head(2).iterrows())
        yield Finding(
            key,
            section,
            claim.format(printed=printed),
            (f"Ours: {said}" + (f"; and {len(told) - 2} more" if len(told) > 2 else "") + ".")
            if said
            else "None of our test sets has enough pairs near p = 0.05 for this number.",
            agreed if judged and "differs" not in judged else otherwise,
            tally(mine["verdict"].tolist()),
            "agrees: the two differ by no more than 1.96 standard errors of both; too few: fewer than 10 "
            "pairs near p = 0.05",
            "the paper’s, at our size",
            tuple(found),
            figure,
            ("reproduction",),
            "paper.html",
        )

    return make


def ours(row: pd.Series) -> str:
    """Our number of a row of `reproduction`, with its interval."""
    shown = interval(row["ours"], row["low"], row["high"], lambda value: _in_unit(value, row["unit"]))
    return f"{shown} %" if row["unit"] == "%" and shown != "–" else shown


def published(row: pd.Series) -> str:
    """The paper’s number of a row of `reproduction`, as it is printed."""
    return "–" if pd.isna(row["published"]) else f"{_in_unit(row['published'], row['unit'])}{_suffix(row['unit'])}"


def expected(row: pd.Series) -> str:
    """What the paper’s number would be on a test set of our size; its own where size is nothing to it."""
    values = [row["expected"], row["expected_by_information"]]
    shown = [_in_unit(value, row["unit"]) for value in values if pd.notna(value)]
    return " or ".join(shown) if shown else published(row)


def basis(row: pd.Series) -> str:
    """The size of our test set."""
    return "" if pd.isna(row["ours_n_segments"]) else f"n = {count(row['ours_n_segments'])}"


def _in_unit(value: float, unit: str) -> str:
    return by_unit(value, unit)


def _suffix(unit: str) -> str:
    return {"exponent": "", "p": ""}.get(unit, f" {unit}")


def _same_as_natural(tables: Tables) -> Iterator[Finding]:
    table = rows(tables, "validation", test_set="whole", subset="all")
    table = table.dropna(subset=["ratio"])
    if table.empty:
        return
    numbers = []
    for _, row in table.iterrows():
        name = f"{row['dataset']} against {row['overlay']}"
        basis = f"{count(row['n_synthetic'])} and {count(row['n_natural'])} pairs"
        for label, what in (("ratio", "all pairs"), ("alike_ratio", "pairs equally alike")):
            if pd.notna(row[label]):
                shown = interval(row[label], row[f"{label}_low"], row[f"{label}_high"], signed)
                numbers.append(
                    Number(f"{name}: {what}", shown, "1", basis, str(row[label.replace("ratio", "verdict")]))
                )
    yield Finding(
        "natural",
        "3.2.1",
        "Comparisons of retrained systems follow the curve of natural ones",
        "Retrained systems need "
        + "; ".join(f"{one.ours} times ({one.label})" for one in numbers[:2])
        + " the gain that systems of others need at p = 0.05 on the same sentences.",
        "Retrained systems stand for natural ones that are as alike."
        if all(one.verdict == "agrees" for one in numbers if one.label.endswith("equally alike"))
        else "Retrained systems stand for natural ones that are as alike, and for others only roughly.",
        tally([one.verdict for one in numbers]),
        "agrees where the interval has 1 in it",
        "expected",
        tuple(numbers),
        "",
        ("validation",),
    )


# Test sets (section 4)


def _order(tables: Tables) -> Iterator[Finding]:
    claims = rows(tables, "claims", claim="order")
    claims = claims[claims["measured"].str.startswith("mean exponent in random orders")]
    if claims.empty:
        return
    numbers = tuple(
        Number(str(row["dataset"]), _of(row, signed), signed(row["reference"]), _pairs(row))
        for _, row in claims.iterrows()
    )
    off = (claims["value"] - claims["reference"]).abs().max()
    yield Finding(
        "order",
        "4.1",
        "Independent segments make the need fall with the square root of their number",
        f"With the segments of a test set in random order the exponent is {signed(claims['value'].min())} to "
        f"{signed(claims['value'].max())} in {len(claims)} datasets, no more than {off:.2f} from −0.50.",
        "Where a test set falls short of the square root, it is its order (chapters, genres) and not the "
        "number of systems.",
        "",
        "",
        "theory",
        numbers,
        "",
        ("claims",),
    )


def _elsewhere(tables: Tables) -> Iterator[Finding]:
    table = rows(tables, "calibration", p_low=0.04, p_high=0.06)
    table = table[(table["n_pairs"] > 0) & table["share"].notna()]
    here, there = (table[table["distance"].isin(which)] for which in (("iid", "halves"), ("near", "middle", "far")))
    for key, mine, claim, all_held, otherwise in (
        ("here", here, "On data like the test set’s a p-value keeps its word",
         "A p-value answers for the population that the test set was drawn from, and it does so honestly.",
         "A p-value answers for the population that the test set was drawn from, and not always honestly."),
        ("elsewhere", there, "On another domain it does not",
         "On these test sets nothing is lost that can be told.",
         "No p-value says how a system does on other data; only further test sets do."),
    ):  # fmt: skip
        if mine.empty:
            continue
        numbers = tuple(
            Number(
                f"{row['calibration']}, {DISTANCES[row['distance']]}",
                share(row),
                share(row, "expected"),
                f"{count(row['n_pairs'])} pairs on {count(row['n_test_sets'])} ordered pairs of test sets",
                _excess(row),
            )
            for _, row in mine.iterrows()
        )
        verdicts = [one.verdict for one in numbers if one.verdict]
        fewer, told = sum(verdict == "fewer" for verdict in verdicts), len(verdicts)
        first = mine.iloc[0]
        yield Finding(
            key,
            "4.2",
            claim,
            f"Of the pairs with p near 0.05 the better one is the better one on the second test set, too, in "
            f"{share(first)} "
            f"({numbers[0].label}; one population: {share(first, 'expected')}). Fewer than one population says "
            f"hold in {fewer} of "
            f"{told} comparisons.",
            otherwise if fewer else all_held,
            f"{fewer} of {told} fewer than expected",
            "fewer (more): the interval of the difference from what one population would give lies below (above) 0",
            "expected of one population",
            numbers,
            "calibration" if key == "here" or here.empty else "",
            ("calibration", "table_1"),
            "cells.html",
        )


def _excess(row: pd.Series) -> str:
    if pd.isna(row["difference_low"]):
        return ""
    return "fewer" if row["difference_high"] < 0 else "more" if row["difference_low"] > 0 else "as expected"


# What the paper has not


def _next(tables: Tables) -> Iterator[Finding]:
    table = tables["heterogeneity"]
    table = table.dropna(subset=["kappa_squared", "held", "predicted"])
    table = table[table["family"] != "halves"]
    if table.empty:
        return
    numbers = tuple(
        Number(
            f"{row['about']} ({metric_name(row['metric'])})",
            share(row, "held"),
            f"{percent(row['predicted_iid'])} i.i.d., {percent(row['predicted'])} with κ²",
            f"{count(row['n_test_sets'])} test sets, {count(row['n_systems'])} systems; a test set of any size "
            f"is worth " + interval(row["worth"], row["worth_low"], row["worth_high"], count) + " segments",
            str(row["verdict"]),
        )
        for _, row in table.iterrows()
    )
    first = table.iloc[0]
    yield Finding(
        "next",
        "",
        "Will it win on the next test set?",
        f"{first['about']}: the better system on one was the better one on another in {share(first, 'held')}; "
        f"i.i.d. promises "
        f"{percent(first['predicted_iid'])}, with the heterogeneity of other test sets and systems "
        f"{percent(first['predicted'])}. "
        f"A test set of any size is worth "
        f"{interval(first['worth'], first['worth_low'], first['worth_high'], count)} segments of "
        "another one.",
        "More sentences of one domain do not help beyond a point: take more domains.",
        tally(table["verdict"].tolist()),
        "better: predictions with κ² have a smaller loss than i.i.d. ones, and the interval of what is saved "
        "lies above 0",
        "predicted",
        numbers,
        "next_test_sets",
        ("heterogeneity", "next_test_sets"),
    )


def _methods(tables: Tables) -> Iterator[Finding]:
    table = tables["trainings"]
    table = table.dropna(subset=["differ", "n_pairs"])
    table = table[table["verdict"] == "estimated"]
    if table.empty:
        return
    largest = table.sort_values("n_segments", kind="stable").groupby("dataset", sort=False).tail(1)
    numbers = tuple(
        Number(
            f"{row['dataset']}, {count(row['n_segments'])} segments",
            share(row, "differ"),
            "5 %",
            f"{count(row['n_pairs'])} pairs of runs; by the spread of the other runs {share(row, 'accounted')}",
            "more" if row["differ_low"] > 0.05 else "as expected",
        )
        for _, row in largest.iterrows()
    )
    most = largest.sort_values("n_segments").iloc[-1]
    yield Finding(
        "method",
        "",
        "Is it the method, or the training run?",
        f"Two runs of one and the same method have p < 0.05 in {share(most, 'differ')} of pairs on "
        f"{count(most['n_segments'])} segments ({most['dataset']}), where chance alone gives 5 %.",
        "A small p says that these outputs differ; that one method is the better one takes several runs of both.",
        tally([one.verdict for one in numbers]),
        "more: the interval lies above the 5 % of chance",
        "by chance",
        numbers,
        "trainings",
        ("trainings", "better_method"),
    )


def _documents(tables: Tables) -> Iterator[Finding]:
    table = tables["documents"]
    table = table.dropna(subset=["design_effect"])
    if table.empty:
        return
    single = table[table["dataset"] != "all"]
    whole = table[table["dataset"] == "all"]
    numbers = tuple(
        Number(
            str(row["dataset"]),
            interval(row["design_effect"], row["design_effect_low"], row["design_effect_high"], signed),
            f"{row['by_chance_low']:.2f} to {row['by_chance_high']:.2f}",
            f"{count(row['n_documents'])} documents, {count(row['n_segments'])} segments",
            "more" if row["design_effect_low"] > row["by_chance_high"] else "as expected",
        )
        for _, row in table.iterrows()
    )
    found = (
        f"With documents drawn as wholes the variance of a gain is {single['design_effect'].min():.2g} to "
        f"{single['design_effect'].max():.2g} times that by sentences, {single['design_effect'].median():.2g} "
        f"in the median of "
        f"{len(single)} test sets."
    )
    for _, row in whole.iterrows():
        found += (
            f" On two halves of the documents squared gains differ by "
            f"{interval(row['excess_segment'], row['excess_segment_low'], row['excess_segment_high'], signed)} "
            f"times what "
            f"sentences say, "
            f"{interval(row['excess_document'], row['excess_document_low'], row['excess_document_high'], signed)} "
            "times what documents say."
        )
    yield Finding(
        "documents",
        "",
        "Sentences come in documents",
        found,
        "Where documents are known, resample them and not their sentences.",
        tally([one.verdict for one in numbers]),
        "more: the interval of the design effect lies above what sentences dealt out at random give",
        "by chance",
        numbers,
        "documents",
        ("documents",),
    )


def _law(tables: Tables) -> Iterator[Finding]:
    table = rows(tables, "law", given="likeness")
    errors = tables["law_errors"]
    if table.empty:
        return
    numbers = [
        Number(
            f"φ of {metric_name(row['metric'])}",
            f"{row['overdispersion']:.2f}",
            "",
            f"{count(row['n_datasets'])} test sets, {count(row['n_pairs'])} pairs",
        )
        for _, row in table.dropna(subset=["overdispersion"]).iterrows()
    ]
    found = "The variance of two systems' difference on a segment is 10⁴ · φ · 2(1 − likeness) · p(1 − p) / "
    "√length, p being the score."
    used = errors[errors["used"].astype(bool) & (errors["given"] == "likeness")]
    for _, row in used.iterrows():
        factor, low, high = np.exp(row[["error", "error_low", "error_high"]].to_numpy(dtype=float))
        told = interval(factor, low, high, signed)
        found += (
            f" On test sets that were left out it tells the number of segments to a factor of {told}, and "
            f"{share(row, 'coverage')} of the pairs lie in its 95 % interval."
        )
    yield Finding(
        "law",
        "",
        "How many segments does a gain take?",
        found,
        "Before there is a test set, its size can be planned.",
        "",
        "",
        "",
        tuple(numbers),
        "segments_needed",
        ("law", "law_errors"),
    )


# Leaderboards of language models


def _neighbours(tables: Tables) -> Iterator[Finding]:
    table = tables["leaderboards"].dropna(subset=["told"]).sort_values("told", ascending=False, kind="stable")
    if table.empty:
        return
    numbers = tuple(
        Number(
            str(row["dataset"]),
            share(row, "told"),
            percent(row["told_by_chance"]),
            f"{count(row['n_neighbours'])} neighbours, {count(row['n_segments'])} items; of all pairs "
            f"{share(row, 'pairs_told')}",
        )
        for _, row in table.iterrows()
    )
    none = [one.label for one, value in zip(numbers, table["told"], strict=True) if value == 0]
    where = " and ".join(none) if len(none) < 3 else f"{len(none)} of {len(numbers)} leaderboards"
    yield Finding(
        "neighbours",
        "",
        "Is a system better than the next one on its leaderboard?",
        f"On {numbers[0].label} {numbers[0].ours} of the systems are told apart from the next one"
        + (f", on {where} none is" if none else "")
        + " (exact tests, Holm's correction over all pairs).",
        "A place on a leaderboard is a range of places: print it beside the score.",
        "",
        "",
        "by chance",
        numbers,
        "leaderboards",
        ("leaderboards", "ranks"),
    )


def _items(tables: Tables) -> Iterator[Finding]:
    table = tables["items_needed"]
    scores = (table["score_low"] > 0) | (table["score_high"] < 100)
    likeness = (table["likeness_low"] > -1) | (table["likeness_high"] < 1)
    if not (~scores & ~likeness).any():
        return
    first = table[~scores & ~likeness].iloc[0]
    ranges = {
        "all pairs": table[~scores & ~likeness],
        "scores of {score_low:.0f} to {score_high:.0f}": table[scores & ~likeness],
        "likeness of {likeness_low:g} to {likeness_high:g}": table[likeness & ~scores],
    }
    numbers = tuple(
        Number(
            f"500 items, {label.format(**row.to_dict())}".replace("-", "−"),
            in_points(row, "gain_500"),
            f"{row['expected_500']:.1f}",
            f"{count(row['n_pairs'])} pairs on {count(row['n_datasets'])} leaderboards",
        )
        for label, own in ranges.items()
        for _, row in own.dropna(subset=["gain_500"]).iterrows()
    )
    yield Finding(
        "items",
        "",
        "How many items does a benchmark take?",
        f"500 items show a gain of {in_points(first, 'gain_500')} points with 80 % power, 1,000 one of "
        f"{in_points(first, 'gain_1000')} (the median of {count(first['n_pairs'])} pairs).",
        "A smaller gain will often be missed on a benchmark of this size: plan the size, or pool benchmarks.",
        "",
        "",
        "by the law, φ = 1",
        numbers,
        "",
        ("items_needed",),
    )


def _sampling(tables: Tables) -> Iterator[Finding]:
    table = tables["leaderboards"].dropna(subset=["sampling"])
    if table.empty:
        return
    numbers = tuple(
        Number(
            str(row["dataset"]),
            share(row, "sampling"),
            percent(row["sampling_by_chance"]),
            f"{count(row['n_runs'])} runs of an item; of their means {share(row, 'sampling_of_all')}",
        )
        for _, row in table.iterrows()
    )
    said = "; ".join(f"{one.ours} ({one.label})" for one in numbers[:3])
    yield Finding(
        "sampling",
        "",
        "How much of a gain is the sampling of answers?",
        f"Of the variance of a gain, with one run of an item each, sampling makes {said}"
        + (f"; and {len(numbers) - 3} more" if len(numbers) > 3 else "")
        + ".",
        "Where the share is large, run an item more often; where it is small, only more items help.",
        "",
        "",
        "did items not differ",
        numbers,
        "",
        ("leaderboards",),
    )


def _dollars(tables: Tables) -> Iterator[Finding]:
    table = tables["dollars"].dropna(subset=["dollars"])
    if table.empty:
        return
    numbers = tuple(
        Number(
            f"{row['dataset']}, " + ("gains as observed" if row["true_gain"] == "own" else _true_gain(row)),
            interval(row["dollars"], row["dollars_low"], row["dollars_high"], lambda value: f"${value:,.0f}"),
            "",
            f"{count(row['items'])} items; half of the pairs ${row['dollars_quarter']:,.0f} to "
            f"${row['dollars_three_quarters']:,.0f}",
        )
        for _, row in table.iterrows()
    )
    yield Finding(
        "dollars",
        "",
        "What does it cost to decide a pair?",
        f"{numbers[0].ours} for the median pair ({numbers[0].label}), both systems run on as many items as show the "
        "gain with 80 % power.",
        "A tenth of the gain costs a hundred times as much.",
        "",
        "",
        "",
        numbers,
        "",
        ("dollars",),
    )


def _true_gain(row: pd.Series) -> str:
    return f"a true gain of {row['true_gain']} point{'s' * (row['true_gain'] != '1')}"


# The exact-test paper


def _error(tables: Tables) -> Iterator[Finding]:
    table = rows(tables, "relative_error")
    if table.empty:
        return
    mean = table.groupby(["metric", "n_resamples"], sort=False)[["error", "closed_form"]].mean().reset_index()
    numbers = tuple(
        Number(
            f"{metric_name(row['metric'])}, {count(row['n_resamples'])} samples",
            f"{100 * row['error']:.2g} %",
            f"{100 * row['closed_form']:.2g} %",
        )
        for _, row in mean.iterrows()
    )
    last = mean[mean["n_resamples"] == 20_000]
    said = ", ".join(
        f"{100 * row['error']:.2g} % of itself for {metric_name(row['metric'])} (the binomial law: "
        f"{100 * row['closed_form']:.2g} %)"
        for _, row in last.iterrows()
    )
    reproduced = rows(tables, "reproduction", item="exact-samples")
    yield Finding(
        "samples",
        "3, 4",
        "20,000 samples are what a Monte Carlo p-value needs at least",
        (f"With 20,000 samples a p-value is off by {said}. " if said else "")
        + (str(reproduced["why"].iloc[0]).capitalize() + "." if len(reproduced) and reproduced["why"].iloc[0] else ""),
        "The error falls as 1/√K and has no bend: more samples help, and no number of them is the least.",
        str(reproduced["verdict"].iloc[0]) if len(reproduced) else "",
        "differs where the error goes on falling beyond 20,000 samples",
        "binomial law",
        numbers,
        "relative_error",
        ("relative_error", "reproduction"),
    )


def _decisions(tables: Tables) -> Iterator[Finding]:
    claims = rows(tables, "claims", claim="monte-carlo-decisions")
    claims = claims[claims["measured"].str.startswith("share of pairs")]
    if claims.empty:
        return
    numbers = tuple(
        Number(
            str(row["measured"])
            .removeprefix("share of ")
            .replace(", where", ":")
            .replace(" decide otherwise than the exact p in over 1 % of runs", ""),
            small(row),
            "",
            _pairs(row),
            "holds" if row["low"] > FEW else "does not hold" if row["high"] < FEW else "not told",
        )
        for _, row in claims.iterrows()
    )
    at = claims[claims["measured"].str.contains("20,000 samples")]
    row = (at if len(at) else claims).iloc[0]
    yield Finding(
        "decisions",
        "abstract",
        "Monte Carlo decisions at 0.05 are unreliable",
        f"{small(row)} of {count(row['n'])} pairs: {str(row['measured']).removeprefix('share of ')}.",
        "Only a pair whose p is next to 0.05 is decided by the seed.",
        tally([one.verdict for one in numbers]),
        "holds where the interval of the share lies above 1 %, does not hold where it lies below",
        "",
        numbers,
        "",
        ("claims",),
    )


def _of(row: pd.Series, shown: Callable[[float], str]) -> str:
    return interval(row["value"], row["low"], row["high"], shown)


def _pairs(row: pd.Series) -> str:
    return f"{count(row['n'])} pairs"


def _within(row: pd.Series) -> str:
    return "" if pd.isna(row["low"]) else "agrees" if row["low"] <= row["reference"] <= row["high"] else "differs"


def _range(numbers: pd.Series) -> str:
    low, high = numbers.min(), numbers.max()
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def _begins(prefix: str, unit: str = "") -> Callable[[pd.DataFrame], pd.Series]:
    def chosen(table: pd.DataFrame) -> pd.Series:
        return table["item"].str.startswith(prefix) & ((table["unit"] == unit) if unit else True)

    return chosen


TASK_NAMES = {
    "mt": "machine translation",
    "dependency": "dependency parsing",
    "constituency": "constituency parsing",
    "alignment": "word alignment",
    "summarization": "summarization",
}

DISTANCES = {
    "iid": "test sets drawn from the second",
    "halves": "two halves of a test set",
    "near": "near",
    "middle": "further",
    "far": "far",
}
"""What the distances of calibrations are called."""

_CARRIES_OVER = "Scaled to the size of the test set, the threshold carries over to other systems and texts."
_DOES_NOT = (
    "A threshold hangs on how alike the systems are and on what a segment holds: take the test, not the threshold."
)

_EXACT = (
    "Monte Carlo against exact p-values",
    "Zmigrod, Vieira and Cotterell, Exact Paired-Permutation Testing for Structured Test Statistics (NAACL "
    "2022), on simulated "
    "systems and on all pairs of the study.",
)

_CHAPTERS: Sequence[tuple[str, str, str, Sequence[Callable[[Tables], Iterator[Finding]]]]] = (
    ("p-values", "What a p-value is", "Section 2 of the paper.", (_t_test, _footnote)),
    (
        "gains",
        "Gains and confidence",
        "Section 3: what gain is significant, for systems that took part in shared tasks and for systems that "
        "are retrained.",
        (
            _curve,
            _of_paper(
                "summarization", "3.1.1", "Summarization: {printed}", _CARRIES_OVER,
                "A threshold belongs to its metric and its test set: quote none from another one.",
                _begins("threshold", "ROUGE"), "gain_confidence/realsumm",
            ),
            _alike,
            _same_as_natural,
            _of_paper(
                "dependency", "3.2.2", "Dependency parsing: {printed}", _CARRIES_OVER, _DOES_NOT,
                _begins("threshold", "UAS"), "gain_confidence/ewt-test",
            ),
            _of_paper(
                "translation", "3.2.3", "Machine translation: {printed}", _CARRIES_OVER, _DOES_NOT,
                _begins("threshold", "BLEU"), "gain_confidence/mt-hansards",
            ),
            _of_paper(
                "alignment", "3.2.4", "Word alignment: {printed}", _CARRIES_OVER, _DOES_NOT,
                _begins("threshold", "AER"), "gain_confidence/hansards-110",
            ),
            _of_paper(
                "constituency", "3.2.5", "Constituency parsing: {printed}", _CARRIES_OVER, _DOES_NOT,
                _begins("threshold", "F1"), "gain_confidence/icepahc-23",
            ),
        ),
    ),
    (
        "sizes",
        "The size of the test set",
        "Section 4.1: the gain that is needed falls with the square root of the number of segments.",
        (
            _of_paper(
                "size", "4.1", "Thresholds fall with the square root of the size",
                "Four times the segments halve the gain that can be told.",
                "Four times the segments halve the gain that can be told, or nearly so.",
                lambda table: table["item"].str.startswith("size"), "size_law",
            ),
            _order,
        ),
    ),
    (
        "domain",
        "Other test sets",
        "Section 4.2 and Table 1: whether the better system on one test set is the better one on another.",
        (
            _elsewhere,
            _of_paper(
                "shares", "4.2", "Of pairs with p near 0.05 as many hold as in the paper: {printed}",
                "What another text costs is the same in the paper and here.",
                "How much another text costs depends on the text: one text is no domain.",
                lambda table: table["item"].str.startswith("calibration"), "",
            ),
        ),
    ),
    (
        "beyond",
        "Beyond the paper",
        "What its p-values leave open: other test sets, other training runs, documents, and how large a test "
        "set to make.",
        (_next, _methods, _documents, _law),
    ),
    (
        "leaderboards",
        "Leaderboards of language models",
        "Benchmarks whose outcomes, item by item, their makers have published.",
        (_neighbours, _items, _sampling, _dollars),
    ),
    (
        "exact",
        *_EXACT,
        (
            _error,
            _decisions,
            _of_paper(
                "speed", "1, 4", "The exact test is faster than sampling on test sets of the usual size",
                "Where the exact test is the faster one there is no reason to sample.",
                "Sampling is still the faster one on some test sets.",
                lambda table: table["item"].str.startswith(("exact-faster", "exact-seconds")), "run_time",
            ),
        ),
    ),
)  # fmt: skip


def headline(tables: Tables) -> Iterator[tuple[str, str]]:
    """The few numbers that the first page opens with: the number, and what it is."""
    whole = rows(tables, "systems", group="all")
    if len(whole):
        yield count(len(whole)), "datasets"
        yield count(len(rows(tables, "ranks").drop_duplicates(["dataset", "system"]))), "systems on them"
    thresholds = rows(tables, "thresholds", test_set="whole", subset="all")
    if len(thresholds):
        own = thresholds[~thresholds["dataset"].str.startswith("task=")]
        yield count(own["n_all"].sum()), "pairs compared"
    reproduction = tables["reproduction"]
    if len(reproduction):
        judged = reproduction["verdict"].isin(["agrees", "differs", "better"])
        yes = reproduction["verdict"].isin(["agrees", "better"])
        yield f"{int(yes.sum())} of {int(judged.sum())}", "printed numbers that can be judged agree, or are bettered"


def task_name(task: str) -> str:
    """A task as it is printed.

    >>> task_name("mt"), task_name("question-answering")
    ('machine translation', 'question answering')
    """
    return TASK_NAMES.get(task, task.replace("-", " ").replace("_", " "))
