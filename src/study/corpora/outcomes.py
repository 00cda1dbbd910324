"""Readers of the published outcomes of benchmarks of language models, which convert them to counts.

A benchmark consists of one or several tables of outcomes, for all of its systems. Readers use verdicts and answers
only. The counts of an item are `correct` and `total`: the number of passed runs out of k, or of points out of 100.
`runs` is k. Systems that were not run on all items are left out, with the reason. Each reader is a function of files
and options; the sheet of datasets names the reader of a benchmark.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairsig.core.omission import Omission
from pairsig.io.choices import choose, sort_options
from pairsig.io.errors import InputError, reason

if TYPE_CHECKING:
    import pandas as pd

    from pairsig.core.statistics import Statistics

_POINTS = 100
"""Points per item whose score is a fraction; with more points, exact tests of many systems take minutes."""

_JUDGE = r".*/LLMBar/(?:Adversarial/)?(\w+)/evaluators/([^/]+)/([^/]+)/result\.json"
"""Paths of verdicts in LLMBar's archive: subset, model, prompting method."""

_MAKERS = {
    "deepseek": "deepseek", "llama": "meta", "meta": "meta", "mistral": "mistral", "mixtral": "mistral",
    "mathstral": "mistral", "open-": "mistral", "phi": "microsoft", "qwen": "qwen", "yi": "01-ai", "c4ai": "cohere",
    "command": "cohere", "gemini": "google", "gemma": "google", "jamba": "ai21", "gpt": "openai", "chatgpt": "openai",
    "o1": "openai", "claude": "anthropic", "grok": "xai", "vicuna": "lmsys", "zephyr": "huggingface",
    "coding": "unnamed-finetunes", "codegen3": "unnamed-finetunes",
}  # fmt: skip
"""Maker of a model by the prefix of its name in lower case; other models form groups of their own."""


@dataclass
class _Outcomes:
    """Scores of systems (columns) on items (rows), nan where there is none, with the properties of both."""

    scores: pd.DataFrame
    domains: Sequence[str]
    documents: Sequence[str]
    counts: Callable[[str, pd.Series[float]], Mapping[str, NDArray[Any]]]  # of a system with its scores
    groups: Mapping[str, str]


def read(
    reader: str, files: Sequence[str], options: Mapping[str, str], *, dataset: str, provenance: Mapping[str, str]
) -> Statistics:
    """Read the statistics of all systems of a benchmark.

    Parameters
    ----------
    reader
        A name in `READERS`.
    files
        Paths; the reader determines their number.
    options
        Options of the reader, as text.
    """
    from pairsig.core.statistics import Statistics  # imports pandas, which the sheets do not need

    function = READERS[choose(reader, READERS, "reader of outcomes")]
    taken = [p for p in signature(function).parameters.values() if p.kind is not Parameter.KEYWORD_ONLY]
    least = sum(parameter.default is Parameter.empty for parameter in taken)
    if not least <= len(files) <= len(taken):
        many = f"{least}" if least == len(taken) else f"{least} to {len(taken)}"
        raise InputError(f"number of files: found {len(files)}, expected {many} for the reader {reader}")
    (chosen,) = sort_options(options, f"the reader of outcomes {reader}", function)
    try:
        outcomes = function(*map(Path, files), **chosen)
        lacking = outcomes.scores.sort_index(axis=1).isna().sum()
        counts = {str(name): outcomes.counts(name, outcomes.scores[name]) for name in lacking.index[lacking == 0]}
    except (OSError, KeyError, ValueError, EOFError, tarfile.TarError) as error:
        if isinstance(error, InputError):
            raise
        description = getattr(error, "strerror", None) or reason(error)
        raise InputError(f"{', '.join(files)}: cannot be read as outcomes of {reader} ({description})") from None
    if len(counts) < 2:
        raise InputError(f"{', '.join(files)}: found {len(counts)} systems on all items, expected at least two")
    n_items, systems = len(outcomes.scores), list(counts)
    columns = list(counts[systems[0]])
    return Statistics(
        dataset=dataset,
        systems=tuple(systems),
        groups=tuple(outcomes.groups.get(system) or system for system in systems),
        segments=np.array(outcomes.scores.index, dtype=str),
        documents=np.array(outcomes.documents, dtype=str),
        domains=np.array(outcomes.domains, dtype=str),
        columns=tuple(columns),
        counts=np.stack([np.stack([counts[name][column] for column in columns], axis=1) for name in systems]),
        provenance=dict(provenance),
        omissions=tuple(
            Omission("count", f"no outcome for {number:,} of {n_items:,} items", str(name))
            for name, number in lacking[lacking > 0].items()
        ),
    )


def llmbar(archive: Path) -> _Outcomes:
    """Read LLMBar: which of two outputs a judge (a model and prompting method) prefers, in both orders, and the label.

    The two orders are runs: `correct` is the number of verdicts, out of 2, that agree with the label. A missing verdict
    is wrong. The verdicts in the archive already refer to the original order.
    """
    import pandas as pd

    correct: dict[str, dict[str, int]] = {}
    domains: dict[str, str] = {}
    groups = {}
    with tarfile.open(archive) as members:
        for member in members:
            match = re.fullmatch(_JUDGE, member.name)
            file = members.extractfile(member) if match else None
            if match is None or file is None:
                continue
            subset, model, asked = match.groups()
            scorer = f"{model}-{asked}"
            groups[scorer] = model
            for number, item in enumerate(json.load(file), start=1):
                verdicts = item["results"][-1]
                winners = [verdicts[f"swap = {swap}"]["winner"] for swap in (False, True)]
                name = f"{subset}-{number}"
                domains[name] = subset
                correct.setdefault(scorer, {})[name] = sum(str(winner) == str(item["label"]) for winner in winners)
    return _Outcomes(
        scores=pd.DataFrame(correct, index=list(domains), dtype=float),
        domains=list(domains.values()),
        documents=[""] * len(domains),
        counts=lambda _, agreed: _of_runs(agreed, 2, 2),
        groups=groups,
    )


def mmlu_pro(answers: Path, *, least: int = 12_000) -> _Outcomes:
    """Read MMLU-Pro: the answer of each model to each question, and the key.

    An answer that could not be extracted is empty and counts as wrong (the official script guesses). `-` marks a
    question that a model was not asked. Models with fewer than `least` questions are left out, and the items are the
    questions that all remaining models were asked. The document is the source of a question.
    """
    table = _tsv(answers).set_index("question_id")
    answers_of = table.iloc[:, 3:]
    scores = answers_of.eq(table["answer"], axis=0).astype(float).where(answers_of != "-")
    asked = _asked_of_all(scores, least)
    table = table[asked]
    return _Outcomes(
        scores=scores[asked],
        domains=table["category"].str.replace(" ", "-").tolist(),
        documents=table["src"].tolist(),
        counts=lambda _, right: _of_runs(right, 1),
        groups=_makers(answers_of.columns),
    )


def livebench(judgments: Path, *, least: int = 1000) -> _Outcomes:
    """Read LiveBench: one row per model and question with a fractional score; the last of repeated rows counts.

    Models with fewer than `least` questions are left out, and the items are the questions of all remaining models. The
    document of a question is its task.
    """
    import pandas as pd

    table = pd.read_parquet(judgments).drop_duplicates(["question_id", "model"], keep="last")
    scores = table.set_index(["question_id", "model"])["score"].unstack()  # noqa: PD010
    shared = scores[_asked_of_all(scores, least)]
    about = table.drop_duplicates("question_id").set_index("question_id").loc[shared.index]
    order = about.assign(id=about.index).sort_values(["category", "task", "id"]).index
    points = np.full(len(order), _POINTS)
    return _Outcomes(
        scores=shared.loc[order],
        domains=about.loc[order, "category"].tolist(),
        documents=about.loc[order, "task"].tolist(),
        counts=lambda _, shares: {"correct": np.rint(shares * _POINTS).to_numpy(np.int64), "total": points},
        groups=_makers(map(str, shared.columns)),
    )


def bfcl(failed: Path) -> _Outcomes:
    """Read the Berkeley Function-Calling Leaderboard: the failed items of each model and category, numbered from 1.

    The modes of the same model (`-FC`, `-FC-Any`, `-FC-Auto`, or prompted) form one group.
    """
    import pandas as pd

    table = _tsv(failed)
    sizes = {str(name): int(n_items) for name, n_items in table.groupby("category")["items"].first().items()}
    items = {name: [f"{name}-{number}" for number in range(1, size + 1)] for name, size in sizes.items()}
    scores: dict[str, pd.Series[float]] = {}
    for row in table.itertuples(index=False):
        right = pd.Series(1.0, index=items[row.category])
        right[[f"{row.category}-{number}" for number in row.failed.split()]] = 0.0
        if len(right) != int(row.items):
            raise InputError(
                f"{failed}: found {row.items} items in {row.category} for {row.model}, expected {len(right)}"
            )
        known = scores.get(row.model)
        scores[row.model] = right if known is None else pd.concat([known, right])
    names = [*chain.from_iterable(items.values())]
    return _Outcomes(
        scores=pd.DataFrame(scores, index=names),
        domains=[name.rpartition("-")[0] for name in names],
        documents=[""] * len(names),
        counts=lambda _, of_category: _of_runs(of_category, 1),
        groups={model: re.sub(r"-FC(-Any|-Auto)?$", "", model) for model in scores},
    )


def scores(table: Path, items: Path, systems: Path, *, runs: int = 1, total: int = 0) -> _Outcomes:
    """Read a table of scores from 0 to 1, one row per item and one column per system, with tables of items and systems.

    Parameters
    ----------
    table
        Parquet with a column `item`. A score is the share of passed runs; a negative score is missing.
    items
        TSV with the columns `item`, `domain` and `cluster` (the document of the item).
    systems
        TSV with the columns `system`, `group` and `kind` (`n=1` for a system with a single run).
    runs
        Number of runs per item.
    total
        Denominator of the counts, `runs` by default; a common multiple if the number of runs differs.
    """
    import pandas as pd

    read = pd.read_parquet(table).set_index("item").astype(float)
    about, named = _tsv(items).set_index("item").loc[read.index], _tsv(systems).set_index("system")
    out_of = total or runs
    return _Outcomes(
        scores=read[read >= 0],
        domains=about["domain"].tolist(),
        documents=about["cluster"].tolist(),
        counts=lambda name, shares: _of_runs(shares * out_of, out_of, 1 if named.loc[name, "kind"] == "n=1" else runs),
        groups=named["group"].to_dict(),
    )


def tac(
    table: Path, peers: Path | None = None, *, score: str = "ROUGE_2", last: int = 57, without: str = ""
) -> _Outcomes:
    """Read scores of TAC's summarization systems: a CSV table with one row per topic and peer.

    In this table, the column `System` is the topic, and `Utterance` the peer, `M0` to `M58`. The last peers are people.

    Parameters
    ----------
    table
        CSV with the columns `System`, `Utterance` and scores from 0 to 1.
    peers
        TSV with the columns `peer` (a number) and `group`.
    score
        Column with the score, which is multiplied by 100.
    last
        Number of the last peer that is a system.
    without
        Peers to leave out, separated by commas.
    """
    import pandas as pd

    rows = pd.read_csv(table)
    scores = rows.pivot_table(index="System", columns="Utterance", values=score, aggfunc="first") * 100
    names = [name for name in (f"M{number}" for number in range(last + 1)) if name not in without.split(",")]
    groups = {} if peers is None else _tsv(peers).set_index("peer")["group"].to_dict()
    return _Outcomes(
        scores=scores[names],
        domains=[""] * len(scores),
        documents=[""] * len(scores),
        counts=lambda _, values: {"value": np.round(values.to_numpy(), 6)},
        groups={f"M{peer}": group for peer, group in groups.items()},
    )


READERS: dict[str, Callable[..., _Outcomes]] = {
    "llmbar": llmbar, "mmlu_pro": mmlu_pro, "livebench": livebench, "bfcl": bfcl, "scores": scores, "tac": tac,
}  # fmt: skip
"""Readers of outcomes by name."""


def _asked_of_all(scores: pd.DataFrame, least: int) -> pd.Series[bool]:
    """Mark the items with scores for all systems, among systems with scores for at least `least` items."""
    there = scores.notna()
    many = there.sum() >= least
    if not many.any():
        raise InputError(f"found no system with scores for {least:,} items (of {len(there):,}), expected at least one")
    return there.loc[:, many].all(axis=1)


def _tsv(path: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)


def _of_runs(passed: pd.Series[float], total: int, runs: int = 1) -> dict[str, NDArray[np.int64]]:
    """Counts of items with this number of passed runs out of `total`."""
    correct = np.rint(passed.to_numpy()).astype(np.int64)
    if correct.min() < 0 or correct.max() > total:
        raise InputError(f"found {correct.min()} to {correct.max()} passed of {total}, expected 0 to {total}")
    return {"correct": correct, "total": np.full(len(correct), total), "runs": np.full(len(correct), runs)}


def _makers(systems: Iterable[str]) -> dict[str, str]:
    """Find the maker of each model."""
    makers = {}
    for system in systems:
        name = system.lower()
        makers[system] = next((maker for begins, maker in _MAKERS.items() if name.startswith(begins)), system)
    return makers
