"""Logs of evaluations: against what the packages that wrote them report, and against everything a log can have wrong."""

import gzip
import json
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from pairsig import InputError, cli, versus
from pairsig.readers import counted, recognition

DATA = Path(__file__).parent / "data/evaluation_logs"
INSPECT, LM_EVAL = DATA / "inspect", DATA / "lm_eval"
STRONG, WEAK, FAILING = (str(INSPECT / f"{name}.eval") for name in ("strong", "weak", "failing"))
A, B = str(LM_EVAL / "a"), str(LM_EVAL / "b")


@pytest.fixture(scope="session")
def logs_dir(data_dir):
    folder = data_dir.parent / "evaluation-logs"
    if not folder.is_dir():
        pytest.skip(f"evaluation logs not found beside the public corpora: {folder}")
    return folder


def by_item(parts, name):
    """The mean over runs of every item, where it has a score; from what the reader gives."""
    scores: dict[str, list[float]] = {}
    clusters = {}
    for part in parts:
        for row, item in enumerate(part.segments):
            clusters[item] = part.documents[row]
            if part.scored[row]:
                scores.setdefault(item, []).append(float(part.counts[name][row]))
    return np.array([np.mean(own) for own in scores.values()]), np.array([clusters[item] for item in scores])


def standard_error(values):
    return values.std(ddof=1) / np.sqrt(len(values))


def clustered(values, clusters):
    """Miller (2024), appendix A, with the correction for few clusters."""
    sums = np.array([(values - values.mean())[clusters == own].sum() for own in np.unique(clusters)])
    return np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(values)


def answer(*arguments, capsys):
    """What `pairsig test --format json` prints, and what it notes."""
    code = cli.main(["test", *map(str, arguments), "--format", "json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out), err


def refuses(path, *expected, reader=None, **options):
    with pytest.raises(InputError) as error:
        counted.read_all(reader or recognition.recognize([str(path)]), str(path), **options)
    assert "\n" not in str(error.value)
    for words in expected:
        assert words in str(error.value)


def refused(paths, *expected, **settings):
    with pytest.raises(InputError) as error:
        versus.read_systems(list(map(str, paths)), None, **settings)
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
    parts = counted.read_all("inspect", str(INSPECT / name), cluster="passage")
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


def test_one_command_from_two_logs_of_inspect(capsys):
    (row,), err = answer(STRONG, WEAK, "--metric", "exact", "--n-resamples", 200, capsys=capsys)
    assert "read as inspect" in err
    assert (row["method_a"], row["method_b"]) == ("mockllm/strong", "mockllm/weak")
    assert (row["n_runs_a"], row["n_segments"], row["design"]) == (4, 12, "nested")
    own = [by_item(counted.read_all("inspect", path), "exact")[0] for path in (STRONG, WEAK)]
    assert row["gain"] == pytest.approx((own[0] - own[1]).mean())
    assert row["standard_error"] == pytest.approx(standard_error(own[0] - own[1]))


def test_reductions_are_inspects(capsys):
    rows, _ = answer(STRONG, WEAK, "--metric", "exact", "--option", "reducer=mean", "--test", "exact", capsys=capsys)
    assert rows[0]["score_a"] == REPORTED["strong.eval"]["exact"]["accuracy"]
    refuses(STRONG, "found no reducer 'max', expected one of mean", reducer="max")


def test_both_formats_of_inspect_are_one_log():
    one, other = (counted.read_all("inspect", str(INSPECT / f"weak.{name}")) for name in ("eval", "json.gz"))
    for mine, theirs in zip(one, other, strict=True):
        assert mine.segments == theirs.segments
        assert mine.contents == theirs.contents
        for column in mine.counts:
            np.testing.assert_array_equal(mine.counts[column], theirs.counts[column])


def test_a_folder_of_logs_has_a_system_a_model(tmp_path, capsys):
    for path in (STRONG, WEAK):
        shutil.copy(path, tmp_path)
    rows, _ = answer(tmp_path, "--metric", "exact", "--n-resamples", 99, capsys=capsys)
    assert {(row["method_a"], row["method_b"]) for row in rows} == {("mockllm/strong", "mockllm/weak")}
    shutil.copy(STRONG, tmp_path / "again.eval")
    refuses(
        tmp_path, "found two logs of mockllm/strong on sums, again.eval and strong.eval, expected one: name the file"
    )
    (tmp_path / "again.eval").unlink()
    refused([tmp_path, WEAK], "found the systems mockllm/strong, mockllm/weak, expected one system a file")


def test_items_without_a_score(capsys):
    refused(
        [STRONG, FAILING],
        "mockllm/failing-1 has no score for 1 of 12 items that others have one for (q07)",
        "--missing",
    )
    rows, err = answer(STRONG, FAILING, "--metric", "exact", "--missing", "drop", "--n-resamples", 99, capsys=capsys)
    assert rows[0]["n_segments"] == 10  # q03 and q07 failed, in one epoch each
    assert "mockllm/failing-2 has no score for 1 of 12 items: left out of all" in err
    assert "items without a score were left to --missing drop, 2 of them" in rows[0]["doubt"]
    rows, _ = answer(STRONG, FAILING, "--metric", "exact", "--missing", "wrong", "--n-resamples", 99, capsys=capsys)
    assert rows[0]["n_segments"] == 12
    values = np.stack([np.where(part.scored, part.counts["exact"], 0) for part in counted.read_all("inspect", FAILING)])
    assert rows[0]["score_b"] == pytest.approx(values.mean())


def test_choices_of_a_log_of_inspect():
    only = counted.read_all("inspect", STRONG, scorer="parts/form", domain="about.size")
    assert [metric.name for metric in only[0].metrics] == ["parts/form"]
    assert set(only[0].domains) == {"small", "large"}
    refuses(STRONG, "found no scorer 'exat', expected one of exact, brevity, parts/form, parts/content; did you mean exact?",
            scorer="exat")  # fmt: skip
    refuses(STRONG, "sample 1: found no pasage in the metadata, expected the cluster of the item; there is passage, about; "
            "did you mean passage?", cluster="pasage")  # fmt: skip


def of_inspect(name="m", samples=None, version=2, **further):
    """The least that a log of Inspect has."""
    samples = samples if samples is not None else [sample(f"q{i}", "C" if i % 2 else "I") for i in range(4)]
    head = {"version": version, "status": "success", "eval": {"task": "t", "model": name, **further}}
    return head | {"samples": samples}


def sample(name, value, epoch=1, text="?", **further):
    scores = {} if value is None else {"match": {"value": value}}
    return {"id": name, "epoch": epoch, "input": text, "scores": scores, "metadata": {}} | further


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (of_inspect(version=3), "found version 3 of Inspect's log, expected one of 1, 2"),
        ({"version": 2, "status": "success", "eval": {}}, "found no eval.task"),
        (of_inspect(samples=[]), "found no item with a score"),
        (of_inspect(samples=[sample("q", "C"), sample("q", "I")]), "found item q again, expected it once"),
        (of_inspect(samples=[sample("q", "B")]), "found the value 'B' of match, expected a number or one of C, I, P, N"),
        (of_inspect(samples=[sample("q", float("inf"))]), "item q has the score inf in match, expected a finite number"),
        (of_inspect(samples=[sample("q", float("nan"))]), "match has no score for any item"),
        (of_inspect(samples=[sample("q", "C"), sample("q", "C", 2, "!")]), "has another content in run 2 than in run 1"),
        ({k: v for k, v in of_inspect().items() if k != "samples"}, "found no samples"),
        (of_inspect() | {"samples": {"a": 1}}, "as samples, expected a list of objects"),
        (of_inspect(name=""), "found no name of the model"),
    ],
)  # fmt: skip
def test_what_a_log_of_inspect_can_have_wrong(tmp_path, document, words):
    refuses(write(tmp_path / "log.json", document), words)


def test_nan_is_no_score(tmp_path):
    samples = [sample("q0", float("nan")), sample("q1", "C"), sample("q2", 0.25)]
    (part,) = counted.read_all("inspect", write(tmp_path / "a.json", of_inspect(samples=samples)))
    assert part.scored.tolist() == [False, True, True]
    assert part.counts["match"].tolist() == [0, 1, 0.25]


def test_same_ids_of_other_questions(tmp_path):
    a = write(tmp_path / "a.json", of_inspect("a"))
    b = write(tmp_path / "b.json", of_inspect("b", [sample(f"q{i}", "C", text="another") for i in range(4)]))
    refused([a, b], "item q0 is another item than in", "are these the same test set?")
    versus.read_systems([a, b], None, options={"verify": "false"})


def test_items_are_paired_by_their_ids(tmp_path):
    a = write(tmp_path / "a.json", of_inspect("a", [sample(f"q{i}", value) for i, value in enumerate("CCI")]))
    b = write(
        tmp_path / "b.json", of_inspect("b", [sample(f"q{i}", value) for i, value in ((2, "C"), (0, "I"), (1, "C"))])
    )
    ((data, _),), _ = versus.read_systems([a, b], None)
    assert data.segments.tolist() == ["q0", "q1", "q2"]
    assert data.counts[:, :, 0].tolist() == [[1, 1, 0], [0, 1, 1]]


def test_missing_by_hand(tmp_path):
    a = write(tmp_path / "a.json", of_inspect("a", [sample("q0", "C"), sample("q1", "C"), sample("q2", None)]))
    b = write(
        tmp_path / "b.json",
        of_inspect("b", [sample("q1", "C"), sample("q2", None), sample("q3", "C"), sample("q4", "I")]),
    )
    refused([a, b], "a has no score for 2 of 5 items that others have one for (q3, q4), expected the same ones")
    ((data, _),), notes = versus.read_systems([a, b], None, missing="drop")
    assert data.segments.tolist() == ["q1"]
    assert data.provenance["missing"] == "drop:4"
    assert any("1 of 5 items have no score in any log: left out" in note for note in notes)
    ((data, metrics),), _ = versus.read_systems([a, b], None, missing="wrong")
    assert data.counts[:, :, 0].tolist() == [[1, 1, 0, 0, 0], [0, 1, 0, 1, 0]]
    table, _ = versus.versus(data, metrics, ["exact"])
    assert "|missing:wrong:4|version:" in table["signature"][0]


def test_only_scores_from_0_to_1_can_be_wrong(tmp_path):
    a = write(tmp_path / "a.json", of_inspect("a", [sample("q0", 7), sample("q1", 3)]))
    b = write(tmp_path / "b.json", of_inspect("b", [sample("q0", 2)]))
    refused([a, b], "match has no score for wrong, which would be 0 of scores from 0 to 1: expected --missing drop", missing="wrong")  # fmt: skip


def test_one_model_twice_is_told_apart_by_its_settings(tmp_path):
    hot = of_inspect("m", model_generate_config={"temperature": 1.0, "top_p": 0.5})
    cold = of_inspect("m", model_generate_config={"temperature": 0.0, "top_p": 0.5})
    paths = [write(tmp_path / f"2026-01-0{i}T00-00-00_t.json", log) for i, log in enumerate((hot, cold, cold), 1)]
    ((data, _),), _ = versus.read_systems(paths[:2], None)
    assert data.systems == ("m (temperature=1.0)", "m (temperature=0.0)")
    ((data, _),), _ = versus.read_systems(paths[1:], None)
    assert data.systems == ("m #1", "m #2")


def test_an_evaluation_that_has_not_finished(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    refuses(tmp_path / "a.eval", "found no header.json, the evaluation has not finished")


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
    """A zip archive of one member that says what it is told to."""
    common = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 0, crc, len(packed), size, len(name), 0)
    local = b"PK\3\4" + common + name + packed
    central = b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return path


@pytest.mark.parametrize("method", [8, 93])
def test_an_archive_that_says_it_is_small(tmp_path, monkeypatch, method):
    import pyarrow as pa

    monkeypatch.setattr("pairsig.files.MAX_BYTES", 2**20)
    monkeypatch.setattr("pairsig.files._CHUNK", 2**16)
    bomb = b"[" * 2**22
    deflate = zlib.compressobj(wbits=-15)
    packed = deflate.compress(bomb) + deflate.flush() if method == 8 else pa.compress(bomb, "zstd", asbytes=True)
    path = zip_of(tmp_path / "a.eval", b"header.json", packed, 2**22, zlib.crc32(bomb), method)
    refuses(path, "found more than 1,048,576 bytes of content")
    path = zip_of(tmp_path / "a.eval", b"header.json", packed, 10, zlib.crc32(bomb[:10]), method)
    refuses(path, "header.json")  # not a traceback, and no more memory than the bound


def test_a_document_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("pairsig.files.MAX_JSON", 2**10)
    refuses(write(tmp_path / "a.json", of_inspect(samples=[sample(str(i), "C") for i in range(100)])), "bytes of JSON")


@pytest.mark.parametrize(
    "text", ['{"version": 2, "status": "success", "eval": {"task"', '{"version": 2, "status": ' + "[" * 100_000]
)
def test_json_cut_in_half(tmp_path, text):
    refuses(write(tmp_path / "a.json", text), "found no JSON")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.json").write_bytes(b'{"version": 2, "status": "\xff\xfe"}')
    refuses(tmp_path / "a.json", "line 1: found bytes ff, expected UTF-8")


# lm-evaluation-harness.


def results_of(folder):
    (path,) = Path(folder).rglob("results_*.json")
    return json.loads(path.read_text())


@pytest.mark.parametrize("folder", [A, B])
@pytest.mark.parametrize("task", ["sums_small", "sums_large"])
def test_lm_evals_own_figures(folder, task):
    reported = results_of(folder)
    (part,) = counted.read_all("lm_eval", folder, task=task)
    assert part.system == reported["model_name"]
    for metric in ("acc", "acc_norm"):
        values, _ = by_item([part], metric)
        assert values.mean() == pytest.approx(reported["results"][task][f"{metric},none"], rel=1e-12)
        assert standard_error(values) == pytest.approx(reported["results"][task][f"{metric}_stderr,none"], rel=1e-12)


def test_a_group_has_its_subtasks_for_domains(capsys):
    rows, err = answer(
        A, B, "--option", "task=sums", "--option", "cluster=meta.passage", "--test", "exact", capsys=capsys
    )
    assert "read as lm_eval" in err
    reported = [results_of(folder) for folder in (A, B)]
    assert [row["metric"] for row in rows] == ["acc", "acc_norm"]
    assert (rows[0]["system_a"], rows[0]["system_b"]) == tuple(one["model_name"] for one in reported)
    assert rows[0]["score_a"] == pytest.approx(reported[0]["groups"]["sums"]["acc,none"])
    assert rows[0]["score_b"] == pytest.approx(reported[1]["groups"]["sums"]["acc,none"])
    (part,) = counted.read_all("lm_eval", A, task="sums")
    assert set(part.domains) == {"sums_small", "sums_large"}
    assert len(part.segments) == 30


def test_filters_of_lm_eval():
    reported = results_of(A)["results"]["sums_answered"]
    (part,) = counted.read_all("lm_eval", A, task="sums_answered")
    assert [metric.name for metric in part.metrics] == ["exact_match/first", "exact_match/digits"]
    for name in ("first", "digits"):
        assert part.counts[f"exact_match/{name}"].mean() == reported[f"exact_match,{name}"]
    (one,) = counted.read_all("lm_eval", A, task="sums_answered", filter="first")
    assert [metric.name for metric in one.metrics] == ["exact_match"]
    assert "each document was answered 2 times" in one.notes[0]


def test_choices_of_a_log_of_lm_eval():
    refuses(
        A, "found the tasks sums, sums_answered, sums_large, sums_read, sums_small, expected one: --option task=NAME"
    )
    refuses(A, "found no task 'sum', expected one of", "did you mean sums?", task="sum")
    refuses(A, "no metric that is the mean of a number for each document", task="sums_read")
    refuses(A, "found no filter 'none', expected one of first, digits", task="sums_answered", filter="none")
    refuses(A, "found no meta.page in the document", "there is passage", task="sums_small", cluster="meta.page")


@pytest.fixture
def lm_eval_log(tmp_path):
    """A copy of the samples of one task, and of their results."""
    (samples,) = Path(A).rglob("samples_sums_small_*.jsonl")
    (results,) = Path(A).rglob("results_*.json")
    for path in (samples, results):
        shutil.copy(path, tmp_path)
    return tmp_path / samples.name


def test_a_file_of_samples_has_its_model_from_the_results(lm_eval_log):
    (part,) = counted.read_all("lm_eval", str(lm_eval_log))
    assert part.system == results_of(A)["model_name"]
    (results,) = lm_eval_log.parent.glob("results_*.json")
    assert counted.read_all("lm_eval", str(results))[0].segments == part.segments
    results.unlink()
    refuses(lm_eval_log, "found no results_TIME.json beside it, which names the model")
    assert counted.read_all("lm_eval", str(lm_eval_log), model="mine")[0].system == "mine"


def test_what_a_log_of_lm_eval_can_have_wrong(lm_eval_log):
    lines = lm_eval_log.read_text().splitlines()
    whole = lines[:]

    def broken(lines):
        lm_eval_log.write_text("\n".join(lines) + "\n")
        return lm_eval_log

    refuses(broken(whole[:7]), "found 7 documents, expected 12 as the results say: the file is not whole")
    refuses(broken([*whole[:11], whole[11][:50]]), "line 12: found no JSON")
    refuses(broken([*whole, whole[0]]), "line 13: found document 0 with the filter none again")
    row = json.loads(whole[3])
    (part,) = counted.read_all(
        "lm_eval", str(broken([*whole[:3], json.dumps(row | {"acc": float("inf")}), *whole[4:]]))
    )
    assert any("which is not the mean of its samples, inf" in note for note in part.notes)
    refuses(
        broken([*whole[:3], json.dumps({k: v for k, v in row.items() if k != "doc_id"}), *whole[4:]]),
        "line 4: found no doc_id",
    )
    (part,) = counted.read_all(
        "lm_eval", str(broken([*whole[:3], json.dumps(row | {"acc": 1 - row["acc"]}), *whole[4:]]))
    )
    assert [metric.name for metric in part.metrics] == ["acc_norm"]
    assert any("acc left out: the results report" in note for note in part.notes)
    (part,) = counted.read_all("lm_eval", str(broken([*whole[:3], json.dumps(row | {"doc": {"id": "x"}}), *whole[4:]])))
    assert any("the doc_hash of 1 of 12 lines is not that of their doc" in note for note in part.notes)


def test_documents_that_are_not_the_same(tmp_path):
    for name in "ab":
        shutil.copytree(Path(LM_EVAL / name), tmp_path / name)
    (samples,) = (tmp_path / "b").rglob("samples_sums_small_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    rows[4]["doc_hash"] = "f" * 64
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused([tmp_path / "a", tmp_path / "b"], "item 4 is another item than in", options={"task": "sums_small"})


def test_two_evaluations_of_one_task_in_a_folder(tmp_path):
    (samples,) = Path(A).rglob("samples_sums_small_*.jsonl")
    (results,) = Path(A).rglob("results_*.json")
    for time in ("2026-01-01T00-00-00.1", "2026-01-02T00-00-00.1"):
        shutil.copy(samples, tmp_path / f"samples_sums_small_{time}.jsonl")
        shutil.copy(results, tmp_path / f"results_{time}.json")
    refuses(tmp_path, "on sums_small twice", "name the file")


# Real logs elsewhere.


@pytest.mark.data
def test_the_logs_beside_the_corpora(logs_dir):
    for suffix in ("eval", "json"):
        found = {}
        for path in (logs_dir / f"inspect/logs-{suffix}").iterdir():
            parts = counted.read_all("inspect", str(path), cluster="passage")
            values, clusters = by_item(parts, "match")
            found[parts[0].system] = values
            expected = {"mockllm/strong": (0.8125, 0.0697, 0.0399), "mockllm/weak": (0.4167, 0.0641, 0.0761)}
            figures = values.mean(), standard_error(values), clustered(values, clusters)
            assert figures == pytest.approx(expected[parts[0].system], abs=5e-5)
        gain = found["mockllm/strong"] - found["mockllm/weak"]
        assert (gain.mean(), standard_error(gain)) == pytest.approx((0.3958, 0.0782), abs=5e-5)
    for number, accuracy in ((1, 0.35), (2, 0.30)):
        (part,) = counted.read_all("lm_eval", str(logs_dir / f"lm_eval/out-{number}"), task="arith_mc")
        assert part.counts["acc"].mean() == pytest.approx(accuracy)
    path = logs_dir / "swebench/multi-swe-java_results.json"
    (part,) = counted.read_all("swebench", str(path))
    report = json.loads(path.read_text())
    assert part.counts["resolved"].sum() == report["resolved_instances"]
    assert len(part.segments) == report["total_instances"]
    assert part.scored.sum() == report["submitted_instances"]
