"""From invented texts, trees, parses and alignments to counts, and what is refused on the way."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sacrebleu

from pairsig import InputError
from pairsig.metrics import Metric, registry
from pairsig.readers.extraction import extract

REFERENCE = "The cat sat on the mat .\nA dog barked all night long .\nNobody heard it .\n"
OTHER = "A cat was on the mat .\nThe dog barked the whole night .\nNo one heard it .\n"
OUTPUT = "The cat sat on a mat .\nA dog barked at night .\n\n"


def message(*words: str) -> str:
    return ".*".join(re.escape(word) for word in words)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write files, each named by its keyword; paths are relative to the working directory."""
    monkeypatch.chdir(tmp_path)

    def write(**contents: str | bytes) -> None:
        for name, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / f"{name}.txt").write_bytes(data)

    return write


class TestText:
    def test_counts_of_bleu(self, files):
        files(out=OUTPUT, ref=REFERENCE)
        found = extract("out.txt", ["ref.txt"], metric="bleu", system="s")
        assert (found.systems, found.groups, found.kinds) == (("s",), ("s",), ("",))
        assert found.segments.tolist() == ["1", "2", "3"]
        assert found.documents.tolist() == found.domains.tolist() == ["", "", ""]
        assert found.columns == registry.metric("bleu").columns
        score = registry.metric("bleu").score(found.of(registry.metric("bleu")).sum(axis=1))
        theirs = sacrebleu.corpus_bleu(OUTPUT.splitlines(), [REFERENCE.splitlines()])
        assert score[0] == pytest.approx(theirs.score, rel=1e-12)
        assert found.counts[0, 2, 0] == 0  # the blank hypothesis counts

    def test_several_references(self, files):
        files(out=OUTPUT, one=REFERENCE, two=OTHER)
        found = extract("out.txt", ["one.txt", "two.txt"], metric="bleu", system="s")
        score = registry.metric("bleu").score(found.of(registry.metric("bleu")).sum(axis=1))
        theirs = sacrebleu.corpus_bleu(OUTPUT.splitlines(), [REFERENCE.splitlines(), OTHER.splitlines()])
        assert score[0] == pytest.approx(theirs.score, rel=1e-12)

    def test_who_made_it_and_what_a_segment_belongs_to(self, files):
        files(out=OUTPUT, ref=REFERENCE)
        found = extract(
            "out.txt", ["ref.txt"], metric="chrf", system="s", group="g", kind="online",
            domains=["news", "news", "speech"], documents=["1", "1", "2"],
        )  # fmt: skip
        assert (found.groups, found.kinds) == (("g",), ("online",))
        assert found.domains.tolist() == ["news", "news", "speech"]
        assert found.documents.tolist() == ["1", "1", "2"]

    def test_options_go_to_the_reader_and_to_the_metric(self, files):
        files(out="canary\n" + OUTPUT.upper(), ref="canary\n" + REFERENCE)
        options = {"skip_lines": "1", "lowercase": "true", "tokenize": "none"}
        found = extract("out.txt", ["ref.txt"], metric="bleu", options=options, system="s")
        assert len(found.segments) == 3
        score = registry.metric("bleu").score(found.of(registry.metric("bleu")).sum(axis=1))
        theirs = sacrebleu.corpus_bleu(
            OUTPUT.splitlines(), [REFERENCE.splitlines()], lowercase=True, tokenize="none", force=True
        )
        assert score[0] == pytest.approx(theirs.score, rel=1e-12)
        apart = extract("out.txt", ["ref.txt"], metric="bleu", options={**options, "lowercase": "false"}, system="s")
        assert apart.counts[0, :, 2].sum() < found.counts[0, :, 2].sum()

    @pytest.mark.parametrize(("lines", "longer", "at"), [(2, "ref.txt", 3), (4, "out.txt", 4)])
    def test_unequal_numbers_of_segments(self, files, lines, longer, at):
        files(out="x\n" * lines, ref=REFERENCE)
        fragments = (
            f"out.txt has {lines} segments, ref.txt has 3, expected equally many; segment {at} is in {longer} only"
        )
        with pytest.raises(InputError, match=re.escape(fragments)):
            extract("out.txt", ["ref.txt"], metric="bleu", system="s")

    def test_the_second_reference_is_counted_too(self, files):
        files(out=OUTPUT, one=REFERENCE, two="x\n")
        with pytest.raises(
            InputError, match=message("out.txt has 3 segments, two.txt has 1", "segment 2 is in out.txt")
        ):
            extract("out.txt", ["one.txt", "two.txt"], metric="bleu", system="s")

    @pytest.mark.parametrize("what", ["domains", "documents"])
    def test_labels_of_another_test_set(self, files, what):
        files(out=OUTPUT, ref=REFERENCE)
        with pytest.raises(InputError, match=f"found 2 {what} for the 3 segments of ref.txt"):
            extract("out.txt", ["ref.txt"], metric="bleu", system="s", **{what: ["x", "y"]})


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "fragments"),
        [
            ({"tokenise": "zh"}, ["'tokenise', expected one of skip_lines, tokenize, lowercase; did you mean"]),
            ({"skip_lines": "one"}, ["option skip_lines is 'one'", "expected a whole number"]),
            ({"lowercase": "yes"}, ["option lowercase is 'yes'", "expected true or false"]),
            ({"tokenize": "none-such"}, ["out.txt", "unknown tokenizer 'none-such'", "13a"]),
        ],
    )
    def test_refused(self, files, options, fragments):
        files(out=OUTPUT, ref=REFERENCE)
        with pytest.raises(InputError, match=message(*fragments)):
            extract("out.txt", ["ref.txt"], metric="bleu", options=options, system="s")

    @pytest.mark.parametrize(
        ("names", "fragments"),
        [
            ({"metric": "blue"}, ["unknown metric 'blue'", "did you mean bleu?"]),
            ({"metric": "bleu", "reader": "txt"}, ["unknown reader 'txt'", "expected one of text"]),
            ({"metric": "bleu", "reader": "conllu"}, ["found the reader conllu, expected text for metric bleu"]),
            ({"metric": "f1"}, ["metric f1 cannot be extracted from outputs", "matched, predicted, gold"]),
        ],
    )
    def test_names(self, files, names, fragments):
        files(out=OUTPUT, ref=REFERENCE)
        with pytest.raises(InputError, match=message(*fragments)):
            extract("out.txt", ["ref.txt"], system="s", **names)

    def test_a_metric_of_ones_own(self, files):
        """Length in characters, say: the reader is named, the extractor is any function."""
        files(out=OUTPUT, ref=REFERENCE)
        mine = Metric("mine", ("value",), lambda t: t[..., 0] / t[..., 1], "mean", averaged=True, extractor=_mine)
        found = extract("out.txt", ["ref.txt"], metric=mine, reader="text", options={"factor": "2"}, system="s")
        assert found.counts[0, :, 0].tolist() == [2 * len(line) for line in OUTPUT.split("\n")[:3]]


def _mine(output, reference, *, factor: int | None = None):
    return {"value": np.array([len(line) * (factor or 1) for line in output])}


class TestAlignment:
    def test_options_without_a_default_get_their_type(self, files):
        files(out="1 1 1\n1 2 2\n3 1 1\n", ref="1 1 1 S\n1 2 2 P\n2 1 1 S\n")
        found = extract("out.txt", ["ref.txt"], metric="aer", options={"n_segments": "4"}, system="s")
        assert found.columns == ("sure_hits", "possible_hits", "predicted", "sure")
        assert found.counts[0].tolist() == [[1, 2, 2, 1], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]]

    @pytest.mark.parametrize(("zero_based", "fine"), [("true", True), ("false", False)])
    def test_options_that_are_true_or_false(self, files, zero_based, fine):
        files(out="0-0 1-1\n", ref="0-0 1p1\n")
        if fine:
            found = extract("out.txt", ["ref.txt"], metric="aer", options={"zero_based": zero_based}, system="s")
            assert found.counts[0].tolist() == [[1, 2, 2, 1]]
        else:
            with pytest.raises(InputError, match=message("out.txt, line 1", "'0-0'", "counted from 1")):
                extract("out.txt", ["ref.txt"], metric="aer", options={"zero_based": zero_based}, system="s")

    def test_one_reference_only(self, files):
        files(out="0-0\n", one="0-0\n", two="0-0\n")
        with pytest.raises(
            InputError, match=message("found 2 references (one.txt, two.txt), expected one for metric aer")
        ):
            extract("out.txt", ["one.txt", "two.txt"], metric="aer", system="s")


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


class TestParses:
    gold = conllu("I/2 sleep/0 ./2", "You/2 wake/0 ./2")

    def test_on_gold_tokens(self, files):
        files(out=conllu("I/2 sleep/0 ./1", "You/2 wake/0 ./2"), ref=self.gold)
        found = extract("out.txt", ["ref.txt"], metric="uas", system="s")
        assert (found.columns, found.counts[0].tolist()) == (("correct", "total"), [[2, 3], [3, 3]])

    def test_raw_text_may_be_cut_into_other_sentences(self, files):
        files(out=conllu("I/2 sleep/0 ./2 You/5 wake/2 ./5"), ref=self.gold)
        found = extract("out.txt", ["ref.txt"], metric="conll_uas", system="s", documents=["x", "y"])
        assert found.segments.tolist() == ["1", "2"]
        matched, predicted, gold = (found.columns.index(c) for c in ("uas_matched", "predicted", "gold"))
        # `wake` hangs on `sleep`, in gold it is a root of its own
        assert found.counts[0][:, [matched, predicted, gold]].tolist() == [[3, 3, 3], [2, 3, 3]]

    def test_other_words(self, files):
        files(out=conllu("I/2 sleep/0 ./2", "You/2 woke/0 ./2"), ref=self.gold)
        for metric, found, expected in (("uas", "'woke'", "'wake'"), ("conll_uas", "'oke.'", "'ake.'")):
            with pytest.raises(InputError, match=message("out.txt", "sentence 2", "line 5", found, expected)):
                extract("out.txt", ["ref.txt"], metric=metric, system="s")

    def test_unequal_numbers_of_sentences(self, files):
        files(out=conllu("I/2 sleep/0 ./2"), ref=self.gold)
        with pytest.raises(InputError, match=message("out.txt", "1 sentences", "2")):
            extract("out.txt", ["ref.txt"], metric="uas", system="s")


class TestTrees:
    def test_brackets(self, files):
        files(out="(S (NP (D the) (N cat)) (VP (V sat)))\n", ref="(S (NP (D the) (N cat)) (V sat))\n")
        found = extract("out.txt", ["ref.txt"], metric="parseval", options={"one_per_line": "true"}, system="s")
        columns = [found.columns.index(c) for c in ("matched", "predicted", "gold")]
        assert found.counts[0][:, columns].tolist() == [[2, 3, 2]]
