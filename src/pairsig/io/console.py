"""Building blocks of a command line: parser, help, messages of two lines, types of arguments.

Only this module and `pairsig.cli` print or exit.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import Any, NoReturn

from pairsig.io.choices import near
from pairsig.io.errors import InputError, plain, quoted
from pairsig.io.packages import installed, need

Run = Callable[[argparse.Namespace], int | None]
"""A command; it returns its exit status if it is not 0."""

EXAMPLE = "example, in an empty folder:"
"""The line above the example of a command."""

VERSIONS_OF = ("numpy", "numba", "scipy", "pandas", "pyarrow", "sacrebleu")
"""Packages that affect the results or read files."""

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 + SIGINT, as in shells."""


class _Once(argparse._StoreAction):
    """A value of an option that may be given once: argparse would drop all but the last one without a word."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        if option and getattr(namespace, self.dest) is not self.default:
            raise argparse.ArgumentError(self, "found twice, expected once")
        super().__call__(parser, namespace, values, option)


class Parser(argparse.ArgumentParser):
    """A parser of one command."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how | {"allow_abbrev": False, "formatter_class": _Help})
        for name in (None, "store"):
            self.register("action", name, _Once)

    def format_help(self) -> str:
        """The help, with the arguments that a command needs in its first line."""
        self.usage = usage(self)
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Print one sentence that refers to the command's help, instead of the usage of all commands."""
        self.exit(2, f"{self.prog}: error: {plain(message)} (see `{self.prog} --help`)\n")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of a command, with an option per line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        short = [name for name in action.option_strings if not name.startswith("--")]
        return ", ".join([*short, called(action)])


def called(action: argparse.Action) -> str:
    """An argument as a user writes it, with the long name of an option: `FILE …`, `--metric M`."""
    value = action.metavar or (f"{{{','.join(action.choices)}}}" if action.choices else action.dest)
    value = " ".join(value) if isinstance(value, tuple) else str(value)
    if action.nargs in ("+", "*"):
        value += " …"
    name = next((name for name in action.option_strings if name.startswith("--")), "")
    return name if action.nargs == 0 else f"{name} {value}".strip()


def usage(parser: argparse.ArgumentParser) -> str:
    """The command with what it needs: `pairsig gate FILE … --margin M [options]`."""
    needed = [action for action in parser._actions if not action.option_strings]
    needed += [action for action in parser._actions if action.option_strings and action.required]
    return " ".join([parser.prog, *map(called, needed), "[options]"]).replace("%", "%%")


class _Version(argparse.Action):
    """Print the versions that a bug report needs; they are looked up without importing the packages."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import platform
        from importlib.metadata import version

        from pairsig import __version__

        print(f"pairsig {__version__}")
        print(f"Python {platform.python_version()} ({platform.python_implementation()}), {platform.platform()}")
        print(", ".join(f"{package} {version(package)}" for package in VERSIONS_OF if installed(package)))
        print(f"{os.cpu_count() or 1} threads (change with --threads)")
        parser.exit()


class Commands:
    """A command line with subcommands; each is a function of its parsed arguments, and its docstring is the help.

    The help of a command begins with its example; that of the program begins with the first example.
    """

    def __init__(self, program: str, description: str, examples: Mapping[str, str]) -> None:
        self.examples = examples
        self.parser = Parser(prog=program, description=description + self._example(next(iter(examples))))
        self.parser.add_argument(
            "--version", action=_Version, nargs=0, help="print the versions that a bug report needs, and exit"
        )
        self._commands = self.parser.add_subparsers(
            title="commands", metavar="COMMAND", prog=program, parser_class=Parser
        )

    def _example(self, name: str) -> str:
        script = self.examples.get(name, "")
        return f"\n\n{EXAMPLE}\n{indent(script, '  ')}" if script else ""

    def add(self, run: Run, epilog: str = "") -> Parser:
        """Add a command with the name of the function, and return its parser."""
        text, name = run.__doc__ or "", run.__name__.strip("_")
        added: Parser = self._commands.add_parser(
            name,
            help=text.partition("\n")[0],  # with PYTHONOPTIMIZE=2, there is no text
            description=text + self._example(name),
            epilog=epilog,
        )
        added.add_argument("--quiet", action="store_true", help="print no notes, only warnings")
        added.set_defaults(_run=run, _parser=added)
        return added

    def main(self, argv: Sequence[str]) -> int:
        """Run one command and return its status: 0 for success or its own, 2 for unusable input, 130 after Ctrl-C."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # some terminals cannot show δ or the name of a file
                stream.reconfigure(errors="backslashreplace")
        try:
            try:
                arguments = self._parsed(argv)
            finally:
                sys.stdout.flush()
            if arguments is None:
                self.parser.print_help()
                return 0
            _settings["quiet"] = arguments.quiet
            run: Run = arguments._run
            status = run(arguments) or 0
            sys.stdout.flush()
            return status
        except KeyboardInterrupt:
            print(f"{self.parser.prog}: interrupted", file=sys.stderr)
            return INTERRUPTED
        except BrokenPipeError:  # nobody reads the output any more, as in `pairsig … | head -1`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except InputError as error:
            _say("error", str(error))
        except MemoryError:
            _say("error", "the memory does not suffice; use fewer systems, segments or threads (--threads 1)")
        except OSError as error:  # a full disk, a folder without permission, a link to itself
            _say("error", plain(f"{error.filename or 'output'}: {error.strerror or error}"))
        return 2

    def _parsed(self, argv: Sequence[str]) -> argparse.Namespace | None:
        """The arguments; None without a command. Wrong words end the program."""
        arguments, unknown = self.parser.parse_known_args(argv)
        if unknown:
            parser = getattr(arguments, "_parser", self.parser)
            word = next((word for word in unknown if word.startswith("-")), unknown[0]).partition("=")[0]
            parser.error(f"unknown {quoted(word)}{near(word, parser._option_string_actions)}")
        return arguments if hasattr(arguments, "_run") else None


def check_outputs(arguments: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Refuse one file for two outputs, and an input as an output, by whatever name or link.

    Outputs are the arguments that are paths; files to read are words.
    """
    known = [path for path in map(Path, inputs) if path.exists()]
    folders = [path.resolve() for path in known if path.is_dir()]
    seen: set[Path] = set()
    for output in (value for value in vars(arguments).values() if isinstance(value, Path)):
        if output.resolve() in seen:
            raise InputError(f"found {output} as two outputs, expected different files")
        is_below = any(map(output.resolve().is_relative_to, folders))
        if output.exists() and (is_below or any(map(output.samefile, known))):
            raise InputError(f"{output}: found an input as the output, expected another file to write")
        seen.add(output.resolve())


_settings = {"quiet": False}
"""Of the present command."""


def _say(kind: str, text: str) -> None:
    print(f"pairsig: {kind}: {text}", file=sys.stderr)


def warn(sentence: str) -> None:
    """Print a warning, after which the command continues."""
    _say("warning", plain(sentence))


_WARNING = ": warning: "
"""What follows the file in a note that warns about the data."""


def note(*sentences: str, always: bool = False) -> None:
    """Print notes about how the input was treated.

    With `--quiet`, only warnings about the data are printed, and with `always` also what limits a conclusion.
    """
    for sentence in sentences:
        if _WARNING in sentence:
            warn(sentence.replace(_WARNING, ": ", 1))
        elif always or not _settings["quiet"]:
            _say("note", plain(sentence))


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


def output(text: str, suffixes: Sequence[str] = ()) -> Path:
    """A file that can probably be written, as far as is known before the work starts."""
    path = Path(text)
    wrong = ""
    if path.suffix not in suffixes:
        end = f"ends in {path.suffix}" if path.suffix else "has no suffix"
        wrong = f"{text} {end}, expected one of {', '.join(suffixes)}"
    elif not path.parent.is_dir():
        wrong = f"{text}: the folder {path.parent} does not exist; create it first"
    elif path.is_dir():
        wrong = f"{text}: found a folder, expected the name of a file"
    elif path.suffix in (".parquet", *_PICTURES):
        try:
            need("pyarrow" if path.suffix == ".parquet" else "matplotlib")
        except InputError as error:
            wrong = str(error)
    if wrong:
        raise argparse.ArgumentTypeError(wrong)
    return path


_PICTURES = (".svg", ".pdf", ".png")

table = partial(output, suffixes=(".tsv", ".csv", ".parquet"))
"""Path of a table to write."""

result = partial(output, suffixes=(".json", ".csv", ".tsv", ".parquet", ".md", ".tex"))
"""Path of a result to write, as a table or in a format for readers."""

picture = partial(output, suffixes=_PICTURES)
"""Path of a figure to write."""

verdict = partial(output, suffixes=(".json",))
"""Path of a verdict of `pairsig gate` to write."""

page = partial(output, suffixes=(".html",))
"""Path of a report to write."""
