"""Dependency parsing by UDPipe 1 (Straka, Hajič and Straková 2016), with a small network and few iterations."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from pairsig.errors import InputError
from pairsig.tables import replacing
from study.base_models import command

OPTIONS = (
    "run=1;iterations=3;hidden_layer=60;transition_system=projective;transition_oracle=static;structured_interval=0"
)
"""A third of the units and iterations of UDPipe's own models: five times as fast to train, for some two points of UAS.

`run` is no seed, though it looks like one: from 2 on, UDPipe draws hyperparameters at random. There is no seed.
"""


def train(training_set: Path, model: Path, seed: int) -> None:  # noqa: ARG001 - UDPipe takes none
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
    trained = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), "none", "none", OPTIONS, error)
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
    raise SystemExit(command("study.base_models.udpipe", train=train, predict=predict))
