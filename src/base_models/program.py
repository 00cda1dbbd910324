"""The two commands of a base model, and the packages that it needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from pairsig.io.errors import InputError


def run(
    module: str,
    options: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    /,
    *,
    train: Callable[..., None],
    predict: Callable[..., None],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run the command line of a base model; return the exit status: 0, or 2 after one sentence about invalid input.

    Parameters
    ----------
    module
        Name for the usage line.
    options
        Further options by name, each as `argparse` declares it.
    train
        Called with the training set, the model to write, the seed, and those of `options` that are its parameters.
    predict
        Called with the model, the input, the output to write, and those of `options` that are its parameters.
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
    for action, function in ((training, train), (predicting, predict)):
        for name in _options_of(function, options):
            action.add_argument(f"--{name}", **options[name])
    given = parser.parse_args(arguments)
    if given.action == "train":
        called = partial(train, given.train, given.model, given.seed)
    else:
        called = partial(predict, given.model, given.input, given.output)
    further = {name: getattr(given, name) for name in _options_of(called.func, options)}
    return exit_status(module, partial(called, **further))


def _options_of(function: Callable[..., None], options: Iterable[str]) -> list[str]:
    """List the options that are parameters of a function."""
    return [name for name in options if name in signature(function).parameters]


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
