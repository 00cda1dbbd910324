"""What logs of evaluations may differ in: named in the result, refused, or missing; never read without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pairsig
from pairsig import InputError
from pairsig.readers import inputs


def inspect(folder: Path, name: str, values, **changes) -> str:
    samples = [
        {
            "id": key,
            "epoch": 1,
            "input": changes.get("question", "?"),
            "target": "t",
            "scores": {"match": {"value": value}},
        }
        for key, value in values.items()
    ]
    about = {"task": "t", "model": f"lab/{name}", "dataset": {"name": "d"}} | changes.get("eval", {})
    log = {"version": 2, "status": "success", "eval": about, "samples": samples} | changes.get("log", {})
    path = folder / f"{name}.json"
    path.write_text(json.dumps(log))
    return str(path)


BOTH = {"1": "C", "2": "I", "3": "C"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"eval": {"task_args": {"few": 5}}}, "the arguments of the task"),
        ({"eval": {"task_version": 2}}, "version of the task"),
        ({"eval": {"solver": "tree"}}, "the solver is 'tree'"),
        ({"eval": {"dataset": {"name": "e"}}}, "the dataset is 'e', but 'd' in"),
        ({"log": {"results": {"total_samples": 5, "scores": []}}}, "the header reports 5 samples, but the log has 3"),
        ({"log": {"status": "cancelled"}}, "ended with the status cancelled"),
    ],
)
def test_a_difference_between_logs_of_inspect_is_named(changes, words, tmp_path):
    first = inspect(tmp_path, "a", BOTH, eval={"task_args": {"few": 0}, "task_version": 1, "solver": "chain"})
    (data,) = inputs.read_all([first, inspect(tmp_path, "b", BOTH, **changes)], {})
    assert any(words in note for note in data.notes), data.notes


def test_lost_samples_have_no_score(tmp_path):
    """The header lists the ids of all samples of the evaluation."""
    a = inspect(tmp_path, "a", BOTH)
    b = inspect(tmp_path, "b", {"1": "C", "2": "I"}, eval={"dataset": {"name": "d", "sample_ids": ["1", "2", "3"]}})
    with pytest.raises(InputError, match="found no score of item 3 for lab/b"):
        pairsig.read([a, b])
    assert pairsig.read([a, b], missing="wrong").counts[:, :, 0].tolist() == [[1, 0, 1], [1, 0, 0]]


def test_inputs_that_differ_behind_500_characters(tmp_path):
    a, b = (inspect(tmp_path, name, BOTH, question="x" * 600 + name) for name in "ab")
    with pytest.raises(InputError, match=r"item 1 has a different content than in .*\n--any-content"):
        pairsig.read([a, b])
    assert pairsig.read([a, b], any_content=True).systems == ("lab/a", "lab/b")
    c = inspect(tmp_path, "c", BOTH, question=[{"role": "user", "content": "x", "id": "random1"}])
    d = inspect(tmp_path, "d", BOTH, question=[{"role": "user", "content": "x", "id": "random2"}])
    assert len(pairsig.read([c, d]).segments) == 3


def lm_eval(folder: Path, name: str, scores, *, filter="none", prompt="p", results=None) -> str:  # noqa: A002
    (folder / name).mkdir()
    rows = [
        {
            "doc_id": n,
            "doc": {"q": n},
            "target": "t",
            "resps": [["r"]],
            "filter": filter,
            "prompt_hash": f"{prompt}{n}",
            "metrics": ["acc"],
            "acc": score,
        }
        for n, score in enumerate(scores)
    ]
    (folder / name / "samples_sums_2026-01-02T03-04-05.678.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows)
    )
    about = {"results": {}, "model_name": name} | (results or {})
    (folder / name / "results_2026-01-02T03-04-05.678.json").write_text(json.dumps(about))
    return str(folder / name)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"filter": "maj"}, "the filter is 'maj', but 'none' in"),
        ({"prompt": "q"}, "the digest of the prompts"),
        ({"results": {"n-shot": {"sums": 5}}}, "the number of shots is '5', but '0'"),
        ({"results": {"versions": {"sums": 2}}}, "the version of the task is '2', but '1'"),
    ],
)
def test_a_difference_between_logs_of_lm_eval_is_named(changes, words, tmp_path):
    first = lm_eval(tmp_path, "a", [1, 0, 1], results={"n-shot": {"sums": 0}, "versions": {"sums": 1}})
    (data,) = inputs.read_all([first, lm_eval(tmp_path, "b", [1, 1, 1], **changes)], {})
    assert any(words in note and ": warning: " in note for note in data.notes), data.notes


def helm(folder: Path, name: str, scores, scenario: str = "mmlu:subject=x", content: str = "") -> str:
    run = folder / f"{scenario},model={name}"
    run.mkdir()
    entries = [
        {
            "instance_id": f"id{n}",
            "train_trial_index": 0,
            "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": score}],
        }
        for n, score in enumerate(scores)
    ]
    (run / "per_instance_stats.json").write_text(json.dumps(entries))
    if content:
        instances = [{"id": f"id{n}", "input": {"text": f"{content}{n}"}, "references": []} for n in range(len(scores))]
        (run / "instances.json").write_text(json.dumps(instances))
    return str(run / "per_instance_stats.json")


def test_instances_of_helm_are_those_of_a_scenario(tmp_path):
    """HELM numbers the instances of every scenario from id0."""
    a = helm(tmp_path, "a", [1, 0])
    data = pairsig.read([a, helm(tmp_path, "b", [1, 1])])
    assert any("there is no instances.json beside it" in note for note in data.notes)
    with pytest.raises(InputError, match="found the scenario 'mmlu:subject=y', but 'mmlu:subject=x'"):
        pairsig.read([a, helm(tmp_path, "c", [1, 1], "mmlu:subject=y")])
    d, e = helm(tmp_path, "d", [1, 0], content="q"), helm(tmp_path, "e", [1, 0], content="r")
    with pytest.raises(InputError, match="item id0 has a different content"):
        pairsig.read([d, e])


@pytest.mark.parametrize("key", ["error_ids", "infra_failure_ids", "anything_else_ids"])
def test_instances_that_could_not_be_run_have_no_score(key, tmp_path):
    """Also those of a list that this program does not know."""
    reports = {
        "a": {"resolved_ids": ["x-1", "x-2"], "unresolved_ids": ["x-3"], "submitted_ids": ["x-1", "x-2", "x-3"]},
        "b": {"resolved_ids": ["x-1"], "unresolved_ids": ["x-3"], "submitted_ids": ["x-1", "x-2", "x-3"], key: ["x-2"]},
    }
    for name, report in reports.items():
        (tmp_path / f"{name}.run.json").write_text(json.dumps({"schema_version": 2, "total_instances": 3} | report))
    paths = [str(tmp_path / f"{name}.run.json") for name in "ab"]
    with pytest.raises(InputError, match="found no score of item x-2 for b"):
        pairsig.read(paths)
    assert pairsig.read(paths, missing="wrong").counts[:, :, 0].tolist() == [[1, 1, 0], [1, 0, 0]]
    assert len(pairsig.read(paths, missing="drop").segments) == 2


def test_positions_of_comet_and_mt_metrics_eval_are_complete(tmp_path):
    segments = [{"src": f"s{n}", "mt": "x", "ref": "r", "COMET": n / 9} for n in range(9)]
    for name, rows in (("a", segments), ("b", segments[:-1])):
        (tmp_path / f"{name}.json").write_text(json.dumps({f"out/{name}.txt": rows}))
        (tmp_path / f"{name}.seg.score").write_text("".join(f"{name}\t{row['COMET']:.3f}\n" for row in rows))
    for suffix in ("json", "seg.score"):
        paths = [str(tmp_path / f"{name}.{suffix}") for name in "ab"]
        for missing in (None, "drop", "wrong"):
            with pytest.raises(InputError, match=r"has 9 items, .* has 8, expected equally many"):
                pairsig.read(paths, missing=missing)
