"""Find what is missing on this machine for the shell commands of base models: programs, scripts, files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pairsig.io.choices import near
from pairsig.io.errors import named

_BEFORE_A_COMMAND = re.compile(r"\w+=.*|if|then|else|elif|while|until|do|time|!|\{|exec|nohup|env|nice", re.DOTALL)
"""Words of the shell after which a command follows, and assignments."""
_INTERPRETER = re.compile(r"[gm]?awk|(ba)?sh|java|julia|node|perl|python3?|Rscript|ruby")
_SCRIPT = re.compile(r"[\w./+-]+[.](awk|jar|jl|js|pl|py|R|rb|sh)")
_PLAIN = re.compile(r"[\w./+-]+")
"""Words that the shell takes as they are."""
_TOO_MUCH = re.compile(r"\$\(|\(\)|`|<<|#|\\|\b(case|for|select|function|cd|pushd)\b")
"""Shell code in which a word may not be what it seems."""


def modules(*commands: str) -> tuple[str, ...]:
    """Find the modules of this project that shell commands run."""
    pattern = r"-m\s+((?:base_models|pairsig|study)\.[\w.]*\w)"
    return tuple(sorted({*chain.from_iterable(re.findall(pattern, command) for command in commands)}))


def missing(command: str) -> Iterator[tuple[str, str]]:
    """Find programs and scripts of a shell command that do not exist, with what is expected instead.

    It finds the first word of each simple command, and the script after an interpreter. It finds nothing in commands
    that are too complex.
    """
    for words in _simple_commands(command):
        program, *arguments = words
        if program.startswith("-") or not _PLAIN.fullmatch(program):
            continue
        if "/" in program and not is_file(program):
            yield f"the program {named(program)}, which is missing", f"the path of a program{near_file(program)}"
        elif not _is_known(program):
            yield f"the program {named(program)}, which is not installed", "one that is, or the path of a program"
        scripts = filter(_SCRIPT.fullmatch, arguments if _INTERPRETER.fullmatch(program) else ())
        script = next(scripts, None)
        if script is not None and not is_file(script):
            yield f"{named(script)}, which is missing", f"a file{near_file(script)}"


def is_file(path: str) -> bool:
    """Whether a file with this name exists; names that are too long do not."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def near_file(path: str) -> str:
    """A suggestion for a misspelt path: a similar name in its folder."""
    folder, name = os.path.split(path)
    try:
        names = [entry.name for entry in os.scandir(folder or ".") if entry.is_file()]
    except (OSError, ValueError):
        return ""
    suggestion = near(name, names)
    return suggestion.replace("mean ", f"mean {folder}/", 1) if folder else suggestion


def _is_known(program: str) -> bool:
    """Whether the shell knows a program: it is installed, or a word of the shell itself."""
    if shutil.which(program):
        return True
    return subprocess.run(["bash", "-c", 'type "$0"', program], capture_output=True, check=False).returncode == 0


def _simple_commands(command: str) -> Iterator[list[str]]:
    """Split a shell command into simple commands, without assignments and redirections."""
    command = command.replace("\\\n", " ")
    if _TOO_MUCH.search(command):
        return
    lexer = shlex.shlex(command, punctuation_chars="();<>|&\n")  # words keep their quotes
    lexer.whitespace, lexer.whitespace_split = " \t", True
    try:
        tokens = list(lexer)
    except ValueError:  # a quotation without its end
        return
    words: list[str] = []
    is_target = False
    for token in [*tokens, ";"]:
        if set(token) & set("<>") and not set(token) - set("<>|&"):
            is_target = True
        elif not set(token) - set("();|&\n"):
            if words:
                yield words
            words = []
        elif is_target:
            is_target = False
        elif words or not _BEFORE_A_COMMAND.fullmatch(token):
            words.append(token)
