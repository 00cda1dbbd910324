"""Every reader on files that are damaged at random: a sentence that names the file, or counts; never anything else."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import random
import re
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from pairsig import InputError, cli
from pairsig.metrics.constituency import read_parameters
from pairsig.readers import read_documents

EXAMPLES = int(os.environ.get("PAIRSIG_EXAMPLES", "30"))
"""Damaged files a format; the test that is marked slow takes thirty times as many."""

TREES = "(S (NP (DT the) (NN tea)) (VP (VBZ is) (ADJP (JJ hot))) (. .))\n( (S (VB go)) )\n(S\n  (A b)\n  (C d))\n"
CONLLU = (
    "# sent_id = 1\n1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n1\tzu\tzu\tADP\t_\t_\t3\tcase\t_\t_\n"
    "2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_\n3\tSee\tSee\tNOUN\t_\t_\t0\troot\t_\t_\n"
    "3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n# sent_id = 2\n1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)
CONLLX = "1\tI\t_\tP\tP\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tV\tV\t_\t0\troot\t_\t_\n\n1\tgo\t_\tV\tV\t_\t0\troot\t_\t_\n\n"
RULE = "=" * 76
EVALB = (
    f"  Sent.  Matched\n{RULE}\n"
    "   1    6    0   75.00  60.00     3      4    5      1      5     4    80.00\n"
    "   2    5    1    0.00   0.00     0      0    0      0      0     0     0.00\n"
    f"   3    2    0  100.00 100.00     1      1    1      0      2     2   100.00\n{RULE}\n"
    "                 80.00  66.67      4     5     6      1      7     6    85.71\n=== Summary ===\n\n-- All --\n"
    "Number of sentence        =      3\nNumber of Error sentence  =      1\nBracketing Recall         =  80.00\n"
)
SCORE = "Recall: ({} / {}) 50%\tPrecision: ({} / {}) 50%\tF1: 50%\n"


def coref_section() -> str:
    documents = "".join(
        f"====> (bc/{name}); part 000:\n(bc/{name}); part 000:\nTotal key mentions: 4\nTotal response mentions: 5\n"
        "Strictly correct identified mentions: 3\nPartially correct identified mentions: 0\n"
        + SCORE.format(1.5, 4, 1.5, 5)
        for name in "ab"
    )
    totals = "Identification of Mentions: " + SCORE.format(6, 8, 6, 10) + "Coreference: " + SCORE.format(3, 8, 3, 10)
    return f"{documents}\n====== TOTALS =======\n{totals}"


COREF = "version: 8.01 /opt/CorScorer.pm\n" + "".join(
    f"\nMETRIC {name}:\n{coref_section()}" for name in ("muc", "bcub")
)
TABLE = 'segment,document,answer,correct,total,score\nq1,d1,"a, b",1,2,0.5\nq2,d1,c,2,2,1e-3\nq3,d2,,0,1,-4\n'
JSONL = (
    '{"id": "q1", "right": true, "score": 0.5, "answer": "a"}\n{"id": "q2", "right": false, "score": 1, "other": [1]}\n'
    '{"id": "q3", "right": true, "score": -2e3, "answer": null}\n'
)

LOGS = Path(__file__).parent / "data/evaluation_logs"
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "model": "lab/m", "config": {"epochs": 1}, "model_args": {"a": 1}},
    "samples": [
        {"id": i, "epoch": 1, "input": "?", "scores": {"match": {"value": value}}, "metadata": {"p": "x"}}
        for i, value in enumerate(("C", "I", 0.5, "P"))
    ],
}
LM_EVAL = "".join(
    json.dumps({"doc_id": i, "doc": {"id": i}, "resps": [["x"]], "filter": "none", "metrics": ["acc"], "acc": i % 2})
    + "\n"
    for i in range(4)
)
HELM = [
    {
        "instance_id": f"id{i}",
        "train_trial_index": 0,
        "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": i % 2}],
    }
    for i in range(3)
]
SWEBENCH = {
    "total_instances": 4,
    "resolved_instances": 1,
    "resolved_ids": ["a__b-1"],
    "unresolved_ids": ["a__b-2"],
    "submitted_ids": ["a__b-1", "a__b-2", "a__b-3"],
    "error_ids": ["a__b-3"],
    "incomplete_ids": ["a__b-4"],
    "schema_version": 2,
}
ALPACA = [
    {"instruction": f"i{i}", "output_1": "", "output_2": "", "preference": preference, "annotator": "j"}
    | {"generator_1": "r", "generator_2": "m"}
    for i, preference in enumerate((1.5, 2, 0, 1.25))
]
EVALS = json.dumps({"spec": {"completion_fns": ["m"], "run_id": "r", "run_config": {}}}) + "".join(
    "\n" + json.dumps({"run_id": "r", "sample_id": f"s.{i}", "type": "match", "data": {"correct": i % 2 == 0}})
    for i in range(4)
)
COMET = {"out/m.txt": [{"src": f"s{i}", "mt": "x", "ref": "r", "COMET": i / 4} for i in range(4)]}


def parquet() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"id": ["a", "b", "c"], "score": [1, 2.5, -3], "text": ["x", "y", "z"]}).to_parquet(buffer)
    return buffer.getvalue()


def packed(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz", format=tarfile.PAX_FORMAT) as archive:
        for name in ("team/a.txt", "team/" + "ü" * 120):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@dataclass(frozen=True)
class Format:
    """A file that is whole, and what reads it: `pairsig extract` or `test` with these arguments, or a function."""

    text: str | bytes
    arguments: str = ""
    suffix: str = ".txt"
    member: str = ""
    function: Callable[[Path], object] | None = None

    @property
    def whole(self) -> bytes:
        return self.text.encode() if isinstance(self.text, str) else self.text


TEXT = "the tea is hot .\n\nit is gone , a\u2028b\n"
FORMATS = {
    "text": Format(TEXT, "extract --metric bleu"),
    "text-rouge": Format(TEXT, "extract --metric rouge1_f"),
    "text.gz": Format(gzip.compress(TEXT.encode(), mtime=0), "extract --metric chrf", ".gz"),
    "text.xz": Format(lzma.compress(TEXT.encode()), "extract --metric ter", ".xz"),
    "text.tar.xz": Format(packed(TEXT.encode()), "extract --metric ter", ".tar.xz", "!team/a.txt"),
    "pharaoh": Format("0-0 1-1 2p1\n\n1-0\n", "extract --metric aer"),
    "numbered": Format("1 0-0 1-1\n2\n3 1p0 0-2\n", "extract --metric aer"),
    "naacl": Format("1 1 1 S\n1 2 2 P 0.5\n3 1 1\n", "extract --metric aer"),
    "trees": Format(TREES, "extract --metric parseval"),
    "tree-lines": Format(
        "(S (A a) (B b))\n\n(S (A a)) (B (C c))\n", "extract --metric parseval --option one_per_line=true"
    ),
    "conllu": Format(CONLLU, "extract --metric conll_las"),
    "conllu-gold": Format(CONLLU, "extract --metric las"),
    "conllx": Format(CONLLX, "extract --metric uas --option format=conllx"),
    "sigf": Format("2 3 2\n2 2 2\n0 1 4\n", "test --reader sigf --metric f1"),
    "sigf-1": Format("0.5\n-3\n1e2\n", "test --reader sigf"),
    "art-2": Format("2 3\n1 2\n0.5 1\n", "test --reader art"),
    "art-4": Format("2 3 7 8\n4 12 33 50\n1 2 3 4\n", "test --reader art --metric f1_ratio"),
    "evalb": Format(EVALB, "test --reader evalb --metric f1"),
    "coref": Format(COREF, "test --reader coref --metric muc"),
    "csv": Format(TABLE, "test --reader table", ".csv"),
    "tsv": Format(TABLE.replace(",", "\t"), "test --reader table", ".tsv"),
    "jsonl": Format(JSONL, "test --reader table", ".jsonl"),
    "parquet": Format(parquet(), "test --reader table", ".parquet"),
    "inspect.json": Format(json.dumps(INSPECT, indent=1), "test --reader inspect --missing drop", ".json"),
    "inspect.eval": Format(
        (LOGS / "inspect/weak.eval").read_bytes(), "test --reader inspect --metric exact --option reducer=mean", ".eval"
    ),
    "lm_eval": Format(LM_EVAL, "test --reader lm_eval --option model=m --missing drop", ".jsonl"),
    "helm": Format(json.dumps(HELM, indent=1), "test --reader helm --option model=m --missing wrong", ".json"),
    "swebench": Format(json.dumps(SWEBENCH, indent=1), "test --reader swebench --missing wrong", ".json"),
    "alpaca_eval": Format(json.dumps(ALPACA, indent=1), "test --reader alpaca_eval --missing drop", ".json"),
    "openai_evals": Format(EVALS, "test --reader openai_evals --missing wrong", ".jsonl"),
    "comet": Format(json.dumps(COMET, indent=1), "test --reader comet --missing drop", ".json"),
    "mt_metrics_eval": Format("s\t0.5\ns\t1\ns\tNone\ns\t-3.25\n", "test --reader mt_metrics_eval", ".seg.score"),
    "recognized": Format(EVALS, "test --missing wrong", ".jsonl"),
    "documents": Format("news\td1\n-\td2\n", function=read_documents),
    "parameters": Format(
        "# COLLINS\nLABELED 1\nMAX_ERROR 10\nDELETE_LABEL TOP\nEQ_LABEL ADVP PRT\n", function=read_parameters
    ),
}

TOKENS = [
    *(b"0", b"1", b"-1", b"+1", b"0_1", b"007", b"1e999", b"1e-400", b"nan", b"Infinity", b"null", b"true", b"9" * 19),
    *(b"1" * 5000, b"100000000000000000000000", b"1000000000", b"0.1.2", b"-", b"--", b"_", b"=", b"."),
    *("\u0661 \u00b2 \u2028 \u00a0 \ufeff \U0001f600 e\u0301".encode().split(b" ")),
    *(b"\0", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\x0b", b"\x1b[2J", b"\xff", b"\xed\xa0\x80", b" ", b" " * 3000),
    *(
        b"(",
        b")",
        b"()",
        b"((((",
        b"{",
        b"}",
        b"[" * 3000,
        b'"',
        b'"' * 5,
        b",",
        b":",
        b"!",
        b"#",
        b"%",
        b"0-0",
        b"1-1",
    ),
    *(
        b"x" * 3000,
        b"(A " * 600,
        b"METRIC muc:\n",
        b"====== TOTALS =======\n",
        RULE.encode() + b"\n",
        b'{"id": 1, "id": 2}\n',
    ),
    *(
        b"a\tb\tc\n",
        b"segment",
        b"system,",
        b"1 1 1 S\n",
        b"\n".join([b"1"] * 50),
        b"\\ud800",
        b"{x}",
        b"$(x)",
        b"../",
        b"-- All --\n",
    ),
]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The file after one to three accidents."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        lines = data.splitlines(keepends=True) or [b""]
        line = rng.randrange(len(lines))
        words = [match.span() for match in re.finditer(rb"[\w.+-]+", data)] or [(at, at)]
        start, end = rng.choice(words)
        token = rng.choice(TOKENS)
        match rng.randrange(9):
            case 0:  # a flipped bit
                data = data[:at] + bytes(b ^ 1 << rng.randrange(8) for b in data[at : at + 1]) + data[at + 1 :]
            case 1:  # cut off
                data = data[:at]
            case 2:  # a piece lost
                data = data[:at] + data[min(to, at + rng.choice((1, 3, 60))) :]
            case 3:  # a piece twice
                data = data[:to] + data[max(at, to - 60) : to] + data[to:]
            case 4:  # a line lost, twice, or elsewhere
                other = lines.pop(line)
                for _ in range(rng.randrange(3)):
                    lines.insert(rng.randrange(len(lines) + 1), other)
                data = b"".join(lines)
            case 5:  # another file behind
                data += rng.choice((data, token))
            case 6:  # something in it
                data = data[:at] + token + data[at:]
            case _:  # something in place of a word
                data = data[:start] + token + data[end:]
    return data


def read(form: Format, one: Path, other: Path, output: Path) -> int:
    """Give two files of a format to what reads them; the exit status, and on standard error what is said."""
    if form.function is not None:
        try:
            form.function(one)
        except InputError as error:
            print(f"pairsig: error: {error}", file=sys.stderr)
            return 2
        return 0
    command, *options = form.arguments.split()
    files = [f"{path}{form.member}" for path in (one, other)]
    if command == "extract":
        return cli.main(
            [command, files[0], "--reference", files[1], "--system", "s", "--output", str(output), *options]
        )
    return cli.main([command, *files, *options, "--test", "randomization", "--n-resamples", "5", "--threads", "1"])


def check(name: str, number: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Damage a file of the format; read it as output or as reference, as the first system or the second."""
    form = FORMATS[name]
    rng = random.Random(f"{name} {number}")
    data = damaged(form.whole, rng)
    good, bad, output = folder / f"good{form.suffix}", folder / f"bad{form.suffix}", folder / "output.tsv"
    good.write_bytes(form.whole)
    bad.write_bytes(data)
    files = (bad, good) if form.function is not None or rng.random() < 0.5 else (good, bad)
    where = f"{name} {number}: {data[:2000]!r}"
    try:
        status = read(form, *files, output)
    except BaseException as error:
        raise AssertionError(where) from error
    written = {output} if status == 0 and form.arguments.startswith("extract") else set()
    assert set(folder.iterdir()) == {good, bad, *written}, where
    for path in (good, bad, *written):
        path.unlink()
    *notes, message = capsys.readouterr().err.splitlines() or [""]
    if status == 0:
        return
    assert status == 2, where
    assert all(note.startswith(("pairsig: note: ", "pairsig: warning: ")) for note in notes), where
    assert message.startswith("pairsig: error: "), where
    # That sums are too large for exact products, or that a damaged number makes a run, is nobody's in particular.
    nobodys = ("sums cannot be exact", "what tests runs has no choice of tests")
    assert any(told in message for told in (bad.name, good.name, *nobodys)), f"{message}\n{where}"
    assert len(message.replace(str(folder), "")) < 500, f"{message}\n{where}"
    assert message.isprintable(), f"{message}\n{where}"


@pytest.mark.parametrize("name", FORMATS)
def test_whole_files_are_read(name, tmp_path, capsys):
    form = FORMATS[name]
    one, other = tmp_path / f"one{form.suffix}", tmp_path / f"other{form.suffix}"
    for path in (one, other):
        path.write_bytes(form.whole)
    assert read(form, one, other, tmp_path / "output.tsv") == 0, capsys.readouterr().err


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files(name, tmp_path, capsys):
    for number in range(EXAMPLES):
        check(name, number, tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_files(name, tmp_path, capsys):
    for number in range(EXAMPLES, 30 * EXAMPLES):
        check(name, number, tmp_path, capsys)
