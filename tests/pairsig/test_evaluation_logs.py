"""Logs of evaluations: against what the packages that wrote them report, and against all that a log can have wrong."""

import itertools
import json
import shutil
import struct
import zipfile
import zlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import pairsig
from pairsig import InputError, Statistics, cli
from pairsig.io import tables
from pairsig.metrics.counts import average
from pairsig.readers import Beginning, inputs, output, recognition, tasks
from pairsig.readers.logs import items
from pairsig.readers.recognition import read_all

DATA = Path(__file__).parents[1] / "data/evaluation_logs"
INSPECT, LM_EVAL = DATA / "inspect", DATA / "lm_eval"
STRONG, WEAK, FAILING = (str(INSPECT / f"{name}.eval") for name in ("strong", "weak", "failing"))
A, B = str(LM_EVAL / "a"), str(LM_EVAL / "b")


def by_item(parts, name):
    """The mean over runs of every item, where it has a score; from what the reader gives."""
    scores: dict[str, list[float]] = {}
    clusters = {}
    for part in parts:
        for row, item in enumerate(part.items):
            clusters[item] = part.documents[row] if part.documents else ""
            if not np.isnan(part.values[name][row]):
                scores.setdefault(item, []).append(float(part.values[name][row]))
    return np.array([np.mean(own) for own in scores.values()]), np.array([clusters[item] for item in scores])


def standard_error(values):
    return values.std(ddof=1) / np.sqrt(len(values))


def clustered(values, clusters):
    """Miller (2024), appendix A, with the correction for few clusters."""
    sums = np.array([(values - values.mean())[clusters == own].sum() for own in np.unique(clusters)])
    return np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(values)


def read(reader, path, **options):
    """The only system and run in a log."""
    (part,) = read_all(reader, path, **options)
    return part


def refuses(path, *expected, reader=None, **options):
    with pytest.raises(InputError) as error:
        read_all(reader or recognition.recognize([str(path)]), str(path), **options)
    for words in expected:
        assert words in str(error.value)


def refused(paths, *expected, **settings):
    with pytest.raises(InputError) as error:
        inputs.read_all(list(map(str, paths)), settings)
    for words in expected:
        assert words in str(error.value)


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return str(path)


# Inspect.


REPORTED = json.loads((INSPECT / "reported.json").read_text())


@pytest.mark.parametrize("name", ["strong.eval", "weak.eval", "weak.json.gz", "failing.eval"])
def test_inspects_own_figures(name):
    reported = REPORTED[name.removesuffix(".gz")]
    parts = read_all("inspect", INSPECT / name, document="passage")
    assert [part.run for part in parts] == ["1", "2", "3", "4"]
    assert {part.system for part in parts} == {f"mockllm/{name.split('.')[0]}"}
    for ours, theirs, centre in (
        ("exact", "exact", "accuracy"),
        ("brevity", "brevity", "mean"),
        ("parts/form", "form", "mean"),
        ("parts/content", "content", "mean"),
    ):
        values, clusters = by_item(parts, ours)
        assert values.mean() == pytest.approx(reported[theirs][centre], rel=1e-12)
        assert standard_error(values) == pytest.approx(reported[theirs]["stderr"], rel=1e-12)
        if "stderr2" in reported[theirs]:
            assert clustered(values, clusters) == pytest.approx(reported[theirs]["stderr2"], rel=1e-12)


@pytest.mark.parametrize(
    "command",
    ["compare", "plan --sample epoch --reader inspect"],
)
def test_documents_that_are_not_used_are_noted(command, capsys):
    name, *options = command.split()
    for more in ([], ["--document", "passage"], ["--document", "passage", "--unit", "document"]):
        quick = ["--n-resamples", "99"] if name != "plan" else []
        assert cli.main([name, STRONG, WEAK, *options, *more, *quick, "--metric", "exact"]) == 0
        out, err = capsys.readouterr()
        noted = "the 12 segments come from 4 documents, which were not used" in out + err
        assert noted == (len(more) == 2)
        assert not noted or "--unit document" in out + err


def test_a_folder_of_logs_has_a_system_a_model(tmp_path, answer):
    for path in (STRONG, WEAK):
        shutil.copy(path, tmp_path)
    rows, _ = answer(tmp_path, "--metric", "exact", "--n-resamples", 99)
    assert {(row["system_a"], row["system_b"]) for row in rows} == {("mockllm/strong", "mockllm/weak")}
    shutil.copy(STRONG, tmp_path / "again.eval")
    refuses(
        tmp_path, "found two logs of mockllm/strong on sums, ", "again.eval and ", "strong.eval, expected one; name"
    )
    (tmp_path / "again.eval").unlink()
    refused([tmp_path, WEAK], "found the systems mockllm/strong, mockllm/weak, expected one system per file")


def test_choices_of_a_log_of_inspect():
    only = read_all("inspect", STRONG, scorer="parts/form", domain="about.size")
    assert [metric.name for metric in only[0].metrics] == ["parts/form"]
    assert set(only[0].domains) == {"small", "large"}
    names = "exact, brevity, parts/form, parts/content"
    refuses(STRONG, f"found no scorer 'exat', expected one of {names}; did you mean exact?", scorer="exat")
    message = "expected the document of the item; the fields are passage, about; did you mean passage?"
    refuses(STRONG, f"sample 1: found no pasage in the metadata, {message}", document="pasage")


def of_inspect(name="m", samples=None, version=2, **further):
    """The least that a log of Inspect has."""
    samples = samples if samples is not None else [sample(f"q{i}", "C" if i % 2 else "I") for i in range(4)]
    head = {"version": version, "status": "success", "eval": {"task": "t", "model": name, **further}}
    return head | {"samples": samples}


def sample(name, value, epoch=1, text="?", **further):
    scores = {} if value is None else {"match": {"value": value}}
    return {"id": name, "epoch": epoch, "input": text, "scores": scores, "metadata": {}} | further


def inspect_log(folder, model, values, **further):
    """A log in which each sample has one value by its id."""
    samples = [sample(name, value, **further) for name, value in values.items()]
    return write(folder / f"{model}.json", of_inspect(model, samples))


def test_values_of_inspect(tmp_path):
    values = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "No": 0, "TRUE": 1, "false": 0, "0.25": 0.25, True: 1, -3: -3}
    part = read("inspect", inspect_log(tmp_path, "a", dict(enumerate([*values, float("nan")]))))
    assert part.values["match"][:-1].tolist() == [*values.values()]
    assert np.isnan(part.values["match"]).tolist() == [False] * len(values) + [True]


@pytest.mark.parametrize(("reducers", "noted"), [(["max", "at_least_2"], 1), (["max", "mean"], 0), (None, 0)])
def test_other_reducers_of_epochs_than_the_mean_are_noted(tmp_path, reducers, noted):
    samples = [sample("q", value, epoch) for epoch, value in ((1, "C"), (2, "I"))]
    path = write(tmp_path / "a.json", of_inspect(samples=samples, config={"epochs_reducer": reducers}))
    for part in read_all("inspect", path):
        assert ["reduced epochs by max, at_least_2" in note for note in part.notes] == [True] * noted


def test_what_the_reader_of_a_log_should_know(tmp_path):
    path = write(tmp_path / "a.json", of_inspect() | {"status": "error", "invalidated": True})
    part = read("inspect", path)
    assert [note.partition(": ")[2] for note in part.notes] == [
        "the evaluation ended with the status error",
        "samples of this log were marked as invalid",
    ]


def test_runs_of_one_log_say_what_runs_are(tmp_path):
    """Also where the other log has one run, and comes first."""
    a = write(tmp_path / "a.json", of_inspect("a", [sample("q", "C"), sample("p", "I")]))
    several = [sample(name, "C", epoch) for name in "qp" for epoch in (1, 2)]
    b = write(tmp_path / "b.json", of_inspect("b", several))
    for paths in ([a, b], [b, a]):
        (data,) = inputs.read_all(paths, {})
        assert data.provenance["design"] == "nested"


@pytest.mark.parametrize("what", ["domain", "document"])
def test_labels_that_differ_between_epochs(tmp_path, what):
    samples = [sample("q", "C", epoch, metadata={"of": f"x{epoch}"}) for epoch in (1, 2)]
    path = write(tmp_path / "a.json", of_inspect(samples=samples))
    refuses(path, f"found different {what} for item q in the runs 2 and 1, expected the same", **{what: "of"})


# A metric is the same with others beside it and alone.


LINES = {"inspect": ("x", "y"), "helm": ("exact_match", "f1_score"), "lm_eval": ("acc", "acc_norm")}
RIGHT = {"a": [1] * 14 + [0] * 6, "b": [1] * 5 + [0] * 9 + [1] * 2 + [0] * 4}


def log_of(folder, reader, model, **scores):
    """A log of 20 items in one of the formats: by the metric one score an item, None where it has none."""
    items = [(f"q{i}", {name: own[i] for name, own in scores.items() if own[i] is not None}) for i in range(20)]
    if reader == "inspect":
        samples = [
            sample(name, None, scores={metric: {"value": value} for metric, value in own.items()})
            for name, own in items
        ]
        return write(folder / f"{model}.json", of_inspect(model, samples))
    if reader == "helm":
        return helm_log(folder / f"t:model={model}", [entry(name, stats=own.items()) for name, own in items])
    return lm_eval_of(folder / model, [{"doc_id": name, "metrics": [*own]} | own for name, own in items])


TIME = "2026-01-01T00-00-00.1"


def lm_eval_of(folder, rows, **results):
    """The least that a log of lm_eval has, called as its folder is."""
    write(folder / f"results_{TIME}.json", {"model_name": folder.name} | results)
    lines = [json.dumps({"doc_id": 0, "doc": {}, "resps": []} | row) + "\n" for row in rows]
    return write(folder / f"samples_t_{TIME}.jsonl", "".join(lines))


def with_gaps(scores, *gaps):
    return [None if i in gaps else score for i, score in enumerate(scores)]


def test_metrics_stay_in_their_order(tmp_path):
    """Also where neighbours have other items."""
    own = {"x": RIGHT["a"], "y": with_gaps(RIGHT["a"], 3), "z": RIGHT["b"]}
    paths = [log_of(tmp_path, "inspect", model, **own) for model in "ab"]
    found = inputs.read_all(paths, {})
    assert [[metric.name for metric in part.metrics] for part in found] == [["x"], ["y"], ["z"]]
    found = inputs.read_all(paths, {"metric": ["z", "x"]})
    assert [[metric.name for metric in part.metrics] for part in found] == [["z", "x"]]


def test_settings_distinguish_runs_of_one_model(tmp_path):
    hot = of_inspect("m", model_generate_config={"temperature": 1.0, "top_p": 0.5})
    cold = of_inspect("m", model_generate_config={"temperature": 0.0, "top_p": 0.5})
    paths = [write(tmp_path / f"2026-01-0{i}T00-00-00_t.json", log) for i, log in enumerate((hot, cold, cold), 1)]
    (data,) = inputs.read_all(paths[:2], {})
    assert data.systems == ("m (temperature=1.0)", "m (temperature=0.0)")
    (data,) = inputs.read_all(paths[1:], {})
    assert data.systems == ("m (2026-01-02T00-00-00_t)", "m (2026-01-03T00-00-00_t)")


def test_an_evaluation_that_has_not_finished(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    refuses(tmp_path / "a.eval", "found no header.json, expected a complete log: the evaluation has not finished")


# Archives.


def test_a_truncated_log(tmp_path):
    data = Path(STRONG).read_bytes()
    for share in (0.1, 0.5, 0.99):
        path = tmp_path / "a.eval"
        path.write_bytes(data[: int(share * len(data))])
        refuses(path, "cannot be read", "damaged")


def test_a_damaged_member(tmp_path):
    data = bytearray(Path(STRONG).read_bytes())
    with zipfile.ZipFile(STRONG) as archive:
        member = archive.getinfo("summaries.json")
    start = member.header_offset + 30 + len("summaries.json")
    for position in (start + 2, start + member.compress_size // 2, start + member.compress_size - 3):
        hurt = bytearray(data)
        hurt[position] ^= 0xFF
        (tmp_path / "a.eval").write_bytes(hurt)
        refuses(tmp_path / "a.eval", "summaries.json: cannot be read", "damaged")


def zip_of(path, name, packed, size, crc, method):
    """A zip archive with one member, whose header has these sizes, checksum and method."""
    common = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 0, crc, len(packed), size, len(name), 0)
    local = b"PK\3\4" + common + name + packed
    central = b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return path


@pytest.mark.parametrize("method", [8, 93])
def test_an_archive_that_says_it_is_small(tmp_path, monkeypatch, method):
    import pyarrow as pa

    monkeypatch.setattr("pairsig.io.files.MAX_BYTES", 2**20)
    monkeypatch.setattr("pairsig.io.files._CHUNK", 2**16)
    bomb = b"[" * 2**22
    deflate = zlib.compressobj(wbits=-15)
    packed = deflate.compress(bomb) + deflate.flush() if method == 8 else pa.compress(bomb, "zstd", asbytes=True)
    path = zip_of(tmp_path / "a.eval", b"header.json", packed, 2**22, zlib.crc32(bomb), method)
    refuses(path, "found more than 1,048,576 bytes of content")
    path = zip_of(tmp_path / "a.eval", b"header.json", packed, 10, zlib.crc32(bomb[:10]), method)
    refuses(path, "header.json")  # not a traceback, and no more memory than the bound


def test_a_document_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("pairsig.io.files.MAX_JSON", 2**10)
    refuses(inspect_log(tmp_path, "a", dict.fromkeys(range(100), "C")), "bytes of JSON")


def test_json_that_is_nested_too_deeply(tmp_path):
    refuses(write(tmp_path / "a.json", '{"version": 2, "status": ' + "[" * 100_000), "found invalid JSON")


# lm-evaluation-harness.


def results_of(folder):
    (path,) = Path(folder).rglob("results_*.json")
    return json.loads(path.read_text())


@pytest.mark.parametrize("folder", [A, B])
@pytest.mark.parametrize("task", ["sums_small", "sums_large"])
def test_lm_evals_own_figures(folder, task):
    reported = results_of(folder)
    part = read("lm_eval", folder, task=task)
    assert part.system == reported["config"]["model"]  # the name in the results is a random word
    for metric in ("acc", "acc_norm"):
        values, _ = by_item([part], metric)
        assert values.mean() == pytest.approx(reported["results"][task][f"{metric},none"], rel=1e-12)
        assert standard_error(values) == pytest.approx(reported["results"][task][f"{metric}_stderr,none"], rel=1e-12)


def lm_eval_with_groups(folder, scores, groups):
    """Logs of tasks with these scores by task, and groups by name: their tasks and the reported score."""
    scored = {task: [one for one in own if one is not None] for task, own in scores.items()}
    write(
        folder / f"results_{TIME}.json",
        {
            "model_name": folder.name,
            "results": {task: {"acc,none": sum(own) / len(own)} for task, own in scored.items()},
            "groups": {
                name: {"alias": name, "acc,none": value, "acc_stderr,none": 0.1} for name, (_, value) in groups.items()
            },
            "group_subtasks": {name: tasks for name, (tasks, _) in groups.items()},
            "higher_is_better": {task: {"acc": True} for task in scores},
        },
    )
    for task, own in scores.items():
        rows = [
            {"doc_id": i, "doc": [task, i], "resps": [], "metrics": ["acc"], "acc": one} for i, one in enumerate(own)
        ]
        write(folder / f"samples_{task}_{TIME}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return str(folder)


SCORES = {
    "a": {"x": [1, 1, 1], "y": [1, 0, 1, 1, 0], "z": [1, 1]},
    "b": {"x": [0, 0, 1], "y": [1, 1, 0, 1, 0], "z": [0, 0]},
}


def swapped(scores, of):
    """P-value of the difference of a score when items are swapped, by counting all 2ⁿ possibilities with fractions."""
    items = [(task, i) for task, own in scores["a"].items() for i in range(len(own))]
    gains = {key: Fraction(scores["a"][key[0]][key[1]]) - Fraction(scores["b"][key[0]][key[1]]) for key in items}
    own = abs(of(gains))
    beyond = sum(
        abs(of({key: sign * gains[key] for key, sign in zip(items, signs, strict=True)})) >= own
        for signs in itertools.product((1, -1), repeat=len(items))
    )
    return beyond / 2 ** len(items)


def over_items(gains):
    return sum(gains.values()) / len(gains)


def over_tasks(gains):
    by_task = [[own for (task, _), own in gains.items() if task == name] for name in {task for task, _ in gains}]
    return sum(sum(own) / len(own) for own in by_task) / len(by_task)


@pytest.mark.parametrize("mean", [over_items, over_tasks])
def test_the_mean_of_a_group_is_the_reported_one(tmp_path, mean, answer):
    """Weighted by size or not: the score of lm_eval's `aggregate_subtask_metrics`, and the p-value by enumeration."""
    values = {
        name: float(mean({(task, i): Fraction(one) for task, own in scores.items() for i, one in enumerate(own)}))
        for name, scores in SCORES.items()
    }
    groups = {name: {"g": (["x", "y", "z"], value)} for name, value in values.items()}
    folders = [lm_eval_with_groups(tmp_path / name, scores, groups[name]) for name, scores in SCORES.items()]
    rows, err = answer(*folders, "--test", "exact")
    assert [row["metric"] for row in rows] == ["x/acc", "y/acc", "z/acc", "g/acc"]
    expected = {over_items: "the mean over the items of 3 tasks", over_tasks: "the mean of the means of 3 tasks"}[mean]
    assert f"g/acc is {expected}" in err
    assert [rows[-1]["score_a"], rows[-1]["score_b"]] == pytest.approx([values["a"], values["b"]])
    assert rows[-1]["pvalue"] == swapped(SCORES, mean)
    assert rows[-1]["n_segments"] == 10


@pytest.mark.parametrize(("sizes", "unequal"), [((10, 50, 200, 400), False), ((8, 8, 300), True)])
def test_the_interval_of_a_mean_of_means_covers_the_truth(sizes, unequal):
    """For pass/fail items with correlated outcomes, whose true difference is or is not the same in all tasks."""
    rng, n = np.random.default_rng(5), 100
    gaps = np.linspace(-0.2, 0.4, len(sizes)) if unequal else np.full(len(sizes), 0.1)
    names = tuple(f"t{number}" for number in range(len(sizes)))
    group = output.TaskGroup("g", "acc", names, frozenset(["tasks"]))
    covered = 0
    for _ in range(n):
        members = []
        for size, gap in zip(sizes, gaps, strict=True):
            a, b = rng.random((2, size))
            b = np.where(rng.random(size) < 0.4, a, b)
            scores = {"a": a < 0.5 + gap / 2, "b": b < 0.5 - gap / 2}
            data = Statistics.from_arrays({name: own[:, None].astype(int) for name, own in scores.items()}, ["acc"])
            members.append(replace(data, metrics=(average("acc"),)))
        found = tasks.pooled(group, members, over_items=False)
        (metric,) = found.metrics
        interval = pairsig.difference_interval(*found.of(metric), metric=metric)
        covered += interval.low <= gaps.mean() <= interval.high
    assert stats.binomtest(covered, n, 0.95, alternative="less").pvalue > 0.001


def test_groups_that_are_no_rows(tmp_path, answer):
    """Of another mean, of a group that only one log has, of a group with a task that is not there; equal sizes."""
    equal = {name: {"x": [1, 0, 1], "y": [1, one, 0]} for name, one in (("a", 1), ("b", 0))}
    paths = [
        lm_eval_with_groups(tmp_path / name, own, {
            "best": (["x", "y"], 0.9),
            f"only_{name}": (["x", "y"], 0.5),
            "part": (["x", "v"], 0.5),
            "same": (["x", "y"], sum(own["x"] + own["y"]) / 6),
        })
        for name, own in equal.items()
    ]  # fmt: skip
    rows, err = answer(*paths, "--test", "exact")
    assert [row["metric"] for row in rows] == ["x/acc", "y/acc", "same/acc"]
    assert "same/acc is the mean over the items of 2 tasks" in err
    assert "best/acc left out, since the results report 0.9, which is neither the mean over samples, 0.666667" in err


def test_nested_groups_and_the_missing_scores_in_them(tmp_path, answer):
    """Groups of groups average over tasks, as in lm_eval; what is dropped is dropped there, too."""
    paths = []
    for name, scores in SCORES.items():
        flat = [one for own in scores.values() for one in own]
        groups = {"all": (["inner", "z"], sum(flat) / 10), "inner": (["x", "y"], sum(flat[:8]) / 8)}
        paths.append(lm_eval_with_groups(tmp_path / name, scores, groups))
    rows, _ = answer(*paths, "--test", "exact")
    assert [row["metric"] for row in rows] == ["x/acc", "y/acc", "z/acc", "all/acc", "inner/acc"]
    assert rows[-2]["pvalue"] == swapped(SCORES, over_items)
    for name, own in SCORES.items():
        scores = own | {"x": [None, *own["x"][1:]] if name == "b" else own["x"]}
        counted = [one for part in scores.values() for one in part if one is not None]
        lm_eval_with_groups(tmp_path / name, scores, {"all": (["x", "y", "z"], sum(counted) / len(counted))})
    rows, _ = answer(*paths, "--test", "exact", "--missing", "drop")
    assert {row["metric"]: row["n_segments"] for row in rows} == {"x/acc": 2, "y/acc": 5, "z/acc": 2, "all/acc": 9}
    assert "missing:drop:1|" in rows[-1]["signature"]
    left = {name: own | {"x": own["x"][1:]} for name, own in SCORES.items()}
    assert rows[-1]["pvalue"] == swapped(left, over_items)


def test_choices_of_a_log_of_lm_eval():
    refuses(A, "found no task 'sum', expected one of", "did you mean sums?", task="sum")
    refuses(A, "no metric that is a mean over samples", task="sums_read")
    refuses(A, "found no filter 'none', expected one of first, digits", task="sums_answered", filter="none")
    refuses(A, "found no meta.page in the doc", "the fields are passage", task="sums_small", document="meta.page")


@pytest.fixture
def lm_eval_log(tmp_path):
    """A copy of the samples of one task, and of their results."""
    (samples,) = Path(A).rglob("samples_sums_small_*.jsonl")
    (results,) = Path(A).rglob("results_*.json")
    for path in (samples, results):
        shutil.copy(path, tmp_path)
    return tmp_path / samples.name


def test_what_a_log_of_lm_eval_can_have_wrong(lm_eval_log):
    lines = lm_eval_log.read_text().splitlines()
    whole = lines[:]

    def broken(lines):
        lm_eval_log.write_text("\n".join(lines) + "\n")
        return lm_eval_log

    row = json.loads(whole[3])

    def with_row(**changes):
        return broken([*whole[:3], json.dumps({k: v for k, v in (row | changes).items() if v is not None}), *whole[4:]])

    refuses(broken(whole[:7]), "found 7 samples, expected 12 as in the results: the file is incomplete")
    refuses(broken([*whole[:11], whole[11][:50]]), "line 12: found invalid JSON")
    refuses(broken([*whole, whole[0]]), "line 13: found doc_id 0 again with the filter none")
    refuses(with_row(doc_id=None), "line 4: found no doc_id")
    part = read("lm_eval", with_row(acc=float("inf")))
    assert [metric.name for metric in part.metrics] == ["acc_norm"]
    assert any("and not the mean over samples, inf" in note for note in part.notes)


@pytest.mark.parametrize(("factor", "kept"), [(1, True), (1 + 1e-11, True), (1.01, False), (0.99, False)])
def test_the_mean_that_the_results_report(tmp_path, factor, kept):
    rows = [{"doc_id": i, "metrics": ["acc", "f1"], "acc": i % 3 / 7, "f1": 0.5} for i in range(10)]
    mean = factor * sum(row["acc"] for row in rows) / 10
    path = lm_eval_of(tmp_path, rows, results={"t": {"acc,none": mean, "f1,none": 0.5}})
    part = read("lm_eval", path)
    assert [metric.name for metric in part.metrics] == ["acc", "f1"][not kept :]
    assert any("acc left out, since the results report" in note for note in part.notes) != kept


def test_what_is_better_is_what_the_results_say(tmp_path):
    """Also by filter; where they do not say it, more is better, and a note tells. Logs that differ are refused."""
    rows = [
        {"doc_id": i, "filter": filter_, "metrics": ["er", "acc"], "er": i / 4, "acc": 1}
        for i in range(4)
        for filter_ in ("first", "last")
    ]
    paths = [
        lm_eval_of(tmp_path / name, rows, higher_is_better={"t": better})
        for name, better in (("a", {"er": False, "acc": True}), ("b", {"er": False}), ("c", {"er": True, "acc": None}))
    ]
    expected = {"er/first": False, "acc/first": True, "er/last": False, "acc/last": True}
    for path, unsaid in zip(paths[:2], ("", "acc/first, acc/last"), strict=True):
        part = read("lm_eval", path)
        assert {metric.name: metric.higher_is_better for metric in part.metrics} == expected
        notes = [note for note in part.notes if "higher counts as better" in note]
        assert [f"no direction for {unsaid};" in note for note in notes] == [True] * bool(unsaid)
    part = read("lm_eval", paths[0], filter="last")
    assert {metric.name: metric.higher_is_better for metric in part.metrics} == {"er": False, "acc": True}
    words = "higher er/first is better in {2}, but worse in {0}, expected the same".format(*paths)
    refused([paths[0], paths[2]], words)
    refused([paths[2], paths[0]], words)


def test_tasks_have_their_own_metrics(tmp_path):
    """A task without any mean over samples is left out with a note."""
    groups = {"group_subtasks": {"g": ["v", "w"]}, "groups": {"g": {"text,none": 0.5}}}
    for task, metrics in (("w", ["text"]), ("v", ["text"]), ("u", ["acc", "em"]), ("t", ["acc", "f1"])):
        value = "no number" if task in "vw" else 1
        path = lm_eval_of(tmp_path, [{"doc_id": 0, "metrics": metrics} | dict.fromkeys(metrics, value)], **groups)
        Path(path).rename(tmp_path / f"samples_{task}_{TIME}.jsonl")
    parts = read_all("lm_eval", tmp_path)
    assert [(part.task, [metric.name for metric in part.metrics]) for part in parts] == [
        ("t", ["acc", "f1"]), ("u", ["acc", "em"]),
    ]  # fmt: skip
    assert any("text left out, since samples have no number for it" in note for note in parts[0].notes)
    refuses(tmp_path, "found no metric that is a mean over samples", task="v")


def test_two_evaluations_of_one_task_in_a_folder(tmp_path):
    (samples,) = Path(A).rglob("samples_sums_small_*.jsonl")
    (results,) = Path(A).rglob("results_*.json")
    for time in ("2026-01-01T00-00-00.1", "2026-01-02T00-00-00.1"):
        shutil.copy(samples, tmp_path / f"samples_sums_small_{time}.jsonl")
        shutil.copy(results, tmp_path / f"results_{time}.json")
    refuses(tmp_path, "found two logs of ", " on sums_small, ", "name the file")


# HELM.


HELM = DATA / "helm"
LARGE, SMALL = HELM / "lab_large", HELM / "lab_small"


@pytest.mark.parametrize("folder", [LARGE, SMALL])
@pytest.mark.parametrize("subject", ["sums", "products"])
def test_helms_own_figures(folder, subject):
    reported = {
        stat["name"]["name"]: stat["mean"]
        for stat in json.loads((folder / subject / "stats.json").read_text())
        if "perturbation" not in stat["name"]
    }
    parts = read_all("helm", str(folder / subject), stat="exact_match,quasi_exact_match,num_prompt_tokens")
    assert [part.run for part in parts] == ["0", "1"]
    assert {part.system for part in parts} == {folder.name.replace("_", "/")}
    for name in ("exact_match", "quasi_exact_match", "num_prompt_tokens"):
        values, _ = by_item(parts, name)
        assert values.mean() == pytest.approx(reported[name], rel=1e-12)


def test_runs_of_helm_are_rows(answer):
    rows, err = answer(LARGE, SMALL, "--n-resamples", 99)
    assert [row["metric"] for row in rows] == [
        f"mmlu:subject={subject}/{name}"
        for subject in ("products", "sums")
        for name in ("exact_match", "quasi_exact_match")
    ]
    assert (rows[0]["system_a"], rows[0]["n_runs_a"], rows[0]["design"]) == ("lab/large", 2, "crossed")
    assert "12 entries for perturbed instances are left out" in err


def test_groups_of_helm_are_means_of_runs(tmp_path, answer):
    """As on its leaderboards: over the runs with the group in run_spec.json, whatever their numbers of instances."""
    for model, scores in SCORES.items():
        for run, own in scores.items():
            folder = tmp_path / model / f"mmlu:subject={run},model={model}"
            helm_log(folder, [entry(f"id{i}", stats=[("exact_match", one)]) for i, one in enumerate(own)])
            write(folder / "run_spec.json", {"name": folder.name, "groups": ["mmlu", f"mmlu_{run}"]})
    rows, err = answer(tmp_path / "a", tmp_path / "b", "--test", "exact")
    assert [row["metric"] for row in rows] == [
        *(f"mmlu:subject={run}/exact_match" for run in "xyz"),
        "mmlu/exact_match",
    ]
    assert rows[-1]["score_a"] == pytest.approx((1 + 0.6 + 1) / 3)
    assert rows[-1]["pvalue"] == swapped(SCORES, over_tasks)
    assert "mmlu/exact_match is the mean of the means of 3 tasks" in err


def entry(name="id0", trial=0, stats=(("exact_match", 1),), split="test", **further):
    return {
        "instance_id": name,
        "train_trial_index": trial,
        "stats": [{"name": {"name": stat, "split": split}, "count": 1, "sum": value} for stat, value in stats],
    } | further


def helm_log(folder, entries):
    return write(folder / "per_instance_stats.json", entries)


def test_statistics_of_several_metrics_are_put_together(tmp_path):
    entries = [entry(), entry(stats=[("f1_score", 0.5)]), entry("id1"), entry("id1", stats=[("f1_score", 0.25)])]
    path = write(tmp_path / "mmlu:subject=x,model=lab_a" / "per_instance_stats.json", entries)
    part = read("helm", path)
    assert (part.system, part.items) == ("lab_a", ("id0", "id1"))
    assert part.values["f1_score"].tolist() == [0.5, 0.25]
    assert read("helm", helm_log(tmp_path / "x", entries)).system == "x"


def test_a_run_of_helm_comes_once(tmp_path):
    for folder in "ab":
        helm_log(tmp_path / folder / "mmlu:model=m", [entry()])
    refuses(tmp_path, "found two logs of m on mmlu, ", "expected one")


def test_statistics_of_a_perturbation_are_others(tmp_path):
    one = entry()
    one["stats"] += entry(stats=[("exact_match", 0)])["stats"]
    one["stats"][1]["name"]["perturbation"] = {"name": "typos"}
    part = read("helm", helm_log(tmp_path / "mmlu:model=m", [one]))
    assert part.values["exact_match"].tolist() == [1]


def helm_run(folder, scores, *, model, stats=(), instances=(), **spec):
    """A run with its specification, and with the totals and the instances that are given."""
    run = folder / f"sums:model={model}"
    helm_log(run, [entry(f"id{k}", stats=[("exact_match", one)]) for k, one in enumerate(scores)])
    write(run / "run_spec.json", {"name": run.name} | spec)
    if stats:
        write(run / "stats.json", [{"name": {"name": n, "split": "test"}, "count": c, "sum": t} for n, c, t in stats])
    if instances:
        write(run / "instances.json", [{"id": f"id{k}", "input": {"text": one}} for k, one in enumerate(instances)])
    return str(run)


# SWE-bench.


SWEBENCH = DATA / "swebench"


@pytest.mark.parametrize("name", ["large", "small"])
def test_swebenchs_own_figures(name):
    path = SWEBENCH / f"lab__{name}-2.1.run_1.json"
    report = json.loads(path.read_text())
    part = read("swebench", path, document="repo")
    assert part.system == f"lab/{name}-2.1"
    assert len(part.items) == report["total_instances"] == 40
    assert np.nansum(part.values["resolved"]) == report["resolved_instances"]
    assert np.isnan(part.values["resolved"]).sum() == report["error_instances"] + len(report["incomplete_ids"])
    assert set(part.documents) == set(part.domains) == {"ab__c", "d__e-f", "g__h", "i__j"}


def test_instances_that_a_report_does_not_list(tmp_path):
    report = {"resolved_ids": ["a-1"], "unresolved_ids": ["a-2"], "total_instances": 3}
    path = write(tmp_path / "m.run.json", report)
    part = read("swebench", path)
    assert part.notes == (f"{path}: the report lists only 2 of its 3 instances",)
    ids = write(tmp_path / "ids.json", ["a-1", "a-2", "a-3"])
    part = read("swebench", path, instances=ids)
    assert np.isnan(part.values["resolved"]).tolist() == [False, False, True]
    assert part.notes == ()


# COMET and mt-metrics-eval.


def comet(scores, sources=None, reference="y"):
    sources = sources or [f"s{i}" for i in range(len(scores))]
    said = {"mt": "x", "ref": reference}
    return [{"src": src, "COMET": score} | said for src, score in zip(sources, scores, strict=True)]


def test_comet(tmp_path, answer):
    scores = {"a": [0.8125, 0.75, 0.5], "b": [0.5, 0.75, 0.25]}
    both = write(tmp_path / "both.json", {f"out/{name}.txt": comet(own) for name, own in scores.items()})
    (row,), err = answer(both, "--test", "exact")
    assert "detected the format comet" in err
    assert (row["metric"], row["system_a"], row["system_b"]) == ("comet", "a", "b")
    assert (row["score_a"], row["score_b"]) == (pytest.approx(np.mean(scores["a"])), pytest.approx(0.5))


def test_translations_of_one_name(tmp_path):
    path = write(tmp_path / "a.json", {f"{folder}/out.txt": comet([0.5]) for folder in "ab"})
    assert [part.system for part in read_all("comet", path)] == ["a/out.txt", "b/out.txt"]


TRANSLATION = DATA / "translation"


# What a log can have wrong.


WRONG = {
    ("log.json", None): [
        (of_inspect(version=3), "found version 3 of Inspect's log, expected one of 1, 2"),
        ({"version": 2, "status": "success", "eval": {}}, "found no eval.task"),
        (of_inspect(samples=[]), "found no item with a score"),
        (of_inspect(samples=[sample("q", "C"), sample("q", "I")]), "found item q again, expected it once"),
        *((of_inspect(samples=[sample("q", value)]),
           f"found the value '{value}' for match, expected a number or one of C, I, P, N")
          for value in ("B", "c", "")),
        (of_inspect(samples=[sample("q", float("inf"))]), "the score inf in match for item q, expected a finite"),
        (of_inspect(samples=[sample("q", float("nan"))]), "found no score for any item in match"),
        (of_inspect(samples=[sample("q", "C"), sample("q", "C", 2, "!")]), "different content for item q in the runs"),
        (of_inspect(samples=[sample("a", "C"), sample("b", "C", scores={"match": {}})]), "sample 2: found no value"),
        (of_inspect(samples=[sample("a", "C"), sample("b", "B")]), "sample 2: found the value 'B'"),
        ({k: v for k, v in of_inspect().items() if k != "samples"}, "found no samples"),
        (of_inspect() | {"samples": {"a": 1}}, "as samples, expected a list of objects"),
        (of_inspect(name=""), "found no name of the model"),
    ],
    ("mmlu:model=lab_a/per_instance_stats.json", "helm"): [
        ([entry(), entry()], "found exact_match again for instance id0 in trial 0, expected it once"),
        ([{"instance_id": "id0", "stats": []}], "entry 1: found no train_trial_index"),
        ([entry(stats=[("exact_match", "x")])], "entry 1, sum: found the score 'x', expected a number"),
        ([entry(stats=[("exact_match", float("inf"))])], "the score inf in exact_match"),
        ([entry(stats=[("speed", 1)])], "found the statistics speed, but none from HELM's leaderboards"),
        ([entry(split="train"), entry("id1", split="valid")], "found the splits train, valid; choose one"),
        ({"a": 1}, "expected a list"),
        ([entry(), entry("id1", stats=[("exact_match", "x")])], "entry 2, sum: found the score 'x', expected a number"),
        ([entry(perturbation={"name": "typos"})], "found the statistics (none), but none from HELM's leaderboards"),
    ],
    ("m.run.json", "swebench"): [
        ({"resolved_ids": ["a-1"], "unresolved_ids": ["a-1"]}, "found a-1 both as resolved and as not resolved"),
        ({"resolved_ids": ["a-1"], "empty_patch_ids": ["a-1"]}, "found a-1 both as resolved and as not resolved"),
        ({"resolved_ids": ["a"], "submitted_ids": ["a"], "submitted_instances": 0}, "found 1 submitted_ids"),
        ({"resolved_ids": ["a-1"], "error_ids": ["a-1"], "submitted_ids": []}, "found a-1 both as resolved and"),
        ({"resolved_ids": ["a-1"], "incomplete_ids": ["a-1"]}, "found a-1 both as resolved and as not resolved"),
        ({"resolved_ids": ["a-1", "a-1"], "submitted_ids": ["a-1"]}, "found a-1 twice"),
        ({"resolved_ids": ["a"], "submitted_ids": ["a"], "resolved_instances": 2}, "found 1 resolved_ids, expected 2"),
        ({"resolved_ids": "a-1", "submitted_ids": []}, "resolved_ids: found 'a-1', expected a list of ids"),
        ({"resolved_ids": [], "submitted_ids": ["a"], "schema_version": 3}, "found schema_version 3, expected one of"),
        ({"unresolved_ids": ["a-1"], "total_instances": 1}, "expected resolved_ids or resolved, as in SWE-bench"),
        ({"a-1": {"resolved": "yes"}}, "found 'yes' as resolved for a-1, expected true or false"),
    ],
    ("a.json", "comet"): [
        ({"a.txt": comet([0.5, "x"])}, "segment 2: found the score 'x', expected a number"),
        ({"a.txt": [{"src": "s", "mt": "x"}]}, "segment 1: found no COMET"),
        ({"source": ["s", "t"], "translations": [{"name": "a", "scores": [1]}]}, "system 1: found 1 scores, expected"),
        ({"a.txt": comet([float("inf")])}, "the score inf in comet"),
        ("a.txt\tSegment 0\tscore: 0.5\tx\n", "found no system, expected at least one"),
        ({"a.txt": [{"src": 1, "COMET": 1}], "b.txt": {"x": 1}}, "as b.txt, expected a list"),
    ],
    ("x.seg.score", "mt_metrics_eval"): [
        ("a\t1\na\tx\n", "line 2: found the score 'x', expected a number or None"),
        ("a\t1\nb\n", "line 2: found 'b', expected SYSTEM<TAB>SCORE"),
        ("a\t1\na\t2\nb\t1\n", "found 1 segments for 'b' and 2 for 'a', expected the same number"),
        ("a\t1\nb\t2\nb\t3\n", "found 2 segments for 'b' and 1 for 'a', expected the same number"),
        ("a\tnan\n", "line 1: found the score 'nan'"),
        ("a\tNone\nb\tNone\n", "found no score for any item"),
    ],
}  # fmt: skip
"""Contents by file and reader (None: recognized), and words of the message."""


@pytest.mark.parametrize(
    ("file", "reader", "content", "words"), [(*of, *row) for of, rows in WRONG.items() for row in rows]
)
def test_what_a_log_can_have_wrong(tmp_path, file, reader, content, words):
    refuses(write(tmp_path / file, content), words, reader=reader)


# Logs must be comparable.


USUAL_EVAL = {
    "task_version": 1, "dataset": {"name": "easy"}, "task_args": {"fewshot": 0}, "config": {"epochs_reducer": ["mean"]},
}  # fmt: skip


def with_settings(folder, name, **changed):
    log = of_inspect(name, [sample("q0", "C"), sample("q1", "I")])
    log["eval"] |= USUAL_EVAL | changed
    return write(folder / f"{name}.json", log)


@pytest.mark.parametrize(
    ("reported", "status", "agrees"), [(0.75, "success", True), (0.8, "success", False), (0.8, "cancelled", True)]
)
def test_the_header_must_agree_with_its_samples(tmp_path, reported, status, agrees):
    """Over epochs, a sample counts once; the header of an interrupted log has the mean of fewer samples."""
    samples = [sample(name, value, epoch) for name, values in (("q0", "CC"), ("q1", "CI"))
               for epoch, value in enumerate(values, 1)]  # fmt: skip
    score = {"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": reported}}}
    log = of_inspect("a", samples) | {"results": {"scores": [score]}, "status": status}
    path = write(tmp_path / "a.json", log)
    if agrees:
        assert len(read_all("inspect", path)) == 2
    else:
        refuses(path, "the header reports 0.8 for match, the samples have the mean 0.75, expected the same")


# What a file is, by its content.


COMING_FROM = DATA.parent / "coming_from"


@pytest.mark.parametrize(
    ("reader", "name", "text"),
    [
        ("scores", "a", "1\n0\n"),
        ("table", "a.csv", "id,correct\nx,1\n"),
        ("table", "a.jsonl", '{"id": "x", "correct": true}\n'),
        ("mt_metrics_eval", "a", "sys\t0.5\nsys\tNone\n"),
        ("lm_eval", "a.jsonl", '{"doc_id": 0, "doc": {"x": 1}, "target": "a", "resps": [["b"]]}\n'),
        ("swebench", "a.json", '{\n "no_generation": [],\n "resolved": ["x-1"]}'),
        ("swebench", "a.json", '{"django__django-1": {"cost": 0.5, "resolved": true}}'),
    ],
)
def test_formats_are_recognized_by_what_they_begin_with(tmp_path, reader, name, text):
    assert recognition.recognize([write(tmp_path / name, text)]) == reader


WORD = "\t".join("1aaaaa0aaa") + "\n\n"


@pytest.mark.parametrize(
    ("reader", "output", "reference"),
    [
        ("text", "(laughs) yes\n", "(laughs) no\n"),
        ("trees", "(S (NP it) (VP is))\n", "(TOP (S (NP it) (VP is)))\n"),
        ("alignment", "0-0 1-1\n\n", "0-0 1p1\n2-2\n"),
        ("conllu", WORD, f"# text = a\n{WORD}"),
    ],
)  # fmt: skip
def test_outputs_are_recognized_with_their_reference(tmp_path, reader, output, reference):
    paths = write(tmp_path / "out", output), write(tmp_path / "gold", reference)
    assert recognition.recognize(paths[:1], paths[1:]) == reader


def test_a_folder_of_one_table_is_no_log(tmp_path):
    write(tmp_path / "a.json", [{"id": "x", "score": 1}, {"id": "y", "score": 0}])
    with pytest.raises(InputError, match=r"found files for table in the folder, .* name the files inst"):
        recognition.recognize([tmp_path])


# Real logs elsewhere.


@pytest.mark.data
def test_a_report_of_swebench_elsewhere(data_dir):
    path = data_dir.parent / "evaluation-logs/swebench/multi-swe-java_results.json"
    if not path.exists():
        pytest.skip(f"not found beside the public corpora: {path}")
    part = read("swebench", path)
    report = json.loads(path.read_text())
    assert np.nansum(part.values["resolved"]) == report["resolved_instances"]
    assert len(part.items) == report["total_instances"]
    assert (~np.isnan(part.values["resolved"])).sum() == report["submitted_instances"]


def test_half_a_surrogate_pair_in_an_id(tmp_path):
    rows = [{"id": "\ud800", "score": 1}, {"id": "b", "score": 0}]
    a = write(tmp_path / "a.json", rows)
    b = write(tmp_path / "b.json", [row | {"score": 0} for row in rows])
    assert cli.main(["compare", a, b, "--flips", str(tmp_path / "flips.tsv"), "--test", "exact"]) == 0
    assert tables.read(tmp_path / "flips.tsv")["segment"].tolist() == ["\\ud800"]


def test_half_a_surrogate_pair_in_a_name(tmp_path, answer):
    samples = [{"id": "q0", "epoch": 1, "scores": {"\ud801": {"value": "C"}}}]
    a = write(tmp_path / "a.json", of_inspect("x\ud800", samples))
    b = write(tmp_path / "b.json", of_inspect("m", samples))
    (row,), _ = answer(a, b, "--test", "exact")
    assert (row["metric"], row["system_a"]) == ("\\ud801", "x\\ud800")


def test_names_in_an_option_may_have_spaces_around_them():
    assert items.names_of("exact, match ,f1") == ["exact", "match", "f1"]
    assert items.names_of(None) == []


COMET_LINES = [f"out/{name}.txt\tSegment {number}\tscore: {score}" for name, number, score in (
    ("a", 0, "0.5000"), ("a", 1, "0.2500"), ("b", 0, "0.7500"), ("b", 1, "-0.5000")
)]  # fmt: skip


def test_systems_and_segments_of_comet_are_counted_from_1(tmp_path):
    translations = [{"name": "a.txt", "scores": [0.5, 0.25]}, {"name": "b.txt", "scores": [0.5, "x"]}]
    path = write(tmp_path / "c.json", {"statistical_results": [], "source": ["s", "t"], "translations": translations})
    refuses(path, "system 2, segment 2: found the score 'x'")


def test_a_statistic_that_helm_does_not_have(tmp_path):
    path = helm_log(tmp_path / "mmlu:model=a", [entry(), entry("id1")])
    refuses(path, "found no statistic 'f1', expected one of exact_match", reader="helm", stat="f1")


def test_totals_of_helm_of_another_sub_split_are_not_compared(tmp_path):
    """No instance has values of it."""
    run = helm_run(tmp_path, (0, 1, 1), model="m", stats=[("exact_match", 1, 0.1)])
    beside = Path(run) / "stats.json"
    (total,) = json.loads(beside.read_text())
    total["name"]["sub_split"] = "ref"
    write(beside, [total])
    assert read("helm", run).values["exact_match"].sum() == 2


@pytest.mark.parametrize(
    ("mean", "agrees"), [(1e6 * (1 + 1e-10), True), (1e6 + 1, False), (1e-10, True), (1e-8, False)]
)
def test_a_reported_mean_may_differ_in_the_order_of_addition(mean, agrees):
    assert items.same(mean, 1e6 if mean > 1 else 0.0) == agrees


def test_the_solver_of_inspect_is_the_named_one_or_the_steps(tmp_path):
    log = of_inspect(samples=[sample("a", "C"), sample("b", "I")])
    steps = {"plan": {"steps": [{"solver": "chain"}, {"solver": "generate"}]}}
    assert read("inspect", write(tmp_path / "a.json", log | steps)).settings["solver"] == "chain+generate"
    log["eval"]["solver"] = "mine"
    assert read("inspect", write(tmp_path / "a.json", log | steps)).settings["solver"] == "mine"


def test_labels_of_json_values():
    assert [items.label(value) for value in ("a", 7, None, True, 0.5)] == ["a", "7", "", "true", "0.5"]
    assert items.label({"b": 1, "a": 2}) == items.label({"a": 2, "b": 1})


def test_lines_of_json_that_are_no_objects(tmp_path):
    path = write(tmp_path / "samples_x_2026-01-01T00-00-00.1.jsonl", '{"doc_id": 0}\n \n[1]\n')
    with pytest.raises(InputError, match=r"line 3: found '\[1\]', expected a JSON object"):
        list(items.json_lines(path))
    Path(path).write_bytes(b'{"doc_id": 0}\n{"doc_id": "\xff"}\n')
    with pytest.raises(InputError, match="line 2: found bytes ff, expected UTF-8"):
        list(items.json_lines(path))


def test_files_below_a_folder(tmp_path, monkeypatch):
    """A folder is no file, whatever it is called; the limit is the number of entries that are looked at."""
    (tmp_path / "b.json").mkdir()
    for name in ("b.json/a.json", "c.txt"):
        (tmp_path / name).write_text("")
    assert items.files_below(tmp_path, "*.json") == [tmp_path / "b.json/a.json"]
    monkeypatch.setattr(items, "MAX_FILES", 3)
    assert len(items.files_below(tmp_path, "*.json")) == 1
    monkeypatch.setattr(items, "MAX_FILES", 2)
    with pytest.raises(InputError, match="found more than 2 files"):
        items.files_below(tmp_path, "*.json")


def test_one_doc_of_lm_eval_with_two_filters_is_the_same(tmp_path):
    rows = [
        {"doc_id": 0, "filter": name, "metrics": ["acc"], "acc": 1, "doc_hash": own}
        for name, own in (("first", "x"), ("second", "y"))
    ]
    refuses(lm_eval_of(tmp_path / "m", rows), "line 2: found a doc with doc_id 0 that differs from the one in line 1")


def test_the_model_of_lm_eval_is_in_its_arguments(tmp_path):
    config = {"model": "hf", "model_args": "pretrained=lab/m,dtype=auto"}
    log = lm_eval_of(tmp_path / "folder", [{"metrics": ["acc"], "acc": 1}], model_name="", config=config)
    assert read("lm_eval", log).system == "lab/m"


def test_samples_in_memory_are_counted_from_1():
    log = {"results": {}, "model_name": "m", "samples": {"t": [{"doc_id": 0, "doc": {}}, {"doc_id": [], "doc": {}}]}}
    with pytest.raises(InputError, match=r"task t, line 2: found \[\] as doc_id"):
        pairsig.read([log])
    with pytest.raises(InputError, match="with log_samples=True"):
        pairsig.read([{"results": {}}])


@pytest.mark.parametrize("rows", ["", "a\t1\nno score\n", "1 2\n3 4\n"])
def test_what_is_no_file_of_mt_metrics_eval(rows, tmp_path):
    """Every line has a name and a score, and not all are numbers."""
    reader = recognition.reader_of_counts("mt_metrics_eval")
    assert not reader.recognizes(Beginning(write(tmp_path / "x", rows)))
