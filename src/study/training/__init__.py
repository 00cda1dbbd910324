"""Base models, which turn a training set into a system.

A base model consists of two shell commands in `config/base_models.yaml`. The functions `train` and `predict` run them;
no other part of the study depends on their content. The base models of this project are in the package `base_models`,
and are called like any other program.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from pairsig.io.errors import InputError
from pairsig.io.tables import replacing
from study.training.omission import Omission

OMISSION = "omission.json"
"""File in the folder of a model with the reason why there is none."""


class CommandError(InputError):
    """A command of a base model failed or wrote nothing."""


def train(
    command: str, training_set: Path, model: Path, *, seed: int, given: Path | None = None, jars: Path, threads: int = 1
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
        Folder of the model; it appears when the command has succeeded and written something.
    given
        Folder of another model made by `train`. If it contains a failure, the result is a failure too.
    seed, jars, threads
        Values of the placeholders.
    """
    if given is not None and (omission := Omission.read(given / OMISSION)):
        leave_out_model(model, "train", f"the model for {{given}} could not be trained: {omission}")
        return
    with _part(model) as part:
        values = {"train": training_set, "model": part / "model", "seed": seed, "jars": jars, "threads": threads}
        _run(command, values | _placed("given", given))
        if not (part / "model").exists():
            raise CommandError(f"the train command wrote no model: {command}")
        shutil.rmtree(model, ignore_errors=True)
        part.replace(model)


def predict(
    command: str,
    model: Path | None,
    segments: Path,
    output: Path,
    *,
    members: Sequence[Path] = (),
    given: Path | None = None,
    jars: Path,
    threads: int = 1,
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
    """
    for path in members:
        if omission := Omission.read(path):
            Omission("predict", f"a member of the ensemble has no output: {omission}").write(output)
            return
    if model is not None and (omission := Omission.read(model / OMISSION)):
        omission.write(output)
        return
    with _part(output) as part:
        temporary = part / output.name
        values = {"input": segments, "output": temporary, "outputs": list(members), "jars": jars, "threads": threads}
        _run(command, values | _placed("model", model) | _placed("given", given))
        if not temporary.exists() or not temporary.stat().st_size:
            raise CommandError(f"the predict command wrote no output: {command}")
        temporary.replace(output)


@contextmanager
def _part(made: Path) -> Iterator[Path]:
    """Make a folder beside a file or folder to be made, for everything that its command writes."""
    sweep(made)
    # A unique name: the command of a killed run may still be writing, and must not write here.
    part = Path(tempfile.mkdtemp(prefix=f".{made.name}.", suffix=".part", dir=made.parent))
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def sweep(made: Path) -> None:
    """Remove the folders that killed processes have left beside what they were making."""
    for left in made.parent.glob(f".{made.name}.*.part"):
        shutil.rmtree(left, ignore_errors=True)


def _placed(placeholder: str, folder: Path | None) -> dict[str, object]:
    """Find the model in a folder, if any, for its placeholder."""
    return {} if folder is None else {placeholder: folder / "model"}


def leave_out(stage: str, reason: str, output: Path) -> None:
    """Write the record of a failure in place of an output."""
    print(f"left out: {reason}", file=sys.stderr)
    Omission(stage, reason).write(output)


def leave_out_model(model: Path, stage: str, reason: str) -> None:
    """Make the folder of a model that could not be trained, with the reason."""
    shutil.rmtree(model, ignore_errors=True)
    model.mkdir()
    leave_out(stage, reason, model / OMISSION)


@dataclass(frozen=True)
class Attempt:
    """An attempt at a command, which writes its log to a file; or none, for the reason that all attempts failed."""

    file: TextIO
    reason: str


_STARTED, _FAILED = "attempt ", "failed: "


@contextmanager
def attempt(log: str, resources: Any, attempts: int) -> Iterator[Attempt]:
    """Run a command in one of several attempts; the one after the last says why all have failed.

    The workflow repeats a job that fails. A process that is killed for its memory or time cannot say so: the next
    attempt finds, in a file beside the log, that it began and did not end.

    Parameters
    ----------
    log
        The log of the job, which Snakemake deletes before each attempt.
    resources
        Resources of the job, with the number of the attempt from 1.
    """
    number, path = int(resources.attempt), Path(log)
    history = path.with_name(f"{path.name}.attempts")
    marks = history.read_text(encoding="utf-8").splitlines() if number > 1 and history.is_file() else []
    reason = ""
    if number > attempts and marks:  # a prediction that waited for its model, in the same job, has none
        requested = marks[-1].partition(": ")[2]
        killed = f"killed in attempt {attempts} of {attempts} (memory or time; requested: {requested})"
        reason = marks[-1].removeprefix(_FAILED) if marks[-1].startswith(_FAILED) else killed

    def mark(text: str) -> None:
        marks.append(text)
        history.write_text("".join(f"{line}\n" for line in marks), encoding="utf-8")

    mark(f"{_STARTED}{number}: {resources.mem_mb} MB, {resources.runtime} minutes")
    with path.open("w", encoding="utf-8") as file:
        try:
            yield Attempt(file, reason)
        except CommandError as error:
            mark(f"{_FAILED}{' '.join(str(error).split())}")
            raise
    history.unlink()


def folder_of(jars: Sequence[str]) -> Path:
    """The folder of Java libraries."""
    return Path(jars[0]).parent if jars else Path("jars")


def jar(coordinates: str, sha256: str, output: Path) -> None:
    """Download a jar by its Maven coordinates (`group:artifact:version`), and verify its checksum."""
    maven = shutil.which("mvn")
    if maven is None:
        raise InputError(
            f"found no command mvn, expected it to download {output.name}; install Maven, or save the jar there"
        )
    with replacing(output) as temporary:
        folder = temporary.with_suffix(".part")
        artifact = f"-Dartifact={coordinates}"
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
        try:
            subprocess.run([maven, "-q", "-B", goal, artifact, f"-DoutputDirectory={folder.resolve()}"], check=True)
            jars = list(folder.glob("*.jar"))
            if len(jars) != 1:
                raise InputError(f"{coordinates}: found {len(jars)} jars after the download by Maven, expected one")
            digest = hashlib.sha256(jars[0].read_bytes()).hexdigest()
            if digest != sha256:
                raise InputError(f"{coordinates}: found the checksum {digest}, expected {sha256}")
            jars[0].replace(temporary)
        except subprocess.CalledProcessError:
            raise InputError(f"{coordinates}: Maven could not download it, see its messages above") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _run(command: str, values: Mapping[str, object]) -> None:
    """Run a command with its placeholders filled in; pass its output on, and report its cost.

    Snakemake's benchmarks measure `cpu_time` every 30 seconds only, and miss much of a program that ends in between.
    """

    def fill(match: re.Match[str]) -> str:
        value = values.get(match[1])
        if value is None:
            raise InputError(f"found the placeholder {match[0]} in `{command}`, expected one of {', '.join(values)}")
        return shlex.join(map(str, value)) if isinstance(value, list) else shlex.quote(str(value))

    filled = re.sub(r"\{(\w+)\}", fill, command)
    print(filled, file=sys.stderr, flush=True)
    # `python` is the interpreter of this process.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", filled],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PATH": path},
    )
    printed = done.stdout.decode("utf-8", errors="replace")
    print(printed, file=sys.stderr, end="\n" if printed and not printed.endswith("\n") else "", flush=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    megabytes = after.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"used {seconds:.1f} CPU s, {megabytes:.0f} MB", file=sys.stderr, flush=True)
    if done.returncode:
        last = [line.strip() for line in printed.splitlines() if line.strip()][-1:]
        killed = " (killed, perhaps for its memory)" * (done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL))
        raise CommandError(f"exit status {done.returncode}{killed} of `{command}`: {' '.join(last) or 'no output'}")
