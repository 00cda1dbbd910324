"""The keys of the config: what each means, its default, and the values that it may have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from pairsig.core import definitions
from pairsig.io.choices import one_of
from pairsig.io.errors import InputError, quoted
from study.tables.rows import CLASSES


@dataclass(frozen=True)
class Key:
    """What the value of a key must be: a value that fits, one of a few, or a block of keys."""

    about: str  # description, for messages
    default: object = None
    fits: Callable[[Any], bool] = lambda _: True
    of: tuple[object, ...] = ()
    block: Mapping[str, Key] | None = None
    required: bool = False
    item: Key | None = None  # of a list


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    """Whether a value is an integer; 10.0 is not, because the commands would reject it."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list(value: object) -> bool:
    """Whether a value is a list of different items, at least one."""
    return isinstance(value, list) and 0 < len(value) == len({repr(one) for one in value})


def _whole(about: str, default: int | None = None, *, least: int = 1, most: int = 1_000_000_000) -> Key:
    return Key(about, default, lambda value: _is_whole(value) and least <= value <= most)


def _number(about: str, default: float, most: float, *, above_0: bool = False) -> Key:
    def fits(value: Any) -> bool:
        is_number = _is_whole(value) or (isinstance(value, float) and math.isfinite(value))
        return is_number and 0 <= value <= most and (value > 0 or not above_0)

    return Key(about, default, fits)


def _list(about: str, default: list[int], item: Key) -> Key:
    return Key(about, default, _is_list, item=item)


def _sheet(name: str) -> Key:
    """The path of a sheet."""
    end = "yaml" if CLASSES[name].yaml else "tsv"
    about = f"the path of the sheet of {_SHEETS[name]}{', which ends in .yaml' * CLASSES[name].yaml}"
    pattern = r"[.]ya?ml$" if CLASSES[name].yaml else ""
    return Key(about, f"config/{name}.{end}", lambda value: _is_text(value) and bool(re.search(pattern, value)))


def _test(name: str) -> Key:
    """A test: its method, where there is a choice, and an alternative that does not depend on an order.

    All pairs are compared, and the pair (A, B) is the pair (B, A); so no alternative can name one of the systems.
    """
    undirected = [test for test in definitions.TESTS if test.name == name and not test.directed]
    choices = {
        "method": tuple(dict.fromkeys(test.method for test in undirected if test.method)),
        "alternative": tuple(dict.fromkeys(test.alternative for test in undirected)),
    }
    keys = {key: Key(" or ".join(of), None, _is_text, of, required=True) for key, of in choices.items() if of}
    return Key("the " + " and the ".join(keys), block=keys)


_SHEETS = {
    "datasets": "test sets", "systems": "systems", "corpora": "corpora", "training_sets": "training sets",
    "base_models": "base models", "jars": "Java libraries", "calibrations": "calibrations",
    "families": "families of test sets", "published": "published numbers",
}  # fmt: skip
_SAMPLES = _whole("a whole number of samples")
_SENTENCES = _whole("a whole number of sentences")

KEYS = {
    "source": Key(
        "embedded (statistics from resources/statistics) or derived (from the files of the corpora)",
        "embedded", _is_text, ("embedded", "derived"),
    ),
    "retrain": Key(
        "true (train the base models of the synthetic datasets again), missing (only the systems that their embedded "
        "statistics lack) or false (take these as they are)",
        False, of=(True, "missing", False),
    ),
    "scale": _number(
        "a number above 0 up to 1, the share of the systems to train per base model and size, rounded down, at least "
        "one", 1, 1, above_0=True,
    ),
    "retries": _whole(
        "a whole number, how often to repeat a failed training or prediction before its system is left out",
        1, least=0, most=100,
    ),
    "data_dir": Key("the folder with the corpora, for source derived and for retrain", "data", _is_text),
    "datasets": Key(
        "'all' (but synthetic ones without embedded statistics, unless retrain is true), or a list of names in the "
        "sheet of datasets, each once",
        "all", lambda value: value == "all" or (_is_list(value) and all(map(_is_text, value))),
    ),
    "tests": Key(
        "the tests to run, with the method and the alternative of each; the figures show the first test",
        None, bool, block={name: _test(name) for name in definitions.names()},
    ),
    "figure_formats": Key(
        "a list of formats of figures: svg, which the pages show, and if wanted pdf and png",
        ["svg", "pdf", "png"],
        lambda value: _is_list(value) and "svg" in value and {"svg", "pdf", "png"}.issuperset(map(str, value)),
    ),
    "resampling": Key("how the resamples are drawn", block={
        "n_resamples": _whole("a whole number of resamples per test, at least 1 (the paper's b)", 10**6, most=10**12),
        "n_resamples_resized": _whole(
            "a whole number, the same at most for test sets made from others (initial segments, domains, draws, "
            "halves, pools)", 25_000, most=10**12,
        ),
        "seed": _whole(
            "a whole number, at least 0; the same seed gives the same results on any machine",
            2012, least=0, most=2**128 - 1,
        ),
        "unit": Key("segment or document, the unit to resample", "segment", _is_text, ("segment", "document")),
    }),
    "thresholds": Key("the settings of the estimate of thresholds", block={
        "percentile": _number(
            "a number above 0 up to 100, the percentile of the gains in the window", 95, 100, above_0=True
        ),
        "min_pairs": _whole("a whole number, the minimal number of pairs in the window", 10),
    }),
    "montecarlo": Key("the second study, Monte Carlo and exact tests on simulated systems", block={
        "n_simulated": _whole("a whole number of pairs of systems to simulate for each number of sentences", 40),
        "n_pairs": _whole(
            "a whole number of these pairs, with p from 0.001 to 0.1, for measuring the Monte Carlo error", 10
        ),
        "n_runs": _whole("a whole number of Monte Carlo runs per pair, at least 2 for an interval", 5),
        "n_resamples": _list(
            "a list of numbers of samples, each once", [1000, 2000, 5000, 10_000, 20_000, 40_000, 100_000], _SAMPLES
        ),
        "n_segments": _list(
            "a list of numbers of sentences for timing the tests, each once",
            [250, 500, 1000, 2000, 4000, 6000, 8000, 10_000, 20_000, 100_000], _SENTENCES,
        ),
        "n_repeats": _whole("a whole number of timed runs per test", 3),
    }),
    "sheets": Key("the paths of the sheets", block={name: _sheet(name) for name in CLASSES}),
}  # fmt: skip


def check_config(config: dict[str, Any]) -> None:
    """Check the config and fill in its defaults in place; an exact test replaces the one that samples."""
    _fill(config, KEYS)
    try:
        for path, found in _faults(config, KEYS):
            raise InputError(": ".join(["config", *([".".join(path)] if path else []), found]))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError("config: found a number with thousands of digits, expected a shorter one") from None
    for name in definitions.names(exact=True):
        if name in config["tests"]:
            config["tests"].pop(definitions.find(name).drawn.name, None)
    for key, path in (("data_dir", config["data_dir"]), *((f"sheets.{key}", config["sheets"][key]) for key in CLASSES)):
        if re.search(r"[{}\x00-\x1f]", path) or not path:
            raise InputError(f"config: {key}: found {quoted(path)}, expected a path without braces")


def _fill(config: dict[str, Any], keys: Mapping[str, Key]) -> None:
    """Fill in missing keys block by block, and convert strings from `--config` to booleans."""
    for key, one in keys.items():
        if True in one.of and config.get(key) in ("true", "false"):
            config[key] = config[key] == "true"
        if one.block is None:
            config.setdefault(key, copy(one.default))
        elif not any(inner.required for inner in one.block.values()) and isinstance(config.setdefault(key, {}), dict):
            _fill(config[key], one.block)


def _faults(config: Mapping[Any, Any], keys: Mapping[str, Key], *above: str) -> Iterator[tuple[list[str], str]]:
    """Yield the path of each wrong value (empty if the message contains it), with what was found and expected."""
    for key in config:
        if key not in keys:
            inside = f" in {'.'.join(above)}" if above else ""
            yield [], f"found the key {quoted(key)}{inside}, expected {one_of(str(key), keys)}"
    for key, one in keys.items():
        if one.required and key not in config:
            yield [*above, key], f"found nothing, expected {one.about}"
    for key, one in keys.items():
        if key not in config:
            continue
        value = config[key]
        if not one.fits(value) or (one.block is not None and not isinstance(value, dict)):
            yield [*above, key], f"found {quoted(value)}, expected {one.about}"
        elif one.of and (type(value), value) not in [(type(other), other) for other in one.of]:
            words = [str(other).lower() if isinstance(other, bool) else str(other) for other in one.of]
            yield [*above, key], f"found {quoted(value)}, expected {one_of(str(value), words)}"
        elif one.block is not None:
            yield from _faults(value, one.block, *above, key)
        elif one.item:
            items = {str(place): item for place, item in enumerate(value)}
            yield from _faults(items, dict.fromkeys(items, one.item), *above, key)
