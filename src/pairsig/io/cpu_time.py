"""CPU seconds of a command by cause, for `make bench`: with PAIRSIG_CPU_TIME=1, each command ends with a line of them.

Causes exclude each other: if one function calls another with a cause of its own, its time counts for that one only.
"""

from __future__ import annotations

import builtins
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

ENABLED = os.environ.get("PAIRSIG_CPU_TIME") == "1"
START = "pairsig: CPU seconds: "

_seconds: defaultdict[str, float] = defaultdict(float)
_adding = threading.Lock()


class _Thread(threading.local):
    """The seconds that callees of the current function have already counted, on this thread."""

    counted = 0.0


_thread = _Thread()


def of(cause: str) -> Callable[[F], F]:
    """A decorator: count the CPU seconds of a function, on the thread that calls it, for this cause."""

    def counting(function: F) -> F:
        if not ENABLED:
            return function

        @wraps(function)
        def counted(*arguments: Any, **options: Any) -> Any:
            before, _thread.counted = _thread.counted, 0.0
            start = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.thread_time() - start
                with _adding:
                    _seconds[cause] += spent - _thread.counted
                _thread.counted = before + spent

        return counted  # type: ignore[return-value]

    return counting


def line() -> str:
    """The seconds by cause, and those of the whole process with its children."""
    whole = sum(os.times()[:4], 0.0)
    rest = whole - sum(_seconds.values())
    causes = {**dict(sorted(_seconds.items(), key=lambda item: -item[1])), "other": max(0.0, rest)}
    return START + ", ".join(f"{cause} {seconds:.2f}" for cause, seconds in causes.items())


if ENABLED:
    builtins.__import__ = of("imports")(builtins.__import__)
