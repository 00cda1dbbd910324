"""Which reader a file is for, by what is in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import fspath
from pathlib import Path

from pairsig.errors import InputError, listed
from pairsig.files import AnyPath, beginning
from pairsig.readers.counted import NUMBER
from pairsig.readers.items import files_below

OUTPUTS = ("text", "trees", "conllu", "conllx", "alignment")

_JSON = (
    ("inspect", r'\{\s*"version"\s*:\s*\d+\s*,\s*"(?:status|eval)"'),
    ("openai_evals", r'\{\s*"spec"\s*:\s*\{'),
    ("lm_eval", r'\{\s*"results"\s*:\s*\{'),
    ("lm_eval", r'\{[^\n]*"doc_id"\s*:[^\n]*"(?:resps|filtered_resps|arguments)"\s*:'),
    ("helm", r'\[\s*\{\s*"instance_id"\s*:.*"train_trial_index"\s*:'),
    ("alpaca_eval", r'\[\s*\{.*"output_1"\s*:'),
    ("swebench", r'\{.*"(?:total_instances|resolved_ids|no_generation|resolved)"\s*:'),
    ("comet", r'\{(?:\s*"model"\s*:\s*"[^"]*"\s*,)?\s*"statistical_results"\s*:'),
    ("comet", r'\{\s*"[^"]*"\s*:\s*\[\s*\{\s*"(?:src|mt)"\s*:'),
    ("table", r'\{[^\n]*"(?:segment|id)"\s*:'),
)
"""How documents of JSON, or the first lines of JSONL, begin. The first that fits is it."""

_ROW_OF_EVALB = re.compile(rf"^\s*\d+\s+\d+\s+[012]\s+{NUMBER}\s+{NUMBER}(?:\s+\d+){{6}}\s+{NUMBER}\s*$", re.MULTILINE)
_LINKS = re.compile(r"(?:\d+[-p]\d+(?:\s+\d+[-p]\d+)*)?\s*")
_NUMBERS = re.compile(rf"{NUMBER}(?:\s+{NUMBER})*", re.ASCII)
_OF_SYSTEM = re.compile(rf"\S+[\t ]+(?:{NUMBER}|None)", re.ASCII)
_SIGNS = (
    ("text", re.compile(r"[^\s(]*[^\W\d_]\S*(?: +\S+)+")),
    ("table", re.compile(r"(?!(?:[^\t]*\t){5})[^\t,;]+(?:[\t,;][^\t,;]*)+")),
    ("sigf", re.compile(rf"{NUMBER}(?:[\s,;]+{NUMBER})*")),
    ("alignment", re.compile(r"\S*\d+[-p:/]\d+.*")),
    ("trees", re.compile(r"\s*\(.*|.*\)\s*")),
    ("conllu", re.compile(r"(?:[^\t]*\t){5,}.*")),
    ("evalb", re.compile(rf"\s*{NUMBER}(?:\s+{NUMBER}){{7,}}\s*")),
)
"""What lines look like of files that nearly are for a reader; the likelier ones first."""

_KEYS = (
    ("lm_eval", r'"(?:doc_id|doc|target|resps|filtered_resps|acc|exact_match)"'),
    ("inspect", r'"(?:eval|samples|scores|scorer|epoch|plan)"'),
    ("table", r'"(?:id|segment|item|question_id|score|correct|accuracy)"'),
    ("helm", r'"(?:instance_id|stats|train_trial_index|perturbation)"'),
    ("swebench", r'"(?:instance_id|resolved|model_patch|total_instances)"'),
    ("openai_evals", r'"(?:spec|run_id|event_id|sample_id|final_report)"'),
    ("alpaca_eval", r'"(?:instruction|output_1|output_2|generator|preference|annotator)"'),
    ("comet", r'"(?:src|mt|ref|COMET|statistical_results)"'),
)
"""The same of JSON: keys that its reader knows."""

_IN_FOLDERS = {
    "lm_eval": ("samples_*.jsonl",),
    "helm": ("per_instance_stats.json",),
    "inspect": ("*.eval",),
    "alpaca_eval": ("annotations.json",),
    "swebench": ("results.json", "per_instance_details.json"),
}
_MARK = "\ufeff"


def recognize(paths: Sequence[AnyPath], references: Sequence[AnyPath] = ()) -> str:
    """The name of the reader that all files are for: one of counts, or with a reference one of outputs.

    Raises
    ------
    InputError
        For a file that is none that is known, and for files of different formats.
    """
    found = {fspath(path): _of_outputs([path, *references]) if references else _of_file(path) for path in paths}
    if len(set(found.values())) > 1:
        told = ", ".join(f"{path} is for {reader}" for path, reader in found.items())
        raise InputError(f"found files of different formats ({told}), expected one; --reader says which")
    return next(iter(found.values()))


def _of_file(path: AnyPath) -> str:
    if Path(path).is_dir():
        return _of_folder(path)
    data = beginning(path)
    name = fspath(path)
    if data.startswith(b"PK\3\4"):
        return "inspect"
    suffix = Path(name.removesuffix(".gz").removesuffix(".xz")).suffix
    if data.startswith(b"PAR1") or suffix in (".tsv", ".csv"):
        return "table"
    start = data.decode("utf-8", errors="replace").removeprefix(_MARK).lstrip()
    if start.startswith(("{", "[")):
        for reader, pattern in _JSON:
            if re.match(pattern, start, re.DOTALL):
                return reader
    elif found := _of_text(start.splitlines()[: None if len(data) < 2**16 else -1]):
        return found
    if not start:
        raise InputError(f"{name}: found no format that is known, for it is empty")
    first, second, third = (
        f"{reader} (with --reference FILE)" if reader in OUTPUTS else reader for reader in _likeliest(start)
    )
    raise InputError(
        f"{name}: found no format that is known, expected counts, the log of an evaluation, or outputs and a "
        f"--reference; likeliest here is --reader {first}, then {second} or {third}"
    )


def _likeliest(start: str) -> list[str]:
    """The three readers whose files look most like what a file begins with."""
    if start.startswith(("{", "[")):
        alike = {reader: len(set(re.findall(pattern, start))) for reader, pattern in _KEYS}
    else:
        rows = [row for row in start.splitlines() if row.strip()]
        alike = {reader: sum(bool(pattern.fullmatch(row)) for row in rows) for reader, pattern in _SIGNS}
    return sorted(alike, key=lambda reader: -alike[reader])[:3]


def _of_text(lines: Sequence[str]) -> str | None:
    """The reader of counts for lines of text."""
    rows = [line.strip() for line in lines if line.strip()]
    if any(_ROW_OF_EVALB.match(line) for line in lines):
        return "evalb"
    if any(re.match(r"METRIC \w+:|(?:Coreference: )?Recall: \(", row) for row in rows):
        return "coref"
    if rows and all(_NUMBERS.fullmatch(row) for row in rows):
        width = len(rows[0].split())
        return {1: "sigf", 3: "sigf", 2: "art", 4: "art"}.get(width)
    if rows and all(_OF_SYSTEM.fullmatch(row) for row in rows):
        return "mt_metrics_eval"
    return None


def _of_folder(path: AnyPath) -> str:
    for reader, patterns in _IN_FOLDERS.items():
        if files_below(path, *patterns):
            return reader
    kinds = []
    for file in files_below(path, "*.json"):
        try:
            kinds.append(_of_file(file))
        except InputError:
            continue
    if len(set(kinds)) == 1:
        return kinds[0]
    told = f"files for {listed(sorted(set(kinds)))}" if kinds else "no log of an evaluation"
    raise InputError(f"{fspath(path)}: found {told} in the folder, expected logs of one kind; --reader says which")


def _of_outputs(paths: Sequence[AnyPath]) -> str:
    """The reader of outputs: all files must look like one of its own, or else they are text."""
    starts = [beginning(path) for path in paths]
    lines = [
        start.decode("utf-8", errors="replace").removeprefix(_MARK).splitlines()[: None if len(start) < 2**16 else -1]
        for start in starts
    ]
    rows = [[line for line in own if line.strip()] for own in lines]
    if all(own and all(line.startswith("#") or line.count("\t") == 9 for line in own) for own in rows):
        of_conllu = any(line.startswith("#") or re.match(r"\d+[-.]\d+\t", line) for own in rows for line in own)
        return "conllu" if of_conllu else "conllx"
    if all(own and own[0].lstrip().startswith("(") and own[-1].rstrip().endswith(")") for own in rows):
        return "trees"
    if all(own and all(_LINKS.fullmatch(line) for line in own) for own in rows):
        return "alignment"
    return "text"
