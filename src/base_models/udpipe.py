"""Dependency parsing by UDPipe 1 (Straka, Hajič and Straková 2016), with a small network and few iterations."""

from __future__ import annotations

from pathlib import Path

from base_models import program
from pairsig.io.errors import InputError
from pairsig.io.tables import replacing, write_text

OPTIONS = (
    "run=1;iterations=3;hidden_layer=60;transition_system=projective;transition_oracle=static;structured_interval=0"
)
"""A third of the units and iterations of UDPipe's own models: training is five times as fast, and UAS two points lower.

`run` is not a seed: from 2 on, UDPipe draws hyperparameters at random. UDPipe has no seed.
"""


def train(training_set: Path, model: Path, seed: int) -> None:  # noqa: ARG001 - UDPipe takes none
    """Train a parser, without tokenizer and tagger."""
    udpipe = program.package("ufal.udpipe", "UDPipe")
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
        raise InputError(f"{training_set}: UDPipe cannot be trained on this file: {error.message}")
    with replacing(model) as temporary:
        temporary.write_bytes(trained if isinstance(trained, bytes) else bytes(trained))


def predict(model: Path, segments: Path, output: Path) -> None:
    """Parse the sentences."""
    udpipe = program.package("ufal.udpipe", "UDPipe")
    loaded = udpipe.Model.load(str(model))
    if loaded is None:
        raise InputError(f"{model}: found no model of UDPipe, expected one that train wrote")
    error = udpipe.ProcessingError()
    pipeline = udpipe.Pipeline(loaded, "conllu", udpipe.Pipeline.NONE, udpipe.Pipeline.DEFAULT, "conllu")
    parsed = pipeline.process(segments.read_text(encoding="utf-8"), error)
    if error.occurred():
        raise InputError(f"{segments}: UDPipe cannot parse this file: {error.message}")
    lines = [line for line in parsed.split("\n") if not line.startswith("#")]
    write_text("\n".join(lines), output)


if __name__ == "__main__":
    raise SystemExit(program.run("base_models.udpipe", train=train, predict=predict))
