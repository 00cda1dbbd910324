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
from pairsig.readers import inputs, output, recognition, tasks
from pairsig.readers import read as read_all
from pairsig.readers.logs import items

DATA = Path(__file__).parents[1] / "data/evaluation_logs"
INSPECT, LM_EVAL, HELM, SWEBENCH = (DATA / name for name in ("inspect", "lm_eval", "helm", "swebench"))
STRONG, WEAK = (str(INSPECT / f"{name}.eval") for name in ("strong", "weak"))
A, B = str(LM_EVAL / "a"), str(LM_EVAL / "b")
TIME = "2026-01-01T00-00-00.1"


def read(reader, path, **options):
    """The only system and run in a log."""
    (part,) = read_all(reader, path, **options)
    return part


def refuses(path, *expected, reader=None, **options):
    with pytest.raises(InputError) as error:
        read_all(reader or recognition.recognize([str(path)], [], {}), str(path), **options)
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


# The least that a log of each program has.


def sample(name, value, epoch=1, text="?", **further):
    scores = {} if value is None else {"match": {"value": value}}
    return {"id": name, "epoch": epoch, "input": text, "target": "t", "scores": scores, "metadata": {}} | further


def of_inspect(name="m", samples=None, version=2, log=None, **further):
    samples = [sample(f"q{i}", "C" if i % 2 else "I") for i in range(4)] if samples is None else samples
    head = {"version": version, "status": "success", "eval": {"task": "t", "model": name, **further}}
    return head | {"samples": samples} | (log or {})


def lm_eval_row(number, score, **further):
    return {"doc_id": number, "doc": {"q": number}, "resps": [], "metrics": ["acc"], "acc": score} | further


def lm_eval_of(folder, rows, task="t", **results):
    """A log of a model that is called as its folder."""
    write(folder / f"results_{TIME}.json", {"model_name": folder.name} | results)
    return write(folder / f"samples_{task}_{TIME}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def entry(name="id0", trial=0, stats=(("exact_match", 1),), split="test", **further):
    values = [{"name": {"name": stat, "split": split}, "count": 1, "sum": value} for stat, value in stats]
    return {"instance_id": name, "train_trial_index": trial, "stats": values} | further


def helm_log(folder, entries):
    return write(folder / "per_instance_stats.json", entries)


def comet(scores):
    return [{"src": f"s{n}", "mt": "x", "ref": "y", "COMET": score} for n, score in enumerate(scores)]


# The programs' own figures.


REPORTED = json.loads((INSPECT / "reported.json").read_text())


def figures():
    """The reader, the log, its options, a metric, and what the program reports of it: mean, error, clustered error."""
    of_inspect = (("exact", "exact", "accuracy"), ("brevity", "brevity", "mean"), ("parts/form", "form", "mean"),
                  ("parts/content", "content", "mean"))  # fmt: skip
    for name in ("strong.eval", "weak.eval", "weak.json.gz"):
        reported = REPORTED[name.removesuffix(".gz")]
        for ours, theirs, centre in of_inspect:
            of = reported[theirs]
            yield "inspect", INSPECT / name, {"document": "passage"}, ours, of[centre], of["stderr"], of.get("stderr2")
    for folder, task, metric in itertools.product((A, B), ("sums_small", "sums_large"), ("acc", "acc_norm")):
        (path,) = Path(folder).rglob("results_*.json")
        of = json.loads(path.read_text())["results"][task]
        yield "lm_eval", folder, {"task": task}, metric, of[f"{metric},none"], of[f"{metric}_stderr,none"], None
    for folder in (HELM / run / subject for run in ("lab_large", "lab_small") for subject in ("sums", "products")):
        for of in json.loads((folder / "stats.json").read_text()):
            name = of["name"]["name"]
            if name in ("exact_match", "quasi_exact_match", "num_prompt_tokens") and "perturbation" not in of["name"]:
                yield "helm", folder, {"stat": name}, name, of["mean"], None, None


@pytest.mark.parametrize(("reader", "path", "options", "metric", "mean", "error", "clustered"), list(figures()))
def test_figures_are_those_of_the_program(reader, path, options, metric, mean, error, clustered):
    scores, documents = {}, {}
    for part in read_all(reader, path, **options):
        for row, item in enumerate(part.items):
            documents[item] = part.documents[row] if part.documents else ""
            if not np.isnan(part.values[metric][row]):
                scores.setdefault(item, []).append(float(part.values[metric][row]))
    values, clusters = np.array(list(map(np.mean, scores.values()))), np.array([documents[item] for item in scores])
    assert values.mean() == pytest.approx(mean, rel=1e-12)
    if error is not None:
        assert values.std(ddof=1) / np.sqrt(len(values)) == pytest.approx(error, rel=1e-12)
    if clustered is not None:  # Miller (2024), appendix A, with the correction for few clusters
        sums = np.array([(values - values.mean())[clusters == name].sum() for name in np.unique(clusters)])
        theirs = np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(values)
        assert theirs == pytest.approx(clustered, rel=1e-12)


@pytest.mark.parametrize(
    ("reader", "path", "systems", "runs"),
    [
        ("inspect", STRONG, {"mockllm/strong"}, [""]),
        ("helm", HELM / "lab_large/sums", {"lab/large"}, ["0", "1"]),
        ("lm_eval", A, {"bigv4223"}, [""]),  # the name in the results is a random word
    ],
)
def test_systems_and_runs_have_the_names_in_the_log(reader, path, systems, runs):
    parts = read_all(reader, path)
    config = [json.loads(file.read_text())["config"]["model"] for file in Path(path).rglob("results_*.json")]
    assert {part.system for part in parts} == (set(config) or systems)
    assert list(dict.fromkeys(part.run for part in parts)) == runs


@pytest.mark.parametrize("name", ["large", "small"])
def test_swebenchs_own_figures(name):
    path = SWEBENCH / f"lab__{name}-2.1.run_1.json"
    report = json.loads(path.read_text())
    part = read("swebench", path)
    assert part.system == f"lab/{name}-2.1"
    assert len(part.items) == report["total_instances"] == 40
    assert np.nansum(part.values["resolved"]) == report["resolved_instances"]
    assert np.isnan(part.values["resolved"]).sum() == report["error_instances"] + len(report["incomplete_ids"])
    assert set(part.documents) == set(part.domains) == {"ab__c", "d__e-f", "g__h", "i__j"}


def test_figures_of_comet_and_mt_metrics_eval():
    """Means to four digits, scores with documents and domains of the data set, and what comet-score prints."""
    folder = DATA / "translation"
    reported = json.loads((folder / "reported.json").read_text())
    for name, mean in reported["comet"].items():
        assert round(float(read("comet", folder / f"{name}.json").values["comet"].mean()), 4) == mean
    (metric, of_systems), *_ = reported["mt_metrics_eval"].items()
    for part in read_all("mt_metrics_eval", folder / f"metric-scores/en-de/{metric}.seg.score"):
        assert part.values[metric].tolist() == of_systems[part.system]
        assert len(set(part.documents)) > len(set(part.domains)) > 0
    assert [m.name for m in read_all("mt_metrics_eval", folder / "human-scores/en-de.mqm.seg.score")[0].metrics] == [
        "mqm"
    ]


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


# What a log can have wrong.


def two(first, second):
    """Two rows of a log of lm_eval, of which the second is wrong."""
    return "".join(json.dumps(row) + "\n" for row in (first, second))


TASK = f"m/samples_t_{TIME}.jsonl"
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
        ('{"version": 2, "status": ' + "[" * 100_000, "found invalid JSON"),
        *((of_inspect(samples=[sample("q", "C", epoch, metadata={"of": f"x{epoch}"}) for epoch in (1, 2)]),
           f"found different {what} for item q in the runs 2 and 1, expected the same", {what: "of"})
          for what in ("domain", "document")),
    ],
    (TASK, None): [
        (lm_eval_row(0, 1) | {"doc_id": None}, "line 1: found None as doc_id"),
        ('{"doc_id": 0, "resps": []}\n', "line 1: found no doc"),
        ('{"doc_id": 0, "doc": 1, "resps": []}\n{"doc', "line 2: found invalid JSON"),
        (two(lm_eval_row(0, 1), lm_eval_row(0, 1)), "line 2: found doc_id 0 again with the filter none"),
        (two(lm_eval_row(0, 1, doc_hash="x", filter="a"), lm_eval_row(0, 1, doc_hash="y", filter="b")),
         "line 2: found a doc with doc_id 0 that differs from the one in line 1"),
        (lm_eval_row(0, "one"), "found no metric that is a mean over samples"),
    ],
    ("mmlu:model=lab_a/per_instance_stats.json", "helm"): [
        ([entry(), entry()], "found exact_match again for instance id0 in trial 0, expected it once"),
        ([{"instance_id": "id0", "stats": []}], "entry 1: found no train_trial_index"),
        ([entry(stats=[("exact_match", "x")])], "entry 1, sum: found the score 'x', expected a number"),
        ([entry(stats=[("exact_match", float("inf"))])], "the score inf in exact_match"),
        ([entry(stats=[("speed", 1)])], "found the statistics speed, but none from HELM's leaderboards"),
        ([entry(split="train"), entry("id1", split="valid")], "found the splits train, valid, expected one, or test"),
        ({"a": 1}, "expected a list"),
        ([entry(), entry("id1", stats=[("exact_match", "x")])], "entry 2, sum: found the score 'x', expected a number"),
        ([entry(perturbation={"name": "typos"})], "found the statistics (none), but none from HELM's leaderboards"),
        ([entry(), entry("id1")], "found no statistic 'f1', expected one of exact_match", {"stat": "f1"}),
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
        ({"resolved": ["a-1"], "no_generation": []}, "found no list of unresolved instances"),
    ],
    ("a.json", "comet"): [
        ({"a.txt": comet([0.5, "x"])}, "segment 2: found the score 'x', expected a number"),
        ({"a.txt": [{"src": "s", "mt": "x"}]}, "segment 1: found no COMET"),
        ({"source": ["s", "t"], "translations": [{"name": "a", "scores": [1]}]}, "system 1: found 1 scores, expected"),
        ({"a.txt": comet([float("inf")])}, "the score inf in comet"),
        ("a.txt\tSegment 0\tscore: 0.5\tx\n", "found no system, expected at least one"),
        ({"a.txt": [{"src": 1, "COMET": 1}], "b.txt": {"x": 1}}, "as b.txt, expected a list"),
        ({"source": ["s", "t"], "translations": [{"name": 1, "scores": [1, 2]}]}, "found 1 as name"),
        ({"source": ["s"], "translations": [{"name": "a", "scores": ["x"]}]}, "system 1, segment 1: found the score"),
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
"""Contents by file and reader (None: recognized), words of the message, and options."""


@pytest.mark.parametrize(
    ("file", "reader", "content", "words", "options"),
    [(*of, *row, *([{}] if len(row) == 2 else [])) for of, rows in WRONG.items() for row in rows],
)
def test_what_a_log_can_have_wrong(tmp_path, file, reader, content, words, options):
    refuses(write(tmp_path / file, content), words, reader=reader, **options)


FIELDS = "expected the document of the item; the fields are passage, about; did you mean passage?"
CHOICES = [
    (STRONG, {"scorer": "exat"}, "found no scorer 'exat', expected one of exact, brevity, parts/form, parts/"),
    (STRONG, {"document": "pasage"}, f"sample 1: found no pasage in the metadata, {FIELDS}"),
    (A, {"task": "sum"}, "did you mean sums?"),
    (A, {"task": "sums_read"}, "no metric that is a mean over samples"),
    (A, {"task": "sums_small", "document": "meta.page"}, "found no meta.page in the doc, expected the document"),
    (SWEBENCH, {"systems": "lab"}, "found no system 'lab', expected one of lab/large-2.1, lab/small-2.1"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "options", "words"), CHOICES)
def test_choices_that_a_log_does_not_have(path, options, words):
    refuses(path, words, **options)


def test_one_log_per_model_and_task(tmp_path, answer):
    for path in (STRONG, WEAK):
        shutil.copy(path, tmp_path)
    rows, _ = answer(tmp_path, "--metric", "exact", "--n-resamples", 99)
    assert {(row["system_a"], row["system_b"]) for row in rows} == {("mockllm/strong", "mockllm/weak")}
    refused([tmp_path, WEAK], "found the systems mockllm/strong, mockllm/weak, expected one system per file")
    shutil.copy(STRONG, tmp_path / "again.eval")
    refuses(tmp_path, "found two logs of mockllm/strong on sums, ", "again.eval and ", "expected one; name")
    for folder in "ab":
        helm_log(tmp_path / "helm" / folder / "mmlu:model=m", [entry()])
        lm_eval_of(tmp_path / "lm_eval" / folder, [lm_eval_row(0, 1)], model_name="m")
    refuses(tmp_path / "helm", "found two logs of m on mmlu, ", "expected one")
    refuses(tmp_path / "lm_eval", "found two logs of m on t, ", "name the file")


# Archives and damaged files.


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


def test_damaged_archives(tmp_path):
    data, path = Path(STRONG).read_bytes(), tmp_path / "a.eval"
    for share in (0.1, 0.5, 0.99):
        path.write_bytes(data[: int(share * len(data))])
        refuses(path, "cannot be read", "damaged")
    with zipfile.ZipFile(STRONG) as archive:
        member = archive.getinfo("summaries.json")
    start = member.header_offset + 30 + len("summaries.json")
    for position in (start + 2, start + member.compress_size // 2, start + member.compress_size - 3):
        hurt = bytearray(data)
        hurt[position] ^= 0xFF
        path.write_bytes(hurt)
        refuses(path, "summaries.json: cannot be read", "damaged")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    refuses(path, "found no header.json, expected a complete log: the evaluation has not finished")


def test_a_document_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("pairsig.io.files.MAX_JSON", 2**10)
    refuses(write(tmp_path / "a.json", of_inspect(samples=[sample(n, "C") for n in range(100)])), "bytes of JSON")


# Scores.


@pytest.mark.parametrize("command", ["compare", "plan --reader inspect --gain 1%"])
def test_documents_that_are_not_used_are_noted(command, capsys):
    name, *options = command.split()
    for more in ([], ["--document", "passage"], ["--document", "passage", "--unit", "document"]):
        quick = ["--n-resamples", "99"] if name != "plan" else []
        assert cli.main([name, STRONG, WEAK, *options, *more, *quick, "--metric", "exact"]) == 0
        noted = "the 12 segments come from 4 documents, which were not used" in "".join(capsys.readouterr())
        assert noted == (len(more) == 2)


def test_values_of_inspect(tmp_path):
    values = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "No": 0, "TRUE": 1, "false": 0, "0.25": 0.25, True: 1, -3: -3}
    samples = [sample(n, value) for n, value in enumerate([*values, float("nan")])]
    part = read("inspect", write(tmp_path / "a.json", of_inspect(samples=samples)))
    assert part.values["match"][:-1].tolist() == [*values.values()]
    assert np.isnan(part.values["match"]).tolist() == [False] * len(values) + [True]


@pytest.mark.parametrize(("reducers", "noted"), [(["max", "at_least_2"], 1), (["max", "mean"], 0), (None, 0)])
def test_other_reducers_of_epochs_than_the_mean_are_noted(tmp_path, reducers, noted):
    samples = [sample("q", value, epoch) for epoch, value in ((1, "C"), (2, "I"))]
    path = write(tmp_path / "a.json", of_inspect(samples=samples, config={"epochs_reducer": reducers}))
    for part in read_all("inspect", path):
        assert ["reduced epochs by max, at_least_2" in note for note in part.notes] == [True] * noted


def test_metrics_stay_in_their_order(tmp_path):
    """Also where neighbours have other items."""
    samples = [
        sample(n, None, scores={name: {"value": n % 2} for name in ("x", "y", "z") if (n, name) != (3, "y")})
        for n in range(8)
    ]
    paths = [write(tmp_path / f"{model}.json", of_inspect(model, samples)) for model in "ab"]
    found = inputs.read_all(paths, {})
    assert [[metric.name for metric in part.metrics] for part in found] == [["x"], ["y"], ["z"]]
    found = inputs.read_all(paths, {"metric": ["z", "x"]})
    assert [[metric.name for metric in part.metrics] for part in found] == [["z", "x"]]


def test_logs_of_one_model_are_called_as_their_files(tmp_path):
    paths = [write(tmp_path / f"{name}_t.json", of_inspect("m")) for name in ("hot", "cold")]
    (data,) = inputs.read_all(paths, {})
    assert data.systems == ("m (hot_t)", "m (cold_t)")
    steps = {"plan": {"steps": [{"solver": "chain"}, {"solver": "generate"}]}}
    for named, expected in (({}, "chain+generate"), ({"solver": "mine"}, "mine")):
        path = write(tmp_path / "a.json", of_inspect(log=steps, **named))
        assert read("inspect", path).conditions["solver"] == expected


@pytest.mark.parametrize(
    ("reported", "status", "agrees"), [(0.75, "success", True), (0.8, "success", False), (0.8, "cancelled", True)]
)
def test_the_header_must_agree_with_its_samples(tmp_path, reported, status, agrees):
    """Over epochs, a sample counts once; the header of an interrupted log has the mean of fewer samples."""
    samples = [sample(name, value, epoch) for name, values in (("q0", "CC"), ("q1", "CI"))
               for epoch, value in enumerate(values, 1)]  # fmt: skip
    score = {"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": reported}}}
    log = {"results": {"scores": [score]}, "status": status}
    path = write(tmp_path / "a.json", of_inspect("a", samples, log=log))
    if agrees:
        assert read("inspect", path).values["match"].tolist() == [1, 0.5]
    else:
        refuses(path, "the header reports 0.8 for match, the samples have the mean 0.75, expected the same")


@pytest.mark.parametrize(("factor", "kept"), [(1, True), (1 + 1e-11, True), (1.01, False), (0.99, False)])
def test_the_mean_that_the_results_report(tmp_path, factor, kept):
    rows = [lm_eval_row(i, i % 3 / 7, metrics=["acc", "f1"], f1=0.5) for i in range(10)]
    mean = factor * sum(row["acc"] for row in rows) / 10
    part = read("lm_eval", lm_eval_of(tmp_path, rows, results={"t": {"acc,none": mean, "f1,none": 0.5}}))
    assert [metric.name for metric in part.metrics] == ["acc", "f1"][not kept :]
    assert any("acc left out, since the results report" in note for note in part.notes) != kept
    rows = [lm_eval_row(0, float("inf")), lm_eval_row(1, 1, metrics=["acc", "f1"], f1=1)]
    part = read("lm_eval", lm_eval_of(tmp_path, rows, results={"t": {"acc,none": 0.5}}))
    assert [metric.name for metric in part.metrics] == ["f1"]


def test_an_incomplete_log_of_lm_eval(tmp_path):
    path = lm_eval_of(tmp_path, [lm_eval_row(0, 1)], **{"n-samples": {"t": {"effective": 12}}})
    refuses(path, "found 1 samples, expected 12 as in the results: the file is incomplete")


def test_what_is_better_is_what_the_results_say(tmp_path):
    """Also by filter; where they do not say it, more is better, and a note tells. Logs that differ are refused."""
    numbered = itertools.product(range(4), ("first", "last"))
    rows = [lm_eval_row(n, 1, filter=name, metrics=["er", "acc"], er=n / 4) for n, name in numbered]
    paths = [
        lm_eval_of(tmp_path / name, rows, higher_is_better={"t": better})
        for name, better in (("a", {"er": False, "acc": True}), ("b", {"er": False}), ("c", {"er": True, "acc": None}))
    ]
    for path, unsaid in zip(paths[:2], ("", "acc/first, acc/last"), strict=True):
        part = read("lm_eval", path)
        better = {metric.name: metric.higher_is_better for metric in part.metrics}
        assert better == {"er/first": False, "acc/first": True, "er/last": False, "acc/last": True}
        notes = [note for note in part.notes if "higher counts as better" in note]
        assert [f"no direction for {unsaid};" in note for note in notes] == [True] * bool(unsaid)
    for pair in (paths[::2], paths[::-2]):
        refused(pair, f"higher er/first is better in {paths[2]}, but worse in {paths[0]}, expected the same")


def test_tasks_have_their_own_metrics(tmp_path):
    """A task without any mean over samples is left out with a note."""
    groups = {"group_subtasks": {"g": ["v", "w"]}, "groups": {"g": {"text,none": 0.5}}}
    for task, metrics in (("w", ["text"]), ("v", ["text"]), ("u", ["acc", "em"]), ("t", ["acc", "f1"])):
        value = "no number" if task in "vw" else 1
        row = {"doc_id": 0, "doc": {}, "metrics": metrics} | dict.fromkeys(metrics, value)
        lm_eval_of(tmp_path, [row], task, **groups)
    parts = read_all("lm_eval", tmp_path)
    found = [(part.task, [metric.name for metric in part.metrics]) for part in parts]
    assert found == [("t", ["acc", "f1"]), ("u", ["acc", "em"])]
    assert any("text left out, since samples have no number for it" in note for note in parts[0].notes)
    refuses(tmp_path, "found no metric that is a mean over samples", task="v")
    results = tmp_path / f"results_{TIME}.json"  # beside which the samples are
    assert [part.task for part in read_all("lm_eval", results)] == ["t", "u"]
    for task in "pq":
        lm_eval_of(tmp_path.parent / "other", [lm_eval_row(0, 1)], task)
    refused([tmp_path, tmp_path.parent / "other"], "no task in common", "has t, u; other has p, q")
    refused([A, B], "found no metric 'ac', expected one of sums_small/acc, ", metric="ac")


def test_the_model_of_lm_eval_is_in_its_arguments(tmp_path):
    config = {"model": "hf", "model_args": "pretrained=lab/m,dtype=auto"}
    log = lm_eval_of(tmp_path / "folder", [lm_eval_row(0, 1)], model_name="", config=config)
    assert read("lm_eval", log).system == "lab/m"


def test_statistics_of_helm(tmp_path):
    """Those of several entries are put together, those of perturbed instances left out."""
    entries = [entry(), entry(stats=[("f1_score", 0.5)]), entry("id1"), entry("id1", stats=[("f1_score", 0.25)])]
    perturbed = entry(stats=[("exact_match", 0)])["stats"]
    perturbed[0]["name"]["perturbation"] = {"name": "typos"}
    entries[0]["stats"] += perturbed
    part = read("helm", helm_log(tmp_path / "mmlu:subject=x,model=lab_a", entries))
    assert (part.system, part.items) == ("lab_a", ("id0", "id1"))
    assert [part.values[name].tolist() for name in ("f1_score", "exact_match")] == [[0.5, 0.25], [1, 1]]
    assert read("helm", helm_log(tmp_path / "x", entries)).system == "x"


def test_runs_of_helm_are_rows(answer):
    rows, err = answer(HELM / "lab_large", HELM / "lab_small", "--n-resamples", 99)
    names = itertools.product(("products", "sums"), ("exact_match", "quasi_exact_match"))
    assert [row["metric"] for row in rows] == [f"mmlu:subject={subject}/{name}" for subject, name in names]
    assert (rows[0]["system_a"], rows[0]["n_runs_a"]) == ("lab/large", 2)
    assert "12 entries for perturbed instances are left out" in err


def test_instances_that_a_report_does_not_list(tmp_path):
    report = {"resolved_ids": ["a-1"], "unresolved_ids": ["a-2"], "total_instances": 3}
    path = write(tmp_path / "m.run.json", report)
    assert read("swebench", path).notes == (f"{path}: the report lists only 2 of its 3 instances",)
    part = read("swebench", path, instances=write(tmp_path / "ids.json", ["a-1", "a-2", "a-3"]))
    assert np.isnan(part.values["resolved"]).tolist() == [False, False, True]
    assert part.notes == ()


@pytest.mark.parametrize("key", ["error_ids", "infra_failure_ids", "anything_else_ids"])
def test_instances_that_could_not_be_run_have_no_score(key, tmp_path):
    """Also those of a list that this program does not know."""
    report = {"resolved_ids": ["x-1"], "unresolved_ids": ["x-3"], "submitted_ids": ["x-1", "x-2", "x-3"]}
    paths = [
        write(tmp_path / f"{name}.run.json", report | others)
        for name, others in (("a", {"resolved_ids": ["x-1", "x-2"]}), ("b", {key: ["x-2"]}))
    ]
    refused(paths, "found no score of item x-2 for b")
    assert pairsig.read(paths, missing="wrong").counts[:, :, 0].tolist() == [[1, 1, 0], [1, 0, 0]]
    assert len(pairsig.read(paths, missing="drop").segments) == 2


def test_comet(tmp_path, answer):
    scores = {"a": [0.8125, 0.75, 0.5], "b": [0.5, 0.75, 0.25]}
    both = write(tmp_path / "both.json", {f"out/{name}.txt": comet(own) for name, own in scores.items()})
    (row,), err = answer(both, "--test", "exact")
    assert "detected the format comet" in err
    assert (row["metric"], row["system_a"], row["system_b"]) == ("comet", "a", "b")
    assert (row["score_a"], row["score_b"]) == (pytest.approx(np.mean(scores["a"])), pytest.approx(0.5))
    lines = [f"{name}.txt\tSegment {n}\tscore: {x}\n" for name, own in scores.items() for n, x in enumerate(own)]
    (printed,) = inputs.read_all([write(tmp_path / "out", "".join(lines))], {})
    assert printed.counts[:, :, 0].tolist() == [*scores.values()]
    path = write(tmp_path / "a.json", {f"{folder}/out.txt": comet([0.5]) for folder in "ab"})
    assert [part.system for part in read_all("comet", path)] == ["a/out.txt", "b/out.txt"]


# Groups of tasks.


SCORES = {
    "a": {"x": [1, 1, 1], "y": [1, 0, 1, 1, 0], "z": [1, 1]},
    "b": {"x": [0, 0, 1], "y": [1, 1, 0, 1, 0], "z": [0, 0]},
}


def lm_eval_with_groups(folder, scores, groups):
    """Logs of tasks with these scores by task, and groups by name: their tasks and the reported score."""
    scored = {task: [one for one in own if one is not None] for task, own in scores.items()}
    results = {
        "results": {task: {"acc,none": sum(own) / len(own)} for task, own in scored.items()},
        "groups": {name: {"alias": name, "acc,none": value} for name, (_, value) in groups.items()},
        "group_subtasks": {name: tasks for name, (tasks, _) in groups.items()},
        "higher_is_better": {task: {"acc": True} for task in scores},
    }  # fmt: skip
    for task, own in scores.items():
        lm_eval_of(folder, [lm_eval_row(i, one, doc=[task, i]) for i, one in enumerate(own)], task, **results)
    return str(folder)


def swapped(scores, of):
    """P-value of the difference of a score when items are swapped, by counting all 2ⁿ possibilities with fractions."""
    keys = [(task, i) for task, own in scores["a"].items() for i in range(len(own))]
    gains = {key: Fraction(scores["a"][key[0]][key[1]]) - Fraction(scores["b"][key[0]][key[1]]) for key in keys}
    observed = abs(of(gains))
    beyond = sum(
        abs(of({key: sign * gains[key] for key, sign in zip(keys, signs, strict=True)})) >= observed
        for signs in itertools.product((1, -1), repeat=len(keys))
    )
    return beyond / 2 ** len(keys)


def over_items(gains):
    return sum(gains.values()) / len(gains)


def over_tasks(gains):
    by_task = [[own for (task, _), own in gains.items() if task == name] for name in {task for task, _ in gains}]
    return sum(sum(own) / len(own) for own in by_task) / len(by_task)


@pytest.mark.parametrize(
    ("mean", "words"),
    [(over_items, "the mean over the items of 3 tasks"), (over_tasks, "the mean of the means of 3 tasks")],
)
def test_the_mean_of_a_group_is_the_reported_one(tmp_path, mean, words, answer):
    """Weighted by size or not: the score of lm_eval's `aggregate_subtask_metrics`, and the p-value by enumeration."""
    values = {
        name: float(mean({(task, i): Fraction(one) for task, own in scores.items() for i, one in enumerate(own)}))
        for name, scores in SCORES.items()
    }
    groups = {name: {"g": (["x", "y", "z"], value)} for name, value in values.items()}
    folders = [lm_eval_with_groups(tmp_path / name, scores, groups[name]) for name, scores in SCORES.items()]
    rows, err = answer(*folders, "--test", "exact")
    assert [row["metric"] for row in rows] == ["x/acc", "y/acc", "z/acc", "g/acc"]
    assert f"g/acc is {words}" in err
    assert [rows[-1]["score_a"], rows[-1]["score_b"]] == pytest.approx([values["a"], values["b"]])
    assert rows[-1]["pvalue"] == swapped(SCORES, mean)
    assert rows[-1]["n_segments"] == 10


def test_groups_of_helm_are_means_of_runs(tmp_path, answer):
    """As on its leaderboards: over the runs with the group in run_spec.json, whatever their numbers of instances."""
    for model, scores in SCORES.items():
        for run, own in scores.items():
            folder = tmp_path / model / f"mmlu:subject={run},model={model}"
            helm_log(folder, [entry(f"id{i}", stats=[("exact_match", one)]) for i, one in enumerate(own)])
            write(folder / "run_spec.json", {"name": folder.name, "groups": ["mmlu", f"mmlu_{run}"]})
    rows, err = answer(tmp_path / "a", tmp_path / "b", "--test", "exact")
    names = [f"mmlu:subject={run}/exact_match" for run in "xyz"]
    assert [row["metric"] for row in rows] == [*names, "mmlu/exact_match"]
    assert rows[-1]["score_a"] == pytest.approx((1 + 0.6 + 1) / 3)
    assert rows[-1]["pvalue"] == swapped(SCORES, over_tasks)
    assert "mmlu/exact_match is the mean of the means of 3 tasks" in err


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


# Logs must be comparable.


def two_of_inspect(folder, changes):
    for name, changed in (("a", {}), ("b", changes)):
        about = {"task_args": {"few": 0}, "task_version": 1, "solver": "chain", "dataset": {"name": "d"}}
        log = of_inspect(f"lab/{name}", log=changed.get("log"), **about | changed.get("eval", {}))
        yield write(folder / f"{name}.json", log)


def two_of_lm_eval(folder, changes):
    for name, changed in (("a", {}), ("b", changes)):
        results = {"n-shot": {"t": 0}, "versions": {"t": 1}} | changed.get("results", {})
        rows = [lm_eval_row(n, n % 2, filter="none", prompt_hash=f"p{n}") | changed.get("row", {}) for n in range(3)]
        lm_eval_of(folder / name, rows, **results)
        yield str(folder / name)


@pytest.mark.parametrize(
    ("logs", "changes", "words"),
    [
        (two_of_inspect, {"eval": {"task_args": {"few": 5}}}, "warning: the arguments of the task"),
        (two_of_inspect, {"eval": {"task_version": 2}}, "warning: the version of the task"),
        (two_of_inspect, {"eval": {"solver": "tree"}}, "warning: the solver is 'tree'"),
        (two_of_inspect, {"eval": {"dataset": {"name": "e"}}}, "warning: the dataset is 'e', but 'd' in"),
        (two_of_inspect, {"log": {"results": {"total_samples": 5}}}, "header reports 5 samples, but the log has 4"),
        (two_of_inspect, {"log": {"status": "cancelled"}}, "ended with the status cancelled"),
        (two_of_inspect, {"log": {"invalidated": True}}, "samples of this log were marked as invalid"),
        (two_of_lm_eval, {"row": {"filter": "maj"}}, "warning: the filter is 'maj', but 'none' in"),
        (two_of_lm_eval, {"row": {"prompt_hash": "q"}}, "warning: the digest of the prompts"),
        (two_of_lm_eval, {"results": {"n-shot": {"t": 5}}}, "warning: the number of shots is '5', but '0'"),
        (two_of_lm_eval, {"results": {"versions": {"t": 2}}}, "warning: the version of the task is '2', but '1'"),
    ],
)  # fmt: skip
def test_a_difference_between_logs_is_named(logs, changes, words, tmp_path):
    (data,) = inputs.read_all(list(logs(tmp_path, changes)), {})
    assert any(words in note for note in data.notes), data.notes


def test_lost_samples_have_no_score(tmp_path):
    """The header lists the ids of all samples of the evaluation."""
    samples = [sample(name, value) for name, value in (("1", "C"), ("2", "I"), ("3", "C"))]
    a = write(tmp_path / "a.json", of_inspect("lab/a", samples))
    b = write(tmp_path / "b.json", of_inspect("lab/b", samples[:2], dataset={"sample_ids": ["1", "2", "3"]}))
    refused([a, b], "found no score of item 3 for lab/b")
    assert pairsig.read([a, b], missing="wrong").counts[:, :, 0].tolist() == [[1, 0, 1], [1, 0, 0]]


def test_inputs_that_differ_behind_500_characters(tmp_path):
    def log(name, question):
        return write(tmp_path / f"{name}.json", of_inspect(name, [sample(n, "C", text=question) for n in range(3)]))

    a, b = (log(name, "x" * 600 + name) for name in "ab")
    refused([a, b], "item 0 has a different content than in ", "\n--any-content")
    assert pairsig.read([a, b], any_content=True).systems == ("a", "b")
    c, d = (log(name, [{"role": "user", "content": "x", "id": f"random {name}"}]) for name in "cd")
    assert len(pairsig.read([c, d]).segments) == 3


def test_instances_of_helm_are_those_of_a_scenario(tmp_path):
    """HELM numbers the instances of every scenario from id0."""

    def run(name, scenario="mmlu:subject=x", content=""):
        folder = tmp_path / f"{scenario},model={name}"
        if content:
            write(folder / "instances.json", [{"id": f"id{n}", "input": {"text": f"{content}{n}"}} for n in range(2)])
        return helm_log(folder, [entry(f"id{n}", stats=[("exact_match", n)]) for n in range(2)])

    a = run("a")
    assert any("there is no instances.json beside it" in note for note in pairsig.read([a, run("b")]).notes)
    refused([a, run("c", "mmlu:subject=y")], "found the scenario 'mmlu:subject=y', but 'mmlu:subject=x'")
    refused([run("d", content="q"), run("e", content="r")], "item id0 has a different content")


def test_positions_of_comet_and_mt_metrics_eval_are_complete(tmp_path):
    for name, segments in (("a", comet([n / 9 for n in range(9)])), ("b", comet([n / 9 for n in range(8)]))):
        write(tmp_path / f"{name}.json", {f"out/{name}.txt": segments})
        write(tmp_path / f"{name}.seg.score", "".join(f"{name}\t{row['COMET']:.3f}\n" for row in segments))
    for suffix, missing in itertools.product(("json", "seg.score"), (None, "drop", "wrong")):
        paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
        refused(paths, "has 9 items, ", " has 8, expected equally many", missing=missing)


# What a file is, by its content.


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
        ("found an empty file, expected scores", "a", " \n \n"),
        ("found 2 numbers per line", "a", "1 2\n3 4\n"),
        ("found 'no score' in the first line", "a", "no score\na\t1\n"),
        ("found files for table in the folder, expected logs", "f/a.json", '[{"id": "x", "score": 1}]'),
    ],
)
def test_formats_are_recognized_by_what_they_begin_with(tmp_path, reader, name, text):
    path = write(tmp_path / name, text)
    if " " in reader:
        with pytest.raises(InputError, match=reader):
            recognition.recognize([str(Path(path).parent) if "/" in name else path], [], {})
    else:
        assert recognition.recognize([path], [], {}) == reader


WORD = "\t".join("1aaaaa0aaa") + "\n\n"


@pytest.mark.parametrize(
    ("reader", "output", "reference"),
    [
        ("text", "(laughs) yes\n", "(laughs) no\n"),
        ("trees", "(S (NP it) (VP is))\n", "(TOP (S (NP it) (VP is)))\n"),
        ("alignment", "0-0 1-1\n\n", "0-0 1p1\n2-2\n"),
        ("conllu", WORD, f"# text = a\n{WORD}"),
    ],
)
def test_outputs_are_recognized_with_their_reference(tmp_path, reader, output, reference):
    paths = write(tmp_path / "out", output), write(tmp_path / "gold", reference)
    assert recognition.recognize(paths[:1], paths[1:], {}) == reader


# Names and values.


def test_half_a_surrogate_pair(tmp_path, answer, capsys):
    rows = [{"id": "\ud800", "score": 1}, {"id": "b", "score": 0}]
    a = write(tmp_path / "a.json", rows)
    b = write(tmp_path / "b.json", [row | {"score": 0} for row in rows])
    assert cli.main(["compare", a, b, "--flips", str(tmp_path / "flips.tsv"), "--test", "exact"]) == 0
    capsys.readouterr()
    assert tables.read(tmp_path / "flips.tsv")["segment"].tolist() == ["\\ud800"]
    samples = [sample("q0", None, scores={"\ud801": {"value": "C"}})]
    logs = [write(tmp_path / f"{n}.json", of_inspect(name, samples)) for n, name in enumerate(("x\ud800", "m"))]
    (row,), _ = answer(*logs, "--test", "exact")
    assert (row["metric"], row["system_a"]) == ("\\ud801", "x\\ud800")


def test_values_of_json(tmp_path):
    assert items.names_of("exact, match ,f1") == ["exact", "match", "f1"]
    assert items.names_of(None) == []
    assert [items.label(value) for value in ("a", 7, None, True, 0.5)] == ["a", "7", "", "true", "0.5"]
    assert items.label({"b": 1, "a": 2}) == items.label({"a": 2, "b": 1})
    assert items.digest({"a": 1, "b": 2}) == items.digest({"b": 2, "a": 1}) != items.digest({"a": 2, "b": 1})
    assert items.digest("\ud800") != items.digest("\ud801")  # half of a pair, which no encoding has
    assert items.same(1e6 * (1 + 1e-10), 1e6)  # another order of addition
    assert items.same(1e-10, 0)
    assert not items.same(1e6 + 1, 1e6)
    assert not items.same(1e-8, 0)
    for content, words in ((b"\n \n[1]\n", r"line 3: found '\[1\]', expected a JSON object"),
                           (b'{"doc_id": "\xff"}\n', "line 2: found bytes ff, expected UTF-8")):  # fmt: skip
        (tmp_path / "x.jsonl").write_bytes(b'{"doc_id": 0}\n'[: None if b"doc" in content else 0] + content)
        with pytest.raises(InputError, match=words):
            list(items.json_lines(tmp_path / "x.jsonl"))


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
