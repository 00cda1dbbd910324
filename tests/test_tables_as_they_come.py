"""Ordinary tables, as people have them: which systems, how many items and which sums are read at the first try.

The expected sums are counted by hand from the text of the tables. Where two readings would give different numbers, the
expected result is one sentence that shows the option to type.
"""

# ruff: noqa: ARG005, E501, PD010

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field

import pandas as pd
import pytest

import pairsig
from pairsig import InputError
from pairsig.comparisons import baseline

LONG = [("gpt", "q1", 1), ("gpt", "q2", 0), ("gpt", "q3", 1), ("gpt", "q4", 1)]
LONG += [("llama", "q1", 0), ("llama", "q2", 0), ("llama", "q3", 1), ("llama", "q4", 0)]
SUMS = {"gpt": 3, "llama": 1}
"""The sums of `LONG` and of most tables."""


def lines(*rows: str, end: str = "\n") -> str:
    return end.join(rows) + end


def long(header: str, separator: str = ",", shown=str, extra=lambda row: ()) -> str:
    rows = [header.replace(",", separator)]
    rows += [separator.join([*row[:2], shown(row[2]), *extra(row)]) for row in LONG]
    return lines(*rows)


WIDE = lines("item,gpt,llama", "q1,1,0", "q2,0,0", "q3,1,1", "q4,1,0")
FRAME = pd.DataFrame(LONG, columns=["model", "item", "score"])


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


@dataclass(frozen=True)
class Case:
    name: str
    files: dict[str, str | bytes] | str
    expected: dict[str, float] | str = field(default_factory=lambda: SUMS)
    n: int = 4
    options: dict[str, str] = field(default_factory=dict)
    missing: str | None = None


def per_system(header: str, gpt: str, llama: str, suffix: str = ".csv") -> dict[str, str]:
    return {f"{name}{suffix}": lines(header, *own.split()) for name, own in (("gpt", gpt), ("llama", llama))}


NAMED = [
    Case("wide", WIDE),
    Case("model, item, score", long("model,item,score")),
    Case("system, question_id, correct", long("system,question_id,correct")),
    Case("name, sample, acc", long("name,sample,acc")),
    Case("model, doc_id, accuracy", long("model,doc_id,accuracy")),
    Case("system, segment, value", long("system,segment,value")),
    Case("system, id, score", long("system,id,score")),
    Case("model, question, score", long("model,question,score")),
    Case(
        "several seeds",
        lines("model,seed,item,score", "gpt,1,x,1", "gpt,1,y,0", "gpt,2,x,1", "gpt,2,y,1", "llama,1,x,0", "llama,1,y,0")
        + lines("llama,2,x,1", "llama,2,y,0"),
        {"gpt-1": 1, "gpt-2": 2, "llama-1": 0, "llama-2": 1},
        2,
    ),
    Case(
        "epochs of one system per file",
        {"a.csv": lines("id,epoch,correct", "x,1,1", "y,1,0", "x,2,1", "y,2,1"), "b.csv": lines("id,epoch,correct")
         + lines("x,1,0", "y,1,0", "y,2,1", "x,2,0")},
        {"a-1": 1, "a-2": 2, "b-1": 0, "b-2": 1},
        2,
    ),
    Case("a text column beside the scores", long("model,item,score,answer", extra=lambda row: ['"a, b"'])),
    Case("a text column in a wide table", lines("id,question,gpt,llama", "1,Why?,1,0", "2,Who?,0,1", "3,How?,1,1"), {"gpt": 2, "llama": 2}, 3),
    Case("pandas' index, wide", lines(",item,gpt,llama", "0,q1,1,0", "1,q2,0,0", "2,q3,1,1", "3,q4,1,0")),
    Case("pandas' index called Unnamed: 0", lines("Unnamed: 0,model,item,score", *(f"{k},{a},{b},{c}" for k, (a, b, c) in enumerate(LONG)))),
    Case("pandas' index is the item", lines(",gpt,llama", "q1,1,0", "q2,0,0", "q3,1,1", "q4,1,0")),
    Case("true and false", long("model,item,correct", shown=lambda x: "true" if x else "false")),
    Case("pass and fail", long("model,item,result", shown=lambda x: "pass" if x else "fail")),
    Case("yes and no", long("model,item,correct", shown=lambda x: "yes" if x else "no")),
    Case("wide of pass and fail", WIDE.replace(",1", ",PASS").replace(",0", ",FAIL")),
    Case("percentages", lines("item,gpt,llama", "a,71.5%,60%", "b,28.5%,40 %"), {"gpt": 100, "llama": 100}, 2),
    Case("JSON Lines", {"t.jsonl": FRAME.to_json(orient="records", lines=True)}),
    Case("JSON Lines, wide", {"t.jsonl": lines('{"item": "x", "gpt": 1, "llama": 0}', '{"item": "y", "gpt": 1, "llama": 1}')}, {"gpt": 2, "llama": 1}, 2),
    Case("JSON records", {"t.json": FRAME.to_json(orient="records")}),
    Case("JSON records with lines", {"t.json": FRAME.to_json(orient="records", indent=2)}),
    Case("JSON lists per system", {"t.json": json.dumps({"gpt": [1, 0, 1, 1], "llama": [0, 0, 1, 0]})}),
    Case("JSON objects per item", {"t.json": json.dumps({f"q{k}": {"gpt": k % 2, "llama": 1} for k in range(6)})}, {"gpt": 3, "llama": 6}, 6),
    Case("semicolons and decimal commas", lines("item;gpt;llama", "a;0,5;0,25", "b;1;0,125"), {"gpt": 1.5, "llama": 0.375}, 2),
    Case("tabs", {"t.tsv": long("model,item,score", "\t")}),
    Case("tabs in .txt", {"t.txt": long("model,item,score", "\t")}),
    Case("tabs in .csv", long("model,item,score", "\t")),
    Case("byte order mark", "\ufeff" + WIDE),
    Case("CRLF", WIDE.replace("\n", "\r\n")),
    Case("UTF-16", {"t.csv": WIDE.encode("utf-16")}),
    Case("no header, two columns", lines("1,0", "0,0", "1,1", "1,0"), {"1": 3, "2": 1}),
    Case("no header, one column per file", {"gpt.csv": lines(*"1011"), "llama.csv": lines(*"0010")}),
    Case("no header, item and scores", lines("a,1,0", "b,0,0", "c,1,1", "d,1,0"), {"1": 3, "2": 1}),
    Case("Parquet, long", {"t.parquet": parquet(FRAME)}),
    Case("Parquet, wide", {"t.parquet": parquet(FRAME.pivot(index="item", columns="model", values="score").reset_index())}),
    Case("one per system, in another order", per_system("item,score", "q1,1 q2,0 q3,1 q4,1", "q3,1 q1,0 q4,0 q2,0")),
    Case("one per system without ids", per_system("score", "1 0 1 1", "0 0 1 0")),
    Case("one per system, metrics", per_system("item,bleu,chrf", "a,10,50.5 b,30,60", "a,20,50 b,15,70"), {"gpt/bleu": 40, "gpt/chrf": 110.5, "llama/bleu": 35, "llama/chrf": 120}, 2),
    Case("one column of an unknown name", per_system("id,faithfulness", "a,0.5 b,1", "a,0.25 b,1"), {"gpt": 1.5, "llama": 1.25}, 2),
    Case("counts", lines("system,item,correct,total", "a,x,3,4", "a,y,1,1", "b,x,2,4", "b,y,1,1"), {"a/accuracy": 80, "b/accuracy": 60}, 2),
]  # fmt: skip
"""Kinds that the documentation names."""

OTHERS = [
    Case("R: row names and quoted text", lines('"","model","item","score"', *(f'"{k}","{a}","{b}",{c}' for k, (a, b, c) in enumerate(LONG, 1)))),
    Case("R: TRUE and FALSE", long("model,item,correct", shown=lambda x: "TRUE" if x else "FALSE")),
    Case("1.0 and 0.0", WIDE.replace(",1", ",1.0").replace(",0", ",0.0")),
    Case("capitals and blanks in names", lines("Model, Item, Score", *(f"{a}, {b}, {c}" for a, b, c in LONG))),
    Case("pandas to_json: columns", {"t.json": FRAME.to_json()}),
    Case("pandas to_json: index", {"t.json": FRAME.to_json(orient="index")}),
    Case("pandas to_json: split", {"t.json": FRAME.to_json(orient="split")}),
    Case("pandas to_json: table", {"t.json": FRAME.to_json(orient="table")}),
    Case("JSON: lists of objects per system", {"t.json": json.dumps({name: [{"id": b, "score": c} for a, b, c in LONG if a == name] for name in SUMS})}),
    Case("JSON: objects per system", {"t.json": json.dumps({name: {b: c for a, b, c in LONG if a == name} for name in SUMS})}),
    Case("JSON: records below a name", {"t.json": json.dumps({"results": FRAME.to_dict("records")})}),
    Case("JSON: systems and items look alike", {"t.json": json.dumps({"x": {"a": 1, "b": 0}, "y": {"a": 0, "b": 1}})}, "--option system="),
    Case("samples of lm-eval as CSV", {f"{name}.csv": lines("doc_id,doc,target,resps,exact_match", *(f'{k},"{{\'question\': 1}}",{k + 5},"[[\'{k}\']]",{c:.1f}' for k, (a, b, c) in enumerate(x for x in LONG if x[0] == name))) for name in SUMS}, {"gpt": 3, "llama": 1}),
    Case("HELM-like: instance and metrics", lines("instance_id,model,exact_match,quasi_exact_match", "i1,a,1,1", "i2,a,0,1", "i1,b,0,0", "i2,b,0,1"), {"a/exact_match": 1, "a/quasi_exact_match": 2, "b/exact_match": 0, "b/quasi_exact_match": 1}, 2),
    Case("thousands separators", lines("item,gpt,llama", 'a,"1,234,567",900', 'b,10,"12,000"'), {"gpt": 1234577, "llama": 12900}, 2),
    Case("comment lines", lines("# made by a script", "# on Monday") + WIDE),
    Case("trailing empty lines", WIDE + "\n\n"),
    Case("empty lines at the top", "\n\n" + WIDE),
    Case("rows of commas at the end", WIDE + ",,\n,,\n"),
    Case("a trailing delimiter", WIDE.replace("\n", ",\n")),
    Case("a trailing delimiter in the rows only", lines("item,gpt,llama", "q1,1,0,", "q2,0,0,", "q3,1,1,", "q4,1,0,")),
    Case("Excel's sep=", "sep=;\n" + WIDE.replace(",", ";")),
    Case("a Markdown table", {"t.md": lines("| item | gpt | llama |", "|---|---:|---:|", "| q1 | 1 | 0 |", "| q2 | 0 | 0 |", "| q3 | 1 | 1 |", "| q4 | 1 | 0 |")}),
    Case("a row of means at the end", lines("item,gpt,llama", "q1,1,0", "q2,0,0", "q3,1,1", "q4,1,0", "mean,0.75,0.25")),
    Case("a numeric id", WIDE.replace("item", "id").replace("q", "100")),
    Case("a numeric id of an unknown name", WIDE.replace("item", "number").replace("q", "")),
    Case("a length beside the scores", lines("item,length,gpt,llama", "q1,7,1,0", "q2,9,0,0", "q3,12,1,1", "q4,3,1,0")),
    Case("a difficulty beside the scores", lines("item,difficulty,gpt,llama", "q1,0.5,1,0", "q2,1,0,0", "q3,0,1,1", "q4,1,1,0")),
    Case("another number beside the scores", lines("item,turns,gpt,llama", "q1,7,1,0", "q2,9,0,0", "q3,12,1,1", "q4,3,1,0"), "turns.*--option system=gpt,llama"),
    Case("another number, with the option", lines("item,turns,gpt,llama", "q1,7,1,0", "q2,9,0,0", "q3,12,1,1", "q4,3,1,0"), options={"system": "gpt,llama"}),
    Case("a constant beside the scores", lines("item,batch,gpt,llama", "q1,32,1,0", "q2,32,0,0", "q3,32,1,1", "q4,32,1,0"), "batch.*--option system=gpt,llama"),
    Case("predictions and the right answer", lines("id,gold,gpt,llama", "1,0,0,1", "2,1,1,0", "3,1,1,0"), "gold.*--option system=gpt,llama"),
    Case("two unknown scores of a system", long("model,item,fluency,adequacy", extra=lambda row: "2"), "fluency, adequacy.*--option score=fluency"),
    Case("two unknown scores, with the option", long("model,item,fluency,adequacy", extra=lambda row: "2"), options={"score": "fluency"}),
    Case("two columns of items that disagree", lines("model,id,item,score", "a,1,x,1", "a,2,y,0", "b,1,y,0", "b,2,x,1"), "id, item.*--option item=id"),
    Case("an id of the row beside the item", lines("id,model,item,score", *(f"{k},{a},{b},{c}" for k, (a, b, c) in enumerate(LONG, 1)))),
    Case("NA in an item of one system", lines("item,gpt,llama", "q1,1,0", "q2,0,NA", "q3,1,1"), "llama has no score.*\\(q2\\).*--missing"),
    Case("NA counted as wrong", lines("item,gpt,llama", "q1,1,0", "q2,1,NA", "q3,1,1"), {"gpt": 3, "llama": 1}, 3, missing="wrong"),
    Case("NA left out", lines("item,gpt,llama", "q1,1,0", "q2,1,NA", "q3,1,1"), {"gpt": 2, "llama": 1}, 2, missing="drop"),
    Case("an item of one system only", long("model,item,score").replace("llama,q4,0\n", ""), "llama has no score.*\\(q4\\).*--missing"),
    Case("an item twice", long("model,item,score") + "gpt,q1,1\n", "line 10: found .*q1 of system gpt again"),
    Case("text among the scores", WIDE.replace("q4,1,0", "q4,1,timeout"), "line 5: found 'timeout' in column llama"),
    Case("one row per system and one column per item", lines("model,q1,q2,q3,q4", "gpt,1,0,1,1", "llama,0,0,1,0")),
    Case("scores of whole test sets", lines("model,bleu,chrf", "gpt,31.5,55", "llama,28,50"), "one row per system"),
    Case("scores with the names of systems", lines("question_id,gpt_score,llama_score", "1,0.5,1", "2,0.25,1"), {"gpt_score": 0.75, "llama_score": 2}, 2),
    Case("lower is better", {f"{name}.csv": lines("segment,wer", *rows) for name, rows in (("a", ("x,0.5", "y,0")), ("b", ("x,1", "y,0.25")))}, {"a": 0.5, "b": 1.25}, 2),
    Case("semicolons, decimal points", {"t.csv": lines("item;gpt;llama", "a;0.5;0.25", "b;1;0.125")}, {"gpt": 1.5, "llama": 0.375}, 2),
    Case("subject and number make an item", lines("model,subject,id,acc", "a,biology,1,1", "a,art,1,0", "b,biology,1,1", "b,art,1,1"), "again.*--option item="),
    Case("subject and number, with the option", lines("model,subject,id,acc", "a,biology,1,1", "a,art,1,0", "b,biology,1,1", "b,art,1,1"), {"a": 1, "b": 2}, 2, {"item": "subject,id"}),
    Case("one seed only", long("model,item,score,seed", extra=lambda row: "7")),
]  # fmt: skip
"""Kinds that it does not name."""


def check(case: Case, folder) -> None:
    files = {"t.csv": case.files} if isinstance(case.files, str) else case.files
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    paths = [str(folder / name) for name in files]
    if isinstance(case.expected, str):
        with pytest.raises(InputError, match=case.expected) as caught:
            baseline.read_systems(paths, None, options=case.options, missing=case.missing)
        assert "\n" not in str(caught.value)
        return
    found, _ = baseline.read_systems(paths, None, options=case.options, missing=case.missing)
    sums = {}
    for statistics, metrics in found:
        assert len(statistics.segments) == case.n
        for metric in metrics:
            totals = statistics.of(metric).sum(axis=1)
            for system, own in zip(statistics.systems, totals, strict=True):
                sums[f"{system}/{metric.name}"] = own[0] if metric.averaged else metric.score(own)
    if not any("/" in name for name in case.expected):
        assert len({name.split("/")[1] for name in sums}) == 1, sums
        sums = {name.split("/")[0]: own for name, own in sums.items()}
    assert sums == pytest.approx(case.expected)


@pytest.mark.parametrize("case", [*NAMED, *OTHERS], ids=lambda case: case.name)
def test_a_table_is_read_as_it_comes(case, tmp_path):
    check(case, tmp_path)


FRAMES = {
    "long": FRAME,
    "wide": FRAME.pivot(index="item", columns="model", values="score").reset_index(),
    "items in the index": FRAME.pivot(index="item", columns="model", values="score"),
    "an index of rows": FRAME.set_index(["model", "item"]),
    "columns of several levels": FRAME.pivot(index="item", columns="model"),
    "no names": pd.DataFrame({0: [1, 0, 1, 1], 1: [0, 0, 1, 0]}).rename(columns=lambda k: "ab"[k]),
    "truths": FRAME.assign(score=FRAME["score"].astype(bool)),
    "text beside": FRAME.assign(answer="x"),
}


@pytest.mark.parametrize("form", FRAMES)
def test_a_frame_is_read_as_it_comes(form):
    found = pairsig.compare(FRAMES[form])
    assert sorted(found.statistics.of(found.metric).sum(axis=1)[:, 0].tolist()) == [1, 3]
    assert len(found.statistics.segments) == 4
