"""Read files of other programs: outputs of systems, counts and scores, and logs of evaluations.

A reader is a module with a function `read` and a `Reader` called `READER`, and its name is listed below. The help, the
table of formats in the documentation, the detection of the format and the tests that every reader must pass follow
from these two.

Every path may be a plain file, a `.gz` or `.xz` file, or a member of an archive, written `runs.tar.xz!team/en.conllu`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

from pairsig.io.choices import choose, options_of
from pairsig.io.errors import InputError, quoted
from pairsig.io.files import AnyPath, beginning
from pairsig.io.memory import without_collector

# From the most general format to the most specific. Detection asks the last one first.
OUTPUTS = ("text", "alignment", "iob", "trees", "conllu", "conllx")
"""Modules of `outputs`: segments that a metric compares with a reference."""
TABLES = ("table", "scores")
"""What `table` reads: columns with declared roles, and one score per line."""
SUFFIXES_OF_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
COUNTS = ("sigf", "art", "evalb")
"""Modules of `counts`: counts of segments."""
LOGS = ("swebench", "lm_eval", "inspect", "helm", "comet", "mt_metrics_eval")
"""Modules of `logs`: scores of items, which are paired by their ids."""

KINDS = {"tables": TABLES, "outputs": OUTPUTS, "counts": COUNTS, "logs": LOGS}

_START = 2**16


def plain_name(path: AnyPath) -> str:
    """A path without the suffix of a compression."""
    return re.sub(r"\.(?:gz|xz)$", "", fspath(path))


@dataclass(frozen=True)
class Beginning:
    """The beginning of a file, from which its format is detected."""

    path: AnyPath

    @cached_property
    def data(self) -> bytes:
        """The first bytes, decompressed."""
        return beginning(self.path, _START)

    @property
    def suffix(self) -> str:
        """The suffix of the path, without that of a compression."""
        return Path(plain_name(self.path)).suffix

    @cached_property
    def text(self) -> str:
        """The first characters that are not blank."""
        return self.data.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()

    @cached_property
    def rows(self) -> list[str]:
        """The lines that are not blank, without one that may be incomplete."""
        lines = self.text.splitlines()[: None if len(self.data) < _START else -1]
        return [line for line in lines if line.strip()]

    @property
    def is_json_lines(self) -> bool:
        """Whether each line is a JSON object, judged by the suffix or the first two lines."""
        objects = [row.strip().startswith("{") and row.strip().endswith("}") for row in self.rows[:2]]
        return self.suffix in (".jsonl", ".ndjson") or objects == [True, True]


def begins(*patterns: str) -> Callable[[Beginning], bool]:
    """Recognize files whose text begins with one of the patterns."""
    return lambda file: any(re.match(pattern, file.text, re.DOTALL) for pattern in patterns)


@dataclass(frozen=True)
class Reader:
    r"""What is known about a format besides the function that reads it.

    Attributes
    ----------
    read
        Function `read(path, **options)`. For outputs, it returns one item per segment; otherwise one `Output`, or one
        per system and run. A file that is damaged, or contradicts itself, is an `InputError` with the file and line.
    content
        Description of a file, for the documentation.
    example
        A small valid file. All readers must pass the same tests with it.
    recognizes
        Whether a file has this format, judged by its beginning.
    metrics
        Description of the metrics in a file. Outputs need none: they have the metrics with this reader.
    metric
        For outputs, the default metric.
    like
        For outputs, another reader with the same segments, and so with the same metrics.
    parallel
        For outputs, whether segments are paired by their number. Otherwise the metric compares the words.
    suffixes
        Suffixes that only this format has; they take precedence over `recognizes`.
    in_folder
        Names of files, such as `*.eval`, by which a folder is recognized.
    example_name
        Name of the example.

    Examples
    --------
    >>> from pairsig.readers import Reader, begins
    >>> reader = Reader(read=lambda path: [], content="words", example="a\n", recognizes=begins(r"\w"))
    """

    read: Callable[..., Any]
    content: str
    example: str
    recognizes: Callable[[Beginning], bool]
    metrics: str = ""
    metric: str = ""
    like: str = ""
    parallel: bool = False
    suffixes: tuple[str, ...] = ()
    in_folder: tuple[str, ...] = ()
    example_name: str = "example.txt"

    def reads(self, file: Beginning) -> bool:
        """Whether a file has this format, by its suffix or its beginning."""
        return file.suffix in self.suffixes or self.recognizes(file)


def kind_of(name: str) -> str:
    """The kind of input that a reader reads: tables, outputs, counts or logs."""
    choose(name, tuple(chain(*KINDS.values())), "reader")
    return next(kind for kind, names in KINDS.items() if name in names)


def reader_of(name: str) -> Reader:
    """Look up a reader of outputs, counts or logs."""
    reader: Reader = import_module(f"pairsig.readers.{kind_of(name)}.{name}").READER
    return reader


def read(reader: str, path: AnyPath, /, **options: Any) -> Any:
    """Read a file of outputs or references, of counts, or a log, with those of the options that its reader has."""
    function = reader_of(reader).read
    known = options_of(function)
    with without_collector():
        return function(path, **{name: value for name, value in options.items() if name in known})


def read_documents(path: AnyPath, *, skip_lines: int = 0) -> tuple[list[str], list[str]]:
    """Read the domain and the document of every segment from a file with lines `domain<TAB>document`.

    If none of them contains blanks, a blank may stand for the tab. The document `-` is unknown and becomes "", which a
    test with documents as units refuses.

    Parameters
    ----------
    path
        A file such as WMT's `en-de.docs`.
    skip_lines
        Number of lines at the top that belong to no segment.

    Returns
    -------
    domains, documents
        One string per segment.
    """
    from pairsig.readers.outputs import text

    domains, documents = [], []
    for number, line in enumerate(text.read(path, skip_lines=skip_lines), start=skip_lines + 1):
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) != 2:
            raise InputError(f"{path}, line {number}: found {quoted(line)}, expected domain<TAB>document")
        domains.append(fields[0])
        documents.append("" if fields[1] == "-" else fields[1])
    return domains, documents
