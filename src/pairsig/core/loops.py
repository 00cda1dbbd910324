"""Loops that numba compiles when they are first called, so that tests that need none of them start without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np

from pairsig.io.packages import installed, need

FEW_PAIRS = 10
"""Pairs of systems whose loops Python interprets in reasonable time where numba is not installed."""

_PREPARING = RLock()


class Compiled:
    """A function that numba compiles at its first call; where numba is not installed, Python interprets it.

    The numbers are the same. A compiled function may call others, also those of other modules.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.py_func, self._options, self.__doc__ = function, options, function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled (or interpreted) function."""
        with _PREPARING:  # threads that call the function at the same time share what is compiled
            dispatcher = self.dispatcher
        return dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiles it."""
        if not installed("numba"):
            return np.errstate(over="ignore")(self.py_func)  # compiled integers wrap around without a warning
        from numba import njit

        # Compiled code finds the functions that it calls by their names, where numba must find its own kind.
        names = self.py_func.__globals__
        for name in {*self.py_func.__code__.co_names}.intersection(names):
            if isinstance(names[name], Compiled):
                names[name] = names[name].dispatcher
        return njit(self.py_func, nogil=True, **self._options)


def compiled(function: Callable[..., Any]) -> Compiled:
    """Decorate a function that is compiled when it is first called, and kept on disk."""
    return Compiled(function, cache=True)


def summed(function: Callable[..., Any]) -> Compiled:
    """Decorate a compiled function whose sums are exact in any order, so that it may add several terms at once."""
    return Compiled(function, cache=True, fastmath={"contract", "nsz", "reassoc"})


def inlined(function: Callable[..., Any]) -> Compiled:
    """Decorate a function that becomes part of the compiled functions that call it."""
    return Compiled(function, inline="always")


def check_few(n_pairs: int) -> None:
    """Raise an `InputError` if there are more than `FEW_PAIRS` pairs and numba is not installed."""
    if n_pairs > FEW_PAIRS:
        need("numba")
