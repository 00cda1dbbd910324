"""Building blocks of a command line: parser, one-line errors, progress bar, argument types.

`pairsig.cli` and the study's `study.cli` use it. Only these three modules print or exit.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NoReturn

from pairsig.io import files
from pairsig.io.choices import near, one_of
from pairsig.io.errors import InputError, LongRun, listed, named, plain, quoted
from pairsig.io.packages import installed, need

if TYPE_CHECKING:
    from pairsig.core.totals import Progress

Run = Callable[[argparse.Namespace], int | None]
"""A command; it returns its exit status if it is not 0."""


MORE = "more"
"""Title of the group of rare options, which is the last of a command and short."""


class _Once(argparse._StoreAction):
    """A value of an option that may be given once: argparse would drop all but the last one without a word."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        if option and getattr(namespace, self.dest) is not self.default:
            raise argparse.ArgumentError(self, "found twice, expected once")
        super().__call__(parser, namespace, values, option)


class Parser(argparse.ArgumentParser):
    """A parser of one command."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how | {"allow_abbrev": False})
        for name in (None, "store"):
            self.register("action", name, _Once)

    def group(self, title: str, description: str | None = None) -> argparse._ArgumentGroup:
        """The group of options with this title."""
        known = {group.title: group for group in self._action_groups}
        return known.get(title) or self.add_argument_group(title, description)

    def format_help(self) -> str:
        """The help, with the arguments that a command needs in its first line, and rare options at its end."""
        self.usage = usage(self)
        self._action_groups.sort(key=lambda group: (group.title or "").startswith(MORE))
        return super().format_help()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            expected = one_of(str(value), list(action.choices))
            raise argparse.ArgumentError(action, f"found {quoted(value)}, expected {expected}")

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


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of a command: an option per line, and only the names of rare ones."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)

    def add_arguments(self, actions: Iterable[argparse.Action]) -> None:
        if self._current_section.heading == MORE:
            names = [called(action).replace(" ", "\xa0") for action in actions]
            note = f"`{self._prog} --help all` describes these options:"
            lines = [note, *wrap(", ".join(names), self._width - 2, break_on_hyphens=False)]
            self._add_item(lambda: "".join(f"  {line}\n" for line in lines).replace("\xa0", " "), [])
        else:
            super().add_arguments(actions)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return ", ".join([*action.option_strings[:-1], called(action)])


class _ShowHelp(argparse.Action):
    """Print the help; with `all`, a description of every option."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, value: object, *__: object) -> None:
        for group in parser._action_groups if value == "all" else ():
            if group.title == MORE:
                group.title = "more options"
        parser.print_help()
        parser.exit()


def called(action: argparse.Action) -> str:
    """An argument as a user writes it: `FILE …`, `--metric M`."""
    value = action.metavar or (f"{{{','.join(action.choices)}}}" if action.choices else action.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else str(value)
    if action.nargs in ("+", "*"):
        value += " …"
    if not action.option_strings:
        return value
    return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {value}"


def usage(parser: argparse.ArgumentParser) -> str:
    """The command with what it needs: `pairsig extract OUTPUT --metric METRIC [options]`."""
    positional = [action for action in parser._actions if not action.option_strings]
    required = [action for action in parser._actions if action.option_strings and action.required]
    return " ".join([parser.prog, *map(called, positional), *map(called, required), "[options]"]).replace("%", "%%")


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

    The help of a command begins with its example.
    """

    def __init__(self, program: str, description: str, examples: Mapping[str, str] | None = None) -> None:
        headings = self._headings = dict[str, str]()
        self.examples = examples or {}

        class Grouped(argparse.RawDescriptionHelpFormatter):
            def _format_action(self, action: argparse.Action) -> str:
                return headings.get(action.dest, "") + super()._format_action(action)

        first = next(iter(self.examples.items()), None)
        text = "".join(f"\n  {line}" for line in first[1].splitlines()) if first else ""
        about = f"{description}\n\n{EXAMPLE}{text}" if first else description
        self.parser = Parser(prog=program, description=about, formatter_class=Grouped)
        self.parser.add_argument(
            "--version", action=_Version, nargs=0, help="print the versions that a bug report needs, and exit"
        )
        self._commands = self.parser.add_subparsers(
            title="commands", metavar="COMMAND", prog=program, parser_class=Parser
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

    def add(self, run: Run, epilog: str | Callable[[], str] = "") -> Parser:
        """Add a command with the name of the function, and return its parser; the help begins with its example."""
        text, name = run.__doc__ or "", run.__name__.strip("_").replace("_", "-")
        example = "".join(f"\n  {line}" for line in self.examples.get(name, "").splitlines())
        added: Parser = self._commands.add_parser(
            name,
            help=text.partition("\n")[0],  # with PYTHONOPTIMIZE=2, there is no text
            description=text + (f"\n\n{EXAMPLE}{example}" if example else ""),
            epilog=epilog,  # type: ignore[arg-type]
            formatter_class=_Help,
            add_help=False,
        )
        added.group(MORE).add_argument("-h", "--help", action=_ShowHelp, nargs="?", metavar="all", help="show this")
        added.group(MORE).add_argument(
            "--quiet", action="store_true", help="print no notes and no progress, only warnings"
        )
        added.set_defaults(_run=run, _parser=added)
        self._headings[name], self._heading = self._heading, ""
        return added

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run one command and return its status: 0 for success or its own, 2 for unusable input, 130 after Ctrl-C."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # some terminals cannot show δ or the name of a file
                stream.reconfigure(errors="backslashreplace")
        words = list(sys.argv[1:] if argv is None else argv)
        try:
            try:
                arguments, unknown = self.parser.parse_known_args(words)
            finally:
                sys.stdout.flush()
            if not hasattr(arguments, "_run"):
                if unknown:
                    self.parser.error(
                        f"unknown command {quoted(unknown[0])}, expected {one_of(unknown[0], list(self.names))}"
                    )
                self.parser.print_help()
                return 0
            if unknown:
                _refuse(unknown, arguments._parser)
        except BrokenPipeError:
            return _closed()
        run: Run = arguments._run
        before = _modified(arguments)
        _settings.update(quiet=arguments.quiet, stdin="")
        try:
            _check_outputs(arguments)
            with files.protection(), _standard_input(arguments), warnings.catch_warnings():
                warnings.showwarning = partial(_announced, warnings.showwarning)
                status = run(arguments) or 0
            sys.stdout.flush()
            return status
        except KeyboardInterrupt:
            written = [path for path, changed in _modified(arguments).items() if before.get(path) != changed]
            details = f"after {listed(written)} was written" if written else "nothing was written"
            print(f"{self.parser.prog}: interrupted, {details}", file=sys.stderr)
            return INTERRUPTED
        except InputError as error:
            _say("error", str(error))
            return 2
        except BrokenPipeError:
            return _closed()
        except (MemoryError, OSError, ImportError, RuntimeError, SystemError) as error:
            if not (sentence := _of_the_machine(error)):
                raise
            _say("error", plain(sentence))
            return 2


EXAMPLE = "example, in an empty folder:"
"""The line above the example of a command."""

_settings: dict[str, Any] = {"quiet": False, "stdin": ""}
"""Of the present command: its option `--quiet`, and the file with what was read from standard input."""


def _say(kind: str, text: str) -> None:
    """Print one message, in which standard input is called `-`."""
    text = text.replace(_settings["stdin"], "-") if _settings["stdin"] else text
    print(f"pairsig: {kind}: {text}", file=sys.stderr)


def _refuse(unknown: Sequence[str], parser: argparse.ArgumentParser) -> NoReturn:
    """One sentence on the first word that the command does not know."""
    word = next((word for word in unknown if word.startswith("-")), unknown[0]).partition("=")[0]
    options = chain.from_iterable(action.option_strings for action in parser._actions)
    known = [name for name in options if name.startswith("--")]
    parser.error(f"unknown option {word}{near(word, known)}" if word[0] == "-" else f"found {quoted(word)} as well")


def _closed() -> int:
    """The exit status if nobody reads the output any more, as in `pairsig … | head -1`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


@contextmanager
def _standard_input(arguments: argparse.Namespace) -> Iterator[None]:
    """Replace the file `-` by a file with what is read from standard input, since files are read more than once."""
    lists = [value for value in vars(arguments).values() if isinstance(value, list)]
    lists += [value for value in chain.from_iterable(lists) if isinstance(value, list)]
    places: list[tuple[list[Any], int]] = []
    for words in lists:
        places += [(words, place) for place, word in enumerate(words) if word in ("-", Path("-"))]
    if not places:
        yield
        return
    if len(places) > 1:
        raise InputError(f"found the file - {len(places)} times, expected it once: it stands for standard input")
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "stdin"
        path.write_bytes(sys.stdin.buffer.read())
        ((words, place),) = places
        words[place] = type(words[place])(path)
        _settings["stdin"] = str(path)
        yield


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
    for output in filter(Path.exists, outputs):
        for read in inputs:
            if output.samefile(read):
                raise InputError(f"found the input {read} as the output {output}, expected another file to write")
    by_place: dict[Path, Path] = {}
    for output in outputs:
        first = by_place.setdefault(output.resolve(), output)
        if first is not output:
            raise InputError(f"found {first} as two outputs, expected different files")


def _modified(arguments: argparse.Namespace) -> dict[str, int]:
    """Modification times of the files among the arguments."""
    values = chain.from_iterable(value if isinstance(value, list) else [value] for value in vars(arguments).values())
    paths = [path for path in values if isinstance(path, Path) and path.is_file()]
    return {str(path): path.stat().st_mtime_ns for path in paths}


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


def _announced(otherwise: Callable[..., None], message: Warning, category: type[Warning], *where: Any) -> None:
    """Print how long a run will take as a note, and other warnings as usual."""
    if issubclass(category, LongRun):
        note(str(message))
    else:
        otherwise(message, category, *where)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Progress | None]:
    """Show on a terminal how much of the work is done, once it has taken longer than `PATIENCE`."""
    if _settings["quiet"] or not sys.stderr.isatty() or total is None:
        yield None
        return
    import time

    started, done = time.monotonic(), 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        if time.monotonic() - started > PATIENCE:
            print(f"\r{label}: {100 * min(done, total) / total:.0f} %\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        yield advance
    finally:
        if time.monotonic() - started > PATIENCE:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


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

result = partial(output, suffixes=(".json", ".csv", ".tsv", ".parquet", ".md", ".tex"))
"""Path of a result to write, as a table or in a format for readers."""

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
