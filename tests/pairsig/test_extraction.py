"""From invented texts, trees, parses and alignments to counts, and what is refused on the way."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu

from pairsig.metrics import Metric, registry
from pairsig.readers.extraction import extract

REFERENCE = "The cat sat on the mat .\nA dog barked all night long .\nNobody heard it .\n"
OTHER = "A cat was on the mat .\nThe dog barked the whole night .\nNo one heard it .\n"
OUTPUT = "The cat sat on a mat .\nA dog barked at night .\n\n"


def conllu(*sentences: str) -> str:
    """Sentences of words `form/head`; every relation is `dep`, that of a root `root`."""
    blocks = []
    for sentence in sentences:
        lines = []
        for number, word in enumerate(sentence.split(), start=1):
            form, head = word.split("/")
            deprel = "root" if head == "0" else "dep"
            lines.append("\t".join([str(number), form, "_", "_", "_", "_", head, deprel, "_", "_"]))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


GOLD = conllu("I/2 sleep/0 ./2", "You/2 wake/0 ./2")


@pytest.fixture
def extracted(tmp_path, monkeypatch):
    """Write the output and the references to files, relative to the working directory, and extract the counts."""
    monkeypatch.chdir(tmp_path)

    def extracted(output: str, *references: str, metric: str | Metric = "bleu", **arguments):
        paths = ["ref.txt", "two.txt"][: len(references)]
        for path, content in zip(["out.txt", *paths], [output, *references], strict=True):
            (tmp_path / path).write_bytes(content.encode())
        return extract("out.txt", paths, metric=metric, system="s", **arguments)

    return extracted


class TestText:
    @pytest.mark.parametrize("references", [[REFERENCE], [REFERENCE, OTHER]])
    def test_counts_of_bleu(self, extracted, references):
        found = extracted(OUTPUT, *references)
        assert (found.systems, found.groups, found.kinds) == (("s",), ("s",), ("",))
        assert found.segments.tolist() == ["1", "2", "3"]
        assert found.documents.tolist() == found.domains.tolist() == ["", "", ""]
        assert found.columns == registry.metric("bleu").columns
        score = registry.metric("bleu").score(found.of(registry.metric("bleu")).sum(axis=1))
        theirs = sacrebleu.corpus_bleu(OUTPUT.splitlines(), [reference.splitlines() for reference in references])
        assert score[0] == pytest.approx(theirs.score, rel=1e-12)
        assert found.counts[0, 2, 0] == 0  # the blank hypothesis counts

    def test_who_made_it_and_what_a_segment_belongs_to(self, extracted):
        labels = {"domains": ["news", "news", "speech"], "documents": ["1", "1", "2"]}
        found = extracted(OUTPUT, REFERENCE, metric="chrf", group="g", kind="online", **labels)
        assert (found.groups, found.kinds) == (("g",), ("online",))
        assert {"domains": found.domains.tolist(), "documents": found.documents.tolist()} == labels

    def test_options_go_to_the_reader_and_to_the_metric(self, extracted):
        files, options = ("canary\n" + OUTPUT.upper(), "canary\n" + REFERENCE), {"skip_lines": "1", "tokenize": "none"}
        found = extracted(*files, **{**options, "lowercase": "true"})
        assert len(found.segments) == 3
        score = registry.metric("bleu").score(found.of(registry.metric("bleu")).sum(axis=1))
        theirs = sacrebleu.corpus_bleu(
            OUTPUT.splitlines(), [REFERENCE.splitlines()], lowercase=True, tokenize="none", force=True
        )
        assert score[0] == pytest.approx(theirs.score, rel=1e-12)
        apart = extracted(*files, **{**options, "lowercase": "false"})
        assert apart.counts[0, :, 2].sum() < found.counts[0, :, 2].sum()

    def test_a_metric_of_ones_own(self, extracted):
        """Length in characters, say: the reader is named, the extractor is any function."""
        mine = Metric("mine", ("value",), lambda t: t[..., 0] / t[..., 1], "mean", averaged=True, extractor=_mine)
        found = extracted(OUTPUT, REFERENCE, metric=mine, reader="text", factor=2)
        assert found.counts[0, :, 0].tolist() == [2 * len(line) for line in OUTPUT.split("\n")[:3]]


def _mine(output, reference, *, factor: int | None = None):
    return {"value": np.array([len(line) * (factor or 1) for line in output])}


class TestAlignment:
    def test_options_without_a_default_get_their_type(self, extracted):
        files = "1 1 1\n1 2 2\n3 1 1\n", "1 1 1 S\n1 2 2 P\n2 1 1 S\n"
        found = extracted(*files, metric="aer", **{"n_segments": "4"})
        assert found.columns == ("sure_hits", "possible_hits", "predicted", "sure")
        assert found.counts[0].tolist() == [[1, 2, 2, 1], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]]

    def test_options_that_are_true(self, extracted):
        found = extracted("0-0 1-1\n", "0-0 1p1\n", metric="aer", **{"reverse": "true"})
        assert found.counts[0].tolist() == [[1, 2, 2, 1]]


class TestParses:
    def test_raw_text_may_be_cut_into_other_sentences(self, extracted):
        output = conllu("I/2 sleep/0 ./2 You/5 wake/2 ./5")
        found = extracted(output, GOLD, metric="conll_uas", documents=["x", "y"])
        assert found.segments.tolist() == ["1", "2"]
        matched, predicted, gold = (found.columns.index(c) for c in ("uas_matched", "predicted", "gold"))
        # `wake` hangs on `sleep`, in gold it is a root of its own
        assert found.counts[0][:, [matched, predicted, gold]].tolist() == [[3, 3, 3], [2, 3, 3]]


def test_empty_outputs_are_a_warning(tmp_path):
    """Where the reference has words, and only there."""
    for name, lines in (("reference", "a b c\n\nd e f\n"), ("full", "a b c\n\nd e\n"), ("broken", "\n\nd e f\n")):
        (tmp_path / name).write_text(lines)
    notes = {}
    for name in ("full", "broken"):
        notes[name] = extract(str(tmp_path / name), [str(tmp_path / "reference")], metric="bleu", system=name).notes
    (warning,) = notes["broken"]
    assert "broken: warning: 1 of 3 outputs are empty, the first in line 1" in warning
    assert notes["full"] == ()


def test_options_are_known(tmp_path):
    (tmp_path / "a").write_text("a b\nc d\n")

    def settings(**options):
        counted = extract(str(tmp_path / "a"), str(tmp_path / "a"), metric="bleu", system="s", **options)
        return counted.provenance["settings"]

    assert "tokenize:13a" in settings()
    assert "tokenize:char" in settings(tokenize="char")
