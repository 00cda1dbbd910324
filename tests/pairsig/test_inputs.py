"""One data set in every form that is accepted gives one answer, in Python and on the command line."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import pairsig
from pairsig import InputError, Statistics, cli, read
from pairsig.comparisons import all_pairs
from pairsig.core import statistics
from pairsig.io import tables
from pairsig.io.errors import Question
from pairsig.readers import inputs

polars = pytest.importorskip("polars")

FUNCTIONS = {
    "compare": lambda data, **how: pairsig.compare(data, **how),
    "rank": lambda data, **how: pairsig.rank(data, n_resamples=500, **how),
    "compare_methods": lambda data, **how: pairsig.compare_methods(data, design="nested", **how),
    "transfer": lambda data, **how: pairsig.transfer(data, heterogeneity=0.01, **how),
}
"""Functions that accept the same inputs."""


COLUMNS = {"system": "model", "item": "question", "score": "correct"}


def scores(n=60, systems=("a", "b", "c"), seed=0):
    rng = np.random.default_rng(seed)
    return {name: (rng.random(n) < 0.4 + 0.2 * place).astype(int) for place, name in enumerate(systems)}


def long(of, names=("model", "question", "correct"), cell=int):
    """One row per system and question, under these names of columns."""
    n = len(next(iter(of.values())))
    systems, questions = [name for name in of for _ in range(n)], [str(k) for k in range(n)] * len(of)
    return dict(zip(names, (systems, questions, [cell(value) for own in of.values() for value in own]), strict=True))


def without(table):
    """The numbers of a table; the metric has another name in each form."""
    found = pd.DataFrame({name: table[name].to_list() for name in table.columns})
    names = [name for name in ("system_a", "system_b", "system", "method_a", "method_b") if name in found]
    found = found.drop(columns=["metric", "signature"], errors="ignore").astype(dict.fromkeys(names, str))
    return found.sort_values(names, ignore_index=True)


@pytest.mark.parametrize("function", ["compare", "transfer"])
def test_every_form_of_the_same_scores_gives_the_same_table(function, tmp_path):
    run, of = FUNCTIONS[function], scores()
    named = Statistics.from_arrays({name: own[:, None] for name, own in of.items()}, ["value"], dataset="test set 1")
    statistics.write(named, tmp_path / "s.parquet")
    pd.DataFrame(long(of)).to_csv(tmp_path / "long.csv", index=False)
    for name, own in of.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{one}\n" for one in own))
    wide = {"question": [str(k) for k in range(60)]} | {name: own.tolist() for name, own in of.items()}
    columns = {"systems": ["a", "b", "c"], "item": "question"}
    found = {
        "statistics": run(named, metric="mean"),
        "arrays": run(of),
        "arrays of counts": run({name: own[:, None] for name, own in of.items()}, metric="mean"),
        "lists": run({name: own.tolist() for name, own in of.items()}),
        "series": run({name: pd.Series(own) for name, own in of.items()}),
        "arrays, read": run(read(of, score="correct")),
        "parquet": run(read(tmp_path / "s.parquet", metric="mean")),
        "table": run(read(str(tmp_path / "long.csv"), **COLUMNS)),
        "files of scores": run(read([tmp_path / f"{name}.txt" for name in of])),
        "files of scores with names": run(read({name: tmp_path / f"{name}.txt" for name in of})),
        "pandas, long": run(read(pd.DataFrame(long(of)), **COLUMNS)),
        "polars, long": run(read(polars.DataFrame(long(of)), **COLUMNS)),
        "pandas, standard names": run(read(pd.DataFrame(long(of, ("model", "item", "correct"))))),
        "pandas, wide": run(read(pd.DataFrame(wide), **columns)),
        "polars, wide": run(read(polars.DataFrame(wide), **columns)),
    }
    expected = without(found["statistics"].table)
    for form, result in found.items():
        own = without(result.table)
        pd.testing.assert_frame_equal(own, expected, check_dtype=False, obj=form)
        kind = polars.DataFrame if form.startswith("polars") else pd.DataFrame
        assert isinstance(result.table, kind), form


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_print_a_table_or_sentences_and_their_notes(function):
    result = FUNCTIONS[function](scores(n=40))
    assert repr(result) == str(result)
    assert all(name in str(result) for name in "abc")
    assert "<table" in result._repr_html_()
    assert json.loads(result.to_json())
    assert result.metric.name == "score"
    assert result.statistics
    for note in result.notes:
        assert note in str(result)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ([[1, 2]], {}, r"found a builtins\.list, expected pairsig.Statistics, or a mapping"),
        (pd.DataFrame({"a": [1]}), {}, r"found a pandas\.DataFrame, expected .*; pairsig.read\(…\) reads"),
        ({"a": [[1, 2], [3, 4]], "b": [[1, 2], [3, 4]]}, {}, r"has counts of shape \(2, 2\), expected \(segments, 1\)"),
        ({"a": [1, 2], "b": [1, 2, 3]}, {}, "a has 2, b has 3"),
        ({"a": [1, 2], "b": [1, 2]}, {"metric": "f1"}, r"expected \(segments, 3\): matched, predicted, gold"),
        ("nowhere.tsv", {}, r"found a builtins\.str, expected pairsig.Statistics"),
    ],
)
def test_what_is_refused_is_refused_by_all(function, data, options, message):
    if function == "transfer" and isinstance(data, list):
        pytest.skip("a list is one of test sets")
    with pytest.raises(InputError, match=message):
        FUNCTIONS[function](data, **options)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_unknown_unit_is_refused(function):
    with pytest.raises(InputError, match="unknown unit 'word', expected one of segment, document"):
        FUNCTIONS[function](scores(), unit="word")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"a": [1, 2], "b": [1, 2]}, {"document": ["x"]}, "found 1 documents for 2 segments"),
        ({"a": [1, 2], "b": [1, 2]}, {"domain": ["x"]}, "found 1 domains for 2 segments"),
        ({"a": [1, 2], "b": [1, 2]}, {"item": "x"}, r"found item= for arrays, expected it for a data frame"),
        ({"a": [1, 2], "b": [1, 2]}, {"score": ["x", "y"]}, "found the scores x, y for arrays, expected one name"),
        ({"a": [1, np.nan], "b": [1, 2]}, {}, r"system a has no score for segment 2 \(NaN or masked\)"),
        ({"a": [1, np.nan], "b": [1, 2]}, {"missing": "wrong"}, "expected scores from 0 to 1"),
        ({"a": [1, np.nan], "b": [-0.5, 1]}, {"missing": "wrong"}, "expected scores from 0 to 1"),
        ({"a": [1, np.nan], "b": [0, 1]}, {"missing": "wrong", "lower_is_better": True}, "higher is better"),
        ({"a": [[1, 2, 2], [np.nan, 1, 1]]}, {"metric": "f1", "missing": "wrong"}, "expected scores from 0 to 1"),
        ({"a": [[1, 2, 2], [0, np.nan, 1]]}, {"metric": "f1"}, "system a has no score for segment 2"),
        ({"a": [1, 1], "b": [np.nan, np.nan]}, {}, "system b has no score for segment 1"),
        ({"a": [[1, 2, 2]]}, {"metric": "f1", "lower_is_better": True}, "found lower_is_better=True with metric f1"),
        ({"a": [[1, 2]]}, {}, r"system a has an array of shape \(1, 2\) and no metric is named"),
        ({"a": [[[1, 2]]]}, {}, r"system a has an array of shape \(1, 1, 2\) and no metric is named"),
        ([], {}, "found logs of no program, expected logs of one program"),
        ("nowhere.tsv", {}, "nowhere.tsv"),
    ],
)
def test_read_refuses(data, options, message):
    with pytest.raises((InputError, FileNotFoundError), match=message):
        read(data, **options)


def test_scores_that_are_missing_in_arrays_are_left_out_or_wrong():
    arrays = {"a": [0.5, np.nan, 0, 1], "b": [1, 0, 1, np.nan]}
    dropped, wrong = (read(arrays, missing=missing) for missing in ("drop", "wrong"))
    assert dropped.counts[:, :, 0].tolist() == [[0.5, 0], [1, 1]]
    assert dropped.segments.tolist() == ["1", "3"]
    assert wrong.counts[:, :, 0].tolist() == [[0.5, 0, 0, 1], [1, 0, 1, 0]]
    assert [data.provenance["missing"] for data in (dropped, wrong)] == ["drop:2", "wrong:2"]


def test_labels_of_arrays_are_those_of_their_segments():
    data = read({"a": [1, 0, 1], "b": [1, 1, 1]}, document=["d", "d", "e"], domain=["x", "y", "x"])
    assert (data.documents.tolist(), data.domains.tolist()) == (["d", "d", "e"], ["x", "y", "x"])


def test_several_runs_of_scores_have_one_column():
    data = read({"a": [[[1], [0]], [[1], [1]]], "b": [0, 1]})
    assert (data.methods, data.counts[:, :, 0].tolist()) == (("a", "a", "b"), [[1, 0], [1, 1], [0, 1]])


ROWS = ["id,system,score,book,kind", "1,a,1,x,news", "1,b,0,x,news", "2,a,1,y,talks", "2,b,1,y,talks"]


def test_columns_of_documents_and_domains_are_those_that_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(ROWS))
    for data in (tmp_path / "t.csv", pd.read_csv(tmp_path / "t.csv")):
        statistics_read = read(data, document="book", domain="kind")
        assert statistics_read.documents.tolist() == ["x", "y"]
        assert statistics_read.domains.tolist() == ["news", "talks"]


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        (["t.csv"], {"options": {"system": "x"}}, "found --option system=x, expected --system x$"),
        (["t.csv"], {"options": {"any_value": "true"}}, "found --option any_value=true, expected --any-value$"),
        (["t.csv"], {"options": {"foo": "x"}}, "found --option foo=x, but tables have no such option"),
        (["a.sigf", "b.sigf"], {"reader": "sigf", "score": "x"}, "found --score, which declares columns of a table"),
        (["t.csv", "u.csv"], {}, "t.csv: found the systems a, b, expected one system per file"),
        ([["r1.csv", "r2.csv"], "s.csv"], {}, "r1.csv: found the runs 7, 8, expected one run per file"),
        (["t.csv"], {"score": "score", "metric": ["score", "score"]}, "metric"),
        (["bell.csv"], {}, r"bell.csv.*system"),
    ],
)
def test_files_that_do_not_say_which_system_they_are_are_refused(files, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "t.csv": ROWS,
        "u.csv": ROWS,
        "bell.csv": [row.replace(",a,", ",a\a,") for row in ROWS],
        "r1.csv": ["id,run,score", "1,7,1", "1,8,0", "2,7,1", "2,8,1"],
        "r2.csv": ["id,run,score", "1,9,1", "2,9,1"],
        "s.csv": ["id,score", "1,0", "2,1"],
        "a.sigf": ["1 2 3", "0 1 1"],
        "b.sigf": ["2 2 3", "1 1 1"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=message):
        read(files if len(files) > 1 else files[0], **options)


def test_a_separator_says_that_a_file_is_a_table(tmp_path):
    (tmp_path / "t.txt").write_text("\n".join(ROWS).replace(",", ";"))
    assert read(tmp_path / "t.txt", sep=";").systems == ("a", "b")


class TestPairing:
    """Series are paired by their index, and masked values are missing."""

    def test_by_index_unless_it_numbers_the_rows(self):
        a = pd.Series([1, 0, 1, 1, 0, 1], index=list("abcdef"))
        b = pd.Series([0, 1, 1, 0, 0, 0], index=list("fabcde"))
        expected = pairsig.exact_test(a.to_numpy(), b[list("abcdef")].to_numpy())
        assert pairsig.exact_test(a, b).pvalue == expected.pvalue
        result = pairsig.compare({"a": a, "b": b})
        assert result.pvalue == expected.pvalue
        assert result.statistics.segments.tolist() == list("abcdef")
        numbered = a.reset_index(drop=True), b.reset_index(drop=True)
        assert pairsig.exact_test(*numbered).pvalue == pairsig.exact_test(a.to_numpy(), b.to_numpy()).pvalue

    @pytest.mark.parametrize(
        ("a", "b", "message"),
        [
            (
                pd.Series([1, 0], index=[0, 1]),
                pd.Series([1, 0], index=[2, 3]),
                "the index of a has 0, that of b has not",
            ),
            (pd.Series([1, 0], index=["x", "x"]), pd.Series([1, 0], index=["x", "y"]), "has x 2 times"),
            (pd.Series([1, 0], index=["x", "y"]), [1, 0], "a has ids as its index, b has none"),
        ],
    )
    def test_refused(self, a, b, message):
        for run in (lambda: pairsig.exact_test(a, b), lambda: pairsig.compare({"a": a, "b": b})):
            with pytest.raises(InputError, match=message):
                run()

    def test_masked_values_are_missing(self):
        a = np.ma.array([1, 0, 100, 1], mask=[0, 0, 1, 0])
        b = [0, 0, 0, 0]
        for run in (
            lambda: pairsig.exact_test(a, b),
            lambda: pairsig.compare({"a": a, "b": b}),
            lambda: read({"a": a, "b": b}),
        ):
            with pytest.raises(InputError, match=r"not a finite number|NaN or masked"):
                run()
        assert read({"a": a, "b": b}, missing="drop").segments.tolist() == ["1", "2", "4"]
        with pytest.raises(InputError, match="NaN or masked"):
            read({"a": pd.Series([1, None, 0, 1], dtype="Int64"), "b": b})


def test_what_was_read_is_printed():
    frame = pd.DataFrame(long(scores(n=4)))
    text = repr(read(frame, **COLUMNS))
    assert text.splitlines()[:3] == [
        "Statistics of a test set: 3 systems, 4 segments",
        "  systems: a, b, c",
        "  correct: Σ correct / number of segments (higher is better, assumed)",
    ]
    assert "(lower is better)" in repr(read(frame, **COLUMNS, lower_is_better=True))


FIVE = ("A", "B", "C", "D", "E")


@pytest.fixture
def five_models(tmp_path, monkeypatch):
    """Five models with three seeds each, as files and as arrays; E is the best by a little."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    item = rng.random(300)
    passed = {
        name: np.array(
            [item < 0.5 + 0.013 * place + 0.02 * rng.normal() + 0.2 * rng.normal(size=300) for _ in range(3)]
        )
        for place, name in enumerate(FIVE)
    }
    for name, runs in passed.items():
        for number, run in enumerate(runs, start=1):
            (tmp_path / f"{name}{number}.txt").write_text("\n".join(str(int(one)) for one in run) + "\n")
    return {name: runs.astype(int)[:, :, None] for name, runs in passed.items()}


def of_runs():
    return [word for name in FIVE for word in ("--runs", *(f"{name}{number}.txt" for number in (1, 2, 3)))]


def test_five_models_with_three_seeds_get_one_answer(five_models, answer, capsys):
    """The command line and Python compare all to the baseline, and adjust by Holm."""
    how = (*of_runs(), "--baseline", "A", "--n-resamples", "100")
    rows, _ = answer(*how)
    result = pairsig.compare(five_models, baseline="A")
    table = result.table.set_index("system_a")
    assert result.table["system_b"].tolist() == ["A"] * 4
    for row in rows:
        own = table.loc[row["method_a"]]
        assert own["pvalue"] == pytest.approx(row["pvalue_method"], rel=1e-12)
        assert own["pvalue_holm"] == pytest.approx(row["pvalue_holm"], rel=1e-12)
        ends = (row["ci_low"], row["ci_high"]) if own["difference"] > 0 else (-row["ci_high"], -row["ci_low"])
        assert (abs(own["difference"]), own["ci_low"], own["ci_high"]) == pytest.approx((row["gain"], *ends))
    assert cli.main(["compare", *how, "--format", "sentence"]) == 0
    text = capsys.readouterr().out
    for name, said, ours in zip("BCDE", text.splitlines(), str(result).splitlines(), strict=False):
        assert said.split(" by ")[0] == ours.split(" by ")[0]
        shown = re.search(r"p = \S+ \(\S+ adjusted by Holm for 4 comparisons\), 3 and 3 runs", said)[0]
        assert shown in ours
        assert f"({table.loc[name, 'pvalue_holm']:.3g} adjusted by Holm for 4" in shown
    methods = pairsig.compare_methods(five_models, baseline="A")
    assert methods.table["pvalue_holm"].tolist() == pytest.approx([row["pvalue_holm"] for row in rows])
    with pytest.raises(InputError, match="unknown baseline 'X', expected one of A"):
        pairsig.compare(five_models, baseline="X")


def test_rank_is_the_command(five_models, capsys):
    files = [f"{name}1.txt" for name in FIVE]
    assert cli.main(["rank", *files, "--format", "json", "--n-resamples", "2000", "--pairs", "pairs.tsv"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    result = pairsig.rank({f"{name}1": runs[0, :, 0] for name, runs in five_models.items()}, n_resamples=2000)
    for name in ("system", "rank_low", "rank_high", "behind"):
        assert result.table[name].tolist() == [row[name] for row in rows]
    assert len(result.pairs) == 10
    written, ours = (own.drop(columns=["metric", "signature"]) for own in (tables.read("pairs.tsv"), result.pairs))
    pd.testing.assert_frame_equal(written, ours, check_dtype=False, check_exact=True)


class TestTransfer:
    """Against `pairsig transfer` on the tables of `pairsig all-pairs`."""

    @pytest.fixture
    def test_sets(self, monkeypatch):
        few = np.linspace(-6, 6, 13)  # enough digits for a comparison of what is computed in the same way
        monkeypatch.setattr(pairsig.planning.heterogeneity, "_QUANTILES", few)
        return {f"set{seed}": scores(n=50 + 10 * seed, seed=seed) for seed in range(4)}

    def expected(self, test_sets, tmp_path):
        paths = []
        for name, of in test_sets.items():
            data = Statistics.from_arrays({system: own[:, None] for system, own in of.items()}, ["value"], dataset=name)
            paths.append(str(tmp_path / f"{name}.tsv"))
            tables.write(all_pairs.compare(data, "randomization", metric="mean", n_resamples=50), paths[-1])
        assert cli.main(["transfer", *paths, "--output", str(tmp_path / "t.tsv")]) == 0
        return without(pd.read_csv(tmp_path / "t.tsv", sep="\t").drop(columns=["n_rows", "family"]))

    def test_several_test_sets(self, test_sets, tmp_path):
        expected = self.expected(test_sets, tmp_path)
        wide = [read(pd.DataFrame(of), systems=["a", "b", "c"]) for of in test_sets.values()]
        for data in (test_sets, list(test_sets.values()), dict(zip("wxyz", wide, strict=True))):
            found = pairsig.transfer(data)
            pd.testing.assert_frame_equal(without(found.table.drop(columns="family")), expected, check_dtype=False)
        assert list(found.statistics) == list("wxyz")

    def test_domains(self, test_sets, tmp_path):
        expected = self.expected(test_sets, tmp_path)
        whole = {name: np.concatenate([of[name] for of in test_sets.values()]) for name in "abc"}
        domain = [name for name, of in test_sets.items() for _ in of["a"]]
        found = pairsig.transfer(read(whole, domain=domain))
        pd.testing.assert_frame_equal(without(found.table.drop(columns="family")), expected, check_dtype=False)
        frame = polars.DataFrame(long(whole) | {"subject": domain * 3})
        found = pairsig.transfer(read(frame, **COLUMNS, domain="subject"))
        assert isinstance(found.table, polars.DataFrame)
        pd.testing.assert_frame_equal(without(found.table.drop("family")), expected, check_dtype=False)
        with pytest.raises(InputError, match="segment 1 has no domain, expected one for every segment"):
            pairsig.transfer(read(whole, domain=["", *domain[1:]]))

    def test_runs_are_compared_by_their_means(self):
        rng = np.random.default_rng(0)
        sets = {
            name: {system: (rng.random((3, 80, 1)) < 0.5 + 0.1 * k) for k, system in enumerate("ab")} for name in "xyz"
        }
        (row,) = pairsig.transfer(sets).table.itertuples()
        gains, errors = [], []
        for of in sets.values():
            (one,) = pairsig.compare_methods(of).table.itertuples()
            gains.append(one.gain if one.better == "b" else -one.gain)
            errors.append(one.standard_error)
        found = pairsig.planning.heterogeneity.random_effects(gains, errors)
        assert (row.system_a, row.gain) == ("b", pytest.approx(found.gain[0]))
        assert row.p_next == pytest.approx(found.p_next[0])

    def test_refused(self, test_sets):
        with pytest.raises(InputError, match="1 test set, expected at least 2"):
            pairsig.transfer(test_sets["set0"])
        with pytest.raises(InputError, match="has one system, a, expected at least two"):
            pairsig.transfer([{"a": [1, 2]}, {"a": [1, 2]}])


def test_tab_lists_the_public_names_and_nothing_else():
    assert dir(pairsig) == sorted(pairsig.__all__)
    for name in pairsig.__all__:
        assert getattr(pairsig, name).__doc__


def test_a_reference_is_no_system(tmp_path, answer, refusal):
    for name, text in (("a", "a cat sat\n"), ("b", "a dog sat\n"), ("reference", "a cat sat down\n")):
        (tmp_path / f"{name}.txt").write_text(text * 4)
    a, b, reference = (tmp_path / f"{name}.txt" for name in ("a", "b", "reference"))
    options = ["--reference", reference, "--n-resamples", "99"]
    rows, notes = answer(a, b, reference, *options)
    assert [(row["system_a"], row["system_b"]) for row in rows] == [("a", "b")]
    assert "reference.txt left out, since it is the reference" in notes
    assert "among the systems, expected at least two others" in refusal("compare", a, reference, *options)


@pytest.mark.parametrize("declared", [{"item": 0, "score": 2, "system": 1}, {"item": [0], "score": [2], "system": 1}])
def test_columns_of_frames_may_be_called_0(declared):
    frame = pd.DataFrame([["q1", "A", 1], ["q2", "A", 0], ["q1", "B", 1], ["q2", "B", 1]])
    data = pairsig.read(frame, **declared)
    assert data.segments.tolist() == ["q1", "q2"]
    assert data.counts[:, :, 0].tolist() == [[1, 0], [1, 1]]


def test_a_code_of_0_may_stand_for_a_missing_score():
    frame = pd.DataFrame({"id": [1, 2, 3], "A": [0, 2, 3], "B": [1, 2, 4]})
    data = pairsig.read(frame, systems=["A", "B"], missing_value=0, missing="drop")
    assert data.segments.tolist() == ["2", "3"]


@pytest.mark.parametrize(("line", "reader"), [("1 2", "art"), ("1 2 3", "sigf"), ("1 2 3 4", "art")])
def test_counts_without_a_suffix_ask_for_their_reader(line, reader, tmp_path):
    (tmp_path / "a").write_text(f"{line}\n" * 3)
    with pytest.raises(Question, match="numbers per line, expected one score per line") as caught:
        read(tmp_path / "a")
    assert caught.value.answers == ({"reader": reader},)


def test_a_table_of_statistics_is_known_by_the_names_in_its_first_line(tmp_path):
    names = [name for name in statistics.KEYS if name != "run"]
    for file, lines, expected in (
        ("all.tsv", ["\t".join([*names, "correct"]), "\t".join("1" * (len(names) + 1))], True),
        ("one_less.tsv", ["\t".join([*names[1:], "correct"]), "1"], False),
        ("below.tsv", ["a title", "\t".join(names)], False),
        ("only.tsv", ["\t".join(names)], True),
        ("windows.tsv", ["\t".join(names) + "\r", "1"], True),
        ("damaged.parquet", ["PAR1"], False),
    ):
        (tmp_path / file).write_text("\n".join(lines))
        assert inputs.is_statistics(tmp_path / file) == expected
    for folder in ("folder.tsv", "folder.parquet"):
        (tmp_path / folder).mkdir()
        assert not inputs.is_statistics(tmp_path / folder)
    counts = [[1, 2, 2], [2, 2, 3]]
    pairsig.write_statistics(read({"a": counts, "b": counts}, metric="f1"), tmp_path / "written.parquet")
    assert inputs.is_statistics(tmp_path / "written.parquet")
    data = read(tmp_path / "written.parquet", metric=["recall", "precision"])
    assert [metric.name for metric in data.metrics] == ["recall", "precision"]
    assert data.counts.tolist() == [counts, counts]
    (tmp_path / "written.parquet").rename(tmp_path / "written.data")
    assert not inputs.is_statistics(tmp_path / "written.data")


@pytest.mark.parametrize("lower", [None, True, False])
def test_the_direction_of_one_score_per_line_is_assumed_unless_it_is_declared(lower, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("1\n0\n")
    (metric,) = read([tmp_path / "a.txt", tmp_path / "b.txt"], lower_is_better=lower).metrics
    assert (metric.assumed, metric.higher_is_better) == (lower is None, not lower)


def test_a_list_of_paths_in_the_list_has_the_runs_of_a_system(tmp_path):
    for name, column in {"a1": "1\n0\n", "a2": "1\n1\n", "b1": "0\n0\n", "b2": "0\n1\n"}.items():
        (tmp_path / f"{name}.txt").write_text(column)
    data = read([[tmp_path / f"{system}{run}.txt" for run in (1, 2)] for system in "ab"])
    assert (data.methods, data.runs) == (("a", "a", "b", "b"), ("1", "2", "1", "2"))
    assert data.counts[:, :, 0].tolist() == [[1, 0], [1, 1], [0, 0], [0, 1]]


def test_a_reference_is_known_by_any_path_to_it(tmp_path):
    for name in ("a", "b", "ref"):
        (tmp_path / f"{name}.txt").write_text(f"the {name} of it\nis here\n")
    (tmp_path / "folder").mkdir()
    paths = [tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "folder" / ".." / "ref.txt"]
    data = read(paths, reference=str(tmp_path / "ref.txt"), metric="bleu")
    assert data.systems == ("a", "b")
    assert any("left out, since it is the reference" in note for note in data.notes)
