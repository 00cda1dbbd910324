"""Metrics of labels: the scores of scikit-learn, and their definitions, item by item."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairsig
from pairsig import InputError
from pairsig.metrics.registry import METRICS

CASES = json.loads((Path(__file__).parents[1] / "data/classification/sklearn.json").read_text(encoding="utf-8"))
OF_ALL = ("macro_f1", "micro_f1", "balanced_accuracy", "mcc")


def read(gold, metric, *, true=None, **systems):
    """Statistics of a table with a column of predictions for each system."""
    frame = pd.DataFrame({"gold": list(gold)} | {name: list(labels) for name, labels in systems.items()})
    return pairsig.read(frame, gold="gold", systems=list(systems), metric=metric, true=true)


def scored(data):
    """The score of each system."""
    (metric,) = data.metrics
    return metric.score(data.of(metric).sum(axis=1)).tolist()


@pytest.mark.parametrize("case", CASES)
def test_the_scores_are_those_of_scikit_learn(case):
    gold, predicted = case["gold"], case["predicted"]
    if set(gold).isdisjoint(predicted):
        return
    for name, expected in case["scores"].items():
        metric, _, true = name.partition(" ")
        data = read(gold, metric, true=true or None, a=predicted, b=gold)
        assert scored(data)[0] == pytest.approx(100 * expected, rel=1e-12, abs=1e-12), name


def by_definition(gold, predicted):
    """Each score in loops over classes; Matthews' is a correlation of indicators of the classes."""
    known = sorted({*gold, *predicted})
    f1, recall = [], []
    for one in known:
        right = sum(g == p == one for g, p in zip(gold, predicted, strict=True))
        f1.append(2 * right / (gold.count(one) + predicted.count(one)))
        if one in gold:
            recall.append(right / gold.count(one))
    x, y = (np.array([[label == one for one in known] for label in labels], float) for labels in (gold, predicted))
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    spread = np.sqrt((x * x).sum() * (y * y).sum())
    return {
        "macro_f1": sum(f1) / len(f1),
        "micro_f1": sum(g == p for g, p in zip(gold, predicted, strict=True)) / len(gold),
        "balanced_accuracy": sum(recall) / len(recall),
        "mcc": (x * y).sum() / spread if spread else 0.0,
    }


@given(st.lists(st.tuples(*[st.sampled_from("abcde")] * 3), min_size=2, max_size=30))
def test_the_scores_are_their_definitions(rows):
    """Also for classes that only one of the systems predicts."""
    gold, *systems = map(list, zip(("a", "a", "a"), *rows, strict=True))
    expected = [by_definition(gold, labels) for labels in systems]
    for metric in OF_ALL:
        found = scored(read(gold, metric, a=systems[0], b=systems[1]))
        assert found == pytest.approx([100 * one[metric] for one in expected], abs=1e-9), metric


@pytest.mark.parametrize("metric", ["macro_f1", "mcc"])
def test_randomization_agrees_with_all_swaps(metric):
    """All 2⁹ swaps, each scored by the definition."""
    gold, a, b = list("aabbbcaac"), list("aabbacabc"), list("abcbbbbac")
    truth = by_definition(gold, a)[metric] - by_definition(gold, b)[metric]
    gains = []
    for swaps in product([False, True], repeat=len(gold)):
        one, other = ([y if swap != turn else x for x, y, swap in zip(a, b, swaps, strict=True)] for turn in (0, 1))
        gains.append(by_definition(gold, one)[metric] - by_definition(gold, other)[metric])
    p = np.mean(np.abs(gains) >= abs(truth) - 1e-9)
    result = pairsig.compare(read(gold, metric, a=a, b=b), "randomization", n_resamples=40_000)
    row = result.table.iloc[0]
    error = (row["pvalue_high"] - row["pvalue_low"]) / 2
    assert abs(row["pvalue"] - p) < 2 * error + 1e-4


@pytest.mark.parametrize(("yes", "no"), [("true", "false"), ("10%", "20%"), ("1.0", "2")])
def test_labels_may_look_like_numbers(yes, no, tmp_path):
    labels = {"gold": [yes, no, yes, no], "a": [yes, yes, yes, no], "b": [no, no, yes, no]}
    path = tmp_path / "labels.csv"
    pd.DataFrame({"id": range(4)} | labels).to_csv(path, index=False)
    data = pairsig.read(path, gold="gold", systems=["a", "b"], metric="macro_f1")
    assert scored(data) == pytest.approx([100 * by_definition(labels["gold"], labels[x])["macro_f1"] for x in "ab"])


def test_micro_f1_is_tested_exactly_as_accuracy():
    gold, a, b = "aabbcacbabca" * 2, "aabbcacbabcc" * 2, "abbccaabacbc" * 2
    by_metric = [pairsig.compare(read(gold, metric, a=a, b=b)) for metric in ("micro_f1", "accuracy")]
    assert by_metric[0].pvalue == pytest.approx(by_metric[1].pvalue, rel=1e-9)
    assert by_metric[0].difference == pytest.approx(by_metric[1].difference)


def write(path, rows):
    path.write_text("id,gold,answer\n" + "".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def test_files_with_different_classes_are_paired_by_id(tmp_path, answer, refusal):
    """The class that only one file has counts in its score alone."""
    gold, a, b = "aabbabab", "aabbaabb", "abcbbbab"
    rows = [(str(k), *labels) for k, labels in enumerate(zip(gold, a, b, strict=True))]
    files = [
        write(tmp_path / "a.csv", [(k, g, one) for k, g, one, _ in rows]),
        write(tmp_path / "b.csv", [(k, g, other) for k, g, _, other in rows[::-1]]),
    ]
    words = [*files, "--gold", "gold", "--prediction", "answer", "--metric", "macro_f1"]
    (row,), _ = answer(*words)
    expected = [100 * by_definition(list(gold), list(labels))["macro_f1"] for labels in (a, b)]
    assert [row["score_a"], row["score_b"]] == pytest.approx(expected)
    write(tmp_path / "b.csv", [(k, "b" if k == "0" else g, other) for k, g, _, other in rows])
    assert "item 0 has a different content" in refusal("compare", *words)


def test_numbers_are_the_same_label_however_they_are_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,gold,a,b\n1,1,1.0,0\n2,0,0,0\n3,1,1,1.00\n", encoding="utf-8")
    data = pairsig.read(path, gold="gold", systems=["a", "b"], metric="macro_f1")
    assert scored(data) == pytest.approx([100.0, 200 / 3])


def test_a_missing_answer_is_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,gold,a,b\n1,x,x,y\n2,y,,y\n3,y,y,y\n4,x,x,x\n", encoding="utf-8")
    how = {"gold": "gold", "systems": ["a", "b"], "metric": "macro_f1"}
    with pytest.raises(InputError, match="2"):
        pairsig.read(path, **how)
    data = pairsig.read(path, **how, missing="drop")
    assert scored(data) == pytest.approx([100.0, 100 * by_definition(list("xyx"), list("yyx"))["macro_f1"]])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"metric": "bleu"}, "found --gold with --metric bleu, expected accuracy, mae, mse or one of f1"),
        ({"metric": "f1"}, "expected the class that it is about"),
        ({"metric": "mcc", "true": "x"}, "found --true with --gold and --metric mcc, which is of all classes"),
        ({"metric": "f1", "true": "q"}, "found no class 'q', expected one of x, y"),
        ({"metric": "mcc", "score": "n"}, "found --systems with --score"),
    ],
)
def test_what_is_refused_or_asked(how, message):
    frame = pd.DataFrame({"gold": list("xyxy"), "a": list("xyyy"), "b": list("xxyy"), "n": range(4)})
    with pytest.raises(InputError, match=message):
        pairsig.read(frame, gold="gold", systems=["a", "b"], **how)


def test_a_metric_of_labels_asks_for_the_right_answers():
    frame = pd.DataFrame({"gold": list("xyxy"), "a": list("xyyy"), "b": list("xxyy")})
    with pytest.raises(InputError, match=r"expected the counts of mcc; --gold computes them from labels"):
        pairsig.read(frame, metric="mcc")


def test_free_text_has_too_many_classes():
    texts = [f"text {k}" for k in range(201)]
    with pytest.raises(InputError, match="found 201 different labels, expected 1 to 200 classes"):
        read(texts, "macro_f1", a=texts, b=texts)


@pytest.mark.parametrize("metric", OF_ALL)
def test_equal_systems_and_one_class(metric):
    assert pairsig.compare(read("xyxy", metric, a="xxyy", b="xxyy"), n_resamples=99).pvalue == 1
    assert scored(read("xx", metric, a="xx", b="xx")) == [0.0 if metric == "mcc" else 100.0] * 2
    assert METRICS[metric].higher_is_better
