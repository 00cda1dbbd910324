"""Base models are two shell commands: what they get, what they may leave, and what happens when they fail."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pairsig.io.errors import InputError
from study import training
from study.training.omission import Omission


@pytest.fixture
def train(tmp_path):
    training_set = tmp_path / "training set.txt"
    training_set.write_text("a\nb\n", encoding="utf-8")

    def run(command, **options):
        training.train(
            command, training_set, tmp_path / "models" / "m-full-1", seed=7, jars=[tmp_path / "a.jar"], **options
        )
        return tmp_path / "models" / "m-full-1"

    (tmp_path / "models").mkdir()
    return run


@pytest.fixture
def predict(tmp_path):
    segments = tmp_path / "input.txt"
    segments.write_text("x\ny\n", encoding="utf-8")

    def run(command, model, **options):
        output = tmp_path / "output.txt"
        training.predict(command, model, segments, output, jars=[tmp_path / "a.jar"], **options)
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
    with pytest.raises(InputError) as raised:
        train(command)
    assert message in str(raised.value)
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize("command", ["exit 1", "true", ": > {output}"])
def test_a_prediction_that_fails_leaves_nothing(train, predict, tmp_path, command):
    model = train("cp {train} {model}")
    with pytest.raises(InputError):
        predict(command, model)
    assert not (tmp_path / "output.txt").exists()
    assert left_over(tmp_path) == []


JOB = """
import sys
from types import SimpleNamespace
from study import training

stage, number, command, made = sys.argv[1:]
resources = SimpleNamespace(attempt=int(number), mem_mb=1000 * int(number), runtime=int(number))
with training.attempt("log", resources, 2) as failed:
    if stage == "train":
        training.train(command, "training set.txt", made, seed=1, failed=failed)
    else:
        training.predict(command, "models/m-full-1", "input.txt", made, failed=failed)
"""
"""What the scripts of the rules `train` and `predict` do."""


def job(*arguments, killed=False):
    """Run a job until it ends, or until its base model waits, and then kill both as a cluster does."""
    process = subprocess.Popen(
        [sys.executable, "-c", JOB, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, text=True,
    )  # fmt: skip
    if killed:
        while not list(Path().glob("**/*.part/*")):
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("stage", ["train", "predict"])
def test_a_base_model_that_is_killed_in_every_attempt_has_a_reason(train, tmp_path, monkeypatch, stage):
    """The attempt after the last one says it, since the process that is killed writes nothing."""
    monkeypatch.chdir(tmp_path)
    Path("input.txt").write_text("x\n", encoding="utf-8")
    made = "models/m-half-1"
    if stage == "predict":
        train("cp {train} {model}")
        made = "output.txt"
    for k in (1, 2):
        written = "{model}" if stage == "train" else "{output}"
        job(stage, k, f"touch {written}; sleep 60", made, killed=True)
        assert not Path(made).exists()
        shutil.rmtree(*Path().glob("**/*.part"))
    job(stage, 3, "true", made)
    record = Omission.read(Path(made, "omission.json") if stage == "train" else Path(made))
    assert str(record) == f"{stage}: killed in attempt 2 of 2 (memory or time; requested: 2000 MB, 2 minutes)"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("echo no luck {seed}; exit 1", "exit status 1 of `echo no luck {seed}; exit 1`: no luck 1"),
        ("cat > {modle}", "found the placeholder {modle} in `cat > {modle}`, expected one of train, model, seed"),
    ],
)
def test_a_base_model_that_fails_in_every_attempt_has_the_last_reason(train, monkeypatch, tmp_path, command, reason):
    monkeypatch.chdir(tmp_path)
    for k in (1, 2):
        job("train", k, "exit 2" if k == 1 else command, "models/bad")
    assert reason in Path("log").read_text(encoding="utf-8").splitlines()[-1]
    job("train", 3, command, "models/bad")
    assert str(Omission.read(Path("models/bad/omission.json"))).startswith(f"train: {reason}")


def test_a_model_and_an_output_without_what_they_need_have_its_reason(train, predict, tmp_path):
    bad = train("exit 1", failed="no luck")
    output = predict("cat {model} > {output}", bad)
    assert str(Omission.read(output)) == "train: no luck"
    train("cat {given} > {model}", given=shutil.move(bad, tmp_path / "bad"))
    assert "the model for {given} could not be trained: train: no luck" in (bad / "omission.json").read_text()
    member = shutil.move(output, tmp_path / "member")
    vote = Omission.read(predict("cat {outputs} > {output}", None, members=[member]))
    assert str(vote) == "predict: a member of the ensemble has no output: train: no luck"
