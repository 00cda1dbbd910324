"""Names, pipes, devices and packed files that break what is printed, or the machine: a sentence, or harmless text."""

import errno
import os
import re
import threading
import warnings
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pairsig
from against import compare_with_one
from pairsig import InputError, Statistics, cli, compare
from pairsig.comparisons import all_pairs, baseline, methods, ranking
from pairsig.core import engine, statistics
from pairsig.io import console, files, memory, tables
from pairsig.io.columns import Column
from pairsig.io.errors import LongRun
from pairsig.io.rendering import footnote, render
from pairsig.metrics import registry
from pairsig.readers import inputs, table
from pairsig.readers.table import Roles

BROKEN = ["a\nb", "a\rb", "a\tb", "a\x1b[2Jb", "a\x9bb", "a\u2028b", "a\u202eb", "a\u2066b", "a\udcffb", "a\0b"]
MARKUP = ["a|b", "<script>alert(1)</script>", "[*x*](javascript:alert`1`)", r"back\slash $x_1$ ~~ &lt; {50 %} #"]


def items(systems, n=30):
    rng = np.random.default_rng(1)
    right = (rng.random((len(systems), n)) < np.linspace(0.3, 0.9, len(systems))[:, None]).astype(np.int64)
    counts = {name: np.stack([own, np.ones_like(own)], axis=1) for name, own in zip(systems, right, strict=True)}
    return Statistics.from_arrays(counts, ["correct", "total"])


# Names that break what is printed are refused, wherever they come from.


@pytest.mark.parametrize("name", BROKEN)
def test_names_that_break_lines_are_refused(name):
    with pytest.raises(
        InputError, match=r"found the system 'a.*b', expected a name without control characters"
    ) as message:
        items(["x", name])
    assert str(message.value).isprintable()
    with pytest.raises(InputError, match="found the column"):
        Statistics.from_arrays({"x": np.ones((3, 1))}, [name])


def test_other_letters_are_no_fault():
    assert items(["模型", "модель", "é\u200d\u00a0\u3000x", "النموذج"]).systems[0] == "模型"


def test_a_file_whose_name_is_not_utf_8(tmp_path, refusal):
    paths = [tmp_path / os.fsdecode(name) for name in (b"good.txt", b"bad\xff.txt")]
    for path in paths:
        path.write_bytes(b"1\n0\n1\n")
    assert r"found the system 'bad\udcff', expected a name" in refusal("compare", *paths, "--reader", "sigf")


def test_a_table_of_comparisons_with_such_a_name(tmp_path, refusal):
    found = all_pairs.compare(items(["a", "b"]), "exact", metric="accuracy").assign(system_a="a\u202eb")
    for name in ("x.parquet", "x.tsv"):
        tables.write(found, tmp_path / name)
        message = refusal("transfer", tmp_path / name, tmp_path / name)
        assert r"system_a is 'a\u202eb', expected text without control characters" in message


def test_what_a_terminal_obeys_is_never_printed(tmp_path, capsys):
    assert cli.main(["rank", str(tmp_path / "\x1b[2J.tsv")]) == 2
    with pytest.raises(SystemExit):
        cli.main(["rank", "--\x1b[2J"])
    assert "\x1b" not in capsys.readouterr().err


# Names that are markup are text in every format.


def rendered(kind, style):
    data = items(MARKUP)
    metric = registry.metric("accuracy")
    if kind == "rank":
        return ranking.render(ranking.rank(data, metric=metric, n_resamples=200), style)
    if kind == "compare":
        return baseline.render(compare_with_one(data, [metric], ["exact"])[0], style)
    found = methods.compare_runs(data, metric=metric, training_sd=1.0, baseline=data.methods[0]).table
    return methods.render(found, style)


@pytest.mark.parametrize("kind", ["compare", "rank", "methods"])
def test_markdown(kind):
    table, _, notes = rendered(kind, "markdown").partition("\n\n")
    bars = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table.splitlines()]
    assert len(set(bars)) == 1
    for text in (table, re.sub("`[^`]*`", "", notes)):
        assert not re.findall(r"(?<!\\)(?:<|\]\(|\$)", text.replace("\\\\", ""))
    assert "\\<script>" in table
    assert r"back\\slash \$x\_1\$ \~\~ \&lt;" in table


@pytest.mark.parametrize("kind", ["compare", "rank", "methods"])
def test_latex(kind):
    text = rendered(kind, "latex")
    lines = [line for line in text.splitlines() if not line.startswith(("%", "\\"))]
    assert not [line for line in lines if line.strip().startswith(("[", "*"))]
    assert r"back\textbackslash{}slash \$x\_1\$" in text
    assert not re.findall(r"(?<!\\)[$#_]", "\n".join(lines).replace(r"$^\dagger$", ""))


def test_a_row_of_latex_does_not_begin_with_an_option():
    rows = pd.DataFrame({"x": ["[2cm]", "*"], "y": ["1", "2"]})
    text = render(rows, [Column(name, str, "") for name in "xy"], "latex")
    assert " {}[2cm]" in text
    assert " {}*" in text


def test_a_metric_with_backticks_stays_code():
    line = footnote(["metric:a``<b>|test:exact|x:1"], "markdown")
    assert line == "\n- ```metric:a``<b>|test:exact|x:1```"


# What the systems of a test set ought to share.


def test_a_total_that_differs_is_reported(tmp_path, capsys):
    given = items(["a", "b", "c"])
    given.counts[2, 4, 1] = 7
    statistics.write(given, tmp_path / "x.parquet")
    message = (
        "total is 1 for a and 7 for c on segment 5, expected the same: check that all systems have the same test set"
    )
    for command in (
        ["all-pairs", "--test", "exact", "--output", str(tmp_path / "o.tsv")],
        ["rank", "--metric", "accuracy", "--n-resamples", "100"],
    ):
        assert cli.main([command[0], str(tmp_path / "x.parquet"), *command[1:]]) == 0
        assert message in capsys.readouterr().err
    given.counts[2, 4, 1] = 1
    given.counts[1, 3] = 0  # not scored there
    assert given.inconsistencies() == []


# Pipes and devices.


@pytest.fixture
def pipe(tmp_path):
    """Make a named pipe that something is written to."""
    threads = []

    def made(name, data):
        path = tmp_path / name
        os.mkfifo(path)
        threads.append(threading.Thread(target=path.write_bytes, args=(data,)))
        threads[-1].start()
        return str(path)

    yield made
    for thread in threads:
        thread.join(timeout=10)


def test_pipes_can_be_read_again(pipe):
    path = pipe("a.txt", b"1\n0\n" * 100_000)
    assert files.beginning(path, 4) == b"1\n0\n"
    assert files.content(path) == files.content(path) == b"1\n0\n" * 100_000


def test_pipes_are_recognized_as_files_are(pipe, capsys):
    assert cli.main(["compare", pipe("a.txt", b"1\n1\n1\n"), pipe("b.txt", b"0\n1\n0\n"), "--test", "exact"]) == 0
    assert "score" in capsys.readouterr().out


def test_a_table_may_be_a_pipe(pipe):
    rows = "system\tsegment\tcorrect\ttotal\na\t1\t1\t1\nb\t1\t0\t1\n"
    assert statistics.read(pipe("x.tsv", rows.encode())).systems == ("a", "b")


def test_a_pipe_without_a_writer_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_WAIT", 0.1)
    for name in ("x.txt", "x.eval"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(InputError, match=r"x\.\w+: found a pipe that no program writes to"):
            (files.content if name == "x.txt" else files.zip_members)(tmp_path / name)
    os.mkfifo(tmp_path / "x.parquet")
    for read in (statistics.read, tables.read):
        with pytest.raises(InputError, match=r"x\.parquet: found a folder, pipe or device"):
            read(tmp_path / "x.parquet")


def test_a_full_disk_names_the_file(tmp_path, monkeypatch, capsys):
    def write_text(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", write_text)
    for name in "ab":
        (tmp_path / f"{name}.txt").write_bytes(b"1\n0\n1\n")
    arguments = [str(tmp_path / name) for name in ("a.txt", "b.txt", "out.html")]
    assert cli.main(["compare", *arguments[:2], "--test", "exact", "--html", arguments[2]]) == 2
    assert f"pairsig: error: {arguments[2]}: No space left on device" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


# Files that are packed to little.


def packed(path, n=1000, **columns):
    """A table of two systems whose further columns repeat one cell."""
    columns_of_numbers = {"system": ["a"] * n + ["b"] * n, "segment": [*range(n)] * 2, "value": [0.0, 1.0] * n}
    further = {
        name: pa.DictionaryArray.from_arrays(np.zeros(2 * n, np.int32), [cell]) for name, cell in columns.items()
    }
    pq.write_table(pa.table(columns_of_numbers | further), path)
    return path


def test_texts_that_repeat_are_in_memory_once(tmp_path):
    import tracemalloc

    path = packed(tmp_path / "x.parquet", n=2_000, answer="x" * 100_000)
    tracemalloc.start()
    table.read(path, Roles(score="value"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6  # and not 400 MB
    with pytest.raises(InputError, match=r"row 1: answer is 'xxx.*\(100,000 characters\), expected a number"):
        statistics.read(path)


def test_texts_that_share_beginnings_are_refused(tmp_path):
    """Each text without the beginning that it shares with the one before: twenty times as small as when unpacked."""
    n, path = 500, tmp_path / "x.parquet"
    table = pa.table({"system": ["a"] * n, "segment": [f"{'x' * 1000}{i}" for i in range(n)], "value": [1.0] * n})
    pq.write_table(table, path, use_dictionary=False, column_encoding={"segment": "DELTA_BYTE_ARRAY"})
    assert path.stat().st_size < 20_000
    for read in (tables.read, statistics.read):
        with pytest.raises(InputError, match=r"x\.parquet: found text in the encoding DELTA_BYTE_ARRAY, .*to_parquet"):
            read(path)


def test_memory_bounds_what_is_read(tmp_path, monkeypatch):
    """Two thousand cells of 100,000 characters, which the file has once."""
    path = packed(tmp_path / "x.parquet", n=1000, answer="x" * 100_000)
    monkeypatch.setattr(memory.Memory, "whole", lambda: Told(50_000_000))
    with pytest.raises(InputError, match=r"reading .*x\.parquet: at least 191 MiB of memory are needed, and 48 MiB"):
        tables.read(path)
    with pytest.raises(InputError, match=r"reading .*x\.parquet: .* of memory are needed, and 0 MiB"):
        statistics.read(path, memory=memory.Memory(1))


class Told(memory.Memory):
    """So many bytes are left, whatever the process takes."""

    left = property(lambda self: self.limit)


@pytest.mark.parametrize(
    "metadata",
    [{"dataset": b"\xff"}, {"provenance": "["}, {"provenance": "3"}, {"omissions": '[{"x": 1}]'}, {"omissions": "{"}],
)
def test_metadata_that_are_damaged(metadata, tmp_path):
    table = pq.read_table(packed(tmp_path / "x.parquet")).replace_schema_metadata(metadata)
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet: found metadata that cannot be read"):
        statistics.read(tmp_path / "x.parquet")


# Data frames.


def test_columns_of_a_frame_are_there_once():
    frame = pd.DataFrame({"system": ["a", "b"], "segment": [1, 1], "correct": [1, 0], "total": [1, 1]})
    twice = pd.concat([frame, frame["total"]], axis=1)
    with pytest.raises(InputError, match="the table: found 2 columns called 'total', expected different names"):
        Statistics.from_table(twice, dataset="")
    with pytest.raises(InputError, match="found 2 columns called '0'"):
        Statistics.from_table(pd.concat([frame, pd.DataFrame({0: [1, 1], "0": [1, 1]})], axis=1), dataset="")
    with pytest.raises(InputError, match="the data frame: found 2 columns called 'total', expected different names"):
        pairsig.read(twice, system="system", item="segment", score="total")


@pytest.mark.parametrize(
    "cell", [1 + 2j, date(2020, 1, 1), pd.Timestamp("2020-01-01"), pd.Timedelta(1), np.timedelta64(1, "s"), 10**400]
)
def test_cells_that_are_no_numbers(cell):
    for value in (cell, [cell, 1]):
        values = pd.Series([cell, cell] if value is cell else value, dtype=None if value is cell else object)
        frame = pd.DataFrame({"system": ["a", "b"], "segment": [1, 1], "value": values})
        with pytest.raises(InputError, match=r"row 1: value is .*, expected a number"):
            Statistics.from_table(frame, dataset="")


def test_fractions_are_numbers_and_columns_may_be_called_by_numbers():
    parts = [Fraction(number, 8) for number in (1, 2, 3, 4, 5, 6, 7, 7)]
    frame = pd.DataFrame({"system": ["a"] * 4 + ["b"] * 4, 1: [*range(4)] * 2, 0: parts})
    found = compare(pairsig.read(frame, item="1", score="0"))
    assert found.better == "b"
    assert found.gain == (5 + 6 + 7 + 7 - 1 - 2 - 3 - 4) / 32
    assert found.pvalue == compare(pairsig.read(frame.astype({0: float}), item="1", score="0")).pvalue


def test_a_link_to_itself_is_one_sentence(tmp_path, file, refusal):
    link = tmp_path / "loop.txt"
    link.symlink_to(link)
    message = refusal("compare", link, file("a.txt", "1\n0\n1"))
    assert message.startswith("pairsig: error: ")
    assert len(message.splitlines()) == 1
    assert "loop.txt" in message


@pytest.mark.parametrize("error", [
    MemoryError(), OSError("Could not find/load shared object file: libllvmlite.so"),
    ImportError("x.so: failed to map segment from shared object"), RuntimeError("can't start new thread"),
])  # fmt: skip
def test_a_limit_on_memory_is_named(error, monkeypatch, file, refusal):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(console, "_address_space", lambda: 300 * 2**20)
    monkeypatch.setattr(baseline, "compare_with_one", fail)
    message = refusal("compare", file("a.txt", "1\n0\n1"), file("b.txt", "1\n1\n1"))
    assert "the memory does not suffice: the limit on this process is 300 MiB (ulimit -v)" in message
    assert "llvmlite" not in message


def test_resamples_that_take_days_are_refused():
    with pytest.raises(
        InputError, match=r"would take about [\d,]+ hours, expected at most about [\d,]+, which take a day"
    ):
        pairsig.bootstrap_test([1, 0] * 500, [0, 0] * 500, n_resamples=10**12, threads=1)


def test_the_time_of_a_long_run_is_announced(file, monkeypatch, capsys):
    """As a warning of Python and as a note of the command; here, what takes no time counts as long."""
    for n_resamples, words in ((10**9, r"\d+ minutes"), (10**10, r"[\d.]+ hours")):
        with pytest.warns(LongRun, match=f"{n_resamples:,} resamples of 1,000 units will take about {words}"):
            engine.check_time(n_resamples, 1000, 1, 1)
    monkeypatch.setattr(engine, "LONG_SECONDS", 0)
    monkeypatch.setattr(engine, "expected_seconds", lambda *_: 60.0)
    paths = [file("a.txt", "1\n0\n1\n1"), file("b.txt", "1\n1\n1\n0")]
    with warnings.catch_warnings():
        warnings.simplefilter("default", LongRun)
        assert cli.main(["compare", *paths, "--test", "bootstrap", "--n-resamples", "1000"]) == 0
    assert "note: 1,000 resamples of 4 units will take about 1 minute\n" in capsys.readouterr().err


def test_formulas_in_tables_for_people_are_text(file, tmp_path):
    """An id of an item that a spreadsheet would run; negative numbers stay numbers."""
    rows = ["item,a,b", "=cmd|'/c calc'!A0,1,0", "+x,0,1", "@y,1,0", "-3,1,0", "plain,1,1"]
    path = tmp_path / "flips.csv"
    assert cli.main(["compare", file("t.csv", "\n".join(rows)), "--systems", "a,b", "--flips", str(path)]) == 0
    found = pd.read_csv(path)["segment"].tolist()
    assert set(found) == {"'=cmd|'/c calc'!A0", "'+x", "'@y", "-3"}
