"""Optional packages: the extra that installs each, and imports that wait for their first use."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pairsig.io.errors import InputError

__all__ = ["EXTRAS", "Later", "installed", "need", "pd"]

EXTRAS = {
    "matplotlib": ("plot", "figures"),
    "nltk": ("texts", "trees and word stems"),
    "numba": ("many", "comparisons of more than five systems"),
    "pyarrow": ("parquet", "Parquet files and archives with Zstandard compression"),
    "rouge_score": ("texts", "ROUGE scores"),
    "sacrebleu": ("texts", "the counts of BLEU, chrF and TER"),
}
"""By optional package: the extra of pairsig that installs it, and what needs it (in the plural)."""


def installed(package: str) -> bool:
    """Whether a package can be imported; this does not import it."""
    return find_spec(package) is not None


def need(package: str) -> None:
    """Raise an `InputError` with the line to type if a package of `EXTRAS` is not installed."""
    if not installed(package):
        extra, features = EXTRAS[package]
        raise InputError(f"{features} need {package}, which is not installed; type pip install 'pairsig[{extra}]'")


class Later(ModuleType):
    """A module that is imported when one of its names is first used."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # so that the next use does not come here
        return value


if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Later("pandas")  # which takes longer to import than a test of two files
