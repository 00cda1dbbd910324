"""Comparisons where the scores are in memory: data frames of pandas, polars and others, logs of evaluations."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd

from pairsig import all_pairs, intervals, methods, report, versus
from pairsig.choices import choose
from pairsig.definitions import find
from pairsig.engine import Resampling
from pairsig.errors import InputError, listed, named, quoted
from pairsig.metrics import Metric, registry
from pairsig.paired import Pair, Unit
from pairsig.readers.counted import Missing, average
from pairsig.sentences import digits, told
from pairsig.statistics import KEYS, Statistics, with_names
from pairsig.tables import as_json

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

COLUMNS = (
    "metric", "system_a", "system_b", "score_a", "score_b", "better", "gain", "ci_low", "ci_high", "test", "p_value",
    "p_low", "p_high", "p_holm", "n_segments", "signature",
)  # fmt: skip
"""Columns of `Comparison.table`."""

_SHOWN = 12
"""Pairs that are printed."""

_LOG_TIME = "2000-01-01T00-00-00.000000"
"""What stands for the time in the names of files of lm_eval."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two systems or more, compared in all pairs: `print` it for sentences, in a notebook it is a table.

    Attributes
    ----------
    table
        One row a pair, columns `COLUMNS`, the kind of frame that was given. `better` is "" where the scores are equal;
        `gain` >= 0 is the better system's, `ci_low` and `ci_high` are its 95 % interval; `p_low` and `p_high` bound the
        Monte Carlo error of p (95 %); `p_holm` is adjusted for the number of pairs.
    statistics, metric
        What was compared: everything else in pairsig takes them.
    unit
        "segment" or "document".
    notes
        Sentences on what the p-values and intervals do not say.
    """

    table: Any
    statistics: Statistics
    metric: Metric
    unit: Unit
    notes: tuple[str, ...]
    _rows: pd.DataFrame = field(repr=False)
    _resampling: Resampling = field(repr=False)
    _design: methods.Design = field(repr=False)

    def _one(self, name: str) -> Any:
        if len(self._rows) > 1:
            raise InputError(f"{len(self._rows)} pairs are compared, each with a {name} of its own: see table")
        return self._rows.iloc[0][name]

    @property
    def pvalue(self) -> float:
        """Of two systems."""
        return float(self._one("p_value"))

    @property
    def gain(self) -> float:
        """Of the better of two systems."""
        return float(self._one("gain"))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the gain of the better of two systems; nan where there is none."""
        return float(self._one("ci_low")), float(self._one("ci_high"))

    @property
    def better(self) -> str | None:
        """The better of two systems; None where their scores are equal."""
        return str(self._one("better")) or None

    def __str__(self) -> str:
        rows = self._rows.assign(test="", variant="")  # one family, whether exact or drawn
        decides = versus.decisive(rows, "p_holm")
        adjusted = versus.shown_adjusted(rows, "p_holm") if len(rows) > 1 else [""]
        lines = [
            _sentence(row, p, holm)
            for (_, row), p, holm in zip(self._rows.head(_SHOWN).iterrows(), decides, adjusted, strict=False)
        ]
        if len(self._rows) > _SHOWN:
            lines.append(f"and {len(self._rows) - _SHOWN:,} pairs more")
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        html: str = self._rows[[name for name in COLUMNS if name != "signature"]].to_html(
            index=False, escape=True, float_format="{:.4g}".format
        )
        return html + (f"<ul>{notes}</ul>" if notes else "")

    def to_json(self) -> str:
        """The rows as a list of objects with all digits."""
        return as_json(self._rows[list(COLUMNS)])

    def to_html(self, path: str | Path) -> None:
        """Write the report that `pairsig test --html` writes: each further system against the first."""
        if any(self.statistics.runs):
            rows = methods.compare_methods(
                self.statistics,
                metric=self.metric,
                design=self._design,
                unit=self.unit,
                against=self.statistics.methods[0],
            )
            found = report.of_methods(self.statistics, self.metric, rows, unit=self.unit, training_sd=None)
        else:
            drawn = self._resampling
            tests = list(dict.fromkeys(self._rows["test"].str.partition(" ")[0]))
            rows, _ = versus.versus(
                self.statistics,
                [self.metric],
                tests,
                n_resamples=drawn.n_resamples,
                seed=drawn.seed,
                unit=self.unit,
                threads=drawn.threads,
            )
            found = report.of_systems(self.statistics, self.metric, rows, unit=self.unit, resampling=drawn)
        report.write(list(found), path)


def _sentence(row: pd.Series[Any], decides: float, holm: str) -> str:
    """A pair; `decides` and `holm`: its p-value adjusted for their number, to hold against a level and to be read."""
    a, b, places = row["system_a"], row["system_b"], digits(row["gain"], row["ci_low"], row["ci_high"])
    n = f"n = {row['n_segments']:,}"
    if not row["better"]:
        return f"{a} and {b} have the same {row['metric']}, {row['score_a']:.{places}f} ({n})"
    ahead, behind = (row["score_a"], row["score_b"]) if row["better"] == a else (row["score_b"], row["score_a"])
    about = [
        f"{ahead:.{places}f} against {behind:.{places}f}",
        *([] if math.isnan(row["ci_low"]) else [f"95 % CI {row['ci_low']:.{places}f} to {row['ci_high']:.{places}f}"]),
        f"{row['test']} test, {versus.equation(versus.shown_p(row))}" + (f" ({holm} adjusted by Holm)" if holm else ""),
        n,
    ]
    gain = f"{row['gain']:.{places}f} points of {row['metric']}"
    return f"{told(a, b, row['better'], decides, gain)} ({', '.join(about)})"


@overload
def compare(data: Statistics | pd.DataFrame | str | Path, test: str = "bootstrap", **options: Any) -> pd.DataFrame: ...


@overload
def compare(
    data: IntoDataFrame | Sequence[Any] | Mapping[str, Any],
    test: str | None = None,
    *,
    system: str | int | Sequence[str | int],
    segment: str | int,
    score: str | int | None = None,
    run: str | int | None = None,
    document: str | int | None = None,
    domain: str | int | None = None,
    lower_is_better: bool = False,
    metric: str | Metric | None = None,
    variant: str | None = None,
    n_resamples: int = 100_000,
    seed: int = 2012,
    unit: Unit = "segment",
    design: methods.Design = "crossed",
    threads: int | None = None,
) -> Comparison: ...


def compare(data: Any, test: str | None = None, **options: Any) -> pd.DataFrame | Comparison:
    """Compare all pairs of systems.

    **A data frame** (pandas, polars, pyarrow and all else that narwhals knows), with the names of its columns: returns
    a `Comparison`. In the long form there is one row a system and segment (and run); in the wide one a column a system,
    `system=["a", "b"]`, and one row a segment.

    **Statistics, a table or file of them**, with the options of `pairsig.all_pairs.compare`: returns its table.

    Parameters
    ----------
    data
        See above.
    test, variant
        Of a data frame: by default the exact test, or randomization where there is none; of several runs, the test of
        the method (see `compare_methods`). Of statistics: by default the bootstrap.
    system, segment
        Names of the columns that say which system and which segment (item, question) a row is of; or, in the wide form,
        the columns that have the systems' scores.
    score
        Column to be averaged: numbers, or true and false. In the wide form, what to call the scores.
    metric
        Instead: a metric of counts, whose columns the frame has under their own names (`matched`, `predicted` and
        `gold` for "f1").
    run, document, domain
        Columns that say which run of its system a row is (an epoch, a seed), and of which document (cluster) and domain
        its segment is.
    lower_is_better
        The score is an error or a cost.
    n_resamples, seed, threads
        See `bootstrap_test`.
    unit
        "document" to swap, draw and count documents instead of segments.
    design
        Of runs: "nested" where every segment is sampled anew, see `compare_methods`.

    Raises
    ------
    InputError
        For a column that is not there, a score that is missing or no number, a segment that comes twice in a system, is
        missing in one or is of two documents, for one system only, and for whatever the tests refuse.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame(
    ...     {
    ...         "model": ["old"] * 12 + ["new"] * 12,
    ...         "question": [*range(12)] * 2,
    ...         "correct": [True] * 4 + [False] * 8 + [True] * 11 + [False],
    ...     }
    ... )
    >>> result = compare(rows, system="model", segment="question", score="correct")
    >>> result.better, result.pvalue
    ('new', 0.015625)
    >>> print(result)  # doctest: +NORMALIZE_WHITESPACE
    new is better than old by 0.58 points of correct (0.92 against 0.33, 95 % CI 0.17 to 0.83, exact test,
    p = 0.0156, n = 12)
    >>> result.table[["system_a", "system_b", "gain"]].round(3)
      system_a system_b   gain
    0      old      new  0.583
    """
    if not {"system", "segment", "score"} & options.keys():
        return all_pairs.compare(data, "bootstrap" if test is None else test, **options)
    return _compared(data, test, **options)


def _compared(
    data: Any,
    test: str | None,
    *,
    system: str | int | Sequence[str | int] = "system",
    segment: str | int = "segment",
    score: str | int | None = None,
    run: str | int | None = None,
    document: str | int | None = None,
    domain: str | int | None = None,
    lower_is_better: bool = False,
    metric: str | Metric | None = None,
    **options: Any,
) -> Comparison:
    import narwhals.stable.v2 as nw

    if isinstance(data, pd.DataFrame):
        data = with_names(data, "the data frame")
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        raise InputError(
            f"found a {kind}, expected a data frame that is in memory, such as one of pandas or polars"
            + (" (.collect() makes one)" if "Lazy" in kind else "")
        ) from None
    chosen: Metric
    if score is not None and metric is not None:
        raise InputError(f"found score={score!r} beside a metric, expected one of them")
    if metric is not None:
        chosen = registry.metric(metric)
    elif score is None and isinstance(system, str | int):
        raise InputError("found neither score nor metric, expected the name of a column with scores, or a metric")
    else:
        chosen = average("score" if score is None else str(score), higher_is_better=not lower_is_better)
    labels = {"segment": segment, "run": run, "document": document, "domain": domain}
    known = [str(name) for name in frame.columns]

    def cells(column: str | int, what: str) -> list[Any]:
        if not isinstance(column, str | int):
            raise InputError(f"{what} is {quoted(column)}, expected the name of a column")
        found: list[Any] = frame[choose(str(column), known, f"column ({what}):")].to_list()
        return found

    columns: dict[str, list[Any]] = {what: cells(name, what) for what, name in labels.items() if name is not None}
    if isinstance(system, str | int):
        columns["system"] = cells(system, "system")
        columns |= {_counts(name): cells(name, "score" if metric is None else chosen.name) for name in chosen.columns}
    else:
        if metric is not None and len(chosen.columns) > 1:
            raise InputError(f"metric {chosen.name} has {len(chosen.columns)} columns, expected one row a system")
        (name,) = chosen.columns
        scores = [cells(one, "system") for one in system]
        columns = {what: own * len(scores) for what, own in columns.items()}
        columns["system"] = [str(one) for one in system for _ in range(len(frame))]
        columns[_counts(name)] = [cell for own in scores for cell in own]
    if not len(frame):
        raise InputError("the data frame has no rows, expected one a system and segment")
    table = pd.DataFrame({name: pd.Series(own, dtype=object) for name, own in columns.items()})
    statistics = _read(table, run)
    found = _comparison(statistics, chosen, test, lambda rows: _as_given(rows, frame), **options)
    return replace(found, notes=(*found.notes, *statistics.unlike()))


def _counts(name: str) -> str:
    if name in KEYS:
        raise InputError(f"the scores are in a column {named(name)}, which pairsig takes for something else: rename it")
    return name


def _read(table: pd.DataFrame, run: str | int | None) -> Statistics:
    """The rows, after what would be read as something else has been refused."""
    for column in ("system", "segment", *(["run"] if run is not None else [])):
        missing = table[column].isna().to_numpy()
        if missing.any():
            raise InputError(f"the data frame, row {int(missing.argmax()) + 1}: {column} is missing, expected a name")
    for column in table.columns.difference(KEYS):
        for row, cell in enumerate(table[column]):
            if isinstance(cell, str | bytes) or not isinstance(cell, Hashable):
                raise InputError(
                    f"the data frame, row {row + 1}: {named(column)} is {named(repr(cell))}, expected a number"
                )
    return Statistics.from_table(table, dataset="", source="the data frame")


def _as_given(rows: pd.DataFrame, frame: Any) -> Any:
    """The rows as the kind of frame that was given."""
    import narwhals.stable.v2 as nw

    if frame.implementation.is_pandas():
        return rows
    return nw.from_dict({name: rows[name].tolist() for name in rows.columns}, backend=frame.implementation).to_native()


def _comparison(
    statistics: Statistics,
    metric: Metric,
    test: str | None,
    as_given: Any,
    *,
    variant: str | None = None,
    n_resamples: int = 100_000,
    seed: int = 2012,
    unit: Unit = "segment",
    design: methods.Design = "crossed",
    threads: int | None = None,
) -> Comparison:
    if len(statistics.systems) < 2:
        raise InputError(f"found one system, {named(statistics.systems[0])}, expected at least two to compare")
    resampling = Resampling(n_resamples, seed, threads)
    if any(statistics.runs):
        if test is not None or variant is not None:
            raise InputError(f"found test={test!r}, but what tests runs has no choice of tests")
        found = methods.compare_methods(statistics, metric=metric, design=design, unit=unit, threads=threads)
        rows = found.rename(columns={"method_a": "system_a", "method_b": "system_b", "p_method": "p_value"})
        p = rows["p_value"]
        rows = rows.assign(test="method", signature="", p_low=p, p_high=p, n_resamples=0)
        notes = [sentence for doubt in found["doubt"] for sentence in doubt.split("; ") if sentence]
    else:
        rows, notes = _pairs(statistics, metric, test, variant, unit, resampling)
    rows["p_holm"] = versus.adjusted(rows["p_value"].to_numpy(), versus.ADJUSTMENTS["p_holm"])
    drawn = rows["n_resamples"].where(rows["n_resamples"] > 0)
    rows = rows[list(COLUMNS)].assign(n_resamples=drawn, log10_p_value=-math.inf, confidence=math.nan)
    rows = rows.reset_index(drop=True)
    return Comparison(
        table=as_given(rows[list(COLUMNS)]),
        statistics=statistics,
        metric=metric,
        unit=unit,
        notes=tuple(dict.fromkeys(notes)),
        _rows=rows,
        _resampling=resampling,
        _design=design,
    )


def _pairs(
    statistics: Statistics, metric: Metric, test: str | None, variant: str | None, unit: Unit, resampling: Resampling
) -> tuple[pd.DataFrame, list[str]]:
    """One row a pair of outputs, and what is to be said of them."""
    rows = all_pairs.compare(
        statistics,
        "exact" if test is None else test,
        variant=variant,
        metric=metric,
        n_resamples=resampling.n_resamples,
        seed=resampling.seed,
        unit=unit,
        threads=resampling.threads,
        or_draw=test is None,
    )
    place = {name: index for index, name in enumerate(statistics.systems)}
    rows["better"] = np.where(rows["gain"] > 0, rows["system_a"], "")
    # As they were given, not the better one first.
    turned = (rows["system_a"].map(place) > rows["system_b"].map(place)).to_numpy()
    for what in ("system", "score"):
        one, other = rows[f"{what}_a"], rows[f"{what}_b"]
        rows = rows.assign(**{f"{what}_a": one.where(~turned, other), f"{what}_b": other.where(~turned, one)})
    counts, documents = statistics.of(metric), statistics.documents if unit == "document" else None
    notes, ends = [], []
    for a, b in rows[["system_a", "system_b"]].itertuples(index=False):
        pair = Pair(metric, counts[[place[a], place[b]]], documents)
        interval = intervals.interval(pair)
        ends.append((interval.low, interval.high))
        about = (interval.doubt, versus.unused(pair, statistics.documents))
        of = f"{a} and {b}: " if len(rows) > 1 else ""
        notes += [f"{of}{note}" for note in about if note]
    rows[["ci_low", "ci_high"]] = ends
    drawn = find(str(rows["test"].iloc[0]), variant)
    notes += filter(None, [versus.one_sided(drawn)])
    return rows, notes


def compare_logs(
    logs: Sequence[Any],
    *,
    metric: str | None = None,
    options: Mapping[str, str] | None = None,
    missing: Missing | None = None,
    test: str | None = None,
    **how: Any,
) -> Comparison:
    """Compare evaluations that are in memory: logs of Inspect, results of lm-evaluation-harness.

    Parameters
    ----------
    logs
        One a system: `inspect_ai.log.EvalLog`, or what `lm_eval.simple_evaluate(…, log_samples=True)` returns.
    metric
        A scorer or metric; may be left out where there is one only.
    options
        Of the reader, as `--option` has them: {"scorer": "exact", "cluster": "passage"}.
    missing
        What is made of items that not all have a score for in the metric: "wrong" or "drop".
    test, **how
        `variant`, `n_resamples`, `seed`, `unit`, `threads` as for `compare`.

    Returns
    -------
    As `compare`, the table being one of pandas. Epochs are runs, each sampled anew.

    Raises
    ------
    InputError
        For what is neither, and for whatever the readers refuse.
    """
    with tempfile.TemporaryDirectory() as folder:
        written = [_written(log, Path(folder) / f"log-{number}") for number, log in enumerate(logs, start=1)]
        readers = {reader for reader, _ in written}
        if len(readers) != 1:
            raise InputError(f"found logs of {listed(sorted(readers)) or 'nothing'}, expected some of one program")
        try:
            found, _ = versus.read_systems(
                [path for _, path in written],
                readers.pop(),
                metrics=[metric] if metric else [],
                options=options,
                missing=missing,
            )
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from None
    statistics, chosen = versus.only(found)
    how = {"design": methods.design_of(statistics)} | how
    return _comparison(statistics, chosen, test, lambda rows: rows, **how)


def _written(log: Any, path: Path) -> tuple[str, str]:
    """The log as the file that its program writes, and the reader for that."""
    if hasattr(log, "model_dump_json") and hasattr(log, "eval"):
        file = path.with_suffix(".json")
        file.write_text(log.model_dump_json(), encoding="utf-8")
        return "inspect", str(file)
    if not isinstance(log, dict) or not isinstance(log.get("results"), dict):
        raise InputError(f"found a {type(log).__name__}, expected a log of Inspect or results of lm_eval")
    if not log.get("samples"):
        raise InputError("the results of lm_eval have no samples, expected those of log_samples=True")
    path.mkdir()
    results = {key: value for key, value in log.items() if key != "samples"}
    (path / f"results_{_LOG_TIME}.json").write_text(json.dumps(results, default=str), encoding="utf-8")
    for task, samples in log["samples"].items():
        lines = "".join(json.dumps(sample, default=str) + "\n" for sample in samples)
        (path / f"samples_{task}_{_LOG_TIME}.jsonl").write_text(lines, encoding="utf-8")
    return "lm_eval", str(path)
