"""The two commands of a base model, and the packages that it needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pairsig.io.errors import InputError


def run(
    module: str,
    *,
    train: Callable[[Path, Path, int], None],
    predict: Callable[[Path, Path, Path], None],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run the command line of a base model; return the exit status: 0, or 2 after one sentence about invalid input.

    Parameters
    ----------
    module
        Name for the usage line.
    train
        Called with the training set, the model to write and the seed.
    predict
        Called with the model, the input and the output to write.
    arguments
        Arguments; default: those of the command line.
    """
    documented = sys.modules[getattr(train, "func", train).__module__]  # `functools.partial` keeps the function here
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=documented.__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    training = actions.add_parser("train", help="a model from a training set")
    training.add_argument("--train", type=Path, required=True, help="training set, in the task's own format")
    training.add_argument("--model", type=Path, required=True, help="to write")
    training.add_argument("--seed", type=int, default=1, help="same seed, same model (default: %(default)s)")
    predicting = actions.add_parser("predict", help="outputs of a model")
    predicting.add_argument("--model", type=Path, required=True, help="made by train")
    predicting.add_argument("--input", type=Path, required=True, help="segments, in the task's own format")
    predicting.add_argument("--output", type=Path, required=True, help="to write, a segment for every one of the input")
    options = parser.parse_args(arguments)

    def chosen() -> None:
        if options.action == "train":
            train(options.train, options.model, options.seed)
        else:
            predict(options.model, options.input, options.output)

    return exit_status(module, chosen)


def exit_status(module: str, action: Callable[[], object]) -> int:
    """Run a program, and return 0, or 2 after one sentence about invalid input."""
    try:
        action()
    except InputError as error:
        print(f"{module}: {error}", file=sys.stderr)
        return 2
    return 0


@contextmanager
def reading(model: Path, program: str) -> Iterator[None]:
    """Say that a file is no model of a program if it cannot be read as one."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{model}: found no model of {program} ({error}), expected one that train wrote") from None


def package(module: str, program: str) -> ModuleType:
    """Import a package that only some base models need."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(
            f"found no Python module {module}, expected it for {program}; type pip install pairsig[retrain]"
        ) from None
