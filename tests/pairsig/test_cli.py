"""The command line end to end, and one sentence for whatever it cannot use."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu

import pairsig
import simulate
from pairsig import cli
from pairsig.comparisons import all_pairs
from pairsig.core import definitions, statistics
from pairsig.io import console, tables
from study import analysis
from study import cli as study_cli

LIBRARY = [
    "compare", "gate", "rank", "plan", "metrics", "methods", "transfer", "extract", "collect", "pool", "all-pairs",
    "merge",
]  # fmt: skip
STUDY = [
    "fetch", "prepare", "resample", "jar", "train", "predict", "resize", "count", "overlaps", "plot", "figure",
    "tabulate", "site", "page", "findings", "sheets",
    *(name.replace("_", "-") for name in analysis.MODULES if analysis.load(name).function),
]  # fmt: skip


def run(*arguments: object) -> int:
    """Status of a command."""
    main = study_cli.main if arguments[:1] and arguments[0] in STUDY else cli.main
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse
        return int(stop.code or 0)


def python(*arguments: str, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """What Python printed in a process of its own."""
    ended = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, env=os.environ | environment
    )
    assert ended.returncode == status, ended.stderr
    return ended


@pytest.fixture
def work(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def simulated(work):
    """Statistics of four systems: `s.parquet`."""
    options = {"n_groups": 2, "spread": 0.1, "document_size": 10, "dataset": "s"}
    data = simulate.statistics("f1", n_systems=4, n_segments=80, **options)
    statistics.write(data, work / "s.parquet")
    return data


@pytest.fixture
def refused(work, capsys):
    """Run a command that must fail: status 2, one sentence with these words, nothing on stdout, no file touched."""

    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}

    def refused(*arguments: object, fragments: str | list[str]) -> None:
        capsys.readouterr()
        before = state()
        assert run(*arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        errors = [line for line in err.splitlines() if not line.startswith("pairsig: warning: ")]
        assert len(errors) == 1, err
        assert re.match(r"(pairsig|python -m study)( [\w-]+)?: error: ", errors[0])
        fragments = [fragments] if isinstance(fragments, str) else fragments
        assert re.search(".*".join(map(re.escape, fragments)), errors[0]), errors[0]
        assert state() == before

    return refused


class TestStart:
    def test_version(self, capsys):
        """What a report of a bug needs, each as the package itself says."""
        import numba
        import numpy
        import pyarrow

        assert run("--version") == 0
        out = capsys.readouterr().out
        assert out.startswith(f"pairsig {pairsig.__version__}\nPython {platform.python_version()} (")
        for package in (numpy, numba, pyarrow, pd, sacrebleu):
            assert f"{package.__name__} {package.__version__}" in out
        assert platform.platform() in out
        assert f"\n{os.cpu_count()} threads" in out

    def test_as_a_module_and_without_unicode(self):
        """On a terminal that has no minus sign the help is still printed."""
        ended = python("-m", "pairsig", "compare", "--help", PYTHONIOENCODING="ascii")
        assert r"A \u2212 B is the difference" in ended.stdout

    @pytest.mark.parametrize("command", LIBRARY + STUDY)
    def test_help(self, command, capsys):
        assert run(command, "--help") == 0
        out = capsys.readouterr().out
        program = "pairsig" if command in LIBRARY else "python -m study"
        assert out.startswith(f"usage: {program} {command} ")
        assert ("--output" in out) == (
            command not in {"metrics", "train", "sheets"}
        )  # `metrics` prints, `train` has --model, `sheets` fills in pages

    def test_all_commands_are_listed_in_groups(self, capsys):
        assert run("--help") == 0
        _, listed = capsys.readouterr().out.split("commands:")
        assert re.findall(r"^    ([a-z-]+)\b", listed, re.MULTILINE) == LIBRARY
        assert re.search(r"^  compare systems.*:\n    compare ", listed, re.MULTILINE)

    @pytest.mark.parametrize("command", LIBRARY)
    def test_the_example_works_when_pasted(self, command, work, capsys):
        run(command, "--help")
        _, example = capsys.readouterr().out.split(f"{console.EXAMPLE}\n")
        lines = [line.strip() for line in example.partition("\n\n")[0].splitlines()]
        assert f"{lines[-1]} ".startswith(f"pairsig {command} ")
        for line in lines:
            if line.startswith("pairsig "):
                assert run(*shlex.split(line)[1:]) == 0, capsys.readouterr().err
            else:
                subprocess.run(["sh", "-c", line], check=True)
        written = re.findall(r"--output (\S+)", lines[-1])
        assert capsys.readouterr().out or all((work / name).stat().st_size for name in written)

    def test_the_help_of_compare_fits_on_a_screen(self, capsys, monkeypatch):
        """It begins with an example, and has an option on a line of 80 characters; rare ones have only their names."""
        monkeypatch.setenv("COLUMNS", "80")
        run("compare", "--help")
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) <= 66
        assert lines.index(console.EXAMPLE) == 4
        assert [line for line in lines if re.fullmatch(r"[a-z]+:", line)] == ["input:", "test:", "output:", "more:"]
        options = lines[lines.index("input:") + 4 : lines.index("more:")]
        assert all(re.match(r"  (-|FILE)", line) for line in options if line and not line.endswith(":"))
        run("compare", "--help", "all")
        described = capsys.readouterr().out
        names = re.findall(r"--[a-z-]+", " ".join(lines[lines.index("more:") + 2 :]).partition("--reader")[0])
        assert len(names) > 15
        assert all(re.search(rf"^  (-h, )?{name}\b", described, re.MULTILINE) for name in names)

    def test_the_help_names_the_page_with_all_formulas(self, capsys):
        run("compare", "--help")
        assert "docs/p-values.md (formulas" in capsys.readouterr().out
        page = (Path(__file__).parents[2] / "docs/p-values.md").read_text(encoding="utf-8")
        assert definitions.formulas() in page

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("compare a b --metrc f1", "did you mean --metric?"),
            ("rank a --plott x.svg", "did you mean --plot?"),
            ("compre", "did you mean compare?"),
            ("compare a b --metric blue", "did you mean bleu?"),
            ("compare a b --zzz", "unknown option --zzz (see `pairsig compare --help`)"),
            ("", "required: COMMAND"),
        ],
    )
    def test_what_is_misspelt_gets_a_suggestion_if_it_can_be_meant(self, words, message, work, refused):
        for name in "ab":
            (work / name).write_text("1\n0\n1\n")
        refused(*words.split(), fragments=message)

    def test_completion(self, capsys):
        pytest.importorskip("shtab", reason="an extra: pip install 'pairsig[completion]'")
        assert run("--completion", "bash") == 0
        script = capsys.readouterr().out
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        asked = "COMP_WORDS=(pairsig ra) COMP_CWORD=1 COMP_LINE='pairsig ra'; _shtab_pairsig; echo ${COMPREPLY[@]}"
        ended = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True)
        assert ended.stdout.split() == ["rank"]

    def test_completion_without_its_package_is_one_sentence(self, refused, monkeypatch):
        monkeypatch.setitem(sys.modules, "shtab", None)
        refused("--completion", "bash", fragments="pip install 'pairsig[completion]'")


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


class TestInterrupt:
    """Ctrl-C: one sentence, status 130, and nothing that is half there."""

    def test_of_a_test_that_is_drawing(self, work):
        for name in "ab":
            (work / name).write_text("1 1\n0 1\n1 1\n" * 500 if name == "a" else "0 1\n1 1\n0 1\n" * 500)
        asked = ["compare", "a", "b", "--reader", "art", "--test", "bootstrap", "--n-resamples", "1e9"]
        code = (
            "import os, signal, sys\n"
            "from pairsig import cli; from pairsig.core import engine\n"
            "product, once = engine.Product.buffers, iter([0, 0, signal.SIGINT])\n"
            "def buffers(self, *sizes):\n"
            "    drawn = product(self, *sizes)\n"
            "    def in_the_third(*batch):  # once all is compiled: compilers lose an exception\n"
            "        totals = drawn(*batch)\n"
            "        os.kill(os.getpid(), next(once, 0))\n"
            "        return totals\n"
            "    return in_the_third\n"
            "engine.Product.buffers = buffers\n"
            "sys.exit(cli.main(sys.argv[1:]))"
        )
        ended = python("-c", code, *asked, "--threads", "1", status=130)
        assert ended.stdout == ""
        assert ended.stderr.splitlines()[-1] == "pairsig: interrupted, nothing was written"

    def test_what_was_written_before_is_named(self, simulated, work, monkeypatch, capsys):
        monkeypatch.setattr("pairsig.comparisons.ranking.Ranking.plot", interrupted)
        asked = ["rank", "s.parquet", "--metric", "f1", "--n-resamples", "100", "--plot", "ranks.svg"]
        assert run(*asked, "--pairs", "pairs.tsv") == 130
        assert capsys.readouterr().err.endswith("pairsig: interrupted, after pairs.tsv was written\n")
        assert run(*asked) == 130
        assert capsys.readouterr().err.endswith("pairsig: interrupted, nothing was written\n")

    def test_of_a_table_is_not_half_written(self, simulated, work, monkeypatch, capsys):
        monkeypatch.setattr(pd.DataFrame, "to_csv", interrupted)
        monkeypatch.setattr("csv.writer", interrupted)
        before = sorted(path.name for path in work.iterdir())
        assert run("all-pairs", "s.parquet", "--metric", "f1", "--n-resamples", "100", "--output", "c.tsv") == 130
        assert sorted(path.name for path in work.iterdir()) == before
        assert capsys.readouterr().err.endswith("pairsig: interrupted, nothing was written\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestCompare:
    def test_options_arrive(self, simulated, work):
        options = {"test": "randomization", "alternative": "observed", "seed": 5, "unit": "document", "batch": 7}
        arguments = [word for key, value in options.items() for word in (f"--{key}", value)]
        assert (
            run("all-pairs", "s.parquet", "--metric", "f1", "--n-resamples", 500, *arguments, "--output", "c.tsv") == 0
        )
        theirs = all_pairs.compare(simulated, metric="f1", n_resamples=500, rng=options.pop("seed"), **options)
        ours = tables.read(work / "c.tsv")
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, check_exact=True)
        assert "alternative:observed|resamples:500|seed:5|unit:document" in ours["signature"][0]

    def test_merged_parts_are_the_whole_byte_for_byte(self, simulated, work):
        options = ["--metric", "f1", "--n-resamples", 1000]
        assert run("all-pairs", "s.parquet", *options, "--output", "whole.parquet") == 0
        for k in (3, 1, 2):
            assert run("all-pairs", "s.parquet", *options, "--part", f"{k}/3", "--output", f"{k}.parquet") == 0
        assert run("merge", "2.parquet", "3.parquet", "1.parquet", "--output", "merged.parquet") == 0
        assert (work / "merged.parquet").read_bytes() == (work / "whole.parquet").read_bytes()
        assert tables.read(work / "1.parquet")["n_resamples"].unique().tolist() == [333]

    def test_identical_systems_are_reported_and_have_p_1(self, simulated, work, capsys):
        data = replace(simulated, counts=simulated.counts[[0, 1, 1, 3]])
        statistics.write(data, work / "twins.parquet")
        assert run("all-pairs", "twins.parquet", "--metric", "f1", "--n-resamples", 100, "--output", "c.tsv") == 0
        fragments = "warning: dataset s: systems system2 and system3 have the same counts on every segment, p = 1"
        assert fragments in capsys.readouterr().err
        table = tables.read(work / "c.tsv")
        twins = table[(table["system_a"] == "system2") & (table["system_b"] == "system3")]
        assert twins[["gain", "pvalue", "pvalue_low", "pvalue_high"]].to_numpy().tolist() == [[0, 1, 1, 1]]
        assert (table["pvalue"] < 1).sum() == 5

    def test_progress_on_a_terminal_changes_nothing(self, simulated, work, monkeypatch):
        options = ["--metric", "f1", "--n-resamples", 100, "--batch", 10]
        assert run("all-pairs", "s.parquet", *options, "--output", "quiet.tsv") == 0
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr("time.monotonic", iter(range(0, 10**6, 100)).__next__)
        assert run("all-pairs", "s.parquet", *options, "--output", "with-progress.tsv") == 0
        assert (work / "with-progress.tsv").read_bytes() == (work / "quiet.tsv").read_bytes()
        assert "compare s" in terminal.getvalue()

    def test_progress_of_what_is_not_counted_shows_up_by_the_clock(self, monkeypatch):
        monkeypatch.setattr(console, "PATIENCE", 0.0)
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        with console.progress("read"):
            time.sleep(0.5)
        assert "read" in terminal.getvalue()

    def test_progress_of_test_counts_every_resample(self, work, monkeypatch, capsys):
        for name, line in (("a", "1 1"), ("b", "0 1"), ("c", "1 2")):
            (work / name).write_text(f"{line}\n0 2\n1 3\n", encoding="utf-8")
        asked = ["compare", "a", "b", "c", "--reader", "art", "--test", "randomization", "--n-resamples", "1000"]
        asked += ["--format", "json"]
        assert run(*asked) == 0
        fragments, _ = capsys.readouterr()
        done: list[int] = []
        totals: list[int | None] = []

        @contextmanager
        def counting(label: str, total: int | None = None):
            totals.append(total)
            yield done.append

        monkeypatch.setattr(console, "progress", counting)
        assert run(*asked) == 0
        assert capsys.readouterr().out == fragments
        n_metrics = len({row["metric"] for row in json.loads(fragments)["rows"]})
        assert totals == [None, sum(done)]
        assert sum(done) == n_metrics * 2 * 1 * 1000  # systems against the first, tests that draw


def written(path: Path, rows: list[tuple], header: str = "system segment matched predicted gold") -> None:
    lines = [header.split(), *rows]
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")


class TestBadOptions:
    @pytest.mark.parametrize(
        ("output", "fragments"),
        [
            ("nowhere/c.tsv", ["nowhere/c.tsv", "folder nowhere does not exist"]),
            ("c.txt", ["c.txt ends in .txt", "expected one of .tsv, .csv, .parquet"]),
            ("folder.tsv", ["folder.tsv: found a folder"]),
        ],
    )
    def test_outputs_are_looked_at_before_the_work(self, simulated, work, refused, monkeypatch, output, fragments):
        (work / "folder.tsv").mkdir()
        monkeypatch.setattr(all_pairs, "compare", lambda *_, **__: pytest.fail("the work was done"))
        refused("all-pairs", "s.parquet", "--metric", "f1", "--output", output, fragments=fragments)

    def test_damaged_parquet(self, work, refused):
        (work / "bad.parquet").write_bytes(b"PAR1")
        refused("all-pairs", "bad.parquet", "--metric", "f1", "--output", "c.tsv", fragments="bad.parquet")

    @pytest.mark.parametrize("command", ["all-pairs", "resize", "collect", "pool", "merge", "thresholds", "tabulate"])
    def test_a_missing_input(self, work, refused, command):
        options = {"collect": ["--dataset", "d"], "pool": ["--dataset", "d"], "resize": ["--halves", 1]}
        fragments = ["none.tsv", "o such file"]
        output = "o.csv" if command == "tabulate" else "o.tsv"
        refused(command, "none.tsv", *options.get(command, []), "--output", output, fragments=fragments)

    @pytest.mark.parametrize("command", ["thresholds", "merge", "calibrate"])
    def test_a_table_of_another_kind(self, simulated, work, refused, command):
        arguments = ["s.parquet", *(["--sheet", "sheet.tsv"] if command == "calibrate" else [])]
        columns = "calibration distance on_dataset on_test_set against_dataset against_test_set"
        written(work / "sheet.tsv", [], columns)
        fragments = ["s.parquet has no column `dataset`", "expected dataset"]
        refused(command, *arguments, "--output", "o.tsv", fragments=fragments)


class TestCollectAndPool:
    def test_one_dataset_of_many_systems(self, simulated, work, capsys):
        for name in simulated.systems:
            statistics.write(replace(simulated.select(systems=[name]), provenance={}), work / f"{name}.parquet")
        files = [f"{name}.parquet" for name in simulated.systems]
        given = ["--provenance", "corpus=c", "--provenance", "command=a=b"]
        assert run("collect", *files, "--dataset", "d", *given, "--output", "d.parquet") == 0
        whole = statistics.read(work / "d.parquet")
        assert (whole.dataset, whole.systems, whole.groups) == ("d", simulated.systems, simulated.groups)
        assert whole.provenance == {"corpus": "c", "command": "a=b"}
        np.testing.assert_array_equal(whole.counts, simulated.counts)
        assert capsys.readouterr().err == ""

    def test_pool(self, simulated, work, refused):
        some = simulated.select(systems=["system4", "system2", "system1"], segments=slice(30))
        statistics.write(replace(some, dataset="t"), work / "t.tsv")
        assert run("pool", "s.parquet", "t.tsv", "--dataset", "both", "--output", "both.parquet") == 0
        both = statistics.read(work / "both.parquet")
        assert (both.dataset, both.systems, len(both.segments)) == ("both", ("system1", "system2", "system4"), 110)
        assert (both.segments[0], both.segments[-1]) == ("s/1", "t/30")
        refused("pool", "s.parquet", "s.parquet", "--dataset", "d", "--output", "d.tsv", fragments=["called s"])


class TestResize:
    def test_is_the_function(self, simulated, work):
        options = ["--initial", "doubling:20", "--draws", 2, "--draw-size", 10, "--halves", 1, "--n-resamples", 100]
        assert run("resize", "s.parquet", *options, "--output", "r.tsv") == 0
        ours = tables.read(work / "r.tsv")
        names = ["first-20", "first-40", "draw-1", "draw-2", "half-1", "half-2"]
        assert ours["test_set"].unique().tolist() == names
        assert ours.groupby("test_set", sort=False)["n_segments"].first().tolist() == [20, 40, 10, 10, 40, 40]
        first = all_pairs.compare(simulated.select(segments=slice(20)), n_resamples=100)
        assert ours.loc[ours["test_set"] == "first-20", "n_greater"].tolist() == first["n_greater"].tolist()

    def test_of_the_whole_test_set_is_compare(self, simulated, work):
        options = ["s.parquet", "--seed", 3]
        whole = ["--whole", "whole.tsv", "--whole-n-resamples", 300]
        assert run("all-pairs", *options, "--n-resamples", 300, "--output", "c.tsv") == 0
        assert run("resize", *options, "--n-resamples", 100, "--halves", 1, *whole, "--output", "r.tsv") == 0
        assert (work / "whole.tsv").read_bytes() == (work / "c.tsv").read_bytes()
        assert set(tables.read(work / "r.tsv")["n_resamples"]) == {100}


REFERENCE = "the cat sat on the mat today\na dog barked all night\nnobody heard it at all\n"
OUTPUTS = {"good": REFERENCE.replace("today", "now"), "poor": REFERENCE.replace("a", "o")}


class TestExtract:
    @pytest.fixture
    def texts(self, work):
        for name, text in (OUTPUTS | {"ref": REFERENCE}).items():
            (work / f"{name}.txt").write_text("canary\n" + text, encoding="utf-8")
        (work / "docs.tsv").write_text("canary\tcanary\nnews\td1\nnews\td1\nspeech\td2\n", encoding="utf-8")

    def test_from_texts_to_a_test(self, texts, work):
        for name in OUTPUTS:
            assert run(
                "extract", f"{name}.txt", "--reference", "ref.txt", "--metric", "bleu", "--option", "skip_lines=1",
                "--option", "tokenize=none", "--document-file", "docs.tsv", "--system", name, "--group", "us",
                "--kind", "llm", "--output", f"{name}.tsv",
            ) == 0  # fmt: skip
        assert run("collect", "good.tsv", "poor.tsv", "--dataset", "d", "--output", "d.parquet") == 0
        assert run("all-pairs", "d.parquet", "--unit", "document", "--n-resamples", 100, "--output", "c.tsv") == 0
        (row,) = tables.read(work / "c.tsv").itertuples()
        assert (row.dataset, row.metric, row.system_a, row.system_b) == ("d", "bleu", "good", "poor")
        assert (row.same_group, row.kind_a, row.n_segments) == (True, "llm", 3)
        for system, score in ((row.system_a, row.score_a), (row.system_b, row.score_b)):
            theirs = sacrebleu.corpus_bleu(OUTPUTS[system].splitlines(), [REFERENCE.splitlines()], tokenize="none")
            assert score == pytest.approx(theirs.score, rel=1e-12)
        data = statistics.read(work / "d.parquet")
        assert data.domains.tolist() == ["news", "news", "speech"]
        assert data.documents.tolist() == ["d1", "d1", "d2"]

    @pytest.mark.parametrize(
        ("changes", "fragments"),
        [
            ({"--reference": "none.txt"}, ["none.txt", "No such file"]),
            ({"--option": "skip_lines"}, ["found 'skip_lines'", "expected KEY=VALUE"]),
        ],
    )
    def test_refused(self, texts, work, refused, changes, fragments):
        options = {"--reference": "ref.txt", "--metric": "bleu", "--option": "skip_lines=1"}
        arguments = [word for pair in (options | changes).items() for word in pair]
        refused("extract", "good.txt", *arguments, "--system", "s", "--output", "o.tsv", fragments=fragments)

    def test_a_note_says_what_failed(self, work, capsys):
        (work / "gold.mrg").write_text("(S (A a))\n(S (B b))\n(S (C c))\n")
        (work / "out.mrg").write_text("(S (A a))\n\n(S (C d))\n")
        argv = ["extract", "out.mrg", "--reference", "gold.mrg", "--metric", "parseval", "--system", "s"]
        assert run(*argv, "--option", "one_per_line=true", "--output", "s.tsv") == 0
        assert "pairsig: note: s: 2 of 3 sentences failed" in capsys.readouterr().err
        table = tables.read(work / "s.tsv")
        assert table[["matched", "predicted", "gold", "status"]].to_numpy().tolist() == [
            [1, 1, 1, 0],
            [0, 0, 1, 2],
            [0, 1, 1, 1],
        ]


class TestFetch:
    def test_a_folder(self, work, refused):
        (work / "corpus").mkdir()
        (work / "corpus/a.txt").write_bytes(b"text")
        line = f"{hashlib.sha256(b'text').hexdigest()}  a.txt\n"
        (work / "corpus/SHA256SUMS").write_text(line)
        sha256 = hashlib.sha256(line.encode()).hexdigest()
        assert run("fetch", "corpus", "--sha256", sha256, "--output", "verified") == 0
        assert (work / "verified").read_text() == line
        (work / "corpus/a.txt").write_bytes(b"test")
        fragments = ["corpus/a.txt: found the checksum", "SHA256SUMS, line 1"]
        refused("fetch", "corpus", "--sha256", sha256, "--output", "new", fragments=fragments)


TWO_FIGURES = ["plot", "overview", "c.tsv", "--output", "o.svg", "--and", "sizes"]
SHEET = "calibration distance on_dataset on_test_set against_dataset against_test_set"
PUBLISHED = "item page what published unit n_segments information information_from n_systems n_pairs compared_with why"


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    work = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(work)
        make_study(work)
    return work


@pytest.fixture
def study(work, made_once):
    shutil.copytree(made_once, work, dirs_exist_ok=True)


def make_study(work):
    """A whole study of one simulated dataset: comparisons, sizes, halves and the sheets."""
    data = simulate.statistics("accuracy", n_systems=12, n_segments=800, n_groups=3, spread=0.03, correlation=0.8)
    statistics.write(replace(data, dataset="s"), work / "s.parquet")
    options = ["--test", "bootstrap", "--metric", "accuracy", "--n-resamples", 400]
    assert run("all-pairs", "s.parquet", *options, "--output", "c.tsv") == 0
    assert run("resize", "s.parquet", *options, "--initial", "100,200,400", "--halves", 1, "--output", "sizes.tsv") == 0
    written(work / "datasets.tsv", [("s", "parsing", "")], "dataset task pool")
    written(work / "sheet.tsv", [("parsing", "iid", "s", "half-1", "s", "half-2")], SHEET)
    written(
        work / "published.tsv",
        [
            ("t", "998", "threshold", 1.1, "points", 800, "", "", "", 47, "threshold:s:all", ""),
            ("e", "999", "exponent", -0.5, "", "", "", "", "", "", "exponent:s:all", ""),
            ("c", "1000", "share", 90, "%", "", "", "", "", 58, "share:parsing:iid:0.04-0.08", ""),
            ("n", "1001", "synthetic", 0.28, "BLEU", "", "", "", "", "", "threshold:synthetic:all", ""),
        ],
        PUBLISHED,
    )
    return data


class TestStudy:
    def test_calibrations_of_datasets_that_have_not_been_run_are_left_out_aloud(self, study, work, capsys):
        assert run("calibrate", "sizes.tsv", "--sheet", "sheet.tsv", "--output", "one.tsv") == 0
        assert capsys.readouterr().err == ""
        rows = [
            ("far", "near", "other", "whole", "s", "half-1"),
            ("parsing", "iid", "s", "half-1", "s", "half-2"),
            ("far", "near", "s", "half-1", "another", "whole"),
        ]
        written(work / "sheet.tsv", rows, SHEET)
        assert run("calibrate", "sizes.tsv", "--sheet", "sheet.tsv", "--output", "two.tsv") == 0
        fragments = capsys.readouterr().err.splitlines()
        assert [re.sub(", skipped this line", "", line) for line in fragments] == [
            "pairsig: warning: sheet.tsv, line 2: found no comparisons of dataset other",
            "pairsig: warning: sheet.tsv, line 4: found no comparisons of dataset another",
        ]
        assert (work / "one.tsv").read_bytes() == (work / "two.tsv").read_bytes()

    @pytest.mark.parametrize(
        ("rows", "fragments"),
        [
            (["half-1 half-2"] * 2, ["sheet.tsv, line 3: found parsing, iid, s, half-1, s, half-2 again", "line 2"]),
            (["half-* half-*", "half-1 half-2"], ["line 3: found s half-1 and s half-2 again", "line 2"]),
        ],
    )
    def test_evidence_counts_once(self, study, work, refused, rows, fragments):
        cells = [("parsing", "iid", "s", on, "s", against) for on, against in map(str.split, rows)]
        written(work / "sheet.tsv", cells, SHEET)
        refused("calibrate", "sizes.tsv", "--sheet", "sheet.tsv", "--output", "k.tsv", fragments=fragments)

    @pytest.mark.parametrize(
        "command",
        [
            "thresholds c.tsv --output o.tsv",
            "merge c.tsv --output o.tsv",
            "plot gain_confidence c.tsv --output o.svg",
            "tabulate c.tsv --output o.md",
        ],
    )
    def test_half_a_table_is_refused(self, study, work, refused, command):
        lines = (work / "c.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        (work / "c.tsv").write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
        refused(*command.split(), fragments=["c.tsv has 32 rows, but its column n_rows says 66: it was truncated"])

    def test_no_figure_without_matplotlib(self, study):
        code = "import sys; sys.modules['matplotlib'] = None; from study import cli; sys.exit(cli.main(sys.argv[1:]))"
        ended = python("-c", code, "plot", "gain_confidence", "c.tsv", "--output", "o.svg", status=2)
        assert "figures need matplotlib, which is not installed; type pip install 'pairsig[plot]'" in ended.stderr

    @pytest.mark.parametrize(
        ("arguments", "fragments"),
        [
            (["tabulate", "c.tsv", "--output", "o.csv", "o.doc"], ["o.doc ends in .doc", ".csv, .md, .tex, .html"]),
            (
                ["plot", "gain_confidence", "c.tsv", "--output", "o.svg", "o.jpg"],
                ["o.jpg ends in .jpg", ".svg, .pdf, .png"],
            ),
            (["plot", "pie", "c.tsv", "--output", "o.svg"], ["unknown figure 'pie'", "expected one of size_scaling"]),
            ([*TWO_FIGURES, "datasets.tsv", "--output", "p.svg"], ["datasets.tsv has no column"]),
            (
                ["tabulate", "c.tsv", "s.tsv", "--output", "c.csv", "s.md", "t.md"],
                ["unknown table 't', expected one of c, s"],
            ),
            (["tabulate", "c.tsv", "./c.tsv", "--output", "c.csv"], ["two tables with the same name"]),
        ],
    )
    def test_of_several_outputs_none_is_left(self, study, refused, arguments, fragments):
        refused(*arguments, fragments=fragments)

    def test_figures_and_tables_of_one_process_are_those_of_several(self, study, work):
        one, several = work / "one", work / "several"
        one.mkdir()
        several.mkdir()
        words = []
        for figure, read in {"overview": ["c.tsv"], "correlation": ["c.tsv"]}.items():
            assert run("plot", figure, *read, "--output", several / f"{figure}.svg") == 0
            words += ["--and", figure, *read, "--output", one / f"{figure}.svg"]
        assert run("plot", *words[1:]) == 0
        for table in ("c", "sizes"):
            assert run("tabulate", f"{table}.tsv", "--output", several / f"{table}.md", several / f"{table}.tex") == 0
        outputs = [one / f"{table}.{suffix}" for suffix in ("md", "tex") for table in ("c", "sizes")]
        assert run("tabulate", "c.tsv", "sizes.tsv", "--output", *outputs) == 0
        made = {path.name: path.read_bytes() for path in several.iterdir()}
        assert len(made) == 6
        assert {path.name: path.read_bytes() for path in one.iterdir()} == made

    def test_check_counts_its_verdicts_and_refuses_what_is_no_sheet(self, study, work, refused, capsys):
        thresholds = ["thresholds", "c.tsv", "sizes.tsv", "--datasets", "datasets.tsv", "--min-pairs", 5]
        assert run(*thresholds, "--size-scaling", "variance_model.tsv", "--output", "t.tsv") == 0
        assert run("calibrate", "sizes.tsv", "--sheet", "sheet.tsv", "--output", "k.tsv") == 0
        errors = ["threshold-errors", "s.parquet:accuracy", "--published", "published.tsv"]
        assert run(*errors, "--output", "te.tsv") == 0
        check = ["check", "--thresholds", "t.tsv", "--threshold-errors", "te.tsv", "--size-scaling"]
        check += ["variance_model.tsv", "--calibration", "k.tsv", "--output", "r.tsv", "--published"]
        capsys.readouterr()
        assert run(*check, "published.tsv") == 0
        ours = tables.read(work / "r.tsv").set_index("item")
        assert ours.loc[["e", "n"], "verdict"].tolist() == ["not comparable"] * 2
        counted = [f"{verdict}: {n}" for verdict, n in ours["verdict"].value_counts().items()]
        assert sorted(capsys.readouterr().out.splitlines()) == sorted(counted)
        (work / "r.tsv").unlink()
        refused(*check, "sheet.tsv", fragments=["sheet.tsv has no column `item`"])
        row = ("t", "1", "w", "?", "u", 1, "", "", "", "", "threshold:s:all", "")
        written(work / "published.tsv", [row], PUBLISHED)
        refused(*check, "published.tsv", fragments=["published.tsv, line 2: published is '?'"])
