"""BLEU, chrF, chrF++, TER: by hand, against sacrebleu, shapes, errors; and the registry of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sacrebleu.metrics import BLEU, CHRF, TER

from conftest import examples
from pairsig.io.errors import InputError
from pairsig.metrics.translation import METRICS
from pairsig.readers import read

METRIC = {metric.name: metric for metric in METRICS}
THEIRS = {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda **options: CHRF(word_order=2, **options), "ter": TER}

words = ["the", "cat", "Cat", "sat", "mat,", "mat", "(on)", "3.5", "it's", "\u732b", "\u00e9t\u00e9", "."]
segments = st.lists(st.sampled_from(words), max_size=9).map(" ".join)


def totals(metric: str, output: Sequence[str], reference: Sequence, **options) -> np.ndarray:
    counts = METRIC[metric].statistics(output, reference, **options)
    return np.array([counts[name].sum() for name in METRIC[metric].columns], dtype=np.float64)


def ours(metric: str, output: Sequence[str], reference: Sequence, **options) -> float:
    return float(METRIC[metric].score(totals(metric, output, reference, **options)))


def same(score: float):
    return pytest.approx(score, rel=1e-12, abs=1e-12)


class TestByHand:
    def test_bleu_with_smoothed_order(self):
        # matches 5/6, 3/5, 1/4 and 0/3, which counts as 1/2 match
        counts = METRIC["bleu"].statistics(["the cat sat on the mat"], ["the cat is on the mat"])
        assert {name: int(column[0]) for name, column in counts.items()} == dict(
            zip(METRIC["bleu"].columns, [6, 6, 5, 3, 1, 0, 6, 5, 4, 3], strict=True)
        )
        assert ours("bleu", ["the cat sat on the mat"], ["the cat is on the mat"]) == same(100 * 48**-0.25)

    def test_chrfpp_adds_words(self):
        # characters as above; words: 1 of 2 and 1 of 3, no bigram in common (0 of 1 and 0 of 2)
        counts = METRIC["chrf++"].statistics(["x a"], ["x b c"])
        found = {name: int(column[0]) for name, column in counts.items() if name.startswith("word_")}
        assert found == {
            "word_hypothesis_1": 2, "word_reference_1": 3, "word_match_1": 1, "word_hypothesis_2": 1,
            "word_reference_2": 2, "word_match_2": 0,
        }  # fmt: skip
        p, r = (1 / 2 + 0 + 1 / 2 + 0) / 4, (1 / 3 + 0 + 1 / 3 + 0) / 4
        assert ours("chrf++", ["x a"], ["x b c"]) == same(100 * 5 * p * r / (4 * p + r))

    @pytest.mark.parametrize(
        ("output", "reference", "edits", "score"),
        [
            ("a b c", "a x c d", 2, 50),
            ("b c d a", "a b c d", 1, 25),
            ("", "a b", 2, 100),
            ("a b c", "", 3, 100),
            ("", "", 0, 0),
            ("a b c d", "x", 4, 400),
        ],
    )
    def test_ter(self, output, reference, edits, score):
        assert totals("ter", [output], [reference]).tolist() == [edits, len(reference.split())]
        assert ours("ter", [output], [reference]) == same(score)


class TestAgreementWithSacrebleu:
    @examples(30)
    @given(st.lists(st.tuples(segments, segments), min_size=1, max_size=6), st.sampled_from(list(METRIC)))
    def test_one_reference(self, pairs, metric):
        output, reference = [o for o, _ in pairs], [r for _, r in pairs]
        theirs = THEIRS[metric]().corpus_score(output, [reference]).score
        assert ours(metric, output, reference) == same(theirs)

    @examples(30)
    @given(
        st.lists(st.tuples(segments, st.tuples(segments, segments, segments)), min_size=1, max_size=4),
        st.sampled_from(list(METRIC)),
    )
    def test_several_references(self, pairs, metric):
        output, reference = [o for o, _ in pairs], [r for _, r in pairs]
        theirs = THEIRS[metric]().corpus_score(output, list(zip(*reference, strict=True))).score
        assert ours(metric, output, reference) == same(theirs)

    def test_varying_number_of_references(self):
        output, reference = (["the cat sat on it", "a b c d e"], [("the cat sat on a mat",), ("a b c", "a b c d f")])
        for metric, theirs in THEIRS.items():
            expected = theirs().corpus_score(output, [["the cat sat on a mat", "a b c"], [None, "a b c d f"]]).score
            assert ours(metric, output, reference) == same(expected)

    @pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "zh", "none", "ja-mecab"])
    @pytest.mark.parametrize("lowercase", [False, True])
    def test_bleu_options(self, tokenize, lowercase):
        if tokenize == "ja-mecab":
            pytest.importorskip("ipadic")
        output = [
            "\u732b\u306f\u30de\u30c3\u30c8\u306e\u4e0a\u306b\u3044\u308b\u3002",
            "The cat (3.5) sat, on it\u2019s MAT.",
        ]
        reference = ["\u732b\u306f\u3001\u30de\u30c3\u30c8\u306e\u4e0a\u3002", "the Cat (3.5) sat, on its mat."]
        theirs = BLEU(tokenize=tokenize, lowercase=lowercase).corpus_score(output, [reference]).score
        assert ours("bleu", output, reference, tokenize=tokenize, lowercase=lowercase) == same(theirs)

    def test_other_options(self):
        output, reference = ["The Cat, sat. \u732b\u304c"], ["the cat sat on \u732b"]
        assert ours("chrf", output, reference, lowercase=True) == same(
            CHRF(lowercase=True).corpus_score(output, [reference]).score
        )
        options = {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True}
        for name in options:
            chosen = {key: key == name for key in options}
            assert ours("ter", output, reference, **chosen) == same(
                TER(**chosen).corpus_score(output, [reference]).score
            )

    @examples(30)
    @given(arrays(np.int64, (4, 2), elements=st.integers(0, 9)), st.integers(0, 30))
    def test_bleu_of_any_totals(self, ngrams, reference):
        matches, orders = ngrams.min(axis=1), ngrams.max(axis=1)
        hypothesis = int(orders[0])
        theirs = BLEU.compute_bleu(list(matches), list(orders), hypothesis, reference, smooth_method="exp").score
        assert METRIC["bleu"].score([hypothesis, reference, *matches, *orders]) == same(theirs)

    @examples(30)
    @given(arrays(np.int64, (8, 3), elements=st.integers(0, 5)), st.sampled_from(["chrf", "chrf++"]))
    def test_chrf_of_any_totals(self, counts, metric):
        counts.sort(axis=1)
        row = counts[: len(METRIC[metric].columns) // 3, [2, 1, 0]].ravel()
        assert METRIC[metric].score(row) == same(THEIRS[metric]()._compute_f_score(list(row)))


class TestShapes:
    def test_columns_of_one_name_have_one_meaning(self):
        output, reference = ["the cat sat, on"], ["the cat is on it"]
        seen: dict[str, int] = {}
        for metric in METRICS:
            for name, column in metric.statistics(output, reference).items():
                assert column.shape == (1,)
                assert seen.setdefault(name, column[0]) == column[0]
        assert set(METRIC["chrf"].columns) < set(METRIC["chrf++"].columns)

    def test_counts_are_integers_unless_references_are_averaged(self):
        for metric in METRICS:
            assert {c.dtype for c in metric.statistics(["a b", ""], ["a", "c"]).values()} == {np.dtype(np.int64)}
        lengths = METRIC["ter"].statistics(["a"], [("a", "a b")])["ter_reference_length"]
        assert lengths.tolist() == [1.5]

    @examples(30)
    @given(segments, segments, st.sampled_from(list(METRIC)))
    def test_counts_keep_their_bounds(self, output, reference, name):
        counts = METRIC[name].statistics([output], [reference])
        assert all(counts[small] <= counts[large] for small, large in METRIC[name].at_most)


class TestErrors:
    def test_tokenizer_without_its_package(self, monkeypatch):
        monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_ko_mecab.MeCab", None)
        with pytest.raises(InputError, match=r"tokenizer ko-mecab is not available: .*pip install sacrebleu\[ko\]"):
            METRIC["bleu"].statistics(["a"], ["a"], tokenize="ko-mecab")

    def test_tokenizer_without_its_model(self, monkeypatch):
        def download(*_: object, **__: object) -> None:
            raise URLError("no network")

        monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.TokenizerSPM.__init__", download)
        with pytest.raises(InputError, match=r"tokenizer spm is not available: <urlopen error no network>"):
            METRIC["bleu"].statistics(["a"], ["a"], tokenize="spm")

    def test_no_reference(self):
        with pytest.raises(InputError, match="segment 2 has no reference"):
            METRIC["bleu"].statistics(["a", "b"], [("a",), ()])


@pytest.mark.data
class TestRealSystems:
    def test_chinese_english(self, data_dir: Path):
        folder = data_dir / "wmt21/txt"
        reference = read("text", folder / "references/newstest2021.zh-en.ref.A.en.gz")
        outputs = sorted(folder.glob("system-outputs/newstest2021.zh-en.hyp.*"))
        assert len(outputs) == 23
        theirs = BLEU(references=[reference])
        for path in outputs[::22]:
            output = read("text", path)
            assert len(output) == 1948
            assert ours("bleu", output, reference) == same(theirs.corpus_score(output, None).score)

    @pytest.mark.parametrize("metric", ["chrf", "chrf++", "ter"])
    def test_other_metrics_with_two_references(self, data_dir: Path, metric):
        folder = data_dir / "wmt21/txt"
        references = [read("text", folder / f"references/newstest2021.de-en.ref.{r}.en.gz")[:40] for r in "AB"]
        output = read("text", min(folder.glob("system-outputs/newstest2021.de-en.hyp.*")))[:40]
        theirs = THEIRS[metric]().corpus_score(output, references).score
        assert 10 < theirs < 90
        assert ours(metric, output, list(zip(*references, strict=True))) == same(theirs)
