"""`pairsig test`: files in, one table out, on every reader; adjusted p-values against their definitions."""

import json

import numpy as np
import pytest

import pairsig
import simulate
from pairsig import InputError, cli, versus
from pairsig.metrics import registry

SIGF_A = "2 2 2\n2 2 2\n0 1 2\n"
SIGF_B = "0 2 2\n1 2 2\n0 1 2\n"


@pytest.fixture
def sigf(tmp_path):
    paths = []
    for name, text in (("model1", SIGF_A), ("model2", SIGF_B)):
        path = tmp_path / name
        path.write_text(text)
        paths.append(str(path))
    return paths


def rows_of(capsys):
    return {(row["metric"], row["test"]): row for row in json.loads(capsys.readouterr().out)}


def test_sigfs_readme_example(sigf, capsys):
    assert cli.main(["test", *sigf, "--reader", "sigf", "--n-resamples", "10000", "--format", "json"]) == 0
    row = rows_of(capsys)["f1", "exact"]
    assert row["score_a"] == pytest.approx(72.72727272727272)
    assert row["score_b"] == pytest.approx(18.181818181818183)
    assert row["gain"] == pytest.approx(54.54545454545454)
    assert row["p_value"] == pytest.approx(0.5, abs=1e-12)
    assert (row["n_segments"], row["n_different"], row["n_resamples"]) == (3, 2, None)


def test_every_number_is_in_the_json(sigf, capsys):
    assert cli.main(["test", *sigf, "--reader", "sigf", "--n-resamples", "500", "--format", "json"]) == 0
    rows = rows_of(capsys)
    assert set(rows) == {(m, t) for m in ("f1", "precision", "recall") for t in versus.TESTS}
    for row in rows.values():
        assert set(versus.COLUMNS) == set(row)
    a, b = (np.array([line.split() for line in text.splitlines()], dtype=int) for text in (SIGF_A, SIGF_B))
    alone = pairsig.randomization_test(a, b, metric="f1", n_resamples=500)
    mine = rows["f1", "randomization"]
    assert (mine["p_value"], mine["n_greater"], mine["n_equal"]) == (alone.pvalue, alone.n_greater, alone.n_equal)


@pytest.mark.parametrize(("form", "mark"), [("table", "---"), ("markdown", "| f1"), ("latex", r"\toprule")])
def test_forms_to_paste(sigf, capsys, form, mark):
    assert cli.main(["test", *sigf, "--reader", "sigf", "--n-resamples", "200", "--format", form]) == 0
    out = capsys.readouterr().out
    assert mark in out
    assert "54.55" in out


def test_more_systems_are_adjusted_by_holm_and_benjamini_hochberg():
    data = simulate.statistics("accuracy", n_systems=5, n_segments=80, spread=0.3)
    table, notes = versus.versus(data, [registry.metric("accuracy")], ["exact"])
    assert not notes
    p = table["p_value"].to_numpy()
    order = np.argsort(p)
    holm = np.maximum.accumulate(np.minimum(1, p[order] * (4 - np.arange(4))))
    bh = np.minimum.accumulate((p[order] * 4 / np.arange(1, 5))[::-1])[::-1].clip(max=1)
    np.testing.assert_allclose(table["p_holm"].to_numpy()[order], holm)
    np.testing.assert_allclose(table["p_bh"].to_numpy()[order], bh)
    assert len(set(p)) == 4


def test_text_with_a_reference_and_no_exact_test(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("the cat sat on the mat .\nit was happy there .\n" * 6)
    (tmp_path / "b.txt").write_text("the dog sat on a mat .\nit was happy there .\n" * 6)
    (tmp_path / "reference.txt").write_text("the cat sat on the mat .\nit was very happy there .\n" * 6)
    a, b, reference = (str(tmp_path / name) for name in ("a.txt", "b.txt", "reference.txt"))
    argv = ["test", a, b, "--reader", "text", "--reference", reference, "--n-resamples", "300", "--format", "json"]
    assert cli.main(argv) == 0
    told = capsys.readouterr()
    rows = {row["test"]: row for row in json.loads(told.out)}
    assert set(rows) == {"bootstrap", "randomization"}
    assert (rows["bootstrap"]["system_a"], rows["bootstrap"]["better"]) == ("a", "a")
    assert "use randomization_test" in told.err
    assert cli.main([*argv, "--test", "exact"]) == 2


def test_identical_outputs_are_never_significant(tmp_path, capsys):
    (tmp_path / "one.txt").write_text(SIGF_A)
    (tmp_path / "two.txt").write_text(SIGF_A)
    argv = ["test", str(tmp_path / "one.txt"), str(tmp_path / "two.txt"), "--reader", "sigf", "--format", "json"]
    assert cli.main([*argv, "--n-resamples", "100"]) == 0
    told = capsys.readouterr()
    assert {row["p_value"] for row in json.loads(told.out)} == {1.0}
    assert "one and two have the same counts on every segment" in told.err


def test_sequential_tests_stop_when_they_can_tell():
    data = simulate.statistics("accuracy", n_systems=2, n_segments=300, spread=1.5, seed=5)
    (accuracy,) = [registry.metric("accuracy")]
    table, _ = versus.versus(data, [accuracy], stop_at=(0.05, 0.99), n_resamples=50_000)
    drawn = table.set_index("test")
    for test in ("bootstrap", "randomization"):
        row = drawn.loc[test]
        assert row["n_resamples"] < 5000
        assert row["p_high"] < 0.05
        alone = pairsig.sequential_test(*data.counts, metric=accuracy, test=test, alpha=0.05, max_resamples=50_000)
        assert (row["n_resamples"], row["p_value"]) == (alone.n_resamples, alone.pvalue)
    assert drawn.loc["exact", "p_value"] < 0.05


def test_documents_are_the_unit(tmp_path, capsys):
    (tmp_path / "docs").write_text("news\td1\nnews\td1\nnews\td2\nnews\td2\n")
    (tmp_path / "ref").write_text("a b c d e\n" * 4)
    (tmp_path / "x").write_text("a b c d e\n" * 4)
    (tmp_path / "y").write_text("a b c d f\n" * 4)
    files = [str(tmp_path / name) for name in "xy"]
    argv = ["test", *files, "--reader", "text", "--reference", str(tmp_path / "ref"), "--unit", "document"]
    argv += ["--documents", str(tmp_path / "docs"), "--test", "randomization", "--n-resamples", "20000"]
    assert cli.main([*argv, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["p_value"] == pytest.approx(2 / 4, abs=0.02)  # two documents: both or none swapped
    assert "unit:document" in row["signature"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reader", "evlab"], "unknown reader 'evlab', expected one of evalb, "),
        (["--reader", "text"], "reader text reads outputs: expected a reference too"),
        (["--reader", "sigf", "--reference", "x"], "reader sigf reads counts, which need no reference"),
        (["--reader", "sigf", "--metric", "bleu"], "the files have no metric 'bleu', they have f1, precision, recall"),
        (
            ["--reader", "sigf", "--test", "ttest"],
            "unknown test 'ttest', expected one of bootstrap, randomization, exact",
        ),
        (["--reader", "sigf", "--option", "x=1"], "unknown option of reader sigf: 'x', expected none"),
        (["--reader", "sigf", "--unit", "document"], "no segment names its document"),
        (["--reader", "sigf", "--n-resamples", "0"], "number of resamples is 0"),
    ],
)
def test_bad_input(sigf, capsys, arguments, message):
    assert cli.main(["test", *sigf, *arguments]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_one_file_twice(sigf, capsys):
    assert cli.main(["test", sigf[0], sigf[0], "--reader", "sigf"]) == 2
    assert "is given 2 times, expected different files" in capsys.readouterr().err
    with pytest.raises(InputError, match="one system is given, expected at least two"):
        versus.versus(simulate.statistics("mean", n_systems=1, n_segments=5), [registry.metric("mean")])


@pytest.mark.data
def test_evalbs_own_sample(data_dir, tmp_path, capsys):
    """The sample held against a copy of itself: evalb's own recall, and nothing significant."""
    listing = data_dir / "evalb-sample/EVALB/sample/sample.rsl"
    (tmp_path / "other.rsl").write_text(listing.read_text())
    argv = ["test", str(listing), str(tmp_path / "other.rsl"), "--reader", "evalb", "--n-resamples", "100"]
    assert cli.main([*argv, "--format", "json"]) == 0
    rows = rows_of(capsys)
    printed = [line.split("=")[1] for line in listing.read_text().splitlines() if line.startswith("Bracketing Recall")]
    assert round(rows["recall", "exact"]["score_a"], 2) == float(printed[0])  # the first summary is of all sentences
    assert {row["p_value"] for row in rows.values()} == {1.0}
