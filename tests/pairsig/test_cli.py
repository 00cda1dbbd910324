"""The command line: its help, its outputs, its mistakes, and signatures that hold every setting."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import pairsig
import simulate
from pairsig import InputError, cli, readers
from pairsig.core import statistics
from running import ROOT

LOGS = ROOT / "tests/data/evaluation_logs"
SMALL = ROOT / "tests/data/tables"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command: its status, and what it prints."""

    def ran(*words):
        status = cli.main([str(word) for word in words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return ran


# Help.


def test_no_command_prints_the_help_which_begins_with_an_example(run):
    status, out, _ = run()
    assert status == 0
    assert out.index("pairsig compare a.txt b.txt") < out.index("commands:")


@pytest.mark.parametrize("command", ["compare", "rank", "runs", "gate", "plan"])
def test_the_help_of_a_command_fits_on_a_screen(command, capsys):
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    shown = capsys.readouterr().out
    options = re.findall(r"^  (?:-\w, )?--[a-z-]+", shown, re.MULTILINE)
    assert len(options) <= 31  # with --help
    assert len(shown.splitlines()) <= 90


@pytest.mark.parametrize("command", list(cli._EXAMPLES))
def test_the_example_of_a_command_runs_in_an_empty_folder(command, here):
    script = cli._EXAMPLES[command].replace("pairsig ", f"{shlex.quote(sys.executable)} -m pairsig ")
    done = subprocess.run(["bash", "-e", "-c", script], capture_output=True, text=True)
    assert done.returncode in ((0, 3) if command == "gate" else (0,)), done.stderr
    assert done.stdout


def test_the_metrics_command_lists_metrics_formats_and_their_options(run):
    status, out, _ = run("metrics")
    assert status == 0
    for words in ("bleu", "--tokenize NAME", "--lowercase", "swebench", "pass@K", "f0.5"):
        assert words in out


# Outputs.


def test_the_summary_is_in_every_output(here, run):
    files = (SMALL / "a.csv", SMALL / "b.csv")
    words = "2 systems (a, b) × 4 items (id), no runs; correct: 0 or 1, higher is better (assumed)"
    status, out, err = run("compare", *files, "--html", "r.html", "--format", "json")
    assert status == 0
    assert words in err
    assert words in json.loads(out)["notes"][0]
    assert words in Path("r.html").read_text(encoding="utf-8")
    assert words in pairsig.compare(pairsig.read([str(file) for file in files])).notes[0]
    assert words in repr(pairsig.read([str(file) for file in files]))
    for command in ("compare", "rank", "gate"):
        more = ("--margin", "90%", "--higher-is-better") if command == "gate" else ()
        assert "2 systems (a, b) × 4 items (id)" in run(command, *files, "--quiet", *more)[2]


def test_a_sentence_says_that_a_direction_is_assumed(run):
    words = ("compare", SMALL / "a.csv", SMALL / "b.csv", "--format", "sentence")
    assert run(*words)[1].splitlines()[-1] == "Higher correct is assumed to be better."
    assert "assumed" not in run(*words, "--higher-is-better")[1]
    assert "lower is better" in run(*words, "--lower-is-better")[1]


def test_one_system_gets_its_score_with_an_interval(run):
    status, out, err = run("compare", SMALL / "a.txt")
    assert status == 0
    assert "nothing was compared" in err
    low, high = pairsig.score_interval([1, 0, 1, 1]).low, pairsig.score_interval([1, 0, 1, 1]).high
    assert f"0.75 [{low:.2f}, {high:.2f}]" in out
    row = json.loads(
        run("compare", SMALL / "docs.csv", "--score", "a", "--unit", "document", "--format", "json")[1]
        or '{"rows": [{}]}'
    )["rows"][0]
    assert row == {} or row["n_units"] == 2
    assert run("compare", SMALL / "a.txt", "--format", "sentence")[1].startswith(
        "The score of a is 0.75 (n = 4, 95 % CI "
    )
    status, _, err = run("compare", SMALL / "a.txt", "--margin", "1")
    assert status == 2
    assert "found one system, a, and --margin" in err
    with pytest.raises(InputError, match=r"pairsig\.score_interval"):
        pairsig.compare({"a": [1, 0, 1]})


def test_the_first_with_the_others_or_every_pair(run):
    files = [str(SMALL / "three.csv"), "--systems", "a,b,c", "--format", "json"]

    def pairs(*more):
        rows = json.loads(run("compare", *files, *more)[1])["rows"]
        assert {row["n_compared"] for row in rows} == {len(rows)}
        return [(row["system_a"], row["system_b"]) for row in rows]

    assert pairs() == [("a", "b"), ("a", "c")]
    assert pairs("--all") == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs("--baseline", "b") == [("a", "b"), ("c", "b")]
    data = pairsig.read(files[0], systems="a,b,c")
    assert pairsig.compare(data).table[["system_a", "system_b"]].to_numpy().tolist() == [["a", "b"], ["a", "c"]]
    assert "expected only one of them" in run("compare", *files, "--all", "--baseline", "b")[2]


def test_verdicts_of_several_pairs_are_adjusted_together(run):
    rows = json.loads(
        run(
            "compare",
            SMALL / "pairs.csv",
            "--winner",
            "winner",
            "--system-a",
            "a",
            "--system-b",
            "b",
            "--format",
            "json",
        )[1]
    )["rows"]
    assert [(row["system_a"], row["system_b"]) for row in rows] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert {row["n_compared"] for row in rows} == {3}


def test_everything_is_escaped_in_latex(here, run):
    Path("a.csv").write_text("id,score_%,b\n1,1,0\n2,0,0\n3,1,0\n")
    words = ("compare", "x_1&%=a.csv", "y#{}=a2.csv", "--score", "score_%")
    Path("a2.csv").write_text("id,score_%,b\n1,0,0\n2,0,0\n3,1,0\n")
    table = run(*words, "--format", "latex")[1]
    run(*words, "--output", "t.tex")
    assert Path("t.tex").read_text(encoding="utf-8") == table
    for line in table.splitlines():
        if not line.startswith("%"):
            assert not re.search(r"(?<!\\)[%#_]", line), line
    assert r"x\_1\&\%" in table
    assert run(*words, "--format", "sentence", "--output", "s.tex")[0] == 2


def test_metrics_have_the_names_of_the_field(run):
    words = ("compare", SMALL / "hyp-a.txt", SMALL / "hyp-b.txt", "--reference", SMALL / "ref.txt")
    assert run(*words, "--metric", "bleu")[1].splitlines()[2].startswith("BLEU ")
    assert run("compare", SMALL / "counts.csv", "--metric", "f1")[1].splitlines()[2].startswith("F1 ")
    assert run("compare", SMALL / "tp.csv", "--metric", "f0.5")[1].splitlines()[2].startswith("F0.5 ")


def test_the_figure_draws_every_pair_or_says_what_it_leaves_out(here, run, monkeypatch):
    from pairsig import report

    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 2, (20, 6)), columns=list("abcdef"))
    table.to_csv("t.csv", index_label="id")
    words = ("compare", "t.csv", "--systems", "a,b,c,d,e,f", "--all")
    status, _, err = run(*words, "--plot", "p.svg")
    assert status == 0
    assert "left out" not in err
    result = pairsig.compare(pairsig.read("t.csv", systems="a,b,c,d,e,f"), pairs="all")
    assert len(result.plot().axes[0].get_yticks()) == 15
    monkeypatch.setattr(report, "MOST_DRAWN", 10)
    assert "the figure shows the first 10 of 15 comparisons; 5 are left out" in run(*words, "--plot", "p.svg")[2]
    assert "5 are left out" in result.plot().get_supxlabel()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["runs"], "compare runs/a runs/b --output {}"),
        (["a.csv"], "compare a.csv b.csv --output {}"),
        (["link.csv"], "compare a.csv b.csv --output {}"),
        (["ref.csv"], "compare h.csv --reference ref.csv --column text --metric wer --output {}"),
        (["ids.csv"], "compare swe --instances ids.csv --missing drop --output {}"),
    ],
)
def test_no_output_replaces_an_input(files, words, here, run):
    """Below folders and in options, by whatever name."""
    for name in ("a", "b"):
        Path(f"{name}.csv").write_text("id,score\n1,1\n2,0\n")
        folder = Path("runs") / name
        folder.mkdir(parents=True)
        for path in (LOGS / "lm_eval" / name).rglob("*.json*"):
            (folder / path.name).write_bytes(path.read_bytes())
    Path("link.csv").symlink_to("a.csv")
    Path("h.csv").write_text("text\na b\n")
    Path("ref.csv").write_text("text\na b\n")
    reports = sorted((LOGS / "swebench").glob("*.json"))
    Path("swe").mkdir()
    for path in reports:
        (Path("swe") / path.name).write_bytes(path.read_bytes())
    ids = sorted(
        {
            name
            for path in reports
            for key, value in json.loads(path.read_text()).items()
            if key.endswith("_ids")
            for name in value
        }
    )
    Path("ids.csv").write_text("\n".join(ids) + "\n")
    (file,) = files
    targets = [Path(file)] if Path(file).is_file() else sorted(Path(file).rglob("results*.json"))[:1]
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    status, out, err = run(*words.format(targets[0]).split())
    assert (status, out) == (2, ""), err
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_two_outputs_are_two_files(here, run):
    words = ("compare", SMALL / "a.csv", SMALL / "b.csv", "--output", "out.csv", "--flips", "out.csv")
    status, _, err = run(*words)
    assert status == 2
    assert "found out.csv as two outputs, expected different files" in err
    assert not Path("out.csv").exists()


def test_an_output_that_is_a_link_is_followed(here, run):
    Path("kept.json").write_text("old")
    Path("out.json").symlink_to("kept.json")
    assert run("compare", SMALL / "a.csv", SMALL / "b.csv", "--output", "out.json")[0] == 0
    assert Path("out.json").is_symlink()
    assert json.loads(Path("kept.json").read_text())["rows"]


def test_notes_are_printed_once(run):
    err = run("rank", SMALL / "three.csv", "--systems", "a,b,c")[2].splitlines()
    assert len(err) == len(set(err))


def test_the_domain_is_for_reports(here, run):
    words = ("compare", SMALL / "groups.csv", "--systems", "A,B", "--domain", "subject")
    assert "found --domain, which does nothing here" in run(*words)[2]
    assert run(*words, "--html", "r.html")[0] == 0


# Signatures.


@pytest.mark.parametrize("twice", ["--metric bleu --metric chrf", "--seed 1 --seed 2", "-m bleu --metric bleu"])
def test_an_option_given_twice_is_refused(twice, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["compare", "a.txt", "b.txt", *twice.split()])
    assert "found twice, expected once" in capsys.readouterr().err


SETTINGS = [
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric bleu", ["--lowercase", "--tokenize char", "--tokenize none", "--reference ref.txt ref2.txt", "--skip-lines 1"]),  # noqa: E501
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric chrf", ["--lowercase"]),
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric chrf++", ["--lowercase"]),
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric wer", ["--lowercase"]),
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric cer", ["--lowercase"]),
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric ter", ["--normalized", "--no-punct", "--case-sensitive", "--asian-support"]),  # noqa: E501
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric rouge1_f", ["--stem", "--no-lowercase", "--no-strip-punctuation"]),  # noqa: E501
    ("hyp-a.txt hyp-b.txt --reference ref.txt --metric bleu --document-file docs", ["--document-file docs2"]),
    ("sys.iob sys2.iob --reference gold.iob", ["--type PER", "--scheme IOB2"]),
    ("words.csv --score verdict --true pass", ["--true fail"]),
    ("docs.csv --systems a,b --unit document", ["--document document2"]),
    ("groups.csv --systems A,B", ["--macro subject"]),
    ("missing.csv --missing drop", ["--missing wrong"]),
    ("sentinel.csv --systems gpt,llama", ["--missing-value -1 --missing drop"]),
    ("runs.csv", ["--sample run", "--unit document --document run2"]),
    (f"{LOGS}/inspect/strong.eval {LOGS}/inspect/weak.eval --scorer exact", ["--metric pass@2"]),
    ("a.txt b.txt --test randomization", ["--seed 1", "--n-resamples 1000", "--alternative greater", "--test bootstrap"]),  # noqa: E501
]  # fmt: skip
"""Commands, and settings of which each must have a signature of its own."""


@pytest.mark.parametrize(("command", "changes"), SETTINGS, ids=lambda value: str(value)[-40:])
def test_a_setting_that_changes_a_number_is_in_the_signature(command, changes, here, run):
    for path in SMALL.iterdir():
        Path(path.name).write_bytes(path.read_bytes())
    Path("ref2.txt").write_text("a cat\nthe dogs\n")
    Path("docs").write_text("x\td1\nx\td2\n")
    Path("docs2").write_text("x\td1\nx\td1\n")
    Path("sys2.iob").write_text("EU O\nwins O\n\nPeter B-PER\n")
    docs = pd.read_csv("docs.csv").assign(document="x")
    docs.assign(document=list("xxyy"), document2=list("xyxy")).to_csv("docs.csv", index=False)
    runs = pd.read_csv("runs.csv")
    runs.assign(run2=runs["id"]).to_csv("runs.csv", index=False)

    def signatures(words):
        status, out, err = run("compare", *words.split(), "--format", "json")
        assert status == 0, err
        found = {row["signature"] for row in json.loads(out)["rows"]}
        assert all("version:" in signature for signature in found)
        return found

    seen = [signatures(command)]
    for change in changes:
        option = change.split()[0]
        plain = re.sub(rf"{option} \S+", "", command) if option != "--skip-lines" else command
        of_change = signatures(f"{plain} {change}")
        assert of_change not in seen, (change, of_change)
        seen.append(of_change)


def test_the_signature_of_texts_names_the_library_and_the_references(run):
    words = (
        "compare",
        SMALL / "hyp-a.txt",
        SMALL / "hyp-b.txt",
        "--reference",
        SMALL / "ref.txt",
        "--metric",
        "bleu",
        "--format",
        "json",
    )
    (row,) = json.loads(run(*words)[1])["rows"]
    assert re.search(r"\|reader:text\|references:1\|tokenize:13a\|lowercase:no\|sacrebleu:[\d.]+\|", row["signature"])


# Mistakes.


def mistakes(where):
    lines = (ROOT / f"tests/data/mistakes_in_{where}.tsv").read_text(encoding="utf-8").split("\n")
    return [line.split("\t") for line in lines[1:-1]]


def pattern(message):
    return re.escape(message).replace("…", ".*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the commands name."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "resources").symlink_to(ROOT / "resources")
    (folder / "model1").write_text("2 2 2\n2 2 2\n0 1 2\n")
    (folder / "model2").write_text("0 2 2\n1 2 2\n0 1 2\n")
    for name, rows in (("a", "1,2\n2,3\n"), ("b", "1,2\n2,4\n"), ("two", "1,2\n3,3\n")):
        (folder / f"{name}.csv").write_text(f"segment,mean\n{rows}")
    rng = np.random.default_rng(11)
    runs = [
        pd.DataFrame(
            {"system": name, "run": number, "id": [f"q{i}" for i in range(80)], "passed": rng.integers(0, 2, 80)}
        )
        for name, number in (("base", 1), ("base", 2), ("base", 3), ("ours", 1), ("ours", 2))
    ]
    for of in runs:
        of[["id", "passed"]].to_csv(folder / f"{of['system'][0]}{of['run'][0]}.csv", index=False)
    pd.concat(runs).to_csv(folder / "all.csv", index=False)
    scores = pd.concat([runs[0], runs[3]]).drop(columns="run")
    scores.to_json(folder / "scores.jsonl", orient="records", lines=True)
    options = {"n_groups": 2, "spread": 0.1, "document_size": 10, "dataset": "s"}
    statistics.write(simulate.statistics("f1", n_systems=6, n_segments=400, **options), folder / "s.parquet")
    return folder


@pytest.mark.parametrize(("command", "message"), mistakes("commands"))
def test_a_mistake_in_a_command_gets_at_most_two_lines(command, message, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    try:
        status = cli.main(command.split())
    except SystemExit as stopped:
        status = stopped.code
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    errors = printed.err[printed.err.index("error: ") :].strip().split("\n")
    assert len(errors) <= 2, errors
    assert re.search(pattern(message), " ".join(errors))
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(("reader", "content", "options", "message"), mistakes("files"))
def test_a_mistake_in_a_file_gets_one_sentence(reader, content, options, message, tmp_path):
    """Each content with \\t and \\n for tabs and ends of lines; a line is named with its file."""
    path = tmp_path / "file"
    path.write_text(content.replace("\\t", "\t").replace("\\n", "\n"), encoding="utf-8")
    given = {name: yaml.safe_load(value) for name, value in (option.split("=") for option in options.split())}
    with pytest.raises(InputError) as error:
        readers.read(reader, path, **given)
    assert re.search(re.escape(f"{path}, ") * message.startswith("line ") + pattern(message), str(error.value))


def test_speed_of_two_small_files(here):
    """Start-up included: half a second of processor time at most, four times what it takes on an idle machine."""
    for name in ("a.csv", "b.csv"):
        Path(name).write_bytes((SMALL / name).read_bytes())
    code = (
        "import resource, sys; from pairsig.cli import main; main(['compare', 'a.csv', 'b.csv']); "
        "print(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))"
    )
    seconds = [
        float(
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()[-1]
        )
        for _ in range(3)
    ]
    assert min(seconds) < 1.2


# The action.


@pytest.mark.parametrize(
    ("candidate", "margin", "status", "verdict"),
    [
        ("good", "2%", 0, "passed"),
        ("bad", "2%", 1, "worse"),
        ("short", "2%", 2, "unusable"),
        ("few", "0.1%", 3, "undecided"),
    ],
)
def test_the_action_sets_the_summary_the_outputs_and_the_status(candidate, margin, status, verdict, here):
    rng = np.random.default_rng(1)
    base = (rng.random(2000) < 0.8).astype(int)
    bad = np.where(rng.random(2000) < 0.3, 0, base)
    few = base.copy()
    few[:40] = rng.permutation(base[:40])
    for name, values in (("base", base), ("good", base), ("bad", bad), ("short", base[:-1]), ("few", few)):
        np.savetxt(f"{name}.txt", values, "%d")
    environment = {
        **os.environ, "BASELINE": "base.txt", "CANDIDATE": f"{candidate}.txt", "MARGIN": margin, "OPTIONS": "--higher-is-better",  # noqa: E501
        "PAIRSIG": f"{sys.executable} -m pairsig", "GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output",
        "PYTHONPATH": str(ROOT / "src"),
    }  # fmt: skip
    done = subprocess.run([str(ROOT / ".github/actions/gate/gate")], env=environment, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert Path("output").read_text() == f"status={status}\nverdict={verdict}\n"
    summary = Path("summary.md").read_text()
    assert f"### pairsig gate: {verdict}" in summary
    assert ("| verdict " in summary) == (status != 2)
    steps = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text())["runs"]["steps"]
    assert steps[-1]["run"].endswith("/gate")
    if status == 3:
        done = subprocess.run(
            [str(ROOT / ".github/actions/gate/gate")],
            env=environment | {"ALLOW_UNDECIDED": "true"},
            capture_output=True,
        )
        assert done.returncode == 0
