"""Systems against a first one: every test, every metric, one table to paste into a paper."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairsig import definitions, exact, extraction, heterogeneity, intervals, margins, sequential, statistics
from pairsig.choices import choose, once, options_of, sort_options
from pairsig.columns import VERSUS
from pairsig.contributions import contributions, design_effect, likeness
from pairsig.definitions import Test, find
from pairsig.engine import Progress, Resampling
from pairsig.errors import InputError, listed, printable, quoted
from pairsig.exact import ExactResult
from pairsig.footnotes import of_signatures
from pairsig.margins import MarginResult
from pairsig.metrics import Metric, registry
from pairsig.paired import Pair, Unit
from pairsig.readers import counted, recognition
from pairsig.resampling import TestResult, resampled
from pairsig.sequential import SequentialResult, stopped
from pairsig.statistics import Statistics, run_name
from pairsig.tables import as_json, listed_below, printed

TESTS = ("exact", "randomization", "bootstrap")
"""The tests there are, in the order of the table: those that keep their level first."""

ADJUSTMENTS = {"p_holm": "holm", "p_bh": "fdr_bh"}
"""P-values adjusted for the number of systems, and what statsmodels calls the method."""

COLUMNS = VERSUS.names
"""Columns of the table."""

ENOUGH_DOCUMENTS = 15
"""With fewer documents it is not said what they do to the standard error: that would be off by a fifth and more."""

_FAMILY = ["metric", "test", "variant"]
"""P-values that are adjusted for each other have these in common."""


_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z]\w*$")  # `.sigf`, but not the `.1` of gpt-4.1

DEFAULT_METRICS = {"text": "bleu", "trees": "parseval", "conllu": "uas", "conllx": "uas", "alignment": "aer"}
"""What outputs are scored with against a reference when no metric is named, by reader."""


def read_systems(
    paths: Sequence[str | Sequence[str]],
    reader: str | None,
    *,
    references: Sequence[str] = (),
    metrics: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
    missing: counted.Missing | None = None,
) -> tuple[list[tuple[Statistics, list[Metric]]], list[str]]:
    """Systems from files of counts (see `pairsig.readers.counted`), or from outputs and a reference.

    Parameters
    ----------
    paths
        One a system, the base first, or several, which are its runs; or one table of all, the base first (column
        `system`). A system is called as its file is, without `.gz` or `.xz` and then one suffix more (`gpt-4.1` for
        `gpt-4.1.sigf`); where these names are not different, as its file is, or by its whole path. Several runs are
        called by what their names begin with (`a` for `a1`, `a2`, `a3`).
        That of a log is called as the log says, with the settings in which it differs from others of that name; a
        single file or folder may have all of them.
    reader
        One of counts (`counted.COUNTED_READERS`), or of outputs (`DEFAULT_METRICS`). None: the one that fits the
        content of the files, see `recognition.recognize`; a note says which.
    references
        For outputs.
    metrics
        Names; all that the files have, or the reader's usual one.
    options
        Of the reader or of the metrics' extractors; each goes to those that have it, which one at least must.
    domains, documents
        One a segment, or none. What a file of counts itself says of the documents must agree with them.
    missing
        What is made of items of a log without score, see `counted.align`.

    Returns
    -------
    Pairs of statistics and metrics, and sentences for the user on what was left out. There are several where metrics
    are extracted from outputs, and where not the same items of logs have a score in all of them.
    """
    groups = [[own] if isinstance(own, str) else list(own) for own in paths]
    files = [path for group in groups for path in group]
    methods, runs = _called(groups)
    given = dict(options or {})
    once(metrics, "metric")
    notes: list[str] = []
    if reader is None:
        reader = recognition.recognize(files, references)
        notes.append(f"read as {reader}, by what is in the files; --reader says otherwise")
    if reader in counted.COUNTED_READERS:
        if references:
            raise InputError(f"reader {reader} reads counts, which need no reference; found {references[0]}")
        (typed,) = sort_options(given, f"reader {reader}", counted.COUNTED_READERS[reader].function)
        read_from = [counted.read_all(reader, path, **typed) for path in files]
        for part in (part for own in read_from for part in own):
            printable([part.system, part.run], "system", part.source)
        if len(files) > 1:
            read_from = [tuple(part for part in own if not part.is_reference) for own in read_from]
        parts = [counted.restricted(part, metrics) for own in read_from for part in own]
        methods, runs = _labelled(read_from, methods, runs)
        _check_chosen(parts, metrics)
        aligned = counted.align(
            parts, list(map(run_name, methods, runs)), runs=runs, domains=domains, documents=documents, missing=missing
        )
        notes += [note for own in aligned for note in own.notes]
        return [(own.statistics, list(own.metrics)) for own in aligned], list(dict.fromkeys(notes))
    if missing is not None:
        raise InputError(f"reader {reader} reads outputs, of which none is missing, expected no --missing")
    choose(reader, [*counted.COUNTED_READERS, *DEFAULT_METRICS], "reader")
    if not references:
        raise InputError(f"reader {reader} reads outputs: expected a reference too")
    if reader == "conllx":
        given["format"] = "conllx"
        reader = "conllu"
    chosen = [registry.metric(name) for name in metrics or [DEFAULT_METRICS[reader]]]
    taken = [extraction.functions(metric, reader)[1:] for metric in chosen]
    what = f"reader {reader} and metric {', '.join(metric.name for metric in chosen)}"
    sort_options(given, what, *(function for both in taken for function in both))
    found = []
    for metric, (read, count) in zip(chosen, taken, strict=True):
        own = options_of(read) | options_of(count)
        outputs = [
            extraction.extract(
                path,
                references,
                metric=metric,
                reader=reader,
                options={name: value for name, value in given.items() if name in own},
                system=name,
                domains=domains,
                documents=documents,
                note=notes.append,
            )
            for path, name in zip(files, map(run_name, methods, runs), strict=True)
        ]
        collected = statistics.collect(outputs, dataset="", provenance={})
        found.append((replace(collected, runs=tuple(runs)), [metric]))
    return found, list(dict.fromkeys(notes))


def _called(groups: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """The method and the run of every file."""
    stems = iter(_names([path for group in groups for path in group]))
    named = [[next(stems) for _ in group] for group in groups]
    methods = [_in_common(names) for names in named]
    if len(set(methods)) < len(methods) or "" in methods:
        methods = [names[0] for names in named]
    return (
        [method for method, names in zip(methods, named, strict=True) for _ in names],
        [str(number) if len(names) > 1 else "" for names in named for number in range(1, len(names) + 1)],
    )


def _in_common(names: Sequence[str]) -> str:
    """What the names of runs begin with, without a part of a number or a separator at its end."""
    if len(names) == 1:
        return names[0]
    prefix = "".join(
        letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    )
    if any(name[len(prefix) :][:1].isdigit() for name in names):
        prefix = prefix.rstrip("0123456789")
    return prefix.rstrip("-_./ ")


def _names(paths: Sequence[str]) -> list[str]:
    """A name a system, different ones: the file's without its suffixes or with them, else the whole path."""
    for path, times in Counter(paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times, expected different files")
    files = [Path(path).name for path in paths]
    stems = [_SUFFIX.sub("", name.removesuffix(".gz").removesuffix(".xz")) for name in files]
    return next(names for names in (stems, files, list(paths)) if len(set(names)) == len(names))


def _labelled(
    files: Sequence[Sequence[counted.Counted]], methods: Sequence[str], runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The method and the run of every system: as one file of several says, else as the files are called."""
    for own, run in zip(files, runs, strict=True):
        systems = list(dict.fromkeys(part.system for part in own))
        if len(systems) > 1 and len(files) > 1:
            raise InputError(f"{own[0].source}: found the systems {listed(systems)}, expected one system a file")
        if run and own[0].run:
            raise InputError(
                f"{own[0].source}: found the runs {listed(part.run for part in own)}, expected one run a file where "
                "several files are runs of a system"
            )
    if all(part.log for own in files for part in own):
        return _as_logged(files, methods, runs)
    if len(files) == 1 and len({part.system for part in files[0]}) > 1:
        return [part.system for part in files[0]], [part.run for part in files[0]]
    return (
        [method for method, own in zip(methods, files, strict=True) for _ in own],
        [part.run or run for run, own in zip(runs, files, strict=True) for part in own],
    )


def _as_logged(
    files: Sequence[Sequence[counted.Counted]], methods: Sequence[str], runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The method and the run of every system as logs call them; `methods` tell which files are runs of one."""
    own: dict[tuple[str, str], Mapping[str, str]] = {}
    for parts, method in zip(files, methods, strict=True):
        for part in parts:
            others = [name for name, other in own if other == method and name != part.system and len(files) > 1]
            if others:
                raise InputError(
                    f"{part.source} is of {part.system}, expected a run of {others[0]} as in the file before"
                )
            own.setdefault((part.system, method), part.settings)
    called = {}
    for system, method in own:
        namesakes = [settings for (name, _), settings in own.items() if name == system]
        keys = dict.fromkeys(key for settings in namesakes for key in settings)
        differing = [key for key in keys if len({settings.get(key, "") for settings in namesakes}) > 1]
        mine = own[system, method]
        told = ", ".join(f"{key}={mine[key]}" for key in differing if mine.get(key))
        called[system, method] = f"{system} ({told})" if told else system
    times = Counter(called.values())
    seen: Counter[str] = Counter()
    for key, name in called.items():
        if times[name] > 1:
            seen[name] += 1
            called[key] = f"{name} #{seen[name]}"
    return (
        [called[part.system, method] for method, parts in zip(methods, files, strict=True) for part in parts],
        [part.run or run for run, parts in zip(runs, files, strict=True) for part in parts],
    )


def _check_chosen(parts: Sequence[counted.Counted], names: Sequence[str]) -> None:
    """Refuse metrics that not all systems have."""
    by_name = [metric.name for metric in counted.shared(parts)]
    for name in names if by_name else ():  # where they share none, `align` says what each has
        if name not in by_name:
            # Where all have one of that name, it is not of the same columns.
            lacking = next((part for part in parts if name not in {own.name for own in part.metrics}), parts[-1])
            raise InputError(f"{lacking.source} has no metric {quoted(name)}, expected one of {listed(by_name)}")


def only(found: Sequence[tuple[Statistics, Sequence[Metric]]]) -> tuple[Statistics, Metric]:
    """The one metric of `read_systems`, where the user has to name it if there are several."""
    names = [metric.name for _, metrics in found for metric in metrics]
    if len(names) > 1:
        raise InputError(f"found the metrics {listed(names)}, expected the name of one (--metric)")
    ((statistics, (metric,)),) = found
    return statistics, metric


def versus(
    statistics: Statistics,
    metrics: Sequence[Metric],
    tests: Sequence[str] = TESTS,
    *,
    variants: Sequence[str] = (),
    n_resamples: int = 100_000,
    seed: int = 2012,
    unit: Unit = "segment",
    stop_at: tuple[float, float] | None = None,
    margin: float | None = None,
    threads: int | None = None,
    like: str = "",
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """Test every system against the first.

    Parameters
    ----------
    statistics
        Counts of all systems, the base first.
    metrics
        Those to test, the headline first.
    tests
        Some of `TESTS`.
    variants
        Each test is done in those of them that it has (see `variants_of`), or else in its default.
    stop_at
        (alpha, confidence): bootstrap and randomization stop as soon as p is on one side of alpha at that confidence,
        see `sequential_test`; `p_low` and `p_high` are then its confidence sequence.
    margin
        In the unit of the score: three rows more for every metric and system, test `margin`, variants
        `pairsig.margins.CLAIMS` (see `margin_test`).
    n_resamples, seed, unit, threads
        See `bootstrap_test`.
    like
        Name of a family of test sets (`pairsig.heterogeneity.families`): who wins on the next one of it is told, too.
    progress
        Called with numbers of resamples as they are done, `n_drawn` times `n_resamples` of them if none stops before.

    Returns
    -------
    table
        One row a metric, system, test and variant, columns `COLUMNS`. `better` is the name of the better system (""
        where the scores are equal) and `gain` >= 0 its lead; `ci_low` and `ci_high` are its 95 % interval (see
        `gain_interval`), the same for every test. Of a resampling test `p_low` and `p_high` bound the Monte Carlo error
        of `p_value`; an exact p has as many digits as are certain, and `error_bound` is relative to it. With `stop_at`,
        `significant` says whether p < `alpha`, and is missing where the resamples did not tell. `p_holm` and `p_bh`
        adjust the p-values of a metric, test and variant for the number of systems held against the first (Holm 1979;
        Benjamini and Hochberg 1995); with one system they are `p_value`. Numbers of resamples are missing where
        nothing is drawn. `notes` are sentences on what the p-value or the interval of this row does not say.
    notes
        Sentences on what could not be done: a test that does not exist for a metric.

    Raises
    ------
    InputError
        For names that are unknown or given twice (which would count twice in the adjustments), and whatever the tests
        refuse.
    """
    if like:
        heterogeneity.family(like)
    documents = statistics.documents if unit == "document" else None
    resampling = Resampling(n_resamples, seed, threads)
    if stop_at is not None:
        sequential.check_levels(*stop_at)
    planned = _planned(tests, variants)
    once([metric.name for metric in metrics], "metric")
    if not metrics:
        raise InputError("no metric is named, expected at least one")
    if len(statistics.systems) < 2:
        raise InputError("one system is given, expected at least two to compare")

    def run(pair: Pair, test: Test) -> TestResult | ExactResult:
        if test.exact:
            return exact.permuted(pair, test)
        if stop_at is None:
            return resampled(pair, test, resampling, progress)
        return stopped(pair, test, resampling, *stop_at, progress)

    base, *others = range(len(statistics.systems))
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for metric in metrics:
        counts = statistics.of(metric)[:, :, : len(metric.columns)]
        for other in others:
            pair = Pair.of(counts[base], counts[other], metric, documents)
            interval = intervals.interval(pair)
            about = [interval.doubt, unused(pair, statistics.documents), *_elsewhere(pair, like)]
            name_a, name_b = statistics.systems[base], statistics.systems[other]
            found: list[tuple[str, str, str, TestResult | ExactResult | MarginResult]] = []
            for test in planned:
                try:
                    found.append((test.name, test.variant, one_sided(test), run(pair, test)))
                except InputError as error:
                    if not test.exact:
                        raise
                    notes.append(str(error))
            for shown in [] if margin is None else [margins.against(pair, margin, claim) for claim in margins.CLAIMS]:
                found.append((shown.test, shown.claim, shown.says(name_a, name_b), shown))
            for name, variant, note, result in found:
                rows.append(
                    {
                        "metric": metric.name,
                        "test": name,
                        "variant": variant,
                        "system_a": name_a,
                        "system_b": name_b,
                        "score_a": result.score_a,
                        "score_b": result.score_b,
                        "better": {"a": name_a, "b": name_b, None: ""}[result.better],
                        "gain": result.gain,
                        "ci_low": interval.low,
                        "ci_high": interval.high,
                        "n_segments": result.n_segments,
                        "n_different": result.n_different,
                        "margin": result.margin if isinstance(result, MarginResult) else None,
                        "signature": _signed(result.signature, statistics.provenance.get("missing", "")),
                        "notes": [said for said in (note, *about) if said],
                    }
                    | _p_value(result, stop_at)
                )
    if not rows:
        raise InputError(notes[0])
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    for column in ("n_resamples", "n_greater", "n_equal"):
        table[column] = table[column].astype("Int64")
    for column in ("error_bound", "alpha", "confidence", "margin"):
        table[column] = table[column].astype(float)
    table["significant"] = table["significant"].astype("boolean")
    for column, method in ADJUSTMENTS.items():
        table[column] = _adjusted(table, "p_value", method)
    return table, list(dict.fromkeys(notes))


def n_drawn(statistics: Statistics, metrics: Sequence[Metric], tests: Sequence[str], variants: Sequence[str]) -> int:
    """How many tests that draw `versus` does."""
    drawn = [test for test in _planned(tests, variants) if not test.exact]
    return len(drawn) * len(metrics) * (len(statistics.systems) - 1)


def _planned(tests: Sequence[str], variants: Sequence[str]) -> list[Test]:
    """Every test in each of the variants asked for that it has, or else in its default."""
    for test in tests:
        choose(test, TESTS, "test")
    once(tests, "test")
    if not tests:
        raise InputError("no test is named, expected at least one")
    known = list(dict.fromkeys(variant for test in tests for variant in definitions.variants(test)))
    for variant in variants:
        choose(variant, known, f"variant of {', '.join(tests)}:")
    once(variants, "variant")
    return [
        find(test, variant)
        for test in tests
        for own in [definitions.variants(test)]
        for variant in [asked for asked in variants if asked in own] or own[:1]
    ]


def _signed(signature: str, missing: str) -> str:
    """The signature, with what was made of items without score."""
    settings, version = signature.rsplit("|", 1)
    return f"{settings}|missing:{missing}|{version}" if missing else signature


def one_sided(test: Test) -> str:
    """A sentence where p looks one way only, after one has looked who won; else nothing."""
    if test.two_sided:
        return ""
    often = "10 to 21 %" if test.draw == "resample" else "up to 10 %"
    few = ", where few segments differ on up to 48 %" if test.variant == "percentile" else ""
    return (
        f"{test.name} {test.variant} is one-sided, for whichever system won: of two equal ones, p < 0.05 comes up on "
        f"{often} of test sets{few}, not on 5 %"
    )


def unused(pair: Pair, documents: NDArray[np.str_]) -> str:
    """A sentence where the documents of the segments are known and were not used; else nothing."""
    n_documents = len(np.unique(documents))
    if pair.documents is not None or "" in documents or not 1 < n_documents < len(documents):
        return ""
    told = f"the {len(documents):,} segments come from {n_documents:,} documents, which were not used"
    if n_documents >= ENOUGH_DOCUMENTS:
        contributed = contributions(pair.segments, pair.metric)
        effect = float(design_effect(contributed, documents, np.array([[0, 1]]))[0])
        if math.isfinite(effect):
            told += f": drawn as wholes they make the standard error of the gain {math.sqrt(effect):.2f} times as large"
    return f"{told} (--unit document)"


def _elsewhere(pair: Pair, like: str) -> list[str]:
    """Sentences on the next test set of a family, where one is named and the systems differ."""
    if not like:
        return []
    both = np.array([[0, 1]])
    by_unit, by_segment = (float(likeness(counts, pair.metric, both)[0][0]) for counts in (pair.units, pair.segments))
    if by_segment == 0:
        return []
    return heterogeneity.elsewhere(abs(pair.lead), (by_unit, by_segment), pair.n_segments, pair.metric.name, like)


def _p_value(result: TestResult | ExactResult | MarginResult, stop_at: tuple[float, float] | None) -> dict[str, Any]:
    """The cells about the p-value, and the decision where one was asked for."""
    cells: dict[str, Any] = {"p_value": result.pvalue, "significant": None}
    if stop_at is not None:
        cells["alpha"], cells["confidence"] = stop_at
    if isinstance(result, TestResult):
        if isinstance(result, SequentialResult):
            cells["significant"] = result.significant
        return cells | {
            "log10_p_value": math.log10(result.pvalue) if result.pvalue > 0 else -math.inf,
            "p_low": result.p_low,
            "p_high": result.p_high,
            "n_resamples": result.n_resamples,
            "n_greater": result.n_greater,
            "n_equal": result.n_equal,
        }
    if isinstance(result, MarginResult):
        p = result.pvalue
        cells["significant"] = None if stop_at is None else p < stop_at[0]
        return cells | {"log10_p_value": math.log10(p) if p > 0 else -math.inf, "p_low": p, "p_high": p}
    p, log10_p, error = certain(result.pvalue, result.log10_pvalue, result.error_bound)
    low, high = p * (1 - error), min(p * (1 + error), 1.0)
    if stop_at is not None and not low < stop_at[0] <= high:
        cells["significant"] = high < stop_at[0]
    return cells | {"p_value": p, "log10_p_value": log10_p, "p_low": low, "p_high": high, "error_bound": error}


def certain(p: float, log10_p: float, error: float) -> tuple[float, float, float]:
    """A p-value, its logarithm and the bound on its relative error, rounded to the digits that the bound makes certain.

    What a transform leaves behind them differs from processor to processor; the rounded numbers do not, unless p
    happens to lie within its own error of where rounding turns.

    >>> certain(0.0123456789123456, -1.908485018, 3e-11)
    (0.01234567891, -1.908485018, 6e-10)
    >>> certain(0.25, -0.6020599913279624, 0.0)
    (0.25, -0.6020599913279624, 0.0)
    """
    if error == 0:
        return p, log10_p, 0.0
    digits = max(1, math.floor(-math.log10(error)))  # the error is at most 10⁻ᵈ of p, rounding to d digits 5·10⁻ᵈ
    return float(f"{p:.{digits - 1}e}"), round(log10_p, digits), float(f"6e-{digits}")


def render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The table of `versus` as `table` (for a terminal), `markdown`, `latex`, or `json`: a list of objects, all digits.

    The notes of its rows are lines below it, comments in LaTeX; in Markdown and LaTeX the signatures follow. In JSON a
    number that does not exist (resamples of an exact test, the logarithm of 0) is null.
    """
    if format == "json":
        return as_json(table)
    shown = pd.DataFrame(
        {
            "metric": table["metric"],
            "A": table["system_a"],
            "B": table["system_b"],
            "score A": table["score_a"].map("{:.2f}".format),
            "score B": table["score_b"].map("{:.2f}".format),
            "gain [95 %]": [
                f"{gain:.2f}" if np.isnan(low) else f"{gain:.2f} [{low:.2f}, {high:.2f}]"
                for gain, low, high in table[["gain", "ci_low", "ci_high"]].itertuples(index=False)
            ],
            "better": table["better"].where(table["better"] != "", "–"),
        }
    )
    shown = shown.where(~shown[["metric", "A", "B"]].duplicated(), "")
    shown["test"] = [label(*row) for row in table[["test", "variant"]].itertuples(index=False)]
    decided = table["alpha"].notna()
    bounded = f" [{100 * table['confidence'].iloc[0]:g} %]" if decided.any() else ""
    shown[f"p{bounded}"] = [shown_p(row) for _, row in table.iterrows()]
    if decided.any():
        shown[f"p < {table['alpha'].iloc[0]:g}"] = (
            table["significant"].map({True: "yes", False: "no"}).fillna("undecided")
        )
    if table.groupby(_FAMILY).size().max() > 1:
        for column, header in zip(ADJUSTMENTS, ("p (Holm)", "p (BH)"), strict=True):
            shown[header] = shown_adjusted(table, column)
    notes = listed_below(footnotes(table), format) + of_signatures(table["signature"], format)
    return printed(shown, format) + ("\n" if notes and format != "latex" else "") + notes


def shown_adjusted(table: pd.DataFrame, column: str) -> list[str]:
    """The p-values of a column of `ADJUSTMENTS` as they are printed: those of rough ones, or of 0, as a bound."""
    rough = table["confidence"].notna() & table["n_resamples"].notna() | (table[column] == 0)
    bounds = _adjusted(table, "p_high", ADJUSTMENTS[column])
    return [
        below(bound) if bounded else f"{p:.3g}" for p, bound, bounded in zip(table[column], bounds, rough, strict=True)
    ]


def decisive(table: pd.DataFrame, column: str) -> pd.Series[float]:
    """The p-values of a column of `ADJUSTMENTS` to hold against a level: of 0, which nothing drawn shows, the bound."""
    return table[column].mask(table[column] == 0, _adjusted(table, "p_high", ADJUSTMENTS[column]))


def below(bound: float) -> str:
    """That a p is below a bound, with three digits; an exact p that no float can hold has the bound 0."""
    return f"< {_outward(bound, ROUND_CEILING) if bound > 0 else '1e-300'}"


def label(test: str, variant: str) -> str:
    """A test as it is printed."""
    return test if variant == "two-sided" else f"{test} {variant}"


def footnotes(table: pd.DataFrame) -> list[str]:
    """Every note once, and what it is about where that is not everything."""
    about: dict[str, dict[str, None]] = {}
    names = table["metric"]
    if len(set(table["system_b"])) > 1:
        names = names + " of " + table["system_a"] + " and " + table["system_b"]
    for name, notes in zip(names, table["notes"], strict=True):
        for note in notes:
            about.setdefault(note, {})[name] = None
    everything = names.nunique()
    return [note if len(on) == everything else f"{'; '.join(on)}: {note}" for note, on in about.items()]


def shown_p(row: pd.Series[Any]) -> str:
    """Three digits; what is rough, or too small for the number of resamples or a float, is said to be."""
    p, drawn = row["p_value"], not pd.isna(row["n_resamples"])
    if drawn and p == 0:
        return below(row["p_high"])
    if p < 1e-300 and np.isfinite(row["log10_p_value"]):
        return f"1e{row['log10_p_value']:.1f}"
    if drawn and not pd.isna(row["confidence"]) and p < 1:
        return f"{p:.3g} [{_outward(row['p_low'], ROUND_FLOOR)}, {_outward(row['p_high'], ROUND_CEILING)}]"
    return f"{p:.3g}" if p > 0 else below(0)


def equation(shown: str) -> str:
    """What `shown_p` and `shown_adjusted` print, in a sentence: "p = 0.03", "p < 0.001"."""
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def _outward(bound: float, rounding: str) -> str:
    """A bound with three digits, still a bound."""
    return f"{float(Context(prec=3, rounding=rounding).create_decimal(float(bound))):.3g}"


def _adjusted(table: pd.DataFrame, column: str, method: str) -> pd.Series[float]:
    families = table.groupby(_FAMILY, sort=False)[column]
    if families.size().max() == 1:
        return table[column]
    return families.transform(lambda p: adjusted(p.to_numpy(), method))


def adjusted(p: NDArray[np.float64], method: str) -> NDArray[np.float64]:
    """The p-values of one family, adjusted for their number; one alone stays as it is."""
    if len(p) == 1:
        return p
    from statsmodels.stats.multitest import multipletests  # slow to import

    found: NDArray[np.float64] = multipletests(p, method=method)[1]
    return found
