"""Systems against a first one: every test, every metric, one table to paste into a paper."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from pairsig import exact, extraction, resampling, sequential, statistics
from pairsig.choices import choose, options_of, sort_options
from pairsig.errors import InputError, listed, quoted
from pairsig.metrics import Metric, registry
from pairsig.paired import Unit
from pairsig.readers import counted
from pairsig.statistics import Statistics

TESTS = ("bootstrap", "randomization", "exact")
"""The tests there are, in the order of the table."""

COLUMNS = (
    "metric",
    "test",
    "system_a",
    "system_b",
    "score_a",
    "score_b",
    "better",
    "gain",
    "ci_low",
    "ci_high",
    "p_value",
    "log10_p_value",
    "p_low",
    "p_high",
    "p_holm",
    "p_bh",
    "n_segments",
    "n_different",
    "n_resamples",
    "n_greater",
    "n_equal",
    "signature",
)
"""Columns of the table."""


_SUFFIX = re.compile(r"(?<=.)\.[A-Za-z]\w*$")  # `.sigf`, but not the `.1` of gpt-4.1

DEFAULT_METRICS = {"text": "bleu", "trees": "parseval", "conllu": "uas", "conllx": "uas", "alignment": "aer"}
"""What outputs are scored with against a reference when no metric is named, by reader."""


def read_systems(
    paths: Sequence[str],
    reader: str,
    *,
    references: Sequence[str] = (),
    metrics: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    domains: Sequence[str] = (),
    documents: Sequence[str] = (),
) -> tuple[list[tuple[Statistics, list[Metric]]], list[str]]:
    """Systems from files of counts (see `pairsig.readers.counted`), or from outputs and a reference.

    Parameters
    ----------
    paths
        One a system, the base first. A system is called as its file is, without `.gz` or `.xz` and then one suffix
        more (`gpt-4.1` for `gpt-4.1.sigf`); where these names are not different, as its file is, or by its whole path.
    reader
        One of counts (`evalb`, `sigf`, `art`, `coref`, `table`), or of outputs (`DEFAULT_METRICS`).
    references
        For outputs.
    metrics
        Names; all that the files have, or the reader's usual one.
    options
        Of the reader or of the metrics' extractors; each goes to those that have it, which one at least must.
    domains, documents
        One a segment, or none. What a file of counts itself says of the documents must agree with them.

    Returns
    -------
    Pairs of statistics and metrics, and sentences for the user on what was left out.
    """
    names = _names(paths)
    given = dict(options or {})
    for asked, times in Counter(metrics).items():
        if times > 1:
            raise InputError(f"metric {asked} is asked for {times} times, expected once")
    if reader in counted.COUNTED_READERS:
        if references:
            raise InputError(f"reader {reader} reads counts, which need no reference; found {references[0]}")
        (typed,) = sort_options(given, f"reader {reader}", counted.COUNTED_READERS[reader].function)
        parts = [counted.read(reader, path, **typed) for path in paths]
        aligned = counted.align(parts, names, domains=domains, documents=documents)
        return [(aligned.statistics, _chosen(parts, aligned.metrics, metrics))], list(aligned.notes)
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
    notes: list[str] = []
    for metric, (read, count) in zip(chosen, taken, strict=True):
        own = options_of(read) | options_of(count)
        systems = [
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
            for path, name in zip(paths, names, strict=True)
        ]
        found.append((statistics.collect(systems, dataset="", provenance={}), [metric]))
    return found, list(dict.fromkeys(notes))


def _names(paths: Sequence[str]) -> list[str]:
    """A name a system, different ones: the file's without its suffixes or with them, else the whole path."""
    for path, times in Counter(paths).items():
        if times > 1:
            raise InputError(f"{path} is given {times} times, expected different files")
    files = [Path(path).name for path in paths]
    stems = [_SUFFIX.sub("", name.removesuffix(".gz").removesuffix(".xz")) for name in files]
    return next(names for names in (stems, files, list(paths)) if len(set(names)) == len(names))


def _chosen(parts: Sequence[counted.Counted], metrics: Sequence[Metric], names: Sequence[str]) -> list[Metric]:
    by_name = {metric.name: metric for metric in metrics}
    for name in names:
        if name not in by_name:
            # Where all have one of that name, it is not of the same columns.
            lacking = next((part for part in parts if name not in {own.name for own in part.metrics}), parts[-1])
            raise InputError(f"{lacking.source} has no metric {quoted(name)}, expected one of {listed(by_name)}")
    return [by_name[name] for name in names] if names else list(metrics)


def versus(
    statistics: Statistics,
    metrics: Sequence[Metric],
    tests: Sequence[str] = TESTS,
    *,
    n_resamples: int = 100_000,
    seed: int = 2012,
    unit: Unit = "segment",
    one_sided: bool = False,
    stop_at: tuple[float, float] | None = None,
    threads: int | None = None,
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
    one_sided
        The randomization and the exact test in the observed direction only. The bootstrap always is.
    stop_at
        (alpha, confidence): bootstrap and randomization stop as soon as p is on one side of alpha at that confidence,
        see `sequential_test`; `p_low` and `p_high` are then its confidence sequence.
    n_resamples, seed, unit, threads
        See `bootstrap_test`.

    Returns
    -------
    table
        One row a metric, system and test, columns `COLUMNS`. `better` is the name of the better system ("" where the
        scores are equal) and `gain` >= 0 its lead. `ci_low` and `ci_high` are the 2.5th and 97.5th percentile of the
        lead over bootstrap resamples, the same for every test. `p_holm` and `p_bh` adjust the p-values of a metric and
        test for the number of systems held against the first (Holm 1979; Benjamini and Hochberg 1995); with one
        system they are `p_value`. Numbers of resamples are missing where nothing is drawn.
    notes
        Sentences on what could not be done: a test that does not exist for a metric.
    """
    for test in tests:
        choose(test, TESTS, "test")
    if len(statistics.systems) < 2:
        raise InputError("one system is given, expected at least two to compare")
    documents = statistics.documents if unit == "document" else None
    base, *others = range(len(statistics.systems))
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for metric in metrics:
        counts = statistics.of(metric)[:, :, : len(metric.columns)]
        for other in others:
            a, b = counts[base], counts[other]
            low, high = resampling.gain_interval(
                a, b, metric=metric, n_resamples=n_resamples, seed=seed, documents=documents, threads=threads
            )
            shared: dict[str, Any] = {
                "metric": metric.name,
                "system_a": statistics.systems[base],
                "system_b": statistics.systems[other],
                "ci_low": low,
                "ci_high": high,
            }
            for test in tests:
                try:
                    result = _run(test, a, b, metric, n_resamples, seed, documents, one_sided, stop_at, threads)
                except InputError as error:
                    if test != "exact":
                        raise
                    notes.append(str(error))
                    continue
                rows.append(shared | _row(test, result, shared["system_a"], shared["system_b"]))
    if not rows:
        raise InputError(notes[0])
    table = pd.DataFrame(rows)
    for column in ("n_resamples", "n_greater", "n_equal"):
        table[column] = table[column].astype("Int64")
    adjusted = table.groupby(["metric", "test"], sort=False)["p_value"]
    for column, method in (("p_holm", "holm"), ("p_bh", "fdr_bh")):
        table[column] = adjusted.transform(lambda values, method=method: _adjusted(values.to_numpy(), method))
    return table[list(COLUMNS)], list(dict.fromkeys(notes))


def render(table: pd.DataFrame, format: str) -> str:  # noqa: A002
    """The table of `versus` as `table` (for a terminal), `markdown`, `latex`, or `json`: a list of objects, all digits.

    In JSON a number that does not exist (resamples of an exact test, the logarithm of 0) is null.
    """
    if format == "json":
        rows = table.astype(object).where(table.notna() & (table != -np.inf), None).to_dict("records")
        return json.dumps(rows, indent=2)
    several = table.groupby(["metric", "test"]).size().max() > 1
    shown = pd.DataFrame(
        {
            "metric": table["metric"],
            "A": table["system_a"],
            "B": table["system_b"],
            "score A": table["score_a"].map("{:.2f}".format),
            "score B": table["score_b"].map("{:.2f}".format),
            "gain [95 %]": [
                f"{gain:.2f} [{low:.2f}, {high:.2f}]"
                for gain, low, high in table[["gain", "ci_low", "ci_high"]].itertuples(index=False)
            ],
            "better": table["better"].where(table["better"] != "", "–"),
            "test": table["test"],
            "p": [_p(*row) for row in table[["p_value", "log10_p_value", "n_resamples"]].itertuples(index=False)],
        }
    )
    if several:
        shown["p (Holm)"] = table["p_holm"].map("{:.3g}".format)
        shown["p (BH)"] = table["p_bh"].map("{:.3g}".format)
    body = shown.columns[:-1] if not several else shown.columns[:-3]
    repeated = shown[["metric", "A", "B"]].duplicated()
    shown.loc[repeated, [column for column in body if column != "test"]] = ""
    styles = {"table": "simple", "markdown": "github", "latex": "latex_booktabs"}
    text: str = tabulate(shown, headers="keys", showindex=False, tablefmt=styles[format], disable_numparse=True)
    return text


def _p(p: float, log10: float, n_resamples: Any) -> str:
    """Three digits; what is too small for the number of resamples, or for a float, is said to be."""
    if p == 0 and not pd.isna(n_resamples):
        return f"< {1 / n_resamples:.0e}"
    if p < 1e-300 and np.isfinite(log10):
        return f"1e{log10:.1f}"
    return f"{p:.3g}"


def _run(
    test: str,
    a: Any,
    b: Any,
    metric: Metric,
    n_resamples: int,
    seed: int,
    documents: Any,
    one_sided: bool,
    stop_at: tuple[float, float] | None,
    threads: int | None,
) -> Any:
    variant = "one-sided" if one_sided else "two-sided"
    if test == "exact":
        return exact.exact_test(a, b, metric=metric, variant=variant, documents=documents)
    if stop_at is not None:
        return sequential.sequential_test(
            a,
            b,
            metric=metric,
            test="bootstrap" if test == "bootstrap" else "randomization",
            variant=None if test == "bootstrap" else variant,
            alpha=stop_at[0],
            confidence=stop_at[1],
            max_resamples=n_resamples,
            seed=seed,
            documents=documents,
            threads=threads,
        )
    drawn = {"n_resamples": n_resamples, "seed": seed, "documents": documents, "threads": threads}
    if test == "bootstrap":
        return resampling.bootstrap_test(a, b, metric=metric, **drawn)
    return resampling.randomization_test(a, b, metric=metric, variant=variant, **drawn)


def _row(test: str, result: Any, name_a: str, name_b: str) -> dict[str, Any]:
    p = float(result.pvalue)
    row = {
        "test": test,
        "score_a": result.score_a,
        "score_b": result.score_b,
        "better": {"a": name_a, "b": name_b, None: ""}[result.better],
        "gain": result.gain,
        "p_value": p,
        "n_segments": result.n_segments,
        "n_different": result.n_different,
        "signature": result.signature,
    }
    if test == "exact":
        nothing = dict.fromkeys(("n_resamples", "n_greater", "n_equal"), pd.NA)
        return row | nothing | {"log10_p_value": result.log10_p_value, "p_low": p, "p_high": p}
    return row | {
        "log10_p_value": float(np.log10(p)) if p > 0 else -np.inf,
        "p_low": result.p_low,
        "p_high": result.p_high,
        "n_resamples": result.n_resamples,
        "n_greater": result.n_greater,
        "n_equal": result.n_equal,
    }


def _adjusted(p_values: Any, method: str) -> Any:
    if len(p_values) == 1:
        return p_values
    from statsmodels.stats.multitest import multipletests

    return multipletests(p_values, method=method)[1]
