"""ROUGE: hand-computed summaries, agreement with rouge-score, sentence markers, options."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from conftest import examples
from pairsig.io.errors import InputError
from pairsig.metrics.summarization import METRICS, rouge_scores
from pairsig.readers import read

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
summaries = st.lists(st.sampled_from(["the", "The", "cats", "cat", "running,", "ran", "\u00e9t\u00e9", ".", "7"])).map(
    " ".join
)


def score(output: str, reference: str, **options: bool) -> dict[str, float]:
    return {name: column[0] for name, column in rouge_scores([output], [reference], **options).items()}


class TestByHand:
    def test_words_bigrams_and_subsequence(self):
        # in common: the, cat, on, mat, in this order; of the bigrams only "the cat"
        ours = score("the cat on a mat", "the cat sat on the mat")
        assert ours == pytest.approx(
            {
                "rouge1_recall": 4 / 6, "rouge1_f": 8 / 11, "rouge2_recall": 1 / 5, "rouge2_f": 2 / 9,
                "rougeL_recall": 4 / 6, "rougeL_f": 8 / 11, "rougeLsum_recall": 4 / 6, "rougeLsum_f": 8 / 11,
            }
        )  # fmt: skip

    @pytest.mark.parametrize(
        "output", ["<t> d e f </t> <t> a b c </t>", "<t> <t> d e f </t><t> a b c </t> </t>", "d e f\na b c"]
    )
    def test_sentences_matter_to_lsum_only(self, output):
        ours = score(output, "<t> a b c </t> <t> d e f </t>")
        assert ours["rouge1_f"] == ours["rougeLsum_f"] == ours["rougeLsum_recall"] == 1
        assert ours["rougeL_recall"] == 3 / 6
        assert ours["rouge2_recall"] == 4 / 5

    def test_markers_are_no_words(self):
        assert score("<t> a </t>", "t a")["rouge1_recall"] == 1 / 2

    @pytest.mark.parametrize(
        ("output", "reference"), [("", "a b"), ("a b", ""), ("", ""), (".", "a b"), ("<t> </t>", "a")]
    )
    def test_nothing_in_common_with_nothing(self, output, reference):
        assert set(score(output, reference).values()) == {0.0}


class TestOptions:
    def test_stem(self):
        assert score("runs jumping", "running jumps")["rouge1_f"] == 0
        assert score("runs jumping", "running jumps", stem=True)["rouge1_f"] == 1

    @pytest.mark.parametrize("options", [{"lowercase": False}, {"strip_punctuation": False}])
    def test_words_of_three_letters_are_not_stemmed(self, options):
        """Porter makes `wa` of `was` and `hi` of `his`; rouge-score and ROUGE-1.5.5 stem from four letters on."""
        for output, reference, shared in (("was", "wa", 0), ("his", "hi", 0), ("dogs", "dog", 1), ("was", "was", 1)):
            assert score(output, reference, stem=True, **options)["rouge1_f"] == shared
            theirs = RougeScorer(["rouge1"], use_stemmer=True).score(reference, output)["rouge1"]
            assert theirs.fmeasure == shared

    def test_lowercase(self):
        assert score("Some Words", "some words")["rouge1_f"] == 1
        assert score("Some Words", "some words", lowercase=False)["rouge1_f"] == 0
        assert score("Some Words", "some Words", lowercase=False, stem=True)["rouge1_f"] == 1 / 2

    def test_strip_punctuation(self):
        assert score("mat. on-site", "mat on site")["rouge1_recall"] == 1
        assert score("mat. on-site", "mat on-site", strip_punctuation=False)["rouge1_recall"] == 1 / 2
        assert score("A b.", "a b.", strip_punctuation=False)["rouge1_recall"] == 1

    @examples(30)
    @given(summaries, summaries, st.booleans())
    def test_lower_cased_text_needs_no_lower_casing(self, output, reference, stem):
        output, reference = output.lower(), reference.lower()
        assert score(output, reference, stem=stem, lowercase=False) == score(output, reference, stem=stem)

    def test_of_several_references_the_best_counts(self):
        columns = rouge_scores(["a b c", "d"], [("x y", "a b z"), ("d",)])
        assert columns["rouge1_recall"].tolist() == [2 / 3, 1]


class TestAgreement:
    @examples(30)
    @given(st.lists(st.tuples(summaries, summaries), min_size=1, max_size=4), st.booleans())
    def test_with_rouge_score(self, pairs, stem):
        theirs = RougeScorer(TYPES, use_stemmer=stem)
        columns = rouge_scores([o for o, _ in pairs], [r for _, r in pairs], stem=stem)
        for i, (output, reference) in enumerate(pairs):
            for rouge, expected in theirs.score(reference, output).items():
                assert columns[f"{rouge}_recall"][i] == expected.recall
                assert columns[f"{rouge}_f"][i] == expected.fmeasure

    @pytest.mark.data
    @pytest.mark.parametrize(("output", "markers"), [("abs/t5/out_base.txt", True), ("ext/refresh/out.txt", False)])
    def test_on_real_summaries(self, data_dir: Path, output, markers):
        path = data_dir / "realsumm/selected_docs_for_human_eval" / output
        outputs, references = read("text", path), read("text", path.with_name("ref.txt"))
        assert len(outputs) == len(references) == 100
        assert any("<t>" in line for line in outputs) == markers
        outputs, references = outputs[:30], references[:30]
        columns = rouge_scores(outputs, references, stem=True)
        theirs = RougeScorer(TYPES, use_stemmer=True)
        plain = [[line.replace("</t>", "\n").replace("<t>", "") for line in lines] for lines in (references, outputs)]
        expected = [theirs.score(reference, output) for reference, output in zip(*plain, strict=True)]
        for metric in METRICS:
            rouge, part = metric.name.split("_")
            mean = np.mean([getattr(e[rouge], {"f": "fmeasure"}.get(part, part)) for e in expected])
            assert 5 < 100 * mean < 95
            assert metric.score([columns[metric.name].sum(), 30]) == pytest.approx(100 * mean, rel=1e-12)


class TestMetrics:
    def test_macro_average(self):
        columns = METRICS[0].statistics(["a b", "c"], ["a d", "c"])
        assert METRICS[0].score([columns["rouge1_recall"].sum(), 2]) == 75
        assert METRICS[0].score([0, 0]) == 0


class TestErrors:
    def test_a_line_of_blanks_takes_no_longer_than_others(self):
        # Seconds where blanks were looked for from each of them on.
        assert set(score(" " * 2_000_000, "a").values()) == {0.0}

    def test_texts_that_are_no_summaries(self):
        assert score("a " * 30_000, "a " * 10)["rouge1_recall"] == 1
        with pytest.raises(
            InputError, match="segment 1 has 30,000 words and its reference 20,000, expected shorter texts"
        ):
            score("a " * 30_000, "a " * 20_000)

    def test_no_reference(self):
        with pytest.raises(InputError, match="segment 2 has no reference"):
            rouge_scores(["a", "b"], [("a",), ()])
