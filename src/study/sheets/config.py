"""The config: one model per block of keys, with what each key means, its default and the values that it may have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    create_model,
    model_validator,
)  # fmt: skip

from pairsig.core import definitions
from pairsig.io.errors import InputError, quoted
from study.sheets.messages import Fault, explain, sentence
from study.sheets.models import CLASSES

T = TypeVar("T")


class Block(BaseModel):
    """A block of keys; types are those of YAML, so 10.0 is no whole number."""

    model_config = ConfigDict(extra="forbid", strict=True)


def key(about: str, example: str, default: object = ..., **limits: float) -> Any:
    """Declare a key; without a default, it is required."""
    annotated: Any = Field  # whose overloads do not know of limits by name
    return annotated(default, description=about, examples=[example], **limits)


def block(of: type[Block], about: str) -> Any:
    """Declare a block of keys that all have defaults."""
    return Field(default_factory=of, description=about)


def _distinct(values: list[T]) -> list[T]:
    if len(set(map(repr, values))) < len(values) or not values:
        raise Fault()
    return values


def _truth(value: object) -> object:
    """Convert words from `--config` to booleans; 1 is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise Fault()
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _path(path: str) -> str:
    if re.search(r"[{}\x00-\x1f]", path) or not path:
        raise Fault(expected="a path without braces")
    return path


def _is_yaml(path: str) -> str:
    if not re.search(r"[.]ya?ml$", path):
        raise Fault()
    return path


Whole = Annotated[int, Field(ge=1, le=10**9)]
Number = Annotated[
    float, Field(allow_inf_nan=False), PlainSerializer(lambda value: int(value) if value == int(value) else value)
]
FilePath = Annotated[str, AfterValidator(_path)]
Distinct = AfterValidator(_distinct)


class Resampling(Block):
    """How the resamples are drawn."""

    n_resamples: int = key(
        "a whole number of resamples per test, at least 1 (the paper's b)", "1000000", 10**6, ge=1, le=10**12
    )
    n_resamples_resized: int = key(
        "a whole number, the same at most on test sets made from others: initial segments, domains, draws, halves and "
        "pools; [why fewer are enough](../speed.md#resamples-of-the-study)",
        "25000", 25_000, ge=1, le=10**12,
    )  # fmt: skip
    seed: int = key(
        "a whole number, at least 0; the same seed gives the same results on any machine", "2012", 2012, ge=0,
        le=2**128 - 1,
    )  # fmt: skip
    unit: Literal["segment", "document"] = key(
        "what is drawn with replacement: segment or document", "document", "segment"
    )


class Thresholds(Block):
    """How thresholds are estimated."""

    percentile: Number = key(
        "a number above 0 up to 100, the percentile of the gains in the window that is the threshold", "95", 95, gt=0,
        le=100,
    )  # fmt: skip
    min_pairs: Whole = key("a whole number of pairs, below which there is no threshold, but `too few`", "10", 10)


class MonteCarlo(Block):
    """The second study, on simulated systems."""

    n_simulated: Whole = key("a whole number of pairs of systems to simulate for each number of sentences", "40", 40)
    n_pairs: Whole = key(
        "a whole number of these pairs, with p from 0.001 to 0.1, whose Monte Carlo error is measured", "10", 10
    )
    n_runs: Whole = key("a whole number of Monte Carlo runs for each pair, at least 2 for an interval", "5", 5)
    n_sizes: Annotated[int, Field(ge=1, le=6)] = key(
        "a whole number of sizes of test sets for these runs, from 1 to the paper's 6, smallest first", "3", 6
    )
    n_resamples: Annotated[list[Whole], Distinct] = key(
        "a list of whole numbers of samples, each once", "[1000, 20000, 100000]",
        [1000, 2000, 5000, 10_000, 20_000, 40_000, 100_000],
    )  # fmt: skip
    n_segments: Annotated[list[Whole], Distinct] = key(
        "a list of whole numbers of sentences on which the tests are timed, each once", "[250, 10000, 100000]",
        [250, 500, 1000, 2000, 4000, 6000, 8000, 10_000, 20_000, 100_000],
    )  # fmt: skip
    n_repeats: Whole = key("a whole number, how often each test is timed", "3", 3)


_METHODS = {"shifted": "shifted (the paper's)", "percentile": "percentile"}
_ALTERNATIVES = "two-sided, or observed (one-sided in the direction of the better system)"
_INSTEAD = {
    "exact-bootstrap": (
        "; replaces bootstrap, and draws no resamples if the metric has an [exact test](../glossary.md#exact-test)"
    ),
    "exact": "; replaces randomization, and draws no shuffles if the metric has an exact test",
}


def _test(name: str) -> Any:
    """A test: its method, where there is a choice, and an alternative that does not depend on an order.

    All pairs are compared, and the pair (A, B) is the pair (B, A); so no alternative can name one of the systems.
    """
    undirected = [test for test in definitions.TESTS if test.name == name and not test.directed]
    methods = tuple(dict.fromkeys(test.method for test in undirected))
    if "" in methods:  # the usual test has no method; the study does not run the others, such as the studentized one
        undirected, methods = [test for test in undirected if not test.method], ()
    alternatives = tuple(dict.fromkeys(test.alternative for test in undirected))
    instead = _INSTEAD.get(name, "")
    fields: dict[str, Any] = {}
    if methods:
        is_choice = all(test.method for test in undirected)
        about = " or ".join(_METHODS.get(method, method) for method in methods) + instead
        about += "; may be left out" * (not is_choice)
        fields["method"] = Literal[methods], key(about, methods[0], ... if is_choice else None)
        instead = "" if is_choice else instead
    fields["alternative"] = Literal[alternatives], key(_ALTERNATIVES + instead, alternatives[0])
    model = create_model(name, __base__=Block, **fields)
    return model, Field(None, description=f"the {' and the '.join(fields)}")


Tests = create_model("Tests", __base__=Block, **{name: _test(name) for name in definitions.names()})


def _some(tests: object) -> object:
    if tests == {}:
        raise Fault()
    return tests


_SHEETS = {
    "datasets": "test sets", "systems": "systems", "corpora": "corpora", "training_sets": "training sets",
    "base_models": "base models", "jars": "Java libraries", "calibrations": "calibrations",
    "families": "families of test sets", "published": "the paper's numbers",
}  # fmt: skip


def _sheet(name: str) -> Any:
    of = CLASSES[name]
    path = f"config/{name}.{'yaml' if of.yaml else 'tsv'}"
    about = f"the path of the sheet of {_SHEETS[name]}{', which ends in .yaml' * of.yaml}"
    return Annotated[FilePath, AfterValidator(_is_yaml)] if of.yaml else FilePath, key(about, path, path)


def _own_sheet(name: str) -> Any:
    annotation, field = _sheet(name)
    return annotation, Field(None, description=field.description)


Paths = create_model("Paths", __base__=Block, **{name: _sheet(name) for name in CLASSES})
OwnPaths = create_model("OwnPaths", __base__=Block, **{name: _own_sheet(name) for name in CLASSES})


class Config(Block):
    """All keys."""

    source: Literal["embedded", "derived"] = key(
        "where the counts come from: embedded (resources/statistics) or derived (computed from the files of the "
        "corpora)",
        "embedded", "embedded",
    )  # fmt: skip
    retrain: Annotated[Literal[True, "missing", False], BeforeValidator(_truth)] = key(
        "which base models of the synthetic datasets to train: true (all), missing (only systems without embedded "
        "statistics) or false (none; use the embedded statistics)",
        "missing", False,
    )  # fmt: skip
    scale: Number = key(
        "a number above 0 up to 1, the share of the systems to train from each base model; rounded down, but at least "
        "one; systems of different sizes are taken in turn",
        "0.1", 1, gt=0, le=1,
    )  # fmt: skip
    retries: int = key(
        "a whole number, how often a training or prediction that failed or was killed is repeated before its system "
        "is left out",
        "1", 1, ge=0, le=100,
    )  # fmt: skip
    together: Annotated[bool, BeforeValidator(_truth)] = key(
        "true or false, whether all comparisons run in one job, all analyses in another, and figures and pages in a "
        "third, which saves time if each takes seconds",
        "true", False,
    )  # fmt: skip
    data_dir: FilePath = key(
        "the folder with the corpora, for `source: derived` and for retraining", "path/to/corpora", "data"
    )
    datasets: Literal["all", "own"] | Annotated[list[str], Distinct] = key(
        "'all', 'own' (those in your own sheet of datasets), or a list of names from datasets.tsv, each once; 'all' "
        "excludes synthetic datasets without embedded statistics, unless retrain is true",
        "[realsumm, hansards]", "all",
    )  # fmt: skip
    tests: Annotated[Tests, BeforeValidator(_some)] = Field(  # type: ignore[valid-type]
        description="the tests to run, at least one, with the method and the alternative of each"
    )
    figure_formats: Annotated[list[Literal["svg", "pdf", "png"]], Distinct] = key(
        "a list of formats of figures: `svg`, which the pages show, and if wanted `pdf` and `png`", "[svg, pdf, png]",
        ["svg", "pdf", "png"],
    )  # fmt: skip
    resampling: Resampling = block(Resampling, "how the resamples are drawn")
    thresholds: Thresholds = block(Thresholds, "how thresholds are estimated")
    montecarlo: MonteCarlo = block(MonteCarlo, "the settings of the second study")
    sheets: Paths = block(Paths, "the paths of the sheets")  # type: ignore[valid-type]
    own_sheets: OwnPaths = Field(  # type: ignore[valid-type]
        default_factory=OwnPaths,
        description="the paths of your own sheets, under the same keys; their rows are added to those of `sheets`",
        examples=["{datasets: own/datasets.tsv, systems: own/systems.tsv}"],
    )

    @model_validator(mode="after")
    def _has_svg(self) -> Self:
        if "svg" not in self.figure_formats:
            raise Fault(quoted(self.figure_formats), field="figure_formats")
        return self


def check_config(config: dict[str, Any]) -> None:
    """Check the config and fill in its defaults in place; an exact test replaces the one that samples."""
    try:
        checked = Config.model_validate(config).model_dump(exclude_none=True)
    except ValidationError as error:
        raise InputError(_message(error)) from None
    checked["tests"] = {name: checked["tests"][name] for name in config["tests"]}  # the figures show the first one
    config.update(checked)
    for name in definitions.names(exact=True):
        if name in config["tests"]:
            config["tests"].pop(definitions.find(name).drawn.name, None)


def sheet_paths(config: Mapping[str, Any], name: str) -> list[str]:
    """The files of a sheet: that of the study, and that of the user, if there is one."""
    return [block[name] for block in (config["sheets"], config["own_sheets"]) if name in block]


def _message(error: ValidationError) -> str:
    try:
        path, actual, expected = explain(error, Config)
    except ValueError:
        return "config: found a number with thousands of digits, expected a shorter one"
    return sentence(": ".join(filter(None, ["config", ".".join(path)])), actual, expected)
