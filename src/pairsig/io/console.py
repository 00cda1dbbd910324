"""Building blocks of a command line: parser, one-line errors, progress bar, argument types.

`pairsig.cli` and the study's `study.cli` use it. Only these three modules print or exit.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pairsig.io.errors import InputError, Question, listed, named, plain, quoted
from pairsig.io.packages import installed, need

if TYPE_CHECKING:
    from pairsig.core.engine import Progress

Run = Callable[[argparse.Namespace], int | None]
"""A command; it returns its exit status if it is not 0."""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **how: Any) -> None:
        super().__init__(**how | {"allow_abbrev": False})

    @property
    def epilog(self) -> str | None:
        """The end of the help; a function computes it when it is shown."""
        return self._epilog() if callable(self._epilog) else self._epilog

    @epilog.setter
    def epilog(self, text: str | Callable[[], str] | None) -> None:
        self._epilog = text

    def error(self, message: str) -> NoReturn:
        """Print one sentence that refers to the command's help, instead of the usage of all commands."""
        self.exit(2, f"{self.prog}: error: {plain(message)} (see `{self.prog} --help`)\n")


VERSIONS_OF = ("numpy", "numba", "scipy", "pandas", "pyarrow", "sacrebleu")
"""Packages that affect the results or read files."""

PATIENCE = 2.0
"""Seconds before a progress bar appears on a terminal."""

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 + SIGINT, as in shells."""


class _Version(argparse.Action):
    """Print the versions that a bug report needs; they are looked up without importing the packages."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import platform
        from importlib.metadata import version

        from pairsig import __version__

        cores = os.cpu_count() or 1
        print(f"pairsig {__version__}")
        print(f"Python {platform.python_version()} ({platform.python_implementation()}), {platform.platform()}")
        print(", ".join(f"{package} {version(package)}" for package in VERSIONS_OF if installed(package)))
        print(f"{cores} threads (change with --threads)")
        parser.exit()


class _Completion(argparse.Action):
    """Print a completion script for the user's shell, generated from the parser."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, *__: object) -> None:
        try:
            need("shtab")
        except InputError as error:
            parser.error(str(error))
        import shtab

        print(shtab.complete(parser, str(shell)))
        parser.exit()


class Commands:
    """A command line with subcommands; each is a function of its parsed arguments, and its docstring is the help.

    The help of a command ends with its example.
    """

    def __init__(self, program: str, description: str, examples: Mapping[str, str] | None = None) -> None:
        headings = self._headings = dict[str, str]()
        self.examples = examples or {}

        class Grouped(argparse.RawDescriptionHelpFormatter):
            def _format_action(self, action: argparse.Action) -> str:
                return headings.get(action.dest, "") + super()._format_action(action)

        self.parser = _Parser(prog=program, description=description, formatter_class=Grouped)
        self.parser.add_argument(
            "--version", action=_Version, nargs=0, help="print the versions that a bug report needs, and exit"
        )
        self._commands = self.parser.add_subparsers(
            required=True, title="commands", metavar="COMMAND", parser_class=_Parser
        )
        self._heading = ""

    @property
    def names(self) -> Collection[str]:
        """Names of the commands."""
        return self._commands.choices

    def complete(self) -> None:
        """Add the option `--completion`, for a program that has a command of its own."""
        self.parser.add_argument(
            "--completion",
            action=_Completion,
            choices=("bash", "zsh", "tcsh"),
            metavar="SHELL",
            help="print a completion script for bash, zsh or tcsh, and exit",
        )

    def group(self, heading: str) -> None:
        """List the commands that are added next below this heading."""
        self._heading = f"\n  {heading}:\n"

    def add(self, run: Run, epilog: str | Callable[[], str] = "") -> argparse.ArgumentParser:
        """Add a command with the name of the function, and return its parser; the help ends with its example."""
        text, name = run.__doc__ or "", run.__name__.strip("_").replace("_", "-")
        example = "".join(f"\n  {line}" for line in self.examples.get(name, "").splitlines())
        example = f"\nexample, in an empty folder:{example}" if example else ""
        added: argparse.ArgumentParser = self._commands.add_parser(
            name,
            help=text.partition("\n")[0],  # with PYTHONOPTIMIZE=2, there is no text
            description=text,
            epilog=(lambda: epilog() + example) if callable(epilog) else epilog + example,  # type: ignore[arg-type]
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(_run=run)
        self._headings[name], self._heading = self._heading, ""
        return added

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run one command and return its status: 0 for success or its own, 2 for unusable input, 130 after Ctrl-C."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # some terminals cannot show δ or the name of a file
                stream.reconfigure(errors="backslashreplace")
        words = list(sys.argv[1:] if argv is None else argv)
        arguments = self.parser.parse_args(words)
        run: Run = arguments._run
        before = _files(arguments)
        try:
            _check_outputs(arguments)
            return run(arguments) or 0
        except KeyboardInterrupt:
            written = [path for path, changed in _files(arguments).items() if before.get(path) != changed]
            details = f"after {listed(written)} was written" if written else "nothing was written"
            print(f"pairsig: interrupted, {details}", file=sys.stderr)
            return INTERRUPTED
        except Question as question:
            print(f"pairsig: error: {question.as_commands([self.parser.prog, *words])}", file=sys.stderr)
            return 2
        except InputError as error:
            print(f"pairsig: error: {error}", file=sys.stderr)
            return 2
        except BrokenPipeError:  # `pairsig … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except (MemoryError, OSError, ImportError, RuntimeError, SystemError) as error:
            if not (sentence := _of_the_machine(error)):
                raise
            print(f"pairsig: error: {plain(sentence)}", file=sys.stderr)
            return 2


_SHORT_OF_MEMORY = re.compile(
    r"failed to map segment|cannot allocate|can't (start|allocate)|out of memory|unable to allocate|libllvmlite", re.I
)
"""What libraries say if they cannot be loaded, or threads started, within a limit on memory."""


def _of_the_machine(error: BaseException) -> str:
    """A sentence on an error that the machine or its limits cause: memory, a disk, permissions, links; else ""."""
    limit = _address_space()
    if isinstance(error, MemoryError) or (limit and _SHORT_OF_MEMORY.search(str(error))):
        most = f"the limit on this process is {limit / 2**20:,.0f} MiB (ulimit -v); raise it" if limit else "free some"
        return f"the memory does not suffice: {most}, or use fewer systems, segments or threads (--threads 1)"
    if str(error).startswith("Symlink loop from "):  # from Python 3.13 on an OSError
        return f"{str(error).removeprefix('Symlink loop from ').strip(chr(39))} is a symbolic link to itself"
    if isinstance(error, OSError):  # a full disk, a folder without permission
        return f"{error.filename or 'output'}: {error.strerror or error}"
    return ""


def _address_space() -> int:
    """The limit on the process's address space in bytes; 0 if there is none."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return 0 if limit == resource.RLIM_INFINITY else limit


class OutputPath(type(Path())):  # type: ignore[misc]
    """Path of a file to write, which must not be one that is read."""

    __slots__ = ()


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse to write over a file that is read, by whatever name or link."""
    inputs, outputs = [], []
    for value in vars(arguments).values():
        pending = [value]
        while pending:
            word = pending.pop()
            if isinstance(word, list | tuple):
                pending += word
            elif isinstance(word, OutputPath):
                outputs.append(word)
            elif isinstance(word, str | Path) and os.path.exists(word):  # noqa: PTH110 (a word may be too long for a path)
                inputs.append(word)
    for output in outputs:
        for read in inputs:
            if output.exists() and output.samefile(read):
                raise InputError(f"found the input {read} as the output {output}, expected another file to write")
    for first, second in combinations(outputs, 2):
        if first.resolve() == second.resolve():
            raise InputError(f"found {first} as two outputs, expected different files")


def _files(arguments: argparse.Namespace) -> dict[str, int]:
    """Modification times of the files among the arguments."""
    values = chain.from_iterable(value if isinstance(value, list) else [value] for value in vars(arguments).values())
    files = [path for path in values if isinstance(path, Path) and path.is_file()]
    return {str(path): path.stat().st_mtime_ns for path in files}


def warn(sentence: str) -> None:
    """Print a warning, after which the command continues."""
    print(f"pairsig: warning: {plain(sentence)}", file=sys.stderr)


def note(*sentences: str) -> None:
    """Print notes about how the input was treated."""
    for sentence in sentences:
        print(f"pairsig: note: {plain(sentence)}", file=sys.stderr)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Progress | None]:
    """A progress bar for work that takes longer than `PATIENCE`; it appears only on a terminal.

    Without a `total` it only shows that the work continues.
    """
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import Progress as Bar

    started = time.monotonic()
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, visible=False)
        show = threading.Timer(PATIENCE, bar.update, (task,), {"visible": True})
        show.daemon = True
        show.start()

        def advance(done: int) -> None:
            bar.update(task, advance=done, visible=time.monotonic() - started > PATIENCE)

        try:
            yield advance
        finally:
            show.cancel()


# Types of arguments. The messages of argparse, "invalid … value", contain the name of the function.


def whole(text: str) -> int:
    """A whole number; 1e6 and 1_000_000 are accepted too."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return int(value)


whole.__name__ = "whole number"


def numbers(text: str) -> list[float]:
    """Numbers separated by commas."""
    return [float(number) for number in text.split(",")]


numbers.__name__ = "list of numbers"


def size(text: str) -> str:
    """A memory size such as 500M or 4G."""
    from pairsig.io.memory import parse

    try:
        parse(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def part(text: str) -> tuple[int, int]:
    """K/M, with 1 <= K <= M."""
    k, m = (int(number) for number in text.split("/"))
    if not 1 <= k <= m:
        raise argparse.ArgumentTypeError(f"found part {text}, expected one from 1/{m} to {m}/{m}")
    return k, m


part.__name__ = "K/M"


def output(text: str, suffixes: Sequence[str] = ()) -> Path:
    """A file that can probably be written, as far as is known before the work starts."""
    path = OutputPath(text)
    if suffixes and path.suffix not in suffixes:
        known = ", ".join(suffixes)
        end = f"ends in {path.suffix}" if path.suffix else "has no suffix"
        raise argparse.ArgumentTypeError(f"{text} {end}, expected one of {known}")
    if package := {".parquet": "pyarrow"}.get(path.suffix, "matplotlib" if ".svg" in suffixes else ""):
        try:
            need(package)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: found a folder, expected the name of a file")
    if not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text}: found no permission to write in the folder {path.parent}")
    return path


table = partial(output, suffixes=(".tsv", ".csv", ".parquet"))
"""Path of a table to write."""

picture = partial(output, suffixes=(".svg", ".pdf", ".png"))
"""Path of a figure to write."""

verdict = partial(output, suffixes=(".json",))
"""Path of a verdict of `pairsig gate` to write."""

page = partial(output, suffixes=(".html",))
"""Path of a report to write."""


def pairs(items: Sequence[str]) -> Mapping[str, str]:
    """KEY=VALUE arguments as a mapping."""
    values: dict[str, str] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not (key and equals):
            raise InputError(f"found {quoted(item)}, expected KEY=VALUE")
        if key in values:
            raise InputError(f"found {named(key)}={quoted(values[key])} and {named(key)}={quoted(value)}, expected one")
        values[key] = value
    return values
