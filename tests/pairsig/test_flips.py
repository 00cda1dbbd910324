"""Items that flipped: which they are, and in which direction."""

import json

import numpy as np
import pandas as pd
import pytest

from pairsig import cli
from pairsig.core.statistics import Statistics
from pairsig.metrics import registry
from pairsig.report import flips


def inspect(folder, name, values, question="What is <b>{}</b>?"):
    samples = [
        {"id": place, "epoch": 1, "input": [{"role": "user", "content": question.format(place)}],
         "target": [f"t{place}"],
         "scores": {"match": {"value": value}}}
        for place, value in enumerate(values, start=1)
    ]  # fmt: skip
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": name}, "samples": samples}
    (folder / f"{name}.json").write_text(json.dumps(log))
    return str(folder / f"{name}.json")


@pytest.mark.parametrize(
    ("command", "baseline"),
    [
        (["compare", "--test", "exact", "--baseline", "old"], "old"),
        (["compare", "--test", "exact"], "new"),
        (["gate", "--margin", "1%"], "old"),
    ],
)
def test_flips_of_a_log_in_both_directions(tmp_path, capsys, command, baseline):
    """System A gains an item that it alone passes; B is the baseline, or the second system."""
    paths = [inspect(tmp_path, "old", "CCICI"), inspect(tmp_path, "new", "CIICC")]
    table = tmp_path / "flips.tsv"
    assert cli.main([*command, *paths, "--flips", str(table)]) in (0, 3), capsys.readouterr().err
    found = pd.read_csv(table, sep="\t")
    lost, gained = (2, 5) if baseline == "old" else (5, 2)
    assert found[["direction", "segment", "score_a", "score_b"]].to_numpy().tolist() == [
        ["lost", lost, 0.0, 1.0],
        ["gained", gained, 1.0, 0.0],
    ]
    assert set(found["system_b"]) == {baseline}


def test_other_scores_have_the_largest_changes_in_both_directions():
    rng = np.random.default_rng(2)
    old, new = rng.random((2, 300))
    data = Statistics.from_arrays({"old": old[:, None], "new": new[:, None]}, ["value"])
    found = flips.table(data, registry.metric("mean"))
    change = old - new  # of the first system
    for direction, worst_first in (("lost", np.argsort(change)), ("gained", np.argsort(-change))):
        rows = found[found["direction"] == direction]
        assert len(rows) == flips.MOST
        assert rows["segment"].tolist() == data.segments[worst_first[: flips.MOST]].tolist()
        assert np.allclose(rows["contribution"], change[worst_first[: flips.MOST]] / 300)


def test_where_lower_is_better_a_lower_score_is_gained():
    ter = registry.metric("ter")
    counts = {"old": np.array([[3, 10], [2, 10]]), "new": np.array([[1, 10], [4, 10]])}
    found = flips.table(Statistics.from_arrays(counts, ter.columns), ter)
    assert found["direction"].tolist() == ["lost", "gained"]
    assert found["segment"].tolist() == ["1", "2"]  # the first system has more errors on 1, fewer on 2


def test_several_runs_are_averaged():
    runs = {"old": np.array([[1, 0, 1], [1, 0, 0]])[..., None], "new": np.array([[0, 0, 1], [1, 0, 1]])[..., None]}
    found = flips.table(Statistics.from_arrays(runs, ["value"]), registry.metric("mean"))
    assert found[["segment", "direction", "score_a", "score_b"]].to_numpy().tolist() == [
        ["3", "lost", 0.5, 1.0], ["1", "gained", 1.0, 0.5],
    ]  # fmt: skip
