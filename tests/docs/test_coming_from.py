"""The formulas of other programs on the page coming-from: computed as written, they give what these programs print."""

import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import pairsig
from pairsig.metrics import registry
from pairsig.readers import extraction
from running import ROOT

DATA = ROOT / "tests/data/coming_from"

SACREBLEU = {
    "--paired-bs": (
        "(#{|δ*| − mean |δ*| > |δ|} + 1)/(b + 1)",
        lambda gains, gain: ((np.abs(gains) - np.abs(gains).mean() > abs(gain)).sum() + 1) / (len(gains) + 1),
    ),
    "--paired-ar": (
        "(#{|δ′| > |δ|} + 1)/(b + 1)",
        lambda gains, gain: ((np.abs(gains) > abs(gain)).sum() + 1) / (len(gains) + 1),
    ),
}
"""What the page says of sacrebleu's two tests, and the same computed from the gains on its resamples or shuffles."""


def sacrebleu(folder, systems, test):
    """p of the second system, as sacrebleu prints it."""
    words = ["reference.txt", "-i", *systems, "-m", "bleu", test, "--format", "json"]
    command = [sys.executable, "-m", "sacrebleu", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)[1]["BLEU"]["p_value"]


def texts(folder, seed):
    """Two outputs that differ in some words each, and their reference."""
    rng = np.random.default_rng(seed)
    words = np.array(["the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "was", "on", "are", "with"])
    reference = [rng.choice(words, rng.integers(8, 25)) for _ in range(60)]

    def damaged(share):
        return [np.where(rng.random(len(line)) < share, "x", line) for line in reference]

    for name, lines in (("reference", reference), ("a", damaged(0.16)), ("b", damaged(0.16))):
        (folder / f"{name}.txt").write_text("".join(" ".join(line) + "\n" for line in lines))


def bleu(folder, name):
    """Counts of an output, which are sacrebleu's own."""
    metric = registry.metric("bleu")
    path, reference = str(folder / f"{name}.txt"), str(folder / "reference.txt")
    return extraction.extract(path, [reference], metric="bleu", system=name).of(metric)[0].astype(float)


def gains_of(test, a, b, n_samples):
    """The gains on the resamples or shuffles that sacrebleu draws from its default seed."""
    metric, rng = registry.metric("bleu"), np.random.default_rng(12345)
    if test == "--paired-bs":
        draws = rng.choice(len(a), size=(n_samples, len(a)), replace=True)
        counts = np.stack([np.bincount(row, minlength=len(a)) for row in draws])
        return metric.score(counts @ b) - metric.score(counts @ a)
    swapped = rng.integers(2, size=(n_samples, len(a)), dtype=bool)
    return metric.score(swapped @ b + ~swapped @ a) - metric.score(swapped @ a + ~swapped @ b)


@pytest.mark.parametrize(("test", "n_samples"), [("--paired-bs", 1000), ("--paired-ar", 10_000)])
def test_sacrebleus_p_is_the_formula_on_the_page(tmp_path, test, n_samples):
    _, computed = SACREBLEU[test]
    texts(tmp_path, 3)
    a, b = bleu(tmp_path, "a"), bleu(tmp_path, "b")
    metric = registry.metric("bleu")
    gain = float(metric.score(b.sum(axis=0)) - metric.score(a.sum(axis=0)))
    p = computed(gains_of(test, a, b, n_samples), gain)
    assert 0.01 < p < 0.6
    assert sacrebleu(tmp_path, ["a.txt", "b.txt"], test) == pytest.approx(p, rel=1e-9)


def test_what_sacrebleu_makes_of_identical_outputs():
    """It has no special case for them: by its formulas, no gain is beyond a gain of 0."""
    (_, bootstrap), (_, randomization) = SACREBLEU.values()
    copies = ["a.txt", str(DATA / "../coming_from/a.txt")]
    assert sacrebleu(DATA, copies, "--paired-bs") == pytest.approx(bootstrap(np.zeros(1000), 0.0))
    assert round(bootstrap(np.zeros(1000), 0.0), 4) == 0.001
    assert round(randomization(np.zeros(10_000), 0.0), 4) == 0.0001


def test_sigfs_printed_p_has_the_formulas_denominator():
    """Its README prints 0.48605139486051396 for 10,000 shuffles, a whole number of 10,001ths: 4,860 shuffles + 1."""
    printed = 0.48605139486051396
    assert printed == 4861 / 10_001
    assert Fraction(printed).limit_denominator(10_001) == Fraction(4861, 10_001)
    # Ties count: of the four swaps of its two different sentences, two tie with the observed one, and none is beyond.
    a, b = np.loadtxt(DATA / "model1", dtype=int), np.loadtxt(DATA / "model2", dtype=int)
    result = pairsig.randomization_test(a, b, metric="f1", n_resamples=10_000)
    assert result.n_greater == 0
    assert abs(result.pvalue - printed) < 4 * math.sqrt(2 * 0.25 / 10_000)
    assert pairsig.exact_test(a, b, metric="f1").pvalue == 0.5


def test_scipys_p_of_swaps_is_ours():
    """The page: twice the smaller one-sided p, which on swaps is P(|δ′| >= |δ|)."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 9, (2, 10)).astype(float)
    theirs = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x) - np.mean(y), permutation_type="samples", n_resamples=np.inf
    )
    assert pairsig.exact_test(a, b, metric="mean").pvalue == pytest.approx(theirs.pvalue, rel=1e-12)


def test_zmigrods_28_sentences():
    result = pairsig.exact_test([[1, 1]] * 28, [[0, 1]] * 28, metric="accuracy")
    assert result.pvalue == 2 * 2.0**-28
    assert f"{result.pvalue:.2e}" == "7.45e-09"
