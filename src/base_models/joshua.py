"""Statistical machine translation, decoded by Joshua 6 (Post et al. 2015).

This project learns the models: links by the joint HMM, rules by `base_models.grammar`. `--search cky` decodes
hierarchical rules, as Joshua's own models are (Chiang 2007); `--search stack` phrases, left to right, as Moses does
(Koehn et al. 2003). The language model is berkeleylm's, of the target side. Source sentences without a target in the
training set are what will be translated: rules that match nothing in them are not written.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from base_models import formats, grammar, joint_hmm, program
from pairsig.io.errors import InputError
from pairsig.io.files import open_text
from pairsig.io.tables import write_text

THRESHOLD = 0.1
"""Threshold of the product of a link's two posteriors. Rules are better with more links than are best for scores of
word alignment."""
LONGEST = 60
"""Maximal number of words per side in training; longer sentences cost much and add little."""
ORDER = 4
"""Order of the n-grams of the language model."""
JAVA = ("-Xmx2g", "-XX:+UseSerialGC", "-XX:CICompilerCount=2", "-Dfile.encoding=UTF-8")
"""Options of Java: a bound on memory, one thread beside the two that compile."""

JARS = ("joshua", "berkeleylm", "colt", "guava", "log4j", "slf4j-api", "slf4j-nop")
SHAPES = {"stack": grammar.PHRASES, "cky": grammar.HIERARCHICAL}
SETTINGS = {
    "stack": (
        "tm = moses -owner pt -maxspan 0 -max-source-len {width} -path {model}/rules",
        "feature-function = Distortion",
        "feature-function = PhrasePenalty -owner pt",
        "search = stack",
        "reordering-limit = 6",
        "pop-limit = 30",
    ),
    "cky": (
        "tm = thrax -owner pt -maxspan {width} -path {model}/rules",
        "tm = thrax -owner glue -maxspan -1 -path {model}/glue",
        "search = cky",
        "pop-limit = 20",
    ),
}
"""Joshua's settings by kind of search; `SHARED` has the settings of both."""
SHARED = (
    "feature-function = LanguageModel -lm_type berkeleylm -lm_order {order} -lm_file {model}/language_model",
    "feature-function = OOVPenalty",
    "feature-function = WordPenalty",
    "default-non-terminal = X",
    "goal-symbol = GOAL",
    "mark-oovs = false",
    "num-parallel-decoders = 1",
)
GLUE = """[GOAL] ||| <s> ||| <s> ||| 0
[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1
[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0
"""
"""Rules that concatenate translations."""

_ESCAPED = str.maketrans({"[": "-lsb-", "]": "-rsb-", "|": "-bar-"})
"""Characters with a special meaning in Joshua."""


def train(training_set: Path, model: Path, seed: int, *, search: str, jars: Path) -> None:  # noqa: ARG001 - no draws
    """Write a model, a folder: `rules`, `language_model` and, for hierarchical rules, `glue`."""
    pairs, wanted = formats.read_translations(training_set)
    pairs = [pair for pair in pairs if max(map(len, pair)) <= LONGEST]
    if not pairs:
        raise InputError(f"{training_set}: found no pair with at most {LONGEST} words per side, expected at least one")
    repeats = Counter((tuple(source), tuple(target)) for source, target in pairs)
    distinct = list(repeats)
    aligner = joint_hmm.fit(pairs)
    links = [joint_hmm.decode(aligner, pair, threshold=THRESHOLD) for pair in distinct]
    extracted = grammar.rules(distinct, links, list(repeats.values()), wanted, SHAPES[search])
    form = _thrax if search == "cky" else _moses
    model.mkdir()
    with (model / "rules").open("w", encoding="utf-8") as file:
        file.writelines(form(rule) for rule in extracted)
    if search == "cky":
        (model / "glue").write_text(GLUE, encoding="utf-8")
    arpa, text = model / "arpa", model / "text"
    text.write_text("".join(f"{_escape(target)}\n" for _, target in pairs), encoding="utf-8")
    _java(jars, "edu.berkeley.nlp.lm.io.MakeKneserNeyArpaFromText", ORDER, arpa, text)
    _java(jars, "edu.berkeley.nlp.lm.io.MakeLmBinaryFromArpa", arpa, model / "language_model")
    arpa.unlink()
    text.unlink()


def predict(
    model: Path, segments: Path, output: Path, *, search: str, weights: Mapping[str, float], jars: Path
) -> None:
    """Translate source sentences."""
    sentences = [line.split() for line in open_text(segments)]
    with tempfile.TemporaryDirectory() as folder:
        config, source, printed = (Path(folder, name) for name in ("config", "source", "printed"))
        settings = [*SHARED, *SETTINGS[search], "top-n = 1", "output-format = %s"]
        filled = [line.format(model=model.resolve(), order=ORDER, width=SHAPES[search].width) for line in settings]
        named = [f"{name} {weight:.12g}" for name, weight in weights.items()]
        config.write_text("".join(f"{line}\n" for line in [*filled, *named]), encoding="utf-8")
        source.write_text("".join(f"{_escape(sentence)}\n" for sentence in sentences), encoding="utf-8")
        with source.open("rb") as source_file, printed.open("wb") as printed_file:
            _java(jars, "org.apache.joshua.decoder.JoshuaDecoder", "-c", config, stdin=source_file, stdout=printed_file)
        lines = [_shown(line.rstrip("\n")) for line in open_text(printed)]
    if len(lines) != len(sentences):
        raise InputError(f"found {len(lines)} translations by Joshua, expected {len(sentences)}")
    write_text("".join(f"{line}\n" for line in lines), output)


def _moses(rule: grammar.Rule) -> str:
    """A line of a phrase table of Moses: probabilities."""
    scores = " ".join(f"{score:.6g}" for score in _probabilities(rule))
    return f"{_escape(rule.source)} ||| {_escape(rule.target)} ||| {scores}\n"


def _thrax(rule: grammar.Rule) -> str:
    """A line of a grammar of Joshua: costs, and 1 for the rule itself."""
    costs = " ".join(f"{-math.log(score) + 0.0:.5f}" for score in _probabilities(rule))
    return f"[X] ||| {_escape(rule.source)} ||| {_escape(rule.target)} ||| {costs} 1\n"


def _probabilities(rule: grammar.Rule) -> tuple[float, ...]:
    """The four scores of a rule, in the order that Moses and Joshua expect."""
    return rule.given_target, rule.lexical_given_target, rule.given_source, rule.lexical_given_source


def _escape(words: Iterable[str]) -> str:
    """Replace characters with a special meaning in Joshua, in a sentence or a side of a rule."""
    return " ".join(word if word in grammar.HOLES else word.translate(_ESCAPED) for word in words)


def _shown(line: str) -> str:
    for character, written in _ESCAPED.items():
        line = line.replace(written, chr(character))
    return line


def _java(
    jars: Path, program: str, *arguments: object, stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None
) -> None:
    """Run a Java program; its messages go to the log."""
    path = ":".join(str(jars / f"{name}.jar") for name in JARS)
    command = ["java", *JAVA, "-cp", path, program, *map(str, arguments)]
    status = subprocess.run(command, stdin=stdin, stdout=stdout or sys.stderr).returncode
    if status:
        raise InputError(f"{program} ended with exit status {status}, see its messages above")


def _weights(text: str) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in (setting.split("=") for setting in text.split(","))}
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected NAME=NUMBER,…") from None


if __name__ == "__main__":
    options = {
        "search": {"choices": SHAPES, "required": True, "help": "phrases (stack) or hierarchical rules (cky)"},
        "jars": {"type": Path, "required": True},
        "weights": {"type": _weights, "default": {}, "help": "of Joshua's features: NAME=NUMBER,…"},
    }
    raise SystemExit(program.run("base_models.joshua", options, train=train, predict=predict))
