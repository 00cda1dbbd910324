"""Base models, which turn a training set into a system.

A base model consists of two shell commands in `config/base_models.yaml`. The functions `train` and `predict` run them;
no other part of the study depends on their content. The base models of this project are in the package `base_models`,
and are called like any other program.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

from pairsig.io.errors import InputError
from study.training.omission import Omission

MODEL, OMISSION = "model", "omission.json"
"""What the folder of a model contains: what the command wrote, or the reason why there is none."""


def train(
    command: str,
    training_set: str | Path,
    model: str | Path,
    *,
    seed: int,
    given: str | Path | None = None,
    jars: Sequence[str] = (),
    threads: int = 1,
    failed: str = "",
) -> None:
    """Run the train command of a base model.

    Parameters
    ----------
    command
        With the placeholders `{train}` (file of the training set), `{model}` (a path to write to, file or folder),
        `{seed}`, `{given}` (another model), `{jars}` (folder of jars) and `{threads}`.
    training_set
        File in the format of the task.
    model
        Folder of the model. It appears when the command has succeeded and written something, or has the reason why not.
    given
        Folder of another model made by `train`. If it has a reason instead of a model, the result has it too.
    seed, jars, threads
        Values of the placeholders.
    failed
        Why all attempts failed, if they did; see `attempt`.
    """
    omission = Omission("train", failed) if failed else None
    if given and not omission and (lacking := Omission.read(Path(given) / OMISSION)):
        omission = Omission("train", f"the model for {{given}} could not be trained: {lacking}")
    with _part(Path(model)) as part:
        if omission:
            omission.write(part / OMISSION)
        else:
            _run(command, given, jars, train=training_set, model=part / MODEL, seed=seed, threads=threads)
            if not (part / MODEL).exists():
                raise InputError(f"the train command wrote no model: {command}")
        shutil.rmtree(model, ignore_errors=True)
        part.replace(model)


def predict(
    command: str,
    model: str | Path | None,
    segments: str | Path,
    output: str | Path,
    *,
    members: Sequence[str | Path] = (),
    given: str | Path | None = None,
    jars: Sequence[str] = (),
    threads: int = 1,
    failed: str = "",
) -> None:
    """Run the predict command of a base model.

    Parameters
    ----------
    command
        With the placeholders `{model}`, `{input}`, `{output}`, `{outputs}` (those of the members of an ensemble, on the
        same segments), `{given}`, `{jars}` and `{threads}`.
    model
        Folder made by `train`; None for an ensemble.
    segments
        Input of the test set.
    output
        File that appears when the command has succeeded. If the model or members are missing, it contains the reason
        instead of the output.
    members, given, jars, threads
        Values of the placeholders.
    failed
        Why all attempts failed, if they did; see `attempt`.
    """
    omission = Omission.read(Path(model) / OMISSION) if model else None
    for member in members:
        if lacking := Omission.read(Path(member)):
            omission = Omission("predict", f"a member of the ensemble has no output: {lacking}")
    if failed:
        omission = Omission("predict", failed)
    with _part(Path(output)) as part:
        temporary = part / Path(output).name
        if omission:
            omission.write(temporary)
        else:
            values = {"model": Path(model) / MODEL} if model else {}
            _run(command, given, jars, input=segments, output=temporary, outputs=members, threads=threads, **values)
            if not temporary.exists() or not temporary.stat().st_size:
                raise InputError(f"the predict command wrote no output: {command}")
        temporary.replace(output)


@contextmanager
def _part(made: Path) -> Iterator[Path]:
    """Make a folder beside a file or folder to be made, for everything that its command writes."""
    for left in made.parent.glob(f".{made.name}.*.part"):  # by processes that were killed
        shutil.rmtree(left, ignore_errors=True)
    # A unique name: the command of a killed run may still be writing, and must not write here.
    part = Path(tempfile.mkdtemp(prefix=f".{made.name}.", suffix=".part", dir=made.parent))
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def attempt(log: str, resources: Any, attempts: int) -> Iterator[str]:
    """Run a command in one of several attempts; the one after the last gets the reason why all failed, others get "".

    The workflow repeats a job that fails. A process that is killed for its memory or time cannot say so. So each
    attempt writes that it was killed in a file beside the log, and corrects this when it ends.

    Parameters
    ----------
    log
        The log of the job, which Snakemake deletes before each attempt.
    resources
        Resources of the job, with the number of the attempt from 1.
    """
    number, history = int(resources.attempt), Path(f"{log}.attempts")
    # A prediction that waited for its model, in the same job, was not attempted before and has no reason.
    failed = history.read_text(encoding="utf-8") if number > attempts and history.is_file() else ""
    requested = f"{resources.mem_mb} MB, {resources.runtime} minutes"
    killed = f"killed in attempt {number} of {attempts} (memory or time; requested: {requested})"
    history.write_text(killed, encoding="utf-8")
    with Path(log).open("w", encoding="utf-8") as file, redirect_stderr(file):
        try:
            yield failed
        except Exception as error:
            print(error, file=file)
            history.write_text(f"{error}", encoding="utf-8")
            raise
    history.unlink()


def _run(command: str, given: str | Path | None, jars: Sequence[str], **values: Any) -> None:
    """Run a command with its placeholders filled in, and pass its output on."""
    values["jars"] = Path(jars[0]).parent if jars else Path("jars")
    if given:
        values["given"] = Path(given) / MODEL

    def fill(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise InputError(f"found the placeholder {match[0]} in `{command}`, expected one of {', '.join(values)}")
        value = values[match[1]]
        return shlex.join(map(str, value)) if match[1] == "outputs" else shlex.quote(str(value))

    filled = re.sub(r"\{(\w+)\}", fill, command)
    print(filled, file=sys.stderr, flush=True)
    # `python` is the interpreter of this process.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", filled],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PATH": path},
    )
    printed = done.stdout.decode("utf-8", errors="replace")
    print(printed, file=sys.stderr, flush=True)
    if done.returncode:
        last = [line.strip() for line in printed.splitlines() if line.strip()][-1:]
        killed = " (killed, perhaps for its memory)" * (done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL))
        raise InputError(f"exit status {done.returncode}{killed} of `{command}`: {' '.join(last) or 'no output'}")
