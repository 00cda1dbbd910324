"""Base models: what turns a training set into a system.

A base model is two shell commands, an entry of `config/base_models.yaml`: `train` and `predict` run them, and no
other part of the project knows what they do. The modules beside this one are base models written here, each a program
of its own with the sub-commands `train` and `predict`, that a row calls as it would call any other program.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pairsig.errors import InputError
from pairsig.omission import Omission
from pairsig.tables import replacing

OMISSION = "omission.json"
"""In the folder of a model: the record of why there is none."""


class CommandError(InputError):
    """A base model's command failed or left nothing; one sentence, as with all bad input."""


def train(
    command: str,
    training_set: Path,
    model: Path,
    *,
    seed: int,
    given: Path | None = None,
    jars: Path,
    threads: int = 1,
) -> None:
    """Run the train command of a base model.

    Parameters
    ----------
    command
        With the placeholders `{train}` (file of the training set), `{model}` (a path to write to, file or folder),
        `{seed}`, `{given}` (another model), `{jars}` (folder of jars) and `{threads}`.
    training_set
        In the task's own format.
    model
        The folder that the model will lie in; it appears when the command has ended well and left something.
    given
        The folder of another model, made by `train` before. If it holds the record of a failure, so does this one.
    seed, jars, threads
        For the placeholders.
    """
    if given is not None and (omission := Omission.read(given / OMISSION)):
        give_up(model, Omission("train", f"the model it is given could not be made: {omission}"))
        return
    for left in model.parent.glob(f".{model.name}.*.part"):  # by a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    # A name of its own: the command of a killed run may still be writing, and must not write here.
    part = Path(tempfile.mkdtemp(prefix=f".{model.name}.", suffix=".part", dir=model.parent))
    values = {"train": training_set, "model": part / "model", "seed": seed, "jars": jars, "threads": threads}
    try:
        _run(command, values | _placed("given", given))
        if not (part / "model").exists():
            raise CommandError(f"the train command left no model: {command}")
        shutil.rmtree(model, ignore_errors=True)
        part.replace(model)
    finally:
        shutil.rmtree(part, ignore_errors=True)


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
        The folder that `train` made; none for an ensemble.
    segments
        What the base model may see of the test set.
    output
        Appears when the command has ended well and written it. A system whose model or members are missing gets a
        record of the failure in place of its output.
    members, given, jars, threads
        For the placeholders.
    """
    for path in members:
        if omission := Omission.read(path):
            Omission("predict", f"a member has none: {omission}").write(output)
            return
    if model is not None and (omission := Omission.read(model / OMISSION)):
        omission.write(output)
        return
    with replacing(output) as temporary:
        values = {"input": segments, "output": temporary, "outputs": list(members), "jars": jars, "threads": threads}
        _run(command, values | _placed("model", model) | _placed("given", given))
        if not temporary.exists() or not temporary.stat().st_size:
            raise CommandError(f"the predict command left no output: {command}")


def _placed(placeholder: str, folder: Path | None) -> dict[str, object]:
    """The model in a folder, if any, for its placeholder."""
    return {} if folder is None else {placeholder: folder / "model"}


def give_up(model: Path, omission: Omission) -> None:
    """Make the folder of a model that could not be trained: it holds the record."""
    shutil.rmtree(model, ignore_errors=True)
    model.mkdir()
    omission.write(model / OMISSION)


def jar(coordinates: str, sha256: str, output: Path) -> None:
    """Get a jar by its Maven coordinates (`group:artifact:version`), and no other bytes than expected."""
    maven = shutil.which("mvn")
    if maven is None:
        raise InputError(f"{output.name} comes by Maven, but there is no command mvn: install it, or put the jar there")
    with replacing(output) as temporary:
        folder = temporary.with_suffix(".part")
        artifact = f"-Dartifact={coordinates}"
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
        try:
            subprocess.run([maven, "-q", "-B", goal, artifact, f"-DoutputDirectory={folder.resolve()}"], check=True)
            found = list(folder.glob("*.jar"))
            if len(found) != 1:
                raise InputError(f"{coordinates}: Maven brought {len(found)} jars, expected one")
            digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
            if digest != sha256:
                raise InputError(f"{coordinates} has the checksum {digest}, expected {sha256}")
            found[0].replace(temporary)
        except subprocess.CalledProcessError:
            raise InputError(f"Maven could not get {coordinates}: see its own words above") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _run(command: str, values: Mapping[str, object]) -> None:
    """Run a command with its placeholders filled in; what it prints is passed on, and what it cost is told.

    `cpu_time` of Snakemake's benchmarks is looked up every 30 seconds: of a program that ends in between it lacks much.
    """

    def fill(match: re.Match[str]) -> str:
        value = values.get(match[1])
        if value is None:
            raise InputError(f"found the placeholder {match[0]} in `{command}`, expected one of {', '.join(values)}")
        return shlex.join(map(str, value)) if isinstance(value, list) else shlex.quote(str(value))

    filled = re.sub(r"\{(\w+)\}", fill, command)
    print(filled, file=sys.stderr, flush=True)
    # `python` is the one that runs this, whatever else there is.
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
        raise CommandError(f"exit status {done.returncode} of `{command}`: {' '.join(last) or 'it printed nothing'}")


def command(
    module: str,
    *,
    train: Callable[[Path, Path, int], None],
    predict: Callable[[Path, Path, Path], None],
    arguments: Sequence[str] | None = None,
) -> int:
    """The command line of a base model written here.

    Parameters
    ----------
    module
        Its name, for the usage line.
    train
        Called with the training set, the model to write and the seed.
    predict
        Called with the model, the input and the output to write.
    arguments
        Those of the command line by default.

    Returns
    -------
    The exit status: 0, or 2 after one sentence about bad input.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=sys.modules[train.__module__].__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    training = actions.add_parser("train", help="a model from a training set")
    training.add_argument("--train", type=Path, required=True, help="training set, in the task's own format")
    training.add_argument("--model", type=Path, required=True, help="to write")
    training.add_argument("--seed", type=int, default=1, help="same seed, same model (default: %(default)s)")
    predicting = actions.add_parser("predict", help="outputs of a model")
    predicting.add_argument("--model", type=Path, required=True, help="made by train")
    predicting.add_argument("--input", type=Path, required=True, help="segments, in the task's own format")
    predicting.add_argument("--output", type=Path, required=True, help="to write, a segment for every one of the input")
    given = parser.parse_args(arguments)
    try:
        if given.action == "train":
            train(given.train, given.model, given.seed)
        else:
            predict(given.model, given.input, given.output)
    except InputError as error:
        print(f"{module}: {error}", file=sys.stderr)
        return 2
    return 0
