"""What a command line needs: a parser that answers in sentences, errors as one line, progress, types of arguments.

Two are made with it: `pairsig.cli` and, in the study, `study.cli`. Only they and this module print or exit.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pairsig.errors import InputError, listed, named, plain, quoted

if TYPE_CHECKING:
    from pairsig.engine import Progress

Run = Callable[[argparse.Namespace], None]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence and the command's own help, instead of the usage of everything."""
        self.exit(2, f"{self.prog}: error: {plain(message)} (see `{self.prog} --help`)\n")


VERSIONS_OF = ("numpy", "numba", "scipy", "pandas", "pyarrow", "sacrebleu")
"""The packages that numbers come from, or files are read with."""

PATIENCE = 2.0
"""Seconds before a terminal is shown how far the work is."""

INTERRUPTED = 130
"""The status of what Ctrl-C ended: 128 + SIGINT, as shells have it."""


class _Version(argparse.Action):
    """What a report of a bug needs; versions are looked up, nothing is imported for them."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import platform
        from importlib.metadata import version

        from pairsig import __version__

        cores = os.cpu_count() or 1
        print(f"pairsig {__version__}")
        print(f"Python {platform.python_version()} ({platform.python_implementation()}), {platform.platform()}")
        print(", ".join(f"{package} {version(package)}" for package in VERSIONS_OF))
        print(f"{cores} threads unless --threads says otherwise")
        parser.exit()


class _Completion(argparse.Action):
    """A script for the user's shell, from the parser itself."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, *__: object) -> None:
        try:
            import shtab
        except ImportError:
            parser.error("completion needs the package shtab: pip install shtab")
        print(shtab.complete(parser, str(shell)))
        parser.exit()


class Commands:
    """A command line of commands, each a function of its parsed arguments whose docstring is its help.

    Attributes
    ----------
    parser
        That of all commands.
    examples
        What `--help` of a command shows as an example, by command.
    """

    def __init__(self, program: str, description: str) -> None:
        headings = self._headings = dict[str, str]()
        self.examples: dict[str, str] = {}

        class Grouped(argparse.RawDescriptionHelpFormatter):
            def _format_action(self, action: argparse.Action) -> str:
                return headings.get(action.dest, "") + super()._format_action(action)

        self.parser = _Parser(prog=program, description=description, formatter_class=Grouped)
        self.parser.add_argument(
            "--version", action=_Version, nargs=0, help="print the versions that a report of a bug needs, and stop"
        )
        self._commands = self.parser.add_subparsers(
            required=True, title="commands", metavar="COMMAND", parser_class=_Parser
        )
        self._heading = ""

    def complete(self) -> None:
        """Offer completion, for a program that is called by its name alone."""
        self.parser.add_argument(
            "--completion",
            action=_Completion,
            choices=("bash", "zsh", "tcsh"),
            metavar="SHELL",
            help="print what makes bash, zsh or tcsh complete commands and options, and stop",
        )

    def group(self, heading: str) -> None:
        """The commands added from here on stand below this heading in the list of all."""
        self._heading = f"\n  {heading}:\n"

    def add(self, run: Run, epilog: str = "", example: str = "") -> argparse.ArgumentParser:
        """A command, called as the function is; returns its parser. The example ends its help, to be pasted."""
        text, name = run.__doc__ or "", run.__name__.strip("_")
        if example:
            self.examples[name] = example
            lines = [f"  {line}" for line in example.splitlines()]
            epilog = "\n".join([*([epilog] if epilog else []), "example, in an empty folder:", *lines])
        added: argparse.ArgumentParser = self._commands.add_parser(
            name,
            help=text.splitlines()[0],
            description=text,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(run=run)
        self._headings[name], self._heading = self._heading, ""
        return added

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run one command; 0 when it worked, 2 with one sentence when the input cannot be used, 130 after Ctrl-C."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # δ and names of files, on a terminal that cannot show them
                stream.reconfigure(errors="backslashreplace")
        arguments = self.parser.parse_args(argv)
        run: Run = arguments.run
        before = _files(arguments)
        try:
            run(arguments)
        except KeyboardInterrupt:
            written = [path for path, changed in _files(arguments).items() if before.get(path) != changed]
            told = f"after {listed(written)} was written" if written else "nothing was written"
            print(f"pairsig: interrupted, {told}", file=sys.stderr)
            return INTERRUPTED
        except InputError as error:
            print(f"pairsig: error: {error}", file=sys.stderr)
            return 2
        except BrokenPipeError:  # `pairsig … | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except OSError as error:  # a full disk, a folder without permission
            told = f"{error.filename or 'output'}: {error.strerror or error}"
            print(f"pairsig: error: {plain(told)}", file=sys.stderr)
            return 2
        return 0


def _files(arguments: argparse.Namespace) -> dict[str, int]:
    """When the files that the arguments name were last written."""
    values = [value if isinstance(value, list) else [value] for value in vars(arguments).values()]
    files = [path for paths in values for path in paths if isinstance(path, Path) and path.is_file()]
    return {str(path): path.stat().st_mtime_ns for path in files}


def warn(sentence: str) -> None:
    """Tell the user something that does not stop the command."""
    print(f"pairsig: warning: {plain(sentence)}", file=sys.stderr)


def note(sentence: str) -> None:
    """Tell the user what was done to the input."""
    print(f"pairsig: note: {plain(sentence)}", file=sys.stderr)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Progress | None]:
    """A progress bar on a terminal, for what takes longer than `PATIENCE`; nothing elsewhere.

    Of what cannot be counted (no `total`) it shows that something is being done.
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


# Types of arguments. argparse says "invalid … value", with the name of the function in the middle.


def whole(text: str) -> int:
    """A whole number; 1e6 and 1_000_000 are understood too."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return int(value)


whole.__name__ = "whole number"


def numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    return [float(number) for number in text.split(",")]


numbers.__name__ = "list of numbers"


def size(text: str) -> str:
    """A size of memory: 500M, 4G."""
    from pairsig.memory import parse

    try:
        parse(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def part(text: str) -> tuple[int, int]:
    """K/M, with 1 <= K <= M."""
    k, m = (int(number) for number in text.split("/"))
    if not 1 <= k <= m:
        raise argparse.ArgumentTypeError(f"found {text}, expected one from 1/{m} to {m}/{m}")
    return k, m


part.__name__ = "K/M"


def output(text: str, suffixes: Sequence[str] = ()) -> Path:
    """A file that can be written, as far as one can tell before the work is done."""
    path = Path(text)
    if suffixes and path.suffix not in suffixes:
        known = ", ".join(suffixes)
        raise argparse.ArgumentTypeError(f"{text} ends in {path.suffix or 'nothing'}, expected one of {known}")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: the folder {path.parent} does not exist")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path


table = partial(output, suffixes=(".tsv", ".csv", ".parquet"))
"""A table to write."""

picture = partial(output, suffixes=(".svg", ".pdf", ".png"))
"""A figure to write."""

page = partial(output, suffixes=(".html",))
"""A report to write."""


def pairs(items: Sequence[str]) -> Mapping[str, str]:
    """KEY=VALUE arguments as a mapping."""
    found: dict[str, str] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not (key and equals):
            raise InputError(f"found {quoted(item)}, expected KEY=VALUE")
        if key in found:
            raise InputError(f"{named(key)} is given as {quoted(found[key])} and {quoted(value)}, expected it once")
        found[key] = value
    return found
