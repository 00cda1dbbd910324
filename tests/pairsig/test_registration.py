"""What follows from the registration of readers and metrics: detection, help, documentation, and what all must do."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairsig import InputError, readers
from pairsig.metrics import Metric, NotedCounts
from pairsig.metrics.registry import METRICS
from pairsig.readers import COUNTS, LOGS, OUTPUTS, reader_of
from running import ROOT

sys.path.append(str(ROOT / "docs"))

ALL = (*OUTPUTS, *COUNTS, *LOGS)
EXTRACTED = [name for name, metric in METRICS.items() if metric.extractor]


def example(folder: Path, name: str, data: bytes | None = None) -> Path:
    """A file like the example of the reader, with other content."""
    path = folder / reader_of(name).example_name
    path.write_bytes(reader_of(name).example.encode() if data is None else data)
    return path


def refused(name: str, path: Path) -> str:
    """The one sentence about the file."""
    with pytest.raises(InputError) as error:
        readers.read(name, path)
    sentence = str(error.value)
    assert sentence.startswith(str(path)), sentence
    assert sentence.replace("\n", "").isprintable(), sentence
    return sentence


# Readers.


@pytest.mark.parametrize("name", ALL)
def test_files_that_are_missing_empty_or_no_text(name, tmp_path):
    path = example(tmp_path, name)
    path.unlink()
    assert "cannot be read" in refused(name, path)
    refused(name, example(tmp_path, name, b""))
    if name not in ("text", "alignment"):  # outputs may be blank, and sentence pairs without links
        refused(name, example(tmp_path, name, b"\n \n"))
    data = reader_of(name).example.encode()
    half = data.index(b"\n") // 2
    latin = refused(name, example(tmp_path, name, data[:half] + b"\xff" + data[half:]))
    assert "line 1: found bytes ff, expected UTF-8" in latin
    if parsed(reader_of(name).example) is None:
        nul = refused(name, example(tmp_path, name, data[:half] + b"\0" + data[half:]))
        assert "line 1: found a NUL character, expected UTF-8 text" in nul
    if name != "table":  # which Excel writes as UTF-16
        assert "expected UTF-8" in refused(name, example(tmp_path, name, reader_of(name).example.encode("utf-16")))


def parsed(text: str) -> Any:
    """The JSON document that a text is, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None


# Metrics.


@pytest.mark.parametrize("name", METRICS)
def test_scores_of_nothing_are_finite_and_any_shape_comes_in_front(name):
    metric = METRICS[name]
    for step in (1, 2, 5):  # columns are slabs, as resampling has them
        totals = np.moveaxis(np.arange(6 * metric.width, dtype=float).reshape(-1, 2, 3) // 2 % (step * 4), 0, -1)
        before = totals.copy()
        scores = metric.score(totals)
        assert scores.shape == (2, 3)
        np.testing.assert_array_equal(totals, before)
        np.testing.assert_allclose([[metric.score(row) for row in part] for part in totals], scores, rtol=1e-14)
    assert np.isfinite(metric.score(np.zeros(metric.width)))
    assert np.isfinite(metric.score(np.eye(metric.width))).all()


@pytest.mark.parametrize("name", EXTRACTED)
def test_the_reference_itself_has_the_best_score(name, tmp_path):
    """The counts keep their bounds, and the order of segments does not matter."""
    metric = METRICS[name]
    gold = readers.read(metric.reader, example(tmp_path, metric.reader))
    counts = metric.statistics(gold, gold)
    assert set(metric.columns) <= set(counts)
    assert isinstance(counts, NotedCounts | dict)
    for small, large in metric.at_most:
        assert (counts[small] <= counts[large]).all()
    totals = [counts[column].sum() for column in metric.columns] + [len(gold)] * metric.averaged
    assert metric.score(totals) == pytest.approx(best(name, metric, gold), rel=1e-12)
    back = metric.statistics(gold[::-1], gold[::-1])
    assert all((back[column][::-1] == counts[column]).all() for column in metric.columns)


@pytest.mark.parametrize("name", [name for name in EXTRACTED if not name.startswith("conll_")])  # these align words
def test_another_number_of_segments_than_the_reference_has(name, tmp_path):
    metric = METRICS[name]
    gold = readers.read(metric.reader, example(tmp_path, metric.reader))
    with pytest.raises(InputError, match=rf"the output has 1 \w+, expected {len(gold)}"):
        metric.statistics(gold[:1], gold)


def best(name: str, metric: Metric, gold) -> float:
    if metric.averaged:  # a blank text has no words in common with itself
        scored = [metric.statistics([one], [one])[metric.columns[0]].item() for one in gold]
        assert max(scored) == 1  # a segment scores best against itself
        return 100 * sum(scored) / len(gold)
    return 100.0 if metric.higher_is_better else 0.0


# A reader and a metric of somebody else.
