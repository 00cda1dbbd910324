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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from pairsig.core.labels import label_arrays
from pairsig.core.statistics import Statistics
from pairsig.io.choices import choose, typed_options
from pairsig.io.errors import InputError, reason
from study.training.omission import Omission

_POINTS = 100
"""Points per item whose score is a fraction; with more points, exact tests of many systems take minutes."""

LEAST_MMLU_PRO, LEAST_LIVEBENCH = 12_000, 1000
"""Models with fewer questions are left out; the items are the questions that all remaining models were asked."""

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


@dataclass(frozen=True)
class _Outcomes:
    """What a reader finds in the files of a benchmark."""

    scores: pd.DataFrame  # of systems (columns) on items (rows) from 0 to 1, nan where there is none
    domains: Sequence[str] | None = None
    documents: Sequence[str] | None = None
    groups: Mapping[str, str] = field(default_factory=dict)  # of systems; others are groups of their own
    total: int = 1  # denominator of the counts; 0 for scores that are the counts themselves
    runs: int = 0  # runs per item; 0 for items with points
    once: Collection[str] = ()  # systems with a single run


def read(reader: str, files: Sequence[str], options: Mapping[str, str]) -> Statistics:
    """Read the statistics of all systems of a benchmark, from files by a reader in `READERS` with options as text."""
    function = READERS[choose(reader, READERS, "reader of outcomes")]
    chosen = typed_options(options, f"the reader of outcomes {reader}", function)
    try:
        return _statistics(function(*map(Path, files), **chosen))
    except InputError as error:
        raise InputError(f"{', '.join(files)}: {error}") from None
    except (OSError, KeyError, ValueError, TypeError, EOFError, tarfile.TarError) as error:
        description = getattr(error, "strerror", None) or reason(error)
        raise InputError(f"{', '.join(files)}: cannot be read as outcomes of {reader} ({description})") from None


def _statistics(outcomes: _Outcomes) -> Statistics:
    """The counts of the systems with a score on every item, in the order of their names."""
    lacking = outcomes.scores.sort_index(axis=1).isna().sum()
    systems = [str(name) for name in lacking.index[lacking == 0]]
    if len(systems) < 2:
        raise InputError(f"found {len(systems)} systems on all items, expected at least two")
    values, total = outcomes.scores[systems].to_numpy().T, outcomes.total
    if total:
        correct = np.rint(values * total).astype(np.int64)
        if correct.min() < 0 or correct.max() > total:
            raise InputError(f"found {correct.min()} to {correct.max()} passed of {total}, expected 0 to {total}")
        runs = [[1 if system in outcomes.once else outcomes.runs] for system in systems]
        columns = {"correct": correct, "total": total} | ({"runs": runs} if outcomes.runs else {})
    else:
        columns = {"value": np.round(values, 6)}
    return Statistics(
        systems=tuple(systems),
        groups=tuple(outcomes.groups.get(system) or system for system in systems),
        segments=np.array(outcomes.scores.index, dtype=str),
        columns=tuple(columns),
        counts=np.stack(np.broadcast_arrays(*columns.values()), axis=-1),
        omissions=tuple(
            Omission("count", f"no outcome for {number:,} of {len(outcomes.scores):,} items", str(name)).to_dict()
            for name, number in lacking[lacking > 0].items()
        ),
        **label_arrays(documents=outcomes.documents, domains=outcomes.domains),
    )


def llmbar(archive: Path) -> _Outcomes:
    """Read LLMBar: which of two outputs a judge (a model and prompting method) prefers, in both orders, and the label.

    The two orders are runs: the score is the share of the two verdicts that agree with the label. A missing verdict is
    wrong. The verdicts in the archive already refer to the original order.
    """
    correct: dict[str, dict[str, float]] = {}
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
                correct.setdefault(scorer, {})[name] = sum(str(winner) == str(item["label"]) for winner in winners) / 2
    scores = pd.DataFrame(correct, index=list(domains), dtype=float)
    return _Outcomes(scores, list(domains.values()), groups=groups, total=2, runs=2)


def mmlu_pro(answers: Path) -> _Outcomes:
    """Read MMLU-Pro: the answer of each model to each question, and the key.

    An answer that could not be extracted is empty and counts as wrong (the official script guesses). `-` marks a
    question that a model was not asked. The document is the source of a question.
    """
    table = _tsv(answers).set_index("question_id")
    answers_of = table.iloc[:, 3:]
    scores = answers_of.eq(table["answer"], axis=0).astype(float).where(answers_of != "-")
    asked = _asked_of_all(scores, LEAST_MMLU_PRO)
    domains = table["category"].str.replace(" ", "-")
    return _Outcomes(scores[asked], domains[asked], table["src"][asked], _makers(answers_of.columns), runs=1)


def livebench(judgments: Path) -> _Outcomes:
    """Read LiveBench: one row per model and question with a fractional score; the last of repeated rows counts.

    The document of a question is its task.
    """
    table = pd.read_parquet(judgments).drop_duplicates(["question_id", "model"], keep="last")
    scores = table.pivot(index="question_id", columns="model", values="score")  # noqa: PD010
    asked = scores.index[_asked_of_all(scores, LEAST_LIVEBENCH)]
    items = table[table["question_id"].isin(asked)].drop_duplicates("question_id")
    items = items.sort_values(["category", "task", "question_id"])
    scores = scores.loc[items["question_id"]]
    return _Outcomes(scores, items["category"], items["task"], _makers(scores.columns), total=_POINTS)


def bfcl(failed: Path) -> _Outcomes:
    """Read the Berkeley Function-Calling Leaderboard: the failed items of each model and category, numbered from 1.

    The modes of the same model (`-FC`, `-FC-Any`, `-FC-Auto`, or prompted) form one group.
    """
    table = _tsv(failed)
    sizes = table.groupby("category")["items"].first().astype(int)
    items = {name: [f"{name}-{number}" for number in range(1, size + 1)] for name, size in sizes.items()}
    scores: dict[str, dict[str, float]] = {}
    for row in table.itertuples(index=False):
        of_category = dict.fromkeys(items[row.category], 1.0)
        of_category |= {f"{row.category}-{number}": 0.0 for number in row.failed.split()}
        if len(of_category) != int(row.items):
            problem = f"found {row.items} items in {row.category} for {row.model}"
            raise InputError(f"{problem}, expected {len(of_category)}")
        scores.setdefault(row.model, {}).update(of_category)
    return _Outcomes(
        scores=pd.DataFrame(scores, index=[*chain.from_iterable(items.values())]),
        domains=sizes.index.repeat(sizes),
        groups={model: re.sub(r"-FC(-Any|-Auto)?$", "", model) for model in scores},
        runs=1,
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
    read = pd.read_parquet(table).set_index("item").astype(float)
    about, named = _tsv(items).set_index("item").loc[read.index], _tsv(systems).set_index("system")
    once = named.index[named["kind"] == "n=1"]
    groups = named["group"].to_dict()
    return _Outcomes(read[read >= 0], about["domain"], about["cluster"], groups, total or runs, runs, set(once))


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
    scores = pd.read_csv(table).pivot(index="System", columns="Utterance", values=score) * 100  # noqa: PD010
    names = [name for name in (f"M{number}" for number in range(last + 1)) if name not in without.split(",")]
    groups = {} if peers is None else _tsv(peers).set_index("peer")["group"].add_prefix("M").to_dict()
    return _Outcomes(scores[names], groups=groups, total=0)


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
    return pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)


def _makers(systems: Iterable[str]) -> dict[str, str]:
    """Find the maker of each model."""
    makers = {}
    for system in systems:
        name = system.lower()
        makers[system] = next((maker for begins, maker in _MAKERS.items() if name.startswith(begins)), system)
    return makers
