"""Base models are two shell commands: what they get, what they may leave, and what happens when they fail."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pairsig import cli as library
from pairsig.core import statistics
from pairsig.core.omission import Omission
from pairsig.io.errors import InputError
from study import cli, training
from study.training import CommandError


@pytest.fixture
def train(tmp_path):
    training_set = tmp_path / "training set.txt"
    training_set.write_text("a\nb\n", encoding="utf-8")

    def run(command, **options):
        training.train(command, training_set, tmp_path / "models" / "m-full-1", seed=7, jars=tmp_path, **options)
        return tmp_path / "models" / "m-full-1"

    (tmp_path / "models").mkdir()
    return run


@pytest.fixture
def predict(tmp_path):
    segments = tmp_path / "input.txt"
    segments.write_text("x\ny\n", encoding="utf-8")

    def run(command, model, **options):
        output = tmp_path / "output.txt"
        training.predict(command, model, segments, output, jars=tmp_path, **options)
        return output

    return run


def left_over(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_placeholders_are_filled_in_and_quoted(train, predict, tmp_path):
    """Shell and awk keep their own braces, and a model may be a folder."""
    words = "mkdir {model}; awk '{ print $1 }' {train} > {model}/words; echo {seed} {threads} {jars} >> {model}/words"
    model = train(words, threads=3)
    assert (model / "model" / "words").read_text(encoding="utf-8") == f"a\nb\n7 3 {tmp_path}\n"
    output = predict("paste -d' ' {input} <(head -n 2 {model}/words) > {output}", model)
    assert output.read_text(encoding="utf-8") == "x a\ny b\n"
    with pytest.raises(InputError, match=r"found the placeholder \{modle\} in `cat > \{modle\}`, expected one of"):
        train("cat > {modle}")


def test_another_model_may_be_given(train, predict, tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    (given / "model").write_text("known\n", encoding="utf-8")
    model = train("cat {given} {train} > {model}", given=given)
    assert (model / "model").read_text(encoding="utf-8") == "known\na\nb\n"
    assert predict("cat {given} > {output}", model, given=given).read_text(encoding="utf-8") == "known\n"
    with pytest.raises(InputError, match=r"found the placeholder \{given\}"):
        train("cat {given} > {model}")


def test_where_a_given_model_failed_there_is_none(train, predict, tmp_path):
    given = tmp_path / "given"
    training.give_up(given, Omission("train", "too small"))
    model = train("touch {model} ran", given=given)
    output = predict("cat {given} > {output}", model, given=given)
    for path in (model / training.OMISSION, output):
        fragments = Omission.read(path)
        assert fragments.stage == "train"
        assert "the model for {given} could not be trained" in fragments.reason
        assert "too small" in fragments.reason


def test_an_ensemble_gets_the_outputs_of_its_members(predict, tmp_path):
    members = [tmp_path / "one 1.txt", tmp_path / "two.txt"]
    for path in members:
        path.write_text(f"{path.stem}\n", encoding="utf-8")
    assert predict("cat {outputs} > {output}", None, members=members).read_text(encoding="utf-8") == "one 1\ntwo\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("echo no memory; exit 3", "exit status 3 of `echo no memory; exit 3`: no memory"),
        ("false | true; true", "exit status 1"),  # pipefail
        ("true", "the train command wrote no model: true"),
        ("mkdir {model} && kill -9 $$", "exit status -9"),
    ],
)
def test_a_training_that_fails_leaves_nothing(train, tmp_path, command, message):
    with pytest.raises(CommandError) as raised:
        train(command)
    assert message in str(raised.value)
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize("command", ["exit 1", "true", ": > {output}"])
def test_a_prediction_that_fails_leaves_nothing(train, predict, tmp_path, command):
    model = train("cp {train} {model}")
    with pytest.raises(CommandError):
        predict(command, model)
    assert not (tmp_path / "output.txt").exists()
    assert left_over(tmp_path) == []


def test_costs_of_a_command_include_its_child_processes(train, capfd):
    busy = "python -c 'import time; x = b\"1\" * 10**8\nwhile time.process_time() < 0.7: pass'"
    train(f"echo one > {{model}}; {busy} & wait; printf done")
    train("echo two > {model}")
    printed = capfd.readouterr().err
    (first, memory), (second, _) = re.findall(r"^used ([\d.]+) CPU s, (\d+) MB$", printed, re.MULTILINE)
    assert float(first) >= 0.7
    assert float(second) < 0.7
    assert int(memory) >= 95
    assert "done\nused" in printed


def test_what_a_killed_run_has_left_is_swept_and_never_taken_for_a_model(train, tmp_path):
    arguments = ["train", str(tmp_path / "training set.txt"), "--command", "touch {model}; sleep 60", "--model"]
    process = subprocess.Popen(
        [sys.executable, "-m", "study", *arguments, str(tmp_path / "models" / "m-full-1")],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not list((tmp_path / "models").glob(".m-full-1.*.part/model")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "models" / "m-full-1").exists()
    train("cp {train} {model}")
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["m-full-1"]


def kill(*arguments):
    """Run a command of the study until its base model waits, and kill both as a cluster does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "study", *arguments], stderr=subprocess.PIPE, start_new_session=True, text=True
    )
    for line in process.stderr:  # the command of the base model, before it runs
        if line.startswith("touch "):
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("stage", ["train", "predict"])
def test_a_base_model_that_is_killed_in_every_attempt_is_left_out(train, predict, tmp_path, monkeypatch, capsys, stage):
    """By the attempt after the last, since the process that is killed writes nothing."""
    monkeypatch.chdir(tmp_path)
    Path("input.txt").touch()
    if stage == "train":
        made = Path("models", "m-full-1")
        arguments = ["train", "training set.txt", "--command", "touch {model}; sleep 60", "--model", str(made)]
    else:
        made = Path("output.txt")
        train("cp {train} {model}")
        arguments = ["predict", "input.txt", "--model", "models/m-full-1", "--output", str(made)]
        arguments += ["--command", "touch {output}; sleep 60"]
    for k in (1, 2):
        kill(*arguments, "--attempt", f"{k}/2", "--requested", f"{k}000 MB, {k} minutes")
        assert not made.exists()
        assert len(left_over(made.parent)) == 2  # the marker and a folder: the second attempt has removed the first's
    assert cli.main([*arguments, "--attempt", "3/2"]) == 0
    reason = "killed in attempt 2 of 2 (memory or time; requested: 2000 MB, 2 minutes)"
    assert f"{made}: {reason}" in capsys.readouterr().err
    assert Omission.read(made / "omission.json" if stage == "train" else made) == Omission(stage, reason)
    assert left_over(made.parent) == []


@pytest.mark.parametrize("attempt", ["2/2", "1/1", "3/2"])
def test_an_attempt_after_one_that_was_killed_succeeds_and_says_so(train, tmp_path, monkeypatch, capsys, attempt):
    """One that was killed in an earlier run counts no longer: a new run begins with attempt 1, and a job of a group
    may be made again in the attempt after the last.
    """
    monkeypatch.chdir(tmp_path)
    arguments = ["train", "training set.txt", "--model", "models/m", "--attempt"]
    kill(*arguments, "1/2", "--command", "touch {model}; sleep 60")
    assert cli.main([*arguments, attempt, "--command", "cp {train} {model}"]) == 0
    says = "models/m: killed in attempt 1 of 2 (memory or time)" in capsys.readouterr().err
    assert says == (attempt == "2/2")
    assert (tmp_path / "models" / "m" / "model").read_text(encoding="utf-8") == "a\nb\n"
    assert left_over(tmp_path / "models") == []


def test_the_last_attempt_writes_why_and_the_system_is_left_out(train, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold.txt").write_text("0-0\n0-0 1-1\n", encoding="utf-8")

    def run(*arguments, status=0):
        main = library.main if arguments[0] in ("extract", "collect") else cli.main
        assert main([str(argument) for argument in arguments]) == status
        return capsys.readouterr().err

    def extract(system, output):
        run("extract", output, "--reference", "gold.txt", "--metric", "aer", "--system", system, "--leave-out-broken",
            "--output", f"{system}.parquet")  # fmt: skip

    failing = ["train", "training set.txt", "--command", "echo no luck; exit 1", "--model", "models/bad"]
    assert "no luck" in run(*failing, "--attempt", "1/2", status=2)
    assert not Path("models/bad").exists()
    assert "models/bad is left out" in run(*failing, "--attempt", "2/2")
    run("predict", "input.txt", "--command", "cat {model} > {output}", "--model", "models/bad", "--output", "bad.txt")
    extract("bad", "bad.txt")
    run("predict", "input.txt", "--command", "cat {outputs} > {output}", "--members", "bad.txt", "--output", "vote.txt")
    extract("vote", "vote.txt")
    Path("short.txt").write_text("0-0\n", encoding="utf-8")
    extract("short", "short.txt")
    for name, links in (("good", "0-0\n0-0\n"), ("fair", "0-0\n0-1\n")):
        Path(f"{name}.txt").write_text(links, encoding="utf-8")
        extract(name, f"{name}.txt")

    names = ["bad", "fair", "vote", "good", "short"]
    counts = [f"{name}.parquet" for name in names]
    printed = run("collect", *counts, "--dataset", "d", "--dated", "--output", "d.parquet")
    assert printed.count("is left out") == 3
    collected = statistics.read("d.parquet")
    assert collected.systems == ("fair", "good")
    reasons = {omission.system: str(omission) for omission in collected.omissions}
    assert set(reasons) == {"bad", "vote", "short"}
    assert "exit status 1" in reasons["bad"]
    assert "no luck" in reasons["bad"]
    assert reasons["vote"] == f"predict: a member of the ensemble has no output: {reasons['bad']}"
    assert "short.txt has 1 segments" in reasons["short"]
    assert collected.provenance["date"].startswith("20")
    assert "all 2 systems are left out" in run(
        "collect", "bad.parquet", "vote.parquet", "--dataset", "d", "--output", "e.parquet", status=2
    )


def test_without_maven_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", {}.get)
    with pytest.raises(InputError, match=r"found no command mvn, expected it to download a\.jar; install Maven"):
        training.jar("org.example:a:1.0", "0" * 64, tmp_path / "a.jar")


@pytest.fixture
def maven(tmp_path, monkeypatch):
    """A stand-in for Maven that writes the content it is asked to write."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "mvn"
    program.write_text(
        '#!/bin/sh\nfor a in "$@"; do case $a in -DoutputDirectory=*) d=${a#*=};; *:none:*) exit 1;; esac; done\n'
        'mkdir -p "$d" && printf bytes > "$d/a-1.0.jar"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_jars_are_what_their_checksum_says(tmp_path, maven):
    digest = "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"
    training.jar("org.example:a:1.0", digest, tmp_path / "a.jar")
    assert (tmp_path / "a.jar").read_bytes() == b"bytes"
    with pytest.raises(InputError, match=rf"org\.example:a:1\.0: found the checksum {digest}, expected 0{{64}}"):
        training.jar("org.example:a:1.0", "0" * 64, tmp_path / "b.jar")
    with pytest.raises(InputError, match=r"org\.example:none:1\.0: Maven could not download it"):
        training.jar("org.example:none:1.0", digest, tmp_path / "c.jar")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jar", "bin"]
