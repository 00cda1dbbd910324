"""Every reader on files that are damaged at random: a sentence that names the file, or counts; never anything else."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import re
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from pairsig import InputError, cli
from pairsig.metrics.constituency import read_parameters
from pairsig.readers import COUNTS, LOGS, OUTPUTS, read_documents, reader_of

RULE = "=" * 76
TABLE = 'segment,document,answer,correct,total,score\nq1,d1,"a, b",1,2,0.5\nq2,d1,c,2,2,1e-3\nq3,d2,,0,1,-4\n'
LOGS_HERE = Path(__file__).parents[1] / "data/evaluation_logs"


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
    """A file that is whole, and what reads it: a command with these arguments, or a function."""

    text: str | bytes
    arguments: str = ""
    suffix: str = ".txt"
    member: str = ""
    function: Callable[[Path], object] | None = None

    @property
    def whole(self) -> bytes:
        return self.text.encode() if isinstance(self.text, str) else self.text


def registered(name: str) -> Format:
    """The example of a reader, and the command that reads it."""
    reader = reader_of(name)
    if name in OUTPUTS:
        command = f"outputs --reader {name} --metric {reader.metric}"
    else:
        command = f"compare --reader {name}{' --missing drop' * (name in LOGS)}"
    return Format(reader.example, command, Path(reader.example_name).suffix)


def example(name: str) -> str:
    return reader_of(name).example


TEXT = example("text")
FORMATS = {name: registered(name) for name in (*OUTPUTS, *COUNTS, *LOGS)} | {
    "text-rouge": Format(TEXT, "outputs --metric rouge1_f"),
    "text.gz": Format(gzip.compress(TEXT.encode(), mtime=0), "outputs --metric chrf", ".gz"),
    "text.xz": Format(lzma.compress(TEXT.encode()), "outputs --metric ter", ".xz"),
    "text.tar.xz": Format(packed(TEXT.encode()), "outputs --metric ter", ".tar.xz", "!team/a.txt"),
    "numbered": Format("1 0-0 1-1\n2\n3 1p0 0-2\n", "outputs --metric aer"),
    "naacl": Format("1 1 1 S\n1 2 2 P 0.5\n3 1 1\n", "outputs --metric aer"),
    "tree-lines": Format("(S (A a) (B b))\n\n(S (A a)) (B (C c))\n", "outputs --metric parseval --one-per-line"),
    "conllu-raw": Format(example("conllu"), "outputs --metric conll_las"),
    "sigf-1": Format("0.5\n-3\n1e2\n", "compare --reader sigf"),
    "art-2": Format("2 3\n1 2\n0.5 1\n", "compare --reader art"),
    "csv": Format(TABLE, "compare --reader table --score score", ".csv"),
    "tsv": Format(TABLE.replace(",", "\t"), "compare --reader table --score score", ".tsv"),
    "parquet": Format(parquet(), "compare --reader table --score score", ".parquet"),
    "inspect.eval": Format(
        (LOGS_HERE / "inspect/weak.eval").read_bytes(),
        "compare --reader inspect --metric exact",
        ".eval",
    ),
    "recognized": Format(example("lm_eval"), "compare --missing wrong", ".jsonl"),
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
    *(b"(", b")", b"()", b"((((", b"{", b"}", b"[" * 3000, b'"', b'"' * 5, b",", b":", b"!", b"#", b"%", b"0-0",
      b"1-1"),
    *(b"x" * 3000, b"(A " * 600, b"METRIC muc:\n", b"====== TOTALS =======\n", RULE.encode() + b"\n",
      b'{"id": 1, "id": 2}\n'),
    *(b"a\tb\tc\n", b"segment", b"system,", b"1 1 1 S\n", b"\n".join([b"1"] * 50), b"\\ud800", b"{x}", b"$(x)",
      b"../", b"-- All --\n"),
]  # fmt: skip


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
    if command == "outputs":
        return cli.main(["compare", files[0], "--reference", files[1], *options, "--output", str(output)])
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
    written = {output} if status == 0 and form.arguments.startswith("outputs") else set()
    assert set(folder.iterdir()) == {good, bad, *written}, where
    for path in (good, bad, *written):
        path.unlink()
    lines = capsys.readouterr().err.splitlines()
    notes = [line for line in lines if line.startswith(("pairsig: note: ", "pairsig: warning: "))]
    message = next(iter(lines[len(notes) :]), "")  # below it, a question lists columns and commands
    if status == 0:
        return
    assert status == 2, where
    assert message.startswith("pairsig: error: "), where
    # That sums are too large for exact products, or that a damaged number makes a run, is nobody's in particular.
    nobodys = ("sums cannot be exact", "does not apply to the test for several runs")
    assert any(fragments in message for fragments in (bad.name, good.name, *nobodys)), f"{message}\n{where}"
    assert len(message.replace(str(folder), "")) < 700, f"{message}\n{where}"
    assert message.isprintable(), f"{message}\n{where}"


@pytest.mark.parametrize("name", FORMATS)
def test_whole_files_are_read(name, tmp_path, capsys):
    form = FORMATS[name]
    one, other = tmp_path / f"one{form.suffix}", tmp_path / f"other{form.suffix}"
    for path in (one, other):
        path.write_bytes(form.whole)
    assert read(form, one, other, tmp_path / "output.tsv") == 0, capsys.readouterr().err


@pytest.mark.parametrize("name", FORMATS)
@examples(5, simplified=False)
@given(number=st.integers(0, 10**9))
def test_damaged_files(name, tmp_path, capsys, number):
    check(name, number, tmp_path, capsys)
