"""The findings once more, from the embedded statistics, with numpy and pyarrow alone: nothing of the project's code.

What is compared with our own analyses is computed here from the counts: scores, standard errors, normal p-values.
"""

from __future__ import annotations

import csv
from math import erf, sqrt
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
STATISTICS = ROOT / "resources" / "statistics"
ONE_SIDED = {0.04: 1.7506860712521692, 0.06: 1.5547735945968535}
"""Standard errors from 0 at which p is 0.04 and 0.06."""


def reference(table, **cells):
    """The row of a reference table with these cells."""
    with (ROOT / f"results/reference/{table}.tsv").open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if all(row[name] == str(cell) for name, cell in cells.items())
        ]
    assert len(rows) == 1
    return rows[0]


normal = np.vectorize(lambda z: (1 + erf(z / sqrt(2))) / 2)


def counts(dataset, columns):
    """Names of the systems; their counts, (systems × segments × columns); documents and domains of the segments."""
    table = pq.read_table(
        STATISTICS / f"{dataset}.parquet", columns=["system", "segment", "document", "domain", *columns]
    )
    system, segment = (  # numbered by their first occurrence
        table[name].cast("string").combine_chunks().dictionary_encode() for name in ("system", "segment")
    )
    row, place = system.indices.to_numpy(), segment.indices.to_numpy()
    found = np.full((len(system.dictionary), len(segment.dictionary), len(columns)), np.nan)
    found[row, place] = np.stack([table[column].to_numpy() for column in columns], axis=1)
    assert not np.isnan(found).any()
    assert (place[row == 0] == np.arange(len(segment.dictionary))).all()
    labels = (np.array(table[key].filter(row == 0).to_pylist()) for key in ("document", "domain"))
    return system.dictionary.to_pylist(), found, *labels


def f1(totals):
    """Points, of matched, predicted and gold; or of matched and the sum of both."""
    return 200 * totals[..., 0] / totals[..., 1:].sum(axis=-1)


def influence(numerator, denominator):
    """What each segment changes of 100·M/W to first order: 100·(m − M·w/W)/W."""
    total = denominator.sum(axis=-1, keepdims=True)
    return 100 * (numerator - numerator.sum(axis=-1, keepdims=True) / total * denominator) / total


def f1_influence(sums):
    return influence(2 * sums[..., 0], sums[..., 1:].sum(axis=-1))


def bleu_influence(sums):
    """The same of BLEU, by the logarithms of four precisions and of the brevity."""
    totals = sums.sum(axis=1, keepdims=True)
    output, reference_length = totals[..., 0], totals[..., 1]
    brevity = np.where(output < reference_length, reference_length / output, 0.0)
    change = brevity * (sums[..., 0] / output - sums[..., 1] / reference_length)
    for order in range(4):
        change += (sums[..., 2 + order] / totals[..., 2 + order] - sums[..., 6 + order] / totals[..., 6 + order]) / 4
    return bleu(totals) * change


def errors_of_gains(influences):
    """Standard errors of the gains of all pairs, from what each segment changes of the scores."""
    a, b = np.triu_indices(len(influences), 1)
    return np.array([np.sqrt(((influences[i] - influences[j]) ** 2).sum()) for i, j in zip(a, b, strict=True)])


def gains(sums, score=f1):
    """Gains of every pair of systems by F1, and their standard errors."""
    a, b = np.triu_indices(len(sums), 1)
    whole = score(sums.sum(axis=1))
    return whole[a] - whole[b], errors_of_gains(f1_influence(sums))


def expected_on_population(gain, error):
    theta, (low, high) = np.abs(gain / error), (ONE_SIDED[0.06], ONE_SIDED[0.04])
    right = (normal(high - theta) - normal(low - theta)).sum()
    wrong = (normal(high + theta) - normal(low + theta)).sum()
    return right / (right + wrong)


def expected_on_another(d_1, s_1, d_2, s_2, low=ONE_SIDED[0.06], high=ONE_SIDED[0.04]):
    """Sums of right and of wrong, by adding up a density over the gain on the first test set, 2,001 points a range."""
    right = wrong = 0.0
    v_1, v_2 = s_1**2, s_2**2
    mean, spread = (d_1 * v_2 + d_2 * v_1) / (v_1 + v_2), v_1 / np.sqrt(v_1 + v_2)
    for sign in (1, -1):
        z = sign * (low + (np.arange(2001) + 0.5) / 2001 * (high - low))
        first = z[:, None] * s_1
        density = np.exp(-0.5 * ((first - mean) / spread) ** 2) / (spread * np.sqrt(2 * np.pi)) * s_1
        replicated = first * (mean + (mean - first) * v_2 / v_1) > 0
        right += (density * replicated).sum() * (high - low) / 2001
        wrong += (density * ~replicated).sum() * (high - low) / 2001
    return right, wrong


def ours(datasets, metric, sheet, *, n_resamples=2000, resized=None):
    """The row of [0.04, 0.06] by the project's analyses; p by few resamples, since nothing expected depends on it."""
    import pandas as pd

    from pairsig.core import statistics
    from study.reproduction.calibrate import calibrate
    from study.tables.columns import CALIBRATIONS
    from study.test_sets import all_pairs
    from study.test_sets.resize import resize

    tables = []
    for dataset in datasets:
        data = statistics.read(STATISTICS / f"{dataset}.parquet")
        settings = {"metric": metric, "n_resamples": n_resamples}
        tables.append(all_pairs.compare(data, **settings))
        if resized:
            tables.append(resize(data, resized, **settings))
    comparisons = pd.concat(tables)
    found = calibrate(comparisons, pd.DataFrame([sheet], columns=CALIBRATIONS.names))
    return found[(found["p_low"] == 0.04) & (found["p_high"] == 0.06)].iloc[0], comparisons


def test_share_that_infinitely_many_draws_give():
    dataset, size = "icepahc-23", 400
    _, sums, *_ = counts(dataset, ["matched", "predicted", "gold"])
    gain, error = gains(sums, f1)
    row, _ = ours([dataset], "parseval", ("c", "iid", dataset, "draw-*", dataset, "whole"),
                  n_resamples=50, resized={"draws": 1, "draw_size": size})  # fmt: skip
    assert row["expected"] == pytest.approx(expected_on_population(gain, error * sqrt(sums.shape[1] / size)), abs=2e-4)


def bleu(totals):
    """Points, of lengths of output and reference, four numbers of matches and four of n-grams."""
    shorter = np.minimum(0.0, 1 - totals[..., 1] / totals[..., 0])
    return 100 * np.exp(shorter + np.log(totals[..., 2:6] / totals[..., 6:]).mean(axis=-1))


def gains_without_each(sums, score):
    """`gains`, with the change of the score where a segment is left out in place of a derivative."""
    totals = sums.sum(axis=1)
    changes = score(totals)[:, None] - score(totals[:, None] - sums)
    a, b = np.triu_indices(len(sums), 1)
    return score(totals)[a] - score(totals)[b], errors_of_gains(changes - changes.mean(axis=1, keepdims=True))


LENGTHS = ["hypothesis_length", "reference_length"]
BLEU = [*LENGTHS, *(f"{what}_{order}" for what in ("match", "total") for order in range(1, 5))]


@pytest.mark.parametrize(
    ("datasets", "metric", "columns", "score"),
    [
        (("conll2018-en_ewt", "conll2018-en_pud"), "conll_uas", ["uas_matched", "predicted", "gold"], f1),
        pytest.param(("mt-hansards", "mt-pud"), "bleu", BLEU, bleu, marks=pytest.mark.slow),
    ],
)
def test_a_cell_of_table_1(datasets, metric, columns, score):
    """One treebank against another, one text of retrained translations against another: who is better where."""
    (names_1, sums_1, *_), (names_2, sums_2, *_) = (counts(dataset, columns) for dataset in datasets)
    both = [name for name in names_1 if name in names_2]
    (d_1, s_1), (d_2, s_2) = (
        (gains if score is f1 else gains_without_each)(sums[[names.index(name) for name in both]], score)
        for names, sums in ((names_1, sums_1), (names_2, sums_2))
    )
    usable = np.flatnonzero((s_1 > 0) & (s_2 > 0))
    some = np.array_split(usable, 1 + len(usable) // 500)
    right, wrong = np.sum([expected_on_another(d_1[k], s_1[k], d_2[k], s_2[k]) for k in some], axis=0)
    row, comparisons = ours(datasets, metric, ("c", "near", datasets[0], "whole", datasets[1], "whole"))
    # What a segment contributes is a derivative there and a difference here, which for BLEU are not quite the same.
    assert row["expected"] == pytest.approx(right / (right + wrong), abs=1e-3 if score is f1 else 5e-3)

    # What was counted: by the same p-values, but gains added up here.
    a, b = np.triu_indices(len(both), 1)
    better = {frozenset((both[i], both[j])): (x, y) for i, j, x, y in zip(a, b, d_1, d_2, strict=True)}
    on = comparisons[(comparisons["dataset"] == datasets[0]) & comparisons["pvalue_one_sided"].between(0.04, 0.06)]
    pairs = [better[pair] for pair in map(frozenset, on[["system_a", "system_b"]].to_numpy()) if pair in better]
    assert (row["n_pairs"], row["n_replicated"]) == (len(pairs), sum(x * y > 0 for x, y in pairs))
    # p is close to that of a normal gain, so that little hangs on the resamples.
    normal_p = dict(zip(better, 1 - normal(np.abs(d_1) / s_1), strict=True))
    own = comparisons[comparisons["dataset"] == datasets[0]]
    paired = zip(map(frozenset, own[["system_a", "system_b"]].to_numpy()), own["pvalue_one_sided"], strict=True)
    assert np.quantile([abs(normal_p[pair] - p) for pair, p in paired if pair in normal_p], 0.99) < 0.05


F1 = ["matched", "predicted", "gold"]
TREEBANKS = """en_ewt en_pud zh_gsd de_gsd fi_ftb fi_tdt hr_set ko_kaist no_bokmaal no_nynorsk ro_rrt sv_talbanken"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("calibration", "datasets", "size", "columns", "score"),
    [
        ("constituency", ["icepahc-modern"], 1600, F1, f1),
        ("constituency-biomedical", ["craft-test"], 1600, F1, f1),
        ("parsing", [f"conll2018-{one}" for one in TREEBANKS.split()], 1600, ["uas_matched", *F1[1:]], f1),
        ("translation", ["wmt21-zh-en"], 400, BLEU, bleu),
        ("translation-retrained", ["mt-hansards"], 1000, BLEU, bleu),
    ],
)
def test_the_reference_tables(calibration, datasets, size, columns, score):
    """The shares of the first screen, of infinitely many draws, to the rounding of results/reference."""
    row = reference("calibration", calibration=calibration, distance="iid", p_low=0.04, p_high=0.06)
    made = [counts(dataset, columns)[:2] for dataset in datasets]
    common = [name for name in made[0][0] if all(name in names for names, _ in made)]
    sums = np.concatenate([one[[names.index(name) for name in common]] for names, one in made], axis=1)
    gain, error = (gains if score is f1 else gains_without_each)(sums, score)
    kept = error > 0
    share = expected_on_population(gain[kept], error[kept] * sqrt(sums.shape[1] / size))
    assert float(row["expected"]) == pytest.approx(share, abs=1e-3)
