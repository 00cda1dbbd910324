"""The study as pages: what stands on them is what the tables say, read here without the code that writes them."""

import json
import math
import re
import shutil
from dataclasses import replace
from html import escape
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

import pages
import pairsig
import simulate
from pages import DATASET, HOSTILE, MADE, page, rows, script, text_of, words
from pairsig.comparisons import ranking
from pairsig.io import tables
from pairsig.metrics import registry
from study import analysis, cli
from study.beyond.ranks import ranks, reaches
from study.site import own_data, text
from study.site.build import _papers


@pytest.fixture(scope="session")
def site(folder):
    return folder / "site"


def rebuild(folder, output, instead=None):
    """Make the pages of the study again, with other files instead of some; returns the exit status."""
    given = [(instead or {}).get(word, word) for word in words(folder)]
    return cli.main([str(word) for word in [*given, "--output", output] if word != ""])


def every_page(site):
    return {path.relative_to(site).as_posix(): page(path) for path in sorted(site.rglob("*.html"))}


def test_all_that_a_page_names_lies_in_the_folder_and_no_name_is_there_twice(site):
    found = every_page(site)
    assert {"index.html", "paper.html", "explorer.html", "cells.html", "datasets.html", "figures.html"} < set(found)
    assert f"datasets/{DATASET}.html" in found
    shown = [image.attributes["src"] for image in found["figures.html"].all("img")]
    figures = [path.name for path in (site / "figures").iterdir() if "-" not in path.name]
    assert sorted(shown) == sorted(f"figures/{name}" for name in figures)
    for name, one in found.items():
        assert len(list(one.all("h1"))) == 1, name
        ids = re.findall(r' id="([^"]*)"', (site / name).read_text(encoding="utf-8"))
        assert len(ids) == len(set(ids)), name
        named = [(element, key) for tag, key in (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src"))
                 for element in one.all(tag)]  # fmt: skip
        for element, key in named:
            target = element.attributes.get(key)
            if target is None or target == "data:,":
                continue
            if target.startswith("https://"):  # a link to follow, nothing that is loaded
                assert element.tag == "a"
                assert name.startswith(("datasets/", "docs/", "index"))
                continue
            path, _, fragment = target.partition("#")
            lies = (site / name).parent / unquote(path) if path else site / name
            assert lies.is_file(), f"{name}: {target}"
            if fragment and lies.name != "explorer.html":
                assert re.search(f'id="{re.escape(fragment)}"', lies.read_text(encoding="utf-8")), f"{name}: {target}"


def test_no_page_weighs_more_than_three_megabytes(site):
    largest = max(path.stat().st_size for path in (site / "data").iterdir())
    for name, one in every_page(site).items():
        loaded = [element.attributes.get("src") for element in one.all("script")]
        loaded += [element.attributes["href"] for element in one.all("link", rel="stylesheet")]
        paths = [site / name, *((site / name).parent / path for path in loaded if path)]
        assert sum(path.stat().st_size for path in paths) + largest < 3e6, name


def shown(value, unit):
    """A printed number, rounded as numbers of its unit are."""
    number = float(value)
    if unit in ("%", "pairs", "samples", "sentences"):
        return f"{number:,.0f}"
    text = f"{number:.3g}" if unit in ("p", "seconds") else f"{number:.2f}"
    return text.replace("-", "−")


def test_ours_beside_the_papers_is_the_table(site, folder):
    table = rows(folder / "results/tables/reproduction.tsv")
    lines = []
    for name, exact in (("paper-2012", False), ("paper-2022", True)):
        (paper,) = page(site / "paper.html").all("section", id=name)
        mine = [row["verdict"] for row in table if row["item"].startswith("exact-") == exact]
        (counts,) = paper.all("p", class_="about")
        counted = {verdict: mine.count(verdict) for verdict in set(mine)}
        assert {one[0].strip(): int(one[1]) for one in re.findall(r"([a-z ]+?) (\d+)", text_of(counts))} == counted
        (body,) = paper.all("tbody")
        assert len(list(body.all("tr"))) == len(mine)
        lines += body.all("tr")
    assert len(lines) == len(table) > 40
    for line, row in zip(lines, table, strict=True):
        verdict, ours, published, expected, what = (text_of(cell) for cell in line.all("td"))
        why = row["why"].removeprefix("number of our ")
        assert verdict == row["verdict"] + f" {why}" * (row["verdict"] == "too few")
        unit = row["unit"]
        if row["ours"]:
            ends = f" [{shown(row['low'], unit)}, {shown(row['high'], unit)}]" if row["low"] else ""
            assert ours == shown(row["ours"], unit) + (" %" if unit == "%" else "") + ends
        else:
            assert ours == "–"
        assert published.split(" ")[0] == (shown(row["published"], unit) if row["published"] else "–")
        sign = " %" if unit == "%" else ""
        scaled = [shown(row[name], unit) + sign for name in ("expected", "expected_by_information") if row[name]]
        assert expected == (" or ".join(scaled) or published)
        assert row["what"].split(" (")[0][1:] in what
        assert row["why"] in what
        assert row["item"] not in what
        assert line.attributes["data-ours"] == "" or float(line.attributes["data-ours"]) == float(row["ours"])


def test_numbers_that_the_run_did_not_compute_are_listed_with_the_command(folder, tmp_path):
    path = folder / "results/tables/reproduction.tsv"
    table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    table.loc[table["item"].str.startswith("size-"), ["ours", "low", "high", "verdict", "why"]] = [
        "", "", "", "not comparable", text.NOT_IN_THIS_RUN
    ]  # fmt: skip
    changed = tmp_path / path.name
    table.to_csv(changed, sep="\t", index=False)
    assert rebuild(folder, tmp_path / "site", {path: changed}) == 0
    paper, other = list(page(tmp_path / "site/paper.html").all("section", class_="chapter"))[:2]
    (left,) = paper.all("details", class_="others")
    assert text_of(next(left.all("summary"))) == "not part of this run 3 numbers: type make reproduce"
    assert len(list(left.all("li"))) == 3
    assert "not part of this run 3" in text_of(next(paper.all("p", class_="about")))
    assert not list(other.all("details", class_="others"))


def test_a_verdict_on_few_simulated_pairs_is_not_one_on_the_paper(folder, tmp_path):
    """A small run simulates fewer pairs than a verdict needs: what differs is grey, and says why."""
    for n_pairs, verdict in ((3, "differs in this small run"), (10, "differs")):
        results = tmp_path / f"{n_pairs}"
        shutil.copytree(folder / "results/tables", results)
        for name, cells in (
            ("relative_error", {"n_pairs": n_pairs}),
            ("reproduction", {"verdict": "differs", "why": ""}),
        ):
            table = analysis.read(results / f"{name}.tsv").assign(**cells)
            tables.write(table, results / f"{name}.tsv")
        papers = _papers(text.Source({path.stem: analysis.read(path) for path in results.glob("*.tsv")}))
        found = {paper["id"]: set(paper["verdicts"]) for paper in papers}
        assert found == {"paper-2012": {"differs"}, "paper-2022": {verdict}}


def test_table_1_has_the_paper_and_ours_beside_what_is_expected(site, folder):
    table = rows(folder / "results/tables/table_1.tsv")
    verdicts = {row["compared_with"]: row["verdict"] for row in rows(folder / "results/tables/reproduction.tsv")}
    paper = {row["p_range"]: row for row in table if row["calibration"] == "the paper"}
    shown_tables = list(page(site / "paper.html").all("table", class_="table-1"))
    names = [
        text_of(one).removeprefix("Table 1, the paper and ") for one in (next(t.all("caption")) for t in shown_tables)
    ]
    assert names[0] == "constituency"
    assert set(names) == {row["calibration"] for row in table} - {"the paper"}
    for name, one in zip(names, shown_tables, strict=True):
        mine = [row for row in table if row["calibration"] == name]
        bodies = list(one.all("tbody"))
        assert len(bodies) == len(mine)
        for body, row in zip(bodies, mine, strict=True):
            for line, source in zip(body.all("tr"), (paper[row["p_range"]], row), strict=True):
                for cell, distance in zip(line.all("td"), ("near", "middle", "far"), strict=True):
                    if not source[distance]:
                        assert text_of(cell) == "–"
                        continue
                    share, low_high, expected = re.fullmatch(
                        r"(\d+ %)(?: \((\d+ to \d+)\))?.*?\|(.*)",
                        f"{source[distance]}|{source[f'{distance}_expected']}",
                    ).groups()
                    said = text_of(cell)
                    assert said.startswith(share)
                    assert f"expected {expected.split(' (')[0] or '–'}" in said
                    assert not low_high or f"[{low_high.replace(' to ', ', ')}]" in said
                    address = f"share:{name}:{distance}:{row['p_range'].replace(' to ', '-')}"
                    assert (verdicts.get(address, "") if source is row else "") == "".join(
                        text_of(one) for one in cell.all("span", class_="verdict")
                    )


def unmarked(markdown):
    return " ".join(re.sub(r"[*`]|^- |\\(?=\W)", "", markdown).split())


def test_the_first_page_is_the_findings_of_the_run(site, folder):
    tables = {path.stem: analysis.read(path) for path in (folder / "results/tables").glob("*.tsv")}
    written = text.findings(tables)
    first = page(site / "index.html")
    (article,) = first.all("article")
    said = text_of(article)
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", written)
    lines = []  # of tables
    for block in plain.split("\n\n"):
        if block.startswith("|"):
            head, _, *body = block.split("\n")
            lines += [[unmarked(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in (head, *body)]
        elif not block.startswith(("#", "How often")):
            for item in block.split("\n- "):
                assert unmarked(item) in said
    assert [[text_of(cell) for cell in (*line.all("th"), *line.all("td"))] for line in article.all("tr")] == lines
    assert "too small for a verdict" in said
    headings = [text_of(one) for one in article.all("h2")]
    assert headings == re.findall(r"^## (.*)$", written, re.MULTILINE)
    (contents,) = first.all("nav", class_="contents")
    assert [text_of(one) for one in contents.all("a")] == headings
    assert not re.search(rf"[{text.ABSENT}{text.LEFT_OUT}]|\bnan\b|\bNone\b|[{{}}]", said)


def drawn(path):
    """What a page of the explorer says that it can draw, the first argument of the call; the windows of p follow."""
    call = re.search(r"explore\.\w+\((.*)\);</script>", path.read_text(encoding="utf-8"))[1]
    return json.loads(f"[{call}]")[0]


@pytest.mark.parametrize("name", ["whole", "news-first-100"])
def test_the_explorer_draws_what_was_compared(site, folder, name):
    about = next(one for one in drawn(site / "explorer.html") if one["dataset"] == DATASET)
    assert not any(re.match("draw|half", one["label"]) for one in about["test_sets"])
    place = next(place for place, one in enumerate(about["test_sets"]) if one["label"] == name)
    dataset, number, data = script(site / f"data/{DATASET}.{place}.js")
    assert (dataset, number) == (DATASET, place)
    kind = "comparisons" if name == "whole" else "test_sets"
    table = [row for row in rows(folder / f"results/{kind}/{DATASET}.bootstrap.parquet") if row["test_set"] == name]
    assert len(table) == len(data["a"]) == about["test_sets"][place]["pairs"]
    assert about["test_sets"][place]["n"] == int(table[0]["n_segments"])
    systems = [one["name"] for one in about["systems"]]
    kinds = {one["name"]: one["kind"] for one in about["systems"]}
    for at, row in enumerate(table):
        a, b = data["a"][at], data["b"][at]
        assert (systems[a], systems[b]) == (row["system_a"], row["system_b"])
        assert (kinds[systems[a]], kinds[systems[b]]) == (row["kind_a"], row["kind_b"])
        assert data["p"][at] == pytest.approx(float(row["pvalue"]), rel=1e-3)
        for key, column, digits in (
            ("gain", "gain", 4),
            ("correlation", "correlation", 3),
            ("error", "standard_error", 4),
        ):
            assert data[key][at] == pytest.approx(float(row[column]), abs=0.51 * 10**-digits)
        assert data["score"][a] == pytest.approx(float(row["score_a"]), abs=0.0051)
        assert data["score"][b] == pytest.approx(float(row["score_b"]), abs=0.0051)
        assert data["same"][at] == (row["same_group"] == "True")


def test_the_pairs_of_a_calibration_are_those_it_counts(site, folder):
    (about,) = drawn(site / "cells.html")
    _, _, data = script(site / f"data/{about['file']}")
    table = [row for row in rows(folder / "results/tables/calibration.tsv") if 0.001 < float(row["p_low"]) < 0.08]
    table = [row for row in table if float(row["p_high"]) <= 0.08]
    assert len(table) == len(about["ranges"]) == 7
    for row, one in zip(table, about["ranges"], strict=True):
        low, high = float(row["p_low"]), float(row["p_high"])
        inside = [at for at, p in enumerate(data["p"]) if low <= p and (p < high or (high == 0.06 and p <= high))]
        assert len(inside) == one["n"] == int(row["n_pairs"])
        assert sum(data["against"][at] > 0 for at in inside) == one["replicated"] == int(row["n_replicated"])
    # By brute force, from the comparisons: p on one test set, the gain of the same system on the other.
    gains, chances = {}, {}
    for row in rows(folder / f"results/test_sets/{DATASET}.bootstrap.parquet"):
        if row["derived"] == "domain":
            where = f"{DATASET} / {row['test_set']}"
            gains[where, row["system_a"], row["system_b"]] = float(row["gain"])
            gains[where, row["system_b"], row["system_a"]] = -float(row["gain"])
            chances[where, row["system_a"], row["system_b"]] = float(row["pvalue"])
    expected = sorted(
        (on, other, a, b)
        for (on, a, b), p in chances.items()
        for other in {where for where, *_ in chances} - {on}
        if 0.00125 <= p < 0.08 and gains[on, a, b] and gains[other, a, b]
    )
    found = []
    for a, b, on, other, gain, against in zip(
        *(data[key] for key in ("a", "b", "on", "other", "gain", "against")), strict=True
    ):
        names = data["systems"][a], data["systems"][b]
        sides = data["test_sets"][on], data["test_sets"][other]
        found.append((*sides, *names))
        assert gain == pytest.approx(gains[(sides[0], *names)], abs=0.00051)
        assert against == pytest.approx(gains[(sides[1], *names)], abs=0.00051)
    assert sorted(found) == expected


def test_the_page_of_a_dataset_has_its_source_and_its_systems_with_ranks_and_scores(site, folder):
    corpora = {row["corpus"]: row for row in rows(pages.ROOT / "config/corpora.tsv")}
    about = text_of(page(site / f"datasets/{DATASET}.html"))
    assert all(corpora["wmt24"][column] in about for column in ("licence", "citation", "sha256"))
    table = [row for row in rows(folder / "results/tables/ranks.tsv") if row["dataset"] == DATASET]
    (printed,) = page(site / f"datasets/{DATASET}.html").all("table", class_="ranks")
    (body,) = printed.all("tbody")
    clusters = [row["cluster"] for row in table]
    for at, (line, row) in enumerate(zip(body.all("tr"), table, strict=True)):
        ranks, score = (text_of(cell) for cell in list(line.all("td"))[:2])
        low, high = int(row["rank_low"]), int(row["rank_high"])
        assert ranks == (f"{low}–{high}" if low < high else f"{low}")
        assert score == f"{float(row['score']):.2f} [{float(row['score_low']):.2f}, {float(row['score_high']):.2f}]"
        (head,) = line.all("th")
        assert text_of(head).startswith(row["system"])
        better = row["p_next"] != "" and float(row["p_next"]) <= 0.05
        assert ("†" in text_of(head)) == better
        assert (line.attributes.get("class") == "line") == (at > 0 and clusters[at] != clusters[at - 1])


def test_critical_differences_by_size_and_domain_are_those_of_the_thresholds(site, folder):
    table = {row["test_set"]: row for row in rows(folder / "results/tables/thresholds.tsv")
             if (row["dataset"], row["subset"]) == (DATASET, "all")}  # fmt: skip
    one = page(site / f"datasets/{DATASET}.html")
    for section, labels in (
        ("domains", {"news-first-100": "news"}),
        ("thresholds", {"first-400": "first", "whole": "whole"}),
    ):
        (part,) = one.all("section", id=section)
        lines = [re.sub(r"\s", "", text_of(line)) for line in part.all("tr")]
        for test_set, label in labels.items():
            row = table[test_set]
            value, low, high = (float(row[f"critical_difference{end}"]) for end in ("", "_low", "_high"))
            expected = f"{label}{int(row['n_segments']):,}{value:.2f}[{low:.2f},{high:.2f}]"
            assert any(expected in line for line in lines)


def test_names_are_shown_as_they_are_and_run_nothing(site):
    text = (site / f"datasets/{MADE}.html").read_text(encoding="utf-8")
    heads = [text_of(head) for head in page(site / f"datasets/{MADE}.html").all("th", scope="row")]
    for name in HOSTILE:
        assert any(head.startswith(re.sub(r"\s+", " ", name)) for head in heads), name
        assert name.isalnum() or name == escape(name) or name not in text
    assert "A <b>note." in text_of(page(site / f"datasets/{MADE}.html"))
    assert "<i>task" in text_of(page(site / "datasets.html"))
    for path in site.rglob("*.html"):
        assert "<script>alert" not in path.read_text(encoding="utf-8")


def test_the_same_run_makes_the_same_bytes(site, folder, tmp_path):
    assert rebuild(folder, tmp_path / "again") == 0
    first, second = (
        {path.relative_to(made): path.read_bytes() for path in made.rglob("*") if path.is_file()}
        for made in (site, tmp_path / "again")
    )
    assert first == second


def test_a_run_of_little_has_pages_too(folder, tmp_path):
    left_out = {path: "" for path in (folder / "results/tables").glob("*.tsv") if path.stem != "systems"}
    assert rebuild(folder, tmp_path / "site", left_out) == 0
    for one in every_page(tmp_path / "site").values():
        assert text_of(one)
    assert "no numbers to compare" in text_of(page(tmp_path / "site/paper.html"))


def test_tables_without_rows_have_pages_too(folder, tmp_path):
    empty = {path: tmp_path / path.name for path in (folder / "results/tables").glob("*.tsv")}
    for path, other in empty.items():
        head = path.read_text(encoding="utf-8").splitlines()[0].removesuffix("\tn_rows")
        other.write_text(head + "\n", encoding="utf-8")
    assert rebuild(folder, tmp_path / "site", empty) == 0
    assert "a run of 0 datasets" in text_of(page(tmp_path / "site/index.html"))


def test_a_table_that_was_cut_is_refused_and_the_old_pages_stay(folder, tmp_path, capsys):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/site.css").write_text("old", encoding="utf-8")
    path = folder / f"results/comparisons/{DATASET}.bootstrap.parquet"
    cut = tmp_path / path.name
    cut.write_bytes(path.read_bytes()[:-100])
    assert rebuild(folder, tmp_path / "site", {path: cut}) == 2
    assert f"{cut}: cannot be read as a table" in capsys.readouterr().err
    assert [one.name for one in (tmp_path / "site").iterdir()] == ["site.css"]
    assert not (tmp_path / "site.part").exists()


def test_a_folder_of_something_else_is_left_alone(folder, tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter-1.tex").write_text("years of work", encoding="utf-8")
    assert rebuild(folder, tmp_path / "thesis") == 2
    assert "found files that are not pages" in capsys.readouterr().err
    assert (tmp_path / "thesis/chapter-1.tex").read_text(encoding="utf-8") == "years of work"


# Ranks


def test_ranks_are_those_of_the_library_and_intervals_those_of_a_mean():
    made = simulate.statistics("accuracy", n_systems=5, n_segments=80, seed=3)
    metric = registry.metric("accuracy")
    found = ranks([(made, metric)], n_resamples=500)
    ranked = ranking.rank(made, metric=metric, n_resamples=500).table
    for name in ("rank", "rank_low", "rank_high", "cluster", "system", "score", "p_next"):
        pd.testing.assert_series_equal(found[name], ranked[name])
    scores = made.of(metric).astype(float)
    for row in found.itertuples():
        own = scores[made.systems.index(row.system)]
        ratios = 100 * own[:, 0] / (own[:, 1] if own.shape[1] > 1 else 1.0)
        if np.ptp(own[:, -1]) == 0:  # segments of one size: the score is a mean
            error = ratios.std(ddof=1) / math.sqrt(len(own))
            assert row.score_high - row.score == pytest.approx(1.97 * error, rel=0.02)
        assert row.score_high - row.score == pytest.approx(row.score - row.score_low)


@pytest.mark.parametrize("family", ["bleu"])
def test_intervals_of_scores_have_their_coverage(family):
    """Test sets of 150 segments out of a population of 20,000: 93 to 97 % of 800 intervals contain its score."""
    population = simulate.statistics(family, n_systems=2, n_segments=20_000, seed=8)
    metric = registry.metric(family)
    counts = population.of(metric)
    truth = metric.score(counts.sum(axis=1))
    draw = np.random.default_rng(5)
    covered = []
    for _ in range(400):
        chosen = counts[:, draw.integers(0, counts.shape[1], 150)]
        scores, reach = metric.score(chosen.sum(axis=1)), reaches(chosen, metric)
        covered += (np.abs(scores - truth) <= reach).tolist()
    assert 0.93 <= np.mean(covered) <= 0.97


def test_a_test_set_of_one_segment_has_no_interval():
    made = simulate.statistics("accuracy", n_systems=3, n_segments=1)
    found = ranks([(made, registry.metric("accuracy"))], n_resamples=20)
    assert found["score_low"].isna().all()
    assert (found["rank_low"] == 1).all()


# ------------------------------------------------------------------------------------- a page about data of one's own


def own_page(scores, tmp_path):
    ranking = pairsig.rank(scores, n_resamples=2000)
    path = tmp_path / "own.html"
    path.write_text(own_data.page(ranking), encoding="utf-8")
    return ranking, page(path)


def test_the_page_of_own_data_begins_with_the_answer_and_lists_all_pairs(tmp_path):
    items = np.arange(200)
    scores = {HOSTILE[1]: items % 10 > 0, "same": items % 9 > 0, "bad": items % 3 > 0}
    ranking, found = own_page(scores, tmp_path)
    (answer,) = found.all("p", class_="standfirst")
    said = text_of(answer)
    assert "may each be the best of 3 systems" in said
    assert "2 of 3 differences are significant" in said
    assert f"{HOSTILE[1]} is better than bad; same is better than bad" in said or "same is better than bad; " in said
    (pairs,) = (table for table in found.all("table") if "ranks" not in table.attributes["class"])
    lines = [[text_of(cell) for cell in (*row.all("th"), *row.all("td"))] for row in list(pairs.all("tr"))[1:]]
    expected = ranking.pairs[["system_a", "system_b", "pvalue_adjusted"]].itertuples(index=False)
    assert [(one[0], one[1], one[-1]) for one in lines] == [
        (a, b, "yes" if p <= 0.05 else "no") for a, b, p in expected
    ]
    assert not [element for element in found.all("script") if "src" in element.attributes]  # one file


@pytest.mark.parametrize(
    ("share", "says"),
    [(0.2, "good is the best of 2 systems: it is significantly better than every other one."), (0.97, "may each be")],
)
def test_the_page_names_the_best_system_if_there_is_one(share, says, tmp_path):
    items = np.arange(100)
    _, found = own_page({"good": items % 50 > 0, "other": items % 100 < 100 * share}, tmp_path)
    assert says in text_of(next(found.all("p", class_="standfirst")))


def test_the_page_shows_the_note_of_the_sheet():
    data = pairsig.Statistics.from_arrays({"a": np.ones((9, 1)), "b": np.zeros((9, 1))}, ["value"])
    ranking = pairsig.rank(replace(data, provenance=(("note", "written by hand"),)), metric="mean", n_resamples=200)
    assert "Written by hand." in own_data.page(ranking)
