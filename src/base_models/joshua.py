"""Statistical machine translation, decoded by Joshua 6 (Post et al. 2015).

This project learns the models: links by the joint HMM, rules by `base_models.grammar`. `--search cky` decodes
hierarchical rules, as Joshua's own models are (Chiang 2007); `--search stack` phrases, left to right, as Moses does
(Koehn et al. 2003). The language model is berkeleylm's, of the target side. Source sentences without a target in the
training set are what will be translated: rules that match nothing in them are not written.

`python -m base_models.joshua tune --model MODEL --dev PAIRS --weights ... ` finds weights, once for all models.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from base_models import formats, grammar, joint_hmm, program
from pairsig.io.errors import InputError
from pairsig.io.files import open_text
from pairsig.io.tables import replacing
from pairsig.metrics import registry

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


def train(training_set: Path, model: Path, *, search: str, jars: Path) -> None:
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
    with replacing(output) as temporary:
        lines = _decode(model, sentences, search=search, weights=weights, jars=jars)
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _decode(
    model: Path,
    sentences: Sequence[Sequence[str]],
    *,
    search: str,
    weights: Mapping[str, float],
    jars: Path,
    best: int = 1,
) -> list[str]:
    """What Joshua prints: one translation per sentence or, with `best` > 1, n-best lists with features."""
    with tempfile.TemporaryDirectory() as folder:
        config, source, printed = (Path(folder, name) for name in ("config", "source", "printed"))
        settings = [*SHARED, *SETTINGS[search], f"top-n = {best}"]
        settings += ["output-format = %s" if best == 1 else "output-format = %i ||| %s ||| %f"]
        filled = [line.format(model=model.resolve(), order=ORDER, width=SHAPES[search].width) for line in settings]
        named = [f"{name} {weight:.12g}" for name, weight in weights.items()]
        config.write_text("".join(f"{line}\n" for line in [*filled, *named]), encoding="utf-8")
        source.write_text("".join(f"{_escape(sentence)}\n" for sentence in sentences), encoding="utf-8")
        with source.open("rb") as source_file, printed.open("wb") as printed_file:
            _java(jars, "org.apache.joshua.decoder.JoshuaDecoder", "-c", config, stdin=source_file, stdout=printed_file)
        lines = [_shown(line.rstrip("\n")) for line in open_text(printed)]
    if best == 1 and len(lines) != len(sentences):
        raise InputError(f"found {len(lines)} translations by Joshua, expected {len(sentences)}")
    return lines


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


def tune(
    model: Path, dev: Path, *, search: str, weights: Mapping[str, float], jars: Path, rounds: int = 4, best: int = 100
) -> dict[str, float]:
    """Weights under which the model's translations of held-out pairs have the highest BLEU (as Och 2003).

    Every round adds the `best` translations of each sentence under the weights so far to its list. Then one weight
    after another is moved, as long as the best translations of the lists get better for it: by steps that are halved
    from two fifths of the weight to a fortieth, up and down. What weighs rules stays above 0: Joshua takes it for the
    weight of a logarithm. The weights are those that decoded best.
    """
    pairs, _ = formats.read_translations(dev)
    references = [" ".join(target) for _, target in pairs]
    tuned, top = dict(weights), (-1.0, dict(weights))
    lists: list[dict[str, dict[str, float]]] = [{} for _ in pairs]
    for number in range(rounds + 1):
        last = number == rounds
        printed = _decode(
            model, [source for source, _ in pairs], search=search, weights=tuned, jars=jars, best=2 if last else best
        )
        # Add the translations with their features to the lists; the first of a sentence is the best one.
        translations: dict[int, str] = {}
        for line in printed:
            k, text, details = line.split(" ||| ")
            features = (feature.partition("=") for feature in details.split())
            lists[int(k)].setdefault(text, {name: float(value) for name, _, value in features})
            translations.setdefault(int(k), text)
        # BLEU of the translations, and the best weights so far.
        counts = _counts([translations.get(k, "") for k in range(len(pairs))], references)
        bleu = float(registry.metric("bleu").score(counts.sum(axis=0)))
        print(f"round {number}: BLEU {bleu:.2f} with {_formatted(tuned)}", file=sys.stderr, flush=True)
        top = max(top, (bleu, dict(tuned)), key=lambda result: result[0])
        if not last:
            tuned = _search(lists, references, tuned)
    return top[1]


def _search(
    lists: Sequence[Mapping[str, Mapping[str, float]]], references: Sequence[str], weights: Mapping[str, float]
) -> dict[str, float]:
    """Weights under which the best of the lists have the highest BLEU."""
    names, bleu = list(weights), registry.metric("bleu")
    candidates = list(chain.from_iterable(of_sentence.items() for of_sentence in lists))
    features = np.array([[values.get(name, 0.0) for name in names] for _, values in candidates])
    sentence = np.repeat(np.arange(len(lists)), list(map(len, lists)))  # of each candidate
    counts = _counts([text for text, _ in candidates], [references[k] for k in sentence.tolist()])
    starts = np.flatnonzero(np.diff(sentence, prepend=-1))

    def score(point: NDArray[np.float64]) -> float:
        """BLEU of the first candidate with the highest value of each sentence."""
        values = features @ point
        highest = np.maximum.reduceat(values, starts)[sentence]
        best = np.flatnonzero(values >= highest)
        best = best[np.unique(sentence[best], return_index=True)[1]]
        return float(bleu.score(counts[best].sum(axis=0)))

    point = np.array([weights[name] for name in names])
    highest_bleu, step = score(point), 0.4
    while step >= 0.025:
        moved = False
        for k, name in enumerate(names):
            for way in (step, -step):
                candidate = point.copy()
                candidate[k] += way * max(abs(point[k]), 0.1)
                if name.startswith("tm_pt_") and candidate[k] <= 0:
                    continue
                if (bleu_there := score(candidate)) > highest_bleu + 1e-9:
                    point, highest_bleu, moved = candidate, bleu_there, True
                    break
        if not moved:
            step /= 2
    return dict(zip(names, map(float, point / np.abs(point).sum()), strict=True))


def _counts(output: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
    """What BLEU counts, (sentences × its columns)."""
    bleu = registry.metric("bleu")
    assert bleu.extractor is not None
    counted = bleu.extractor(output, references, tokenize="none")
    return np.stack([counted[name] for name in bleu.columns], axis=1)


def _formatted(weights: Mapping[str, float]) -> str:
    return ",".join(f"{name}={weight:.3g}" for name, weight in weights.items())


def _weights(text: str) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in (setting.split("=") for setting in text.split(","))}
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected NAME=NUMBER,…") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m base_models.joshua", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    training = actions.add_parser("train", help="a model from a training set")
    training.add_argument("--train", type=Path, required=True, help="sentence pairs, and sentences to be translated")
    predicting = actions.add_parser("predict", help="translations by a model")
    predicting.add_argument("--input", type=Path, required=True, help="source sentences")
    predicting.add_argument("--output", type=Path, required=True, help="output file, one translation per line")
    tuning = actions.add_parser("tune", help="print weights that are best for some sentence pairs")
    tuning.add_argument("--dev", type=Path, required=True, help="sentence pairs")
    for action in (training, predicting, tuning):
        action.add_argument("--model", type=Path, required=True, help="a folder, made by train")
        action.add_argument("--search", choices=SHAPES, required=True, help="phrases or hierarchical rules")
        action.add_argument("--jars", type=Path, required=True, help="folder of jars")
    for action in (predicting, tuning):
        action.add_argument("--weights", type=_weights, required=True, help="of Joshua's features: NAME=NUMBER,…")
    options = vars(parser.parse_args(arguments))
    action = options.pop("action")

    def chosen() -> None:
        if action == "train":
            train(options.pop("train"), **options)
        elif action == "predict":
            predict(segments=options.pop("input"), **options)
        else:
            print(_formatted(tune(**options)))

    return program.exit_status("base_models.joshua", chosen)


if __name__ == "__main__":
    sys.exit(main())
