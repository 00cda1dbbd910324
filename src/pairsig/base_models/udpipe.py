"""Dependency parsing by UDPipe 1 (Straka, Hajič and Straková 2016), with a small network and few iterations."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from pairsig.base_models import command
from pairsig.errors import InputError
from pairsig.tables import replacing

ITERATIONS = 2
HIDDEN = 60
"""Units of the hidden layer; UDPipe's own models have 200 and take 10 iterations, for two points of UAS more."""


def train(training_set: Path, model: Path, seed: int) -> None:
    """A parser, without tokenizer and tagger."""
    udpipe = _udpipe()
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(training_set.read_text(encoding="utf-8"))
    error = udpipe.ProcessingError()
    sentences = udpipe.Sentences()
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    options = f"hidden_layer={HIDDEN};iterations={ITERATIONS};run={seed}"
    trained = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), "none", "none", options, error)
    if error.occurred():
        raise InputError(f"{training_set}: UDPipe cannot be trained on it: {error.message}")
    with replacing(model) as temporary:
        temporary.write_bytes(trained if isinstance(trained, bytes) else bytes(trained))


def predict(model: Path, segments: Path, output: Path) -> None:
    """Trees of the sentences."""
    udpipe = _udpipe()
    loaded = udpipe.Model.load(str(model))
    if loaded is None:
        raise InputError(f"{model} is no model of UDPipe")
    error = udpipe.ProcessingError()
    pipeline = udpipe.Pipeline(loaded, "conllu", udpipe.Pipeline.NONE, udpipe.Pipeline.DEFAULT, "conllu")
    parsed = pipeline.process(segments.read_text(encoding="utf-8"), error)
    if error.occurred():
        raise InputError(f"{segments}: UDPipe cannot parse it: {error.message}")
    lines = [line for line in parsed.split("\n") if not line.startswith("#")]
    with replacing(output) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")


def _udpipe() -> ModuleType:
    try:
        return import_module("ufal.udpipe")
    except ImportError:
        raise InputError("there is no module ufal.udpipe: install pairsig[retrain]") from None


if __name__ == "__main__":
    raise SystemExit(command("pairsig.base_models.udpipe", train=train, predict=predict))
