"""Calls on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Argument = TypeVar("Argument")
Value = TypeVar("Value")


def on_threads(
    function: Callable[[Argument], Value],
    arguments: Sequence[Argument] | Any,
    threads: int | None = None,
    stop: Callable[[], object] = lambda: None,
) -> list[Value]:
    """The values of a function for several arguments, in their order, on one thread per core or on `threads`.

    `stop` is called after the last call, after an error and after Ctrl-C: before calls that still run are awaited. A
    single call starts no thread and does not import what threads need, which takes a hundredth of a second.
    """
    n_threads = min(threads or os.cpu_count() or 1, len(arguments))
    if n_threads < 2:
        return [function(argument) for argument in arguments]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as workers:
        try:
            return list(workers.map(function, arguments))
        finally:
            stop()
