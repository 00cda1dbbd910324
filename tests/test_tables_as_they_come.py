"""Ordinary tables, as people have them: which systems, how many items and which sums are read at the first try.

The expected sums are counted by hand from the text of the tables. Where two readings would give different numbers, the
expected result is one sentence that shows the option to type.
"""

# ruff: noqa: ARG005, E501, PD010

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field

import openpyxl
import pandas as pd
import pytest

import pairsig
from pairsig import InputError, cli
from pairsig.comparisons import inputs

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


def feather(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_feather(file)
    return file.getvalue()


@dataclass(frozen=True)
class Case:
    name: str
    files: dict[str, str | bytes] | str
    expected: dict[str, float] | str = field(default_factory=lambda: SUMS)
    n: int = 4
    options: dict[str, str] = field(default_factory=dict)
    missing: str | None = None
    note: str = ""


def per_system(header: str, gpt: str, llama: str, suffix: str = ".csv") -> dict[str, str]:
    return {f"{name}{suffix}": lines(header, *own.split()) for name, own in (("gpt", gpt), ("llama", llama))}


NAMED = [
    Case("wide", WIDE),
    *(Case(header, long(header)) for header in (
        "model,item,score", "system,question_id,correct", "name,sample,acc", "model,doc_id,accuracy", "system,segment,value",
        "system,id,score", "model,question,score",
    )),
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
    Case("counts, with capitals", lines("System,Item,Correct,Total", "a,x,3,4", "a,y,1,1", "b,x,2,4", "b,y,1,1"), {"a/accuracy": 80, "b/accuracy": 60}, 2),
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
    Case("another number beside the scores", lines("item,turns,gpt,llama", "q1,7,1,0", "q2,9,0,0", "q3,12,1,1", "q4,3,1,0"), note="not used: turns"),
    Case("another number, with the option", lines("item,turns,gpt,llama", "q1,7,1,0", "q2,9,0,0", "q3,12,1,1", "q4,3,1,0"), options={"system": "gpt,llama"}),
    Case("a constant beside the scores", lines("item,batch,gpt,llama", "q1,32,1,0", "q2,32,0,0", "q3,32,1,1", "q4,32,1,0"), note="not used: batch"),
    Case("predictions and the right answer", lines("id,gold,gpt,llama", "1,0,0,1", "2,1,1,0", "3,1,1,0"), "gold.*--option system=gpt,llama"),
    Case("two unknown scores of a system", long("model,item,zest,spark", extra=lambda row: "2"), "zest, spark.*--option score=zest"),
    Case("two unknown scores, with the option", long("model,item,zest,spark", extra=lambda row: "2"), options={"score": "zest"}),
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
    Case("scores with the names of systems", lines("question_id,gpt_score,llama_score", "1,0.5,1", "2,0.25,1"), {"gpt": 0.75, "llama": 2}, 2),
    Case("lower is better", {f"{name}.csv": lines("segment,wer", *rows) for name, rows in (("a", ("x,0.5", "y,0")), ("b", ("x,1", "y,0.25")))}, {"a": 0.5, "b": 1.25}, 2),
    Case("semicolons, decimal points", {"t.csv": lines("item;gpt;llama", "a;0.5;0.25", "b;1;0.125")}, {"gpt": 1.5, "llama": 0.375}, 2),
    Case("subject and number make an item", lines("model,subject,id,acc", "a,art,1,1", "a,math,1,0", "a,math,2,1", "b,art,1,1", "b,math,1,1", "b,math,2,1"), {"a": 2, "b": 3}, 3, note="items from columns `subject` and `id`"),
    Case("subject and number, with the option", lines("model,subject,id,acc", "a,art,1,1", "a,math,1,0", "a,math,2,1", "b,art,1,1", "b,math,1,1", "b,math,2,1"), {"a": 2, "b": 3}, 3, {"item": "subject,id"}),
    Case("one seed only", long("model,item,score,seed", extra=lambda row: "7")),
]  # fmt: skip
"""Kinds that it does not name."""


SEEDS = {"gcn-1": 2, "gcn-2": 1, "gat-1": 1, "gat-2": 0}
OF_SEEDS = {f"{name[:-1]}seed{name[-1]}": own for name, own in SEEDS.items()}
RATES = {"gpt/bleu": 40, "gpt/chrf": 90, "llama/bleu": 35, "llama/chrf": 100}
TREC = lines("run qid ndcg@10", "bm25 q1 0.5", "bm25 q2 0.25", "dpr q1 1", "dpr q2 0.5")
OF_TREC = {"bm25": 0.75, "dpr": 1.5}
JUDGED = lines(
    "question_id,model_a,model_b,winner",
    "1,gpt,llama,model_a",
    "2,llama,gpt,model_b",
    "3,gpt,llama,tie",
    "4,gpt,llama,model_b",
)
OF_JUDGED = {"gpt": 2.5, "llama": 1.5}


def seeds(*names: str) -> str:
    return lines(f"item,{','.join(names)}", "x,1,0,1,0", "y,1,1,0,0")


def of_names(header: str, separator: str, end: str = "", item: str = "") -> str:
    rows = [f"{name},{item}{k},{k % f}.5{end}" for f, name in ((2, "alt"), (3, "neu")) for k in range(11, 23)]
    return lines(
        header, *(row.replace(",", separator).replace(".5", ",5" if separator == ";" else ".5") for row in rows)
    )


OF_NAMES = {"alt": 12, "neu": 18}


RIGHT = lines(
    "gold,gpt_pred,gpt_correct,llama_pred,llama_correct", "pos,pos,1,neg,0", "neg,neg,1,neg,1", "neg,pos,0,neg,0", "pos,pos,1,neg,0"
)  # fmt: skip
"""The third answer of llama equals the right one, but its column counts it as wrong: the two ways to count differ."""


def of_raters(header: str) -> str:
    scores = {"gpt": {"1": (5, 4), "2": (4, 3)}, "llama": {"1": (3, 2), "2": (2, 2)}}
    return lines(
        header,
        *(
            f"{item},{rater},{system},{own[place]}"
            for place, item in enumerate("xy")
            for system, raters in scores.items()
            for rater, own in raters.items()
        ),
    )


UNSEEN = [
    Case("TREC: a run is a system", {"t.tsv": TREC.replace(" ", "\t")}, OF_TREC, 2, note="systems from column `run`"),
    Case("TREC in columns of blanks", {"t.txt": TREC}, OF_TREC, 2),
    Case("algorithms with seeds in environments", {"t.parquet": parquet(pd.DataFrame({"algo": ["dqn"] * 4 + ["ppo"] * 4, "seed": [1, 1, 2, 2] * 2, "env": ["pong", "chess"] * 4, "episode_return": [1, 2, 3, 4, 5, 6, 7, 8.5]}))}, {"dqn-1": 3, "dqn-2": 7, "ppo-1": 11, "ppo-2": 15.5}, 2, note="systems from column `algo`"),
    Case("a condition of items is no system", {f"{name}.csv": lines("id,condition,score", "1,easy,1", f"2,hard,{k}") for k, name in enumerate("ab")}, {"a": 1, "b": 2}, 2),
    Case("seeds in names", seeds("gcn_seed1", "gcn_seed2", "gat_seed1", "gat_seed2"), OF_SEEDS, 2, note="2 runs from the names of columns"),
    Case("seeds in short names", seeds("gcn_s1", "gcn_s2", "gat_s1", "gat_s2"), {name[:-1] + "s" + name[-1]: own for name, own in SEEDS.items()}, 2),
    Case("runs after a dot", seeds("gcn.run1", "gcn.run2", "gat.run1", "gat.run2"), {name[:-1] + "run" + name[-1]: own for name, own in SEEDS.items()}, 2),
    Case("seeds in parentheses", seeds("gcn (seed 1)", "gcn (seed 2)", "gat (seed 1)", "gat (seed 2)"), {name[:-1] + "seed " + name[-1]: own for name, own in SEEDS.items()}, 2),
    Case("seeds before names", seeds("seed1_gcn", "seed2_gcn", "seed1_gat", "seed2_gat"), OF_SEEDS, 2),
    Case("pandas' names of equal columns", seeds("gcn", "gcn.1", "gat", "gat.1"), SEEDS, 2),
    Case("equal names of columns", seeds("gcn", "gcn", "gat", "gat"), SEEDS, 2),
    Case("numbers of versions are no runs", seeds("gpt-3", "gpt-4", "llama-2", "llama-3"), {"gpt-3": 2, "gpt-4": 1, "llama-2": 1, "llama-3": 0}, 2),
    Case("a title and empty cells around the table", lines("Results of June,,,", ",,,", "item,gpt,llama,", "q1,1,0,", "q2,0,0,", "q3,1,1,", "q4,1,0,", ",,,"), note="left out line 1 above"),
    Case("a title with a comma", lines("Run 3, Monday") + WIDE, note="left out line 1"),
    Case("rows for mean and deviation", WIDE + lines("mean,0.75,0.25", "std,0.5,0.5"), note="mean, std left out"),
    Case("a mean for each system", lines("model,item,score", *(f"{a},{b},{c}" for a, b, c in LONG[:4]), "gpt,mean,0.75", *(f"{a},{b},{c}" for a, b, c in LONG[4:]), "llama,mean,0.25")),
    Case("a mean of other rows", WIDE + "mean,0.9,0.9\n", "line 6: found 'mean', which may be a summary"),
    Case("R: write.table", {"t.txt": lines('"item" "gpt" "llama"', '"1" "q 1" 1 0', '"2" "q 2" 0 0', '"3" "q 3" 1 1', '"4" "q 4" 1 0')}),
    Case("pandas to_string", {"t.txt": pd.DataFrame({"item": ["q1", "q2", "q3", "q4"], "gpt": [1, 0, 1, 1], "llama": [0, 0, 1, 0]}).to_string() + "\n"}),
    Case("column -t", {"t.txt": lines("item  gpt  llama", "q1    1    0", "q2    0    0", "q3    1    1", "q4    1    0")}),
    Case("psql", {"t.txt": lines(" item | gpt | llama ", "------+-----+-------", " q1   |   1 |     0", " q2   |   0 |     0", " q3   |   1 |     1", " q4   |   1 |     0", "(4 rows)")}),
    Case("a grid", {"t.txt": lines("+------+-----+-------+", "| item | gpt | llama |", "+======+=====+=======+", "| q1   | 1   | 0     |", "| q2   | 0   | 0     |", "| q3   | 1   | 1     |", "| q4   | 1   | 0     |", "+------+-----+-------+")}),
    Case("names in a comment", {"t.txt": lines("# made today", "# item\tgpt\tllama", "q1\t1\t0", "q2\t0\t0", "q3\t1\t1", "q4\t1\t0")}),
    Case("lines of names between the rows", WIDE.replace("q3", "item,gpt,llama\nq3"), note="repeat the names"),
    Case("names of systems above those of metrics", lines(",gpt,,llama,", "item,bleu,chrf,bleu,chrf", "a,10,40,20,45", "b,30,50,15,55"), RATES, 2),
    Case("pandas: two levels of names", lines("model,gpt,gpt,llama,llama", "metric,bleu,chrf,bleu,chrf", "item,,,,", "a,10,40,20,45", "b,30,50,15,55"), RATES, 2),
    Case("pandas: seeds below systems", lines("model,gcn,gcn,gat,gat", "seed,1,2,1,2", "item,,,,", "x,1,0,1,0", "y,1,1,0,0"), SEEDS, 2),
    Case("systems and metrics in names", lines("item,gpt_bleu,gpt_chrf,llama_bleu,llama_chrf", "a,10,40,20,45", "b,30,50,15,55"), RATES, 2),
    Case("metrics and systems in names", lines("item,BLEU gpt,chrF gpt,BLEU llama,chrF llama", "a,10,40,20,45", "b,30,50,15,55"), {"gpt/BLEU": 40, "gpt/chrF": 90, "llama/BLEU": 35, "llama/chrF": 100}, 2),
    Case("JSON: scores in objects per system", {"t.json": json.dumps({"date": "today", "results": [{"id": f"q{k}", "scores": {"gpt": {"rating": 5 * k % 7}, "llama": {"rating": 3 * k % 5}}} for k in range(1, 5)]})}, {"gpt": 15, "llama": 10}),
    Case("JSON: systems in a list, with lists of items", {"t.json": json.dumps([{"model": name, "results": [{"id": b, "score": c} for a, b, c in LONG if a == name]} for name in SUMS])}),
    Case("JSON: systems in a list, with lists of scores", {"t.json": json.dumps([{"model": name, "scores": [c for a, _, c in LONG if a == name]} for name in SUMS])}),
    Case("JSON: one file per system with its name", {f"{name}.json": json.dumps({"model": name, "config": {"k": 5}, "samples": [{"id": b, "metrics": {"acc": c}} for a, b, c in LONG if a == name]}) for name in SUMS}),
    Case("JSON: items, then systems, then scores", {"t.json": json.dumps({f"q{k}": {"gpt": {"score": k, "text": "x"}, "llama": {"score": 1, "text": "y"}} for k in range(1, 5)})}, {"gpt": 10, "llama": 4}),
    Case("JSON: systems, then seeds, then items", {"t.json": json.dumps({"gcn": {"seed1": {"x": 1, "y": 1}, "seed2": {"x": 0, "y": 1}}, "gat": {"seed1": {"x": 1, "y": 0}, "seed2": {"x": 0, "y": 0}}})}, OF_SEEDS, 2),
    Case("JSON: lists of metrics per system", {"t.json": json.dumps({"gpt": {"bleu": [10, 30], "chrf": [40, 50]}, "llama": {"bleu": [20, 15], "chrf": [45, 55]}})}, RATES, 2),
    Case("JSON: items below a name", {"t.json": json.dumps({"items": [{"id": k, "gpt": k % 2, "llama": 1} for k in range(6)]})}, {"gpt": 3, "llama": 6}, 6),
    Case("JSON: rows as lists below names", {"t.json": json.dumps([["item", "gpt", "llama"], ["q1", 1, 0], ["q2", 0, 0], ["q3", 1, 1], ["q4", 1, 0]])}),
    Case("JSON Lines with nested scores", {"t.jsonl": lines('{"id": 1, "scores": {"gpt": 1, "llama": 0}}', '{"id": 2, "scores": {"gpt": 1, "llama": 1}}')}, {"gpt": 2, "llama": 1}, 2),
    Case("JSON Lines with messages", {f"{name}.jsonl": lines(*(json.dumps({"id": k, "messages": [{"role": "user", "content": "x", "index": 0}], "faithful": k * f}) for k in range(1, 4))) for f, name in ((1, "a"), (2, "b"))}, {"a": 6, "b": 12}, 3),
    Case("pytest's report", {f"{name}.json": json.dumps({"created": 1.5, "tests": [{"nodeid": "test_a", "outcome": "passed"}, {"nodeid": "test_b", "outcome": own}]}) for name, own in (("a", "failed"), ("b", "passed"))}, {"a": 1, "b": 2}, 2),
    Case("judgements of pairs", JUDGED, OF_JUDGED, note="0.5 for a tie"),
    Case("judgements that name the system", JUDGED.replace("1,gpt,llama,model_a", "1,gpt,llama,gpt").replace("2,llama,gpt,model_b", "2,llama,gpt,gpt").replace(",model_b", ",llama").replace("winner,", "").replace("id,model_a,llama", "id,model_a,model_b"), OF_JUDGED),
    Case("judgements without names", lines("id,preference", "1,A", "2,A", "3,tie", "4,B"), {"A": 2.5, "B": 1.5}),
    Case("judgements of three systems", JUDGED + "5,gpt,qwen,model_a\n", "between 3 systems.*--option system=gpt,llama"),
    Case("judgements of two of three systems", JUDGED + "5,gpt,qwen,model_a\n", OF_JUDGED, options={"system": "gpt,llama"}),
    Case("two of three systems", long("model,item,score") + "qwen,q1,1\n", options={"system": "gpt,llama"}),
    Case("labels and predictions", lines("id,label,gpt,llama", "1,pos,pos,neg", "2,neg,neg,neg", "3,pos,neg,neg", "4,pos,pos,neg"), {"gpt": 3, "llama": 1}, note="right where it equals `label`"),
    Case("labels and predictions, one file per system", {f"{name}.csv": lines("id,label,prediction", f"1,pos,{own}", f"2,neg,{own}", "3,neg,neg", "4,pos,neg") for name, own in (("a", "neg"), ("b", "pos"))}, {"a": 2, "b": 2}),
    Case("predictions as numbers, with the option", lines("id,gold,gpt,llama", "1,0,0,1", "2,1,1,0", "3,1,1,0"), {"gpt": 3, "llama": 0}, 3, {"gold": "gold"}),
    Case("predictions without labels", per_system("PassengerId,prediction", "1,0 2,1", "1,1 2,1"), "may be predictions"),
    Case("metrics of unknown names", per_system("id,zest,spark", "a,0.5,1 b,1,0.5", "a,0.25,1 b,1,0"), {"gpt/zest": 1.5, "gpt/spark": 1.5, "llama/zest": 1.25, "llama/spark": 1}, 2),
    Case("units and directions in names", per_system("Sentence ID,TER ↓", "a,0.5 b,1", "a,0.25 b,1"), {"gpt": 1.5, "llama": 1.25}, 2, note="lower is better for TER ↓"),
    Case("a unit in parentheses", per_system("id,Accuracy (%)", "a,50 b,100", "a,25 b,100"), {"gpt": 150, "llama": 125}, 2),
    Case("an id of an unknown name", lines("docket,gpt,llama", "1003,1,0", "1041,0,0", "977,1,1", "1205,1,0"), note="docket"),
    Case("ticks", lines("item,gpt,llama", "q1,✓,✗", "q2,✗,✗", "q3,✓,✓", "q4,✓,✗")),
    Case("dashes are missing", lines("item,gpt,llama", "q1,1,0", "q2,0,-", "q3,1,1"), "llama has no score.*--missing"),
    Case("an empty cell", lines("item,gpt,llama", "q1,1,0", "q2,0,", "q3,1,1"), "llama has no score.*--missing"),
    Case("thin spaces between thousands, and a minus", lines("item;gpt;llama", "a;1\u202f234,5;\u22120,5", "b;1\u00a0000;2"), {"gpt": 2234.5, "llama": 1.5}, 2),
    Case("carriage returns only", WIDE.replace("\n", "\r")),
    Case("one row per system and one column per task", lines("model,mmlu,arc,gsm8k,winogrande,hellaswag,average", "gpt,50,60,70,80,90,70", "llama,40,60,60,70,70,60"), {"gpt": 350, "llama": 300}, 5, note="the columns are items"),
    Case("steps of a training", lines("Step,gpt - acc,llama - acc", "0,0.5,0.25", "10,0.6,0.35", "20,0.7,0.5"), "Step.*--option item=Step"),
    Case("confidences beside the scores", lines("item,gpt,gpt_conf,llama,llama_conf", "q1,1,0.9,0,0.5", "q2,0,0.8,0,0.5", "q3,1,0.7,1,0.5", "q4,1,0.6,0,0.5"), note="not used: gpt_conf, llama_conf"),
    Case("dates beside the scores", long("model,item,score,created", extra=lambda row: ["2024-05-01 10:00"])),
    Case("ratings", lines("item,gpt,llama", "q1,5,4", "q2,3,3", "q3,4,1", "q4,5,2"), {"gpt": 17, "llama": 10}),
    Case("differences beside the scores", lines("item,gpt,llama,delta", "q1,0.5,0.25,0.25", "q2,1,0.5,0.5"), {"gpt": 1.5, "llama": 0.75}, 2, note="not used: delta"),
    Case("judgements as numbers", lines("id,system1,system2,preference", "1,gpt,llama,1", "2,llama,gpt,2", "3,gpt,llama,0", "4,gpt,llama,2"), OF_JUDGED),
    Case("one column per run, one file per system", {f"{name}.csv": lines("item,seed1,seed2", f"x,1,{k}", f"y,0,{k}") for k, name in enumerate("ab")}, {"a-seed1": 1, "a-seed2": 0, "b-seed1": 1, "b-seed2": 2}, 2),
    Case("runs are systems if there is only one file", lines("qid,run1,run2", "a,0.5,0.25", "b,0.25,0.5"), {"run1": 0.75, "run2": 0.75}, 2),
    Case("labels and predictions as numbers", per_system("id,y_true,y_pred", "1,0,0 2,1,0", "1,0,1 2,1,1"), "y_pred.*--option gold=y_true"),
    Case("JSON: an object of scores per system", {f"{name}.json": json.dumps({f"d{j}": j * k for j in range(12)}) for k, name in enumerate("ab")}, {"a": 0, "b": 66}, 12),
    Case("JSON: a list of scores per system", {f"{name}.json": json.dumps([k, 0.5, 1]) for k, name in enumerate("ab")}, {"a": 1.5, "b": 2.5}, 3),
    Case("names, numbers and scores without a header", {"t.tsv": lines(*(f"{a}\t{b[1:]}\t{c / 2}" for a, b, c in LONG))}, {"gpt": 1.5, "llama": 0.5}),
    Case("a row for each metric", lines("system,item,metric,value", "gpt,a,bleu,10", "gpt,a,chrf,40", "gpt,b,bleu,30", "gpt,b,chrf,50", "llama,a,bleu,20", "llama,a,chrf,45", "llama,b,chrf,55", "llama,b,bleu,15"), RATES, 2, note="metrics from column `metric`"),
    Case("a survey with two questions", lines("Participant,System A - fluency,System A - adequacy,System B - fluency,System B - adequacy", "p1,5,4,4,2", "p2,4,2,2,3"), {"System A/fluency": 9, "System A/adequacy": 6, "System B/fluency": 6, "System B/adequacy": 5}, 2),
    Case("a page", {"t.html": "<table><tr><td>1</td></tr></table>"}, "HTML.*CSV"),
    Case("seeds in the names of systems", lines("model,id,score", *(f"{name.replace('-', '_seed')},{own}" for name, both in (("gcn-1", (1, 1)), ("gcn-2", (0, 1)), ("gat-1", (1, 0)), ("gat-2", (0, 0))) for own in (f"x,{both[0]}", f"y,{both[1]}"))), OF_SEEDS, 2, note="2 runs from the names of systems"),
    Case("JSON: scores of items in an object of each system", {"t.json": json.dumps({"dataset": "x", "results": {name: {"scores": {f"q{k}": k * f % 3 for k in range(12)}} for f, name in ((1, "gpt"), (2, "llama"))}})}, {"gpt": 12, "llama": 12}, 12),
    Case("right choices as numbers", lines("id,correct_choice,gpt,llama", "1,2,0,2", "2,1,1,3", "3,3,3,0"), "correct_choice.*--option gold=correct_choice"),
    Case("a workbook", {"t.xlsx": b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml"}, "Excel.*CSV"),
    Case("a database", {"t.db": b"SQLite format 3\0"}, "SQLite.*CSV"),
    Case("Windows-1252", {"t.csv": lines("Stück;gpt;llama", "größte;0,5;0,25", "kleine;1;0,125").encode("cp1252")}, {"gpt": 1.5, "llama": 0.375}, 2, note="read as Windows-1252"),
    Case("Windows-1252 in .txt", {"t.txt": lines("Stück;gpt;llama", "größte;0,5;0,25", "kleine;1;0,125").encode("cp1252")}, {"gpt": 1.5, "llama": 0.375}, 2, note="read as Windows-1252"),
    Case("damaged UTF-8", {"t.csv": WIDE.replace("q1", "größte").encode() + b"\xe9,1,1\n"}, "line 6: found bytes e9, expected UTF-8"),
    Case("names in another language", of_names("Verfahren;Artikel;Punkte", ";"), OF_NAMES, 12, note="systems from column `Verfahren`; scores from column `Punkte`; items from column `Artikel`"),
    Case("documents are the items", of_names("Model,Document,Coverage", ",", "%"), OF_NAMES, 12, note="items from column `Document`"),
    Case("text ids of an unknown name", of_names("Verfahren,Beleg,Punkte", ",", item="a"), OF_NAMES, 12, note="items from column `Beleg`"),
    Case("two columns that may be systems", of_names("Verfahren,Familie,Artikel,Punkte", ",").replace("alt,", "alt,x,").replace("neu,", "neu,y,"), "--option system="),
    Case("two scores of unknown names", of_names("Verfahren,Artikel,Punkte,Note", ",", ",7.5"), "--option"),
    Case("raters are no systems", lines("rater,id,score", *(f"{name},{k},{k % 3 + place}" for place, name in enumerate("ab") for k in range(12))), {"t": 18}, 12, note="mean over column `rater`"),
    Case("raters of two systems", of_raters("Item,Rater ID,System,Rating"), {"gpt": 8, "llama": 4.5}, 2, note="mean over column `Rater ID`"),
    Case("raters as runs, with the option", of_raters("Item,Rater ID,System,Rating"), {"gpt-1": 9, "gpt-2": 7, "llama-1": 5, "llama-2": 4}, 2, {"run": "Rater ID"}),
    Case("raters of several runs", lines("item,seed,rater,score", *(f"{k},{seed},{name},{k * seed + place}" for k in range(5) for seed in (1, 2) for place, name in enumerate("ab"))), {"t-1": 12.5, "t-2": 22.5}, 5, note="mean over column `rater`"),
    Case("two columns of numbers with blanks", {"t.txt": lines("  0.5   2.5e-1", "  1.0   7.5e-1")}, {"1": 1.5, "2": 1}, 2),
    Case("two columns of 1 and 0 with blanks", {"t.txt": lines("1 0", "0 0", "1 1", "1 0")}, {"1": 3, "2": 1}),
    Case("trec_eval", {f"{name}.eval": lines(f"map\t301\t{own}", "map\t302\t0.25", f"map\tall\t{(own + 0.25) / 2}") for name, own in (("a", 0.5), ("b", 0.75))}, {"a/map": 0.75, "b/map": 1}, 2, note="left out line 3 with values for all topics"),
    Case("trec_eval with several measures", {f"{name}.txt": lines(*(f"{measure}  {topic}  {value}" for topic in (1, 2, "all") for measure, value in (("num_ret", 9), ("map", own), ("P_5", 0.5))), "runid all x") for name, own in (("a", 0.5), ("b", 0.75))}, {"a/map": 1, "b/map": 1.5, "a/P_5": 1, "b/P_5": 1}, 2),
    Case("one metric in a column", long("model,item,score,metric", extra=lambda row: ["WER"]), note="lower is better for WER"),
    Case("names of systems that end in size", lines("item,t5-size,bert-size", "a,1,0", "b,1,1"), {"t5-size": 2, "bert-size": 1}, 2),
    Case("a level beside the scores", lines("item,gpt,llama,word_level", "a,0.5,0.25,3", "b,1,0.5,4"), {"gpt": 1.5, "llama": 0.75}, 2, note="not used: word_level"),
    Case("a level like the scores", lines("item,gpt,llama,word_level", "a,5,4,3", "b,1,2,4"), "word_level, which may be a system.*--option system=gpt,llama"),
    Case("a differing score beside the scores", lines("item,gpt,llama,gpt_llama_diff", "a,5,4,1", "b,1,2,-1"), {"gpt": 6, "llama": 6}, 2, note="not used: gpt_llama_diff"),
    Case("a level that can only be a system", lines("item,Plain,Doc-level", "a,0.5,0.25", "b,1,0.75", "c,0.25,0.5"), {"Plain": 1.75, "Doc-level": 1.5}, 3),
    Case("a level with other numbers than the only system", lines("item,gpt,word_level", "a,50,3", "b,90,2", "c,70,1"), "word_level, which may be a system.*--option system=gpt,word_level"),
    Case("JSON Lines of instances", {f"{name}.jsonl": lines(*(json.dumps({"instance_id": b, "resolved": c == 1, "log": f"{a}/{b}.txt"}) for a, b, c in LONG if a == name)) for name in SUMS}, note="items from column `instance_id`"),
    Case("JSON Lines of instances in .json", {f"{name}.json": lines(*(json.dumps({"instance_id": b, "resolved": c == 1}) for a, b, c in LONG if a == name)) for name in SUMS}),
    Case("numpy.savetxt with names", {"t.txt": lines("# plain better", "5.0e-01 2.5e-01", "1.0e+00 7.5e-01")}, {"plain": 1.5, "better": 1}, 2, note="names of columns from the comment in line 1"),
    Case("a comment that is no line of names", {"t.csv": lines("# 2 systems", "0.5 0.25", "1.0 0.75")}, {"1": 1.5, "2": 1}, 2),
    Case("predictions and whether they are right", RIGHT, note="not used: gpt_pred, llama_pred"),
    Case("predictions, of which only some are known to be right", lines("gold,gpt_pred,gpt_correct,llama_pred", "pos,pos,1,neg", "neg,neg,1,neg", "neg,pos,0,neg", "pos,pos,1,neg"), {"gpt_pred": 3, "gpt_correct": 3, "llama_pred": 2}),
    Case("predictions that the user names", RIGHT, {"gpt_pred": 3, "llama_pred": 2}, options={"system": "gpt_pred,llama_pred"}),
    Case("predictions and right answers that the user names", RIGHT, {"gpt_pred": 3, "llama_pred": 2}, options={"gold": "gold"}, note="not used: gpt_correct, llama_correct"),
    Case("one system's predictions and whether they are right", {f"{name}.csv": lines("id,gold,prediction,correct", "1,pos,neg,1", f"2,neg,pos,{k}", "3,neg,neg,0", "4,pos,pos,1") for k, name in enumerate("ab")}, {"a": 2, "b": 3}, note="not used: prediction"),
    Case("points per question, some of them whole", "model,Q1,Q2,Q3,Q4,Q5,Q6,Q7,Total\ngpt,1.5,2,3.5,4.5,1,0.5,2.5,15.5\nllama,0.5,1,3,2.5,0,1.5,1.5,10\n", {"gpt": 15.5, "llama": 10}, 7, note="columns are items"),
    Case("an error rate before the names of systems", "Segment,HTER old,HTER new\na,0.5,0.25\nb,0.25,0\n", {"old": 0.75, "new": 0.25}, 2, note="lower is better"),
    Case("arrays of numpy", {"t.npy": b"\x93NUMPY\x01"}, "NumPy.*CSV"),
]  # fmt: skip
"""Kinds with which the reader was changed, after earlier versions refused or misread most of them."""


def workbook(*sheets: tuple[str, list[list[object]]], merged: str = "") -> bytes:
    """A workbook with these sheets."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets or [("S", [])]:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if merged:
            sheet.merge_cells(merged)
    book.save(file)
    return file.getvalue()


SHEET = [["item", "gpt", "llama"], ["q1", 1, 0], ["q2", 0, 0], ["q3", 1, 1], ["q4", 1, 0]]
RATED = {"gpt": 12, "llama": 7}


def rated(shown) -> str:
    """Ratings from 1 to 5, as a function shows them."""
    return lines(
        "item,gpt,llama", *(f"q{k},{shown(a)},{shown(b)}" for k, (a, b) in enumerate(((4, 1), (5, 2), (1, 3), (2, 1))))
    )


GRADES = {1: "bad", 2: "poor", 3: "fair", 4: "good", 5: "great"}

OF_STRANGERS = [
    Case("numbers of segments that begin anew in each document", lines("system,doc,seg_id,comet", *(f"{a},d{k // 2},{k % 2},{k + f}" for f, a in enumerate(("x", "y")) for k in range(4))), {"x": 6, "y": 10}, note="items from columns `doc` and `seg_id`"),
    Case("documents and segments in a wide table", lines("document,sentence,gpt,llama", "1,1,1,0", "1,2,0,0", "2,1,1,1", "2,2,1,0"), note="items from columns `document` and `sentence`"),
    Case("ids that begin anew, of which systems have different ones", lines("system,doc,id,score", "x,a,1,1", "x,b,1,0", "y,c,1,1", "y,d,1,1"), "again.*--option item="),
    Case("samples of programs", {f"{name}.jsonl": lines(*(json.dumps({"task_id": f"t{k // 3}", "completion": f"{k % 3}", "passed": k % f == 0}) for k in range(6))) for f, name in ((2, "a"), (3, "b"))}, {"a-1": 1, "a-2": 1, "a-3": 1, "b-1": 2, "b-2": 0, "b-3": 0}, 2, note="3 rows of each item are runs"),
    Case("turns of a question", lines("model,question_id,turn,score", *(f"{a},{k},{turn},{k}" for a in "xy" for k in (7, 8) for turn in (1, 2))), "again.*--option item="),
    Case("two rows of each item without a label", lines("item,score", "a,1", "b,0", "a,0", "b,1"), "item a again"),
    Case("names of metrics with the split", lines("method,task,test/accuracy,Runtime,learning_rate", *(f"{a},t{k},{k * f},{9 - k},0.1" for f, a in enumerate("xy") for k in range(3))), {"x": 0, "y": 3}, 3, note="not used: Runtime, learning_rate"),
    Case("names of columns with their section", lines("params.model,data.id,metrics.accuracy", *(f"{a},{b},{c}" for a, b, c in LONG))),
    Case("ids of runs that differ in each row", lines("run_id,model,item,score", *(f"r{k},{a},{b},{c}" for k, (a, b, c) in enumerate(LONG)))),
    Case("ids of assignments of workers", lines("HITId,WorkerId,Input.system,Input.id,Answer.rating", *(f"H{a}{b}{w},W{w},{a},{b},{c + w}" for a, b, c in LONG for w in (0, 1))), {"gpt": 5, "llama": 3}, note="mean over column `WorkerId`"),
    Case("raters in columns", lines("item,system,rater_AB,rater_CD", *(f"{b},{a},{c},{c + 1}" for a, b, c in LONG)), {"gpt": 5, "llama": 3}, note="mean of columns rater_AB, rater_CD"),
    Case("raters in lists", {"t.jsonl": lines(*(json.dumps({"id": b, "system": a, "ratings": [c, c + 1]}) for a, b, c in LONG))}, {"gpt": 5, "llama": 3}, note="mean over column `rater`"),
    Case("runs in columns of a long table", lines("model,item,run1,run2", *(f"{a},{b},{c},{c + 1}" for a, b, c in LONG)), {"gpt-run1": 3, "gpt-run2": 7, "llama-run1": 1, "llama-run2": 5}),
    Case("numbered runs", seeds("gcn_0", "gcn_1", "gat_0", "gat_1"), {"gcn-0": 2, "gcn-1": 1, "gat-0": 1, "gat-1": 0}, 2, note="2 runs from the names of columns"),
    Case("numbers that only one system has", seeds("gpt_3", "gpt_4", "llama_2", "llama_3"), {"gpt_3": 2, "gpt_4": 1, "llama_2": 1, "llama_3": 0}, 2),
    Case("counts beside percentages", lines("item,entities,gpt,llama", "a,25,66.2%,74.5%", "b,27,80.4%,90.5%"), {"gpt": 146.6, "llama": 165}, 2, note="not used: entities"),
    Case("counts like the scores", lines("item,entities,gpt,llama", "a,75,66.2,74.5", "b,77,80.4,90.5"), "entities has whole numbers.*--option system="),
    Case("grades, of which one system has whole ones", lines("copy;gpt;llama", "a;14,5;12", "b;12;15", "c;13;13"), {"gpt": 39.5, "llama": 40}, 3),
    Case("numbers of categories like the scores", lines("item,category,gpt,llama", "a,1,5,2", "b,2,4,1", "c,3,1,3"), {"gpt": 10, "llama": 6}, 3),
    Case("a leaderboard with ranks, sizes and means", lines("Rank,Model,Model Size (Millions),t1,t2,t3,t4,t5,Average (5 tasks)", "1,gpt,335,50.5,60.5,70.5,80.5,90.5,70.5", "2,llama,109,40.5,60.5,60.5,70.5,70.5,60.5"), {"gpt": 352.5, "llama": 302.5}, 5, note="not used: Rank, Model Size (Millions), Average (5 tasks)"),
    Case("students and questions", lines("student," + ",".join(f"Q{k}" for k in range(1, 13)), "ann," + ",".join("1" * 12), "bob," + ",".join("01" * 6)), {"ann": 12, "bob": 6}, 12, note="the columns are items"),
    Case("a difference by its sign", lines("item,gpt,llama,Δ", "a,0.5,0.25,0.25", "b,1,0.5,0.5", "c,0.25,0.5,-0.25"), {"gpt": 1.75, "llama": 1.25}, 3),
    Case("a difference by the names of the systems", lines("item,gpt,llama,gpt-llama", "a,0.5,0.25,0.25", "b,1,0.5,0.5", "c,0.25,0.5,-0.25"), {"gpt": 1.75, "llama": 1.25}, 3),
    Case("a mean of the systems", lines("item,gpt,llama,mean", "a,0.5,0.25,0.375", "b,1,0.5,0.75", "c,0.25,0.5,0.375"), {"gpt": 1.75, "llama": 1.25}, 3),
    Case("a system that is called like a mean", lines("item,gpt,llama,mean", "a,0.5,0.25,0.5", "b,1,0.5,0.25", "c,0.25,0.5,0.5"), {"gpt": 1.75, "llama": 1.25, "mean": 1.25}, 3),
    Case("the better system beside the scores", lines("item,gpt,llama,winner", "a,0.5,0.25,gpt", "b,1,0.5,gpt", "c,0.25,0.5,llama"), {"gpt": 1.75, "llama": 1.25}, 3),
    Case("ablations are no costs", lines("item,full,no_length,no_cost", "a,0.5,0.25,0.5", "b,1,0.5,0.75"), {"full": 1.5, "no_length": 0.75, "no_cost": 1.25}, 2),
    Case("points of a scale", rated(lambda k: f"{k}/5"), RATED),
    Case("shares of tests", lines("task,gpt,llama", "a,1/2,1/4", "b,3/4,4/4"), {"gpt": 1.25, "llama": 1.25}, 2),
    Case("grades with labels", rated(lambda k: f"{k} - {GRADES[k]}"), RATED),
    Case("labels with grades", rated(lambda k: f"{GRADES[k]} ({k})"), RATED),
    Case("stars", rated(lambda k: "★" * k + "☆" * (5 - k)), RATED),
    Case("numbers with deviations", rated(lambda k: f"{k}.0 ± 0.2"), RATED),
    Case("bold numbers in Markdown", {"t.md": lines("| item | gpt | llama |", "|---|---|---|", "| a | **0.5** | 0.25 |", "| b | 1.0† | *0.5* |")}, {"gpt": 1.5, "llama": 0.75}, 2),
    Case("points between thousands", lines("item;gpt;llama", "a;1.234,5;0,5", "b;1.000,5;2"), {"gpt": 2235, "llama": 2.5}, 2),
    Case("richtig und falsch", WIDE.replace(",1", ",richtig").replace(",0", ",falsch")),
    Case("thumbs", WIDE.replace(",1", ",👍").replace(",0", ",👎")),
    Case("statuses of tests", lines("model,task,status", "gpt,a,pass", "gpt,b,timeout", "llama,a,fail", "llama,b,error"), {"gpt": 1, "llama": 0}, 2, note="error, fail, timeout as 0"),
    Case("merged cells of systems", lines("system,item,score", "gpt,a,1", ",b,0", ",c,1", "llama,a,0", ",b,1", ",c,1"), {"gpt": 2, "llama": 2}, 3, note="up to the next one"),
    Case("merged cells of items", lines("item,system,score", "a,gpt,1", ",llama,0", "b,gpt,1", ",llama,1"), {"gpt": 2, "llama": 1}, 2),
    Case("sums and means without a usual name", lines("item,gpt,llama", "q1,1,0", "q2,0,0", "q3,1,1", "q4,1,0", "Correct,3,1", "Accuracy,75%,25%"), note="Correct, Accuracy left out"),
    Case("a mean above the rows", lines("item,gpt,llama", "Mean,0.75,0.25", "q1,1,0", "q2,0,0", "q3,1,1", "q4,1,0"), note="Mean left out"),
    Case("a mean without a name", WIDE + ",0.75,0.25\n", note="line 6 left out"),
    Case("an item like the mean", lines("item,gpt,llama", "q1,1,0", "q2,0,1", "q3,1,0", "other,1,0"), {"gpt": 3, "llama": 1}),
    Case("systems side by side", lines("id,model_a,score_a,model_b,score_b", "1,gpt,5,llama,4", "2,llama,3,gpt,2"), {"gpt": 7, "llama": 7}, 2, note="each row has two systems"),
    Case("R: write.table with tabs", {"t.tsv": lines('"model"\t"item"\t"acc"', *(f'"{k}"\t"{a}"\t"{b}"\t{c}' for k, (a, b, c) in enumerate(LONG, 1)))}),
    Case("ir_measures", {f"{name}.txt": lines(f"301\tnDCG@10\t{own}", "302\tnDCG@10\t0.25", f"all\tnDCG@10\t{(own + 0.25) / 2}") for name, own in (("a", 0.5), ("b", 0.75))}, {"a": 0.75, "b": 1}, 2),
    Case("two data sets in a long table", lines("model,dataset,idx,acc", *(f"{a},{d},{b[1:]},{c}" for d in ("arc", "boolq") for a, b, c in LONG)), {"gpt": 6, "llama": 2}, 8, note="items from columns `idx` and `dataset`"),
    Case("LaTeX", {"t.tex": lines(r"\begin{tabular}{l|rr}", r"\toprule", r"Task & \textsc{gpt} & \textsc{llama} \\", r"\midrule", r"a & \textbf{0.5} & $0.25_{\pm 0.01}$ \\", r"b & 1.0 & 0.5 \\[2pt]", r"\midrule", r"Average & 0.75 & 0.38 \\", r"\bottomrule", r"\end{tabular}")}, {"gpt": 1.5, "llama": 0.75}, 2, note="Average left out"),
    Case("a workbook with a title", {"t.xlsx": workbook(("Tabelle1", [["Results of June"], [], *SHEET]))}, note="left out row 1 above"),
    Case("a workbook with names above names", {"t.xlsx": workbook(("S", [[None, "gpt", None, "llama", None], ["item", "bleu", "chrf", "bleu", "chrf"], ["a", 10, 40, 20, 45], ["b", 30, 50, 15, 55]]), merged="B1:C1")}, RATES, 2),
    Case("a workbook with merged cells", {"t.xlsx": workbook(("S", [["system", "item", "score"], ["gpt", "a", 1], [None, "b", 0.5], ["llama", "a", 0], ["llama", "b", 1]]), merged="A2:A3")}, {"gpt": 1.5, "llama": 1}, 2),
    Case("a workbook with one sheet per system", {"t.xlsx": workbook(*((name, [["item", "score"], *([b, c] for a, b, c in LONG if a == name)]) for name in SUMS))}),
    Case("a workbook with another sheet", {"t.xlsx": workbook(("scores", SHEET), ("legend", [["gpt", "a model"]]))}, note="read the sheet scores, not legend"),
    Case("an archive of another kind", {"t.xlsx": workbook()[:60]}, "Excel.*CSV"),
    Case("pandas: to_html", {"t.html": pd.DataFrame({"item": ["a", "b"], "gpt": [0.5, 1], "llama": [0.25, 0.5]}).to_html(index=False)}, {"gpt": 1.5, "llama": 0.75}, 2),
    Case("Feather", {"t.feather": feather(FRAME)}),
    Case("a damaged Feather file", {"t.feather": feather(FRAME)[:40]}, "expected a Feather file"),
    Case("units below the names", WIDE.replace("llama\n", "llama\n,[points],[points]\n"), note="left out line 2 that describe"),
    Case("questions below the names", lines("ResponseId,Q1,Q2", "Response ID,How good is A?,How good is B?", '"{""ImportId"":""_recordId""}","{""ImportId"":""Q1""}","{""ImportId"":""Q2""}"', *(f"R{k}x,{a},{c}" for k, (a, c) in enumerate(((5, 2), (3, 3), (4, 1), (5, 5))))), {"Q1": 17, "Q2": 11}),
    Case("quotes of another kind", WIDE.replace("item", "'item'").replace("gpt", "'gpt'").replace("llama", "'llama'")),
    Case("prompt types of one model", lines("model,prompt_type,item,score", *(f"gpt,{a},{b},{c}" for a, b, c in LONG)), {"gpt": 3, "llama": 1}, note="systems from column `prompt_type`"),
    Case("prompts of several models", lines("model,prompt,item,score", *(f"{a},{p},{b},{c}" for p in ("cot", "direct") for a, b, c in LONG)), "again.*--option item="),
    Case("JSON: systems below metrics below a name", {"t.json": json.dumps({"results": {"rouge1": {"gpt": [0.5, 1], "llama": [0.5, 0.25]}}})}, {"gpt": 1.5, "llama": 0.75}, 2),
    Case("JSON: objects of items of systems in a list", {"t.json": json.dumps({"models": [{"name": name, "results": {f"q{k}": {"correct": k % f == 0, "time": 2} for k in range(12)}} for f, name in ((2, "gpt"), (3, "llama"))]})}, {"gpt": 6, "llama": 4}, 12),
    Case("JSON: a metric beside the scores", {"t.json": json.dumps({"metric": "bleu", "date": "today", "scores": {"gpt": [1, 0, 1], "llama": [0, 0, 1]}})}, {"gpt": 2, "llama": 1}, 3),
    Case("JSON Lines below a line of settings", {f"{name}.jsonl": lines(json.dumps({"model": name, "k": 5}), *(json.dumps({"id": k, "score": k * f}) for k in range(3))) for f, name in ((1, "a"), (2, "b"))}, {"a": 3, "b": 6}, 3, note="left out line 1"),
    Case("what comet-score prints", {"t.txt": lines(*(f"{name}.de\tSegment {k}\tscore: 0.{own}" for name, both in (("gpt", (5, 25)), ("llama", (75, 5))) for k, own in enumerate(both)), "gpt.de\tscore: 0.375", "llama.de\tscore: 0.625")}, {"gpt.de": 0.75, "llama.de": 1.25}, 2),
]  # fmt: skip
"""Kinds that strangers had who did not know the reader."""

WER = "the scores are wer, as the name of the file says; lower is better"
STYLES = {"gpt cot": 3, "llama cot": 1, "gpt zero-shot": 4, "llama zero-shot": 4}
SECOND_TRIAL = [
    Case("the metric in the name of a file", {"test_wer_per_utt.csv": WIDE}, {"gpt/wer": 3, "llama/wer": 1}, note=WER),
    Case("the metric in the name of a file, long", {"36 WER.csv": long("model,item,score")}, {"gpt/wer": 3, "llama/wer": 1}, note=WER),
    Case("an unknown column in a file of error rates", {"wer.csv": long("model,item,x")}, {"gpt/x": 3, "llama/x": 1}, note=WER),
    Case("the metric in the names of all files", {"wer_a.txt": lines(*"101"), "wer_b.txt": lines(*"001")}, {"wer_a/wer": 2, "wer_b/wer": 1}, 3, note="the scores are wer, as the names of the files say; lower"),
    Case("the metric as a suffix", {"a.ter": lines(*"101"), "b.ter": lines(*"001")}, {"a/ter": 2, "b/ter": 1}, 3, note="lower is better"),
    Case("different metrics in the names of files", {"a_wer.csv": lines("id,score", "x,1", "y,0"), "b_bleu.csv": lines("id,score", "x,1", "y,1")}, {"a_wer/score": 1, "b_bleu/score": 2}, 2),
    Case("a metric before the systems", lines("utt_id,ref_words,errors_gpt_small,errors_llama", "x,29,4,1", "y,13,5,2"), {"gpt_small/errors": 9, "llama/errors": 3}, 2, note="lower is better for errors"),
    Case("a metric after the systems", lines("utt_id,gpt_err,llama_err", "x,4,1", "y,5,2"), {"gpt/err": 9, "llama/err": 3}, 2, note="lower is better for err"),
    Case("a grade beside errors of systems", lines("essay_id,prompt,grade,abs_err_gpt_4,abs_err_llama", "21,8,3,0.75,0.25", "22,2,2,1.0,0.5", "23,8,3,0.5,0"), {"gpt_4/abs_err": 2.25, "llama/abs_err": 0.75}, 3, note="lower is better for abs_err"),
    Case("numbers of segments beside systems and metrics", lines("doc,seg,gpt_bleu,gpt_chrf,llama_bleu,llama_chrf", "a,1,50.5,68,10,20", "a,2,1.5,2,3,4", "b,1,1,1.5,1,1", "b,2,2,2.5,3.5,2", "b,3,0,1,0,1"), {"gpt/bleu": 55, "gpt/chrf": 75, "llama/bleu": 17.5, "llama/chrf": 28}, 5, note="doc, seg identify an item"),
    Case("a verdict in words beside the score", {f"{name}.jsonl": lines(*(json.dumps({"task_id": f"T/{k}", "completion": f"x{k}{run}", "result": "passed" if run == k else ("timed out" if k else "failed: name"), "passed": run == k}) for k in range(2) for run in range(3))) for name in "ab"}, {f"{name}-{run}": 1 if run < 3 else 0 for name in "ab" for run in (1, 2, 3)}, 2, note="3 rows of each item are runs"),
    Case("names of systems with the seed beside systems and seeds", lines("Name,agent,seed,task_id,success", *(f"{a}-s{s},{a},{s},{b},{c}" for s in (1, 2) for a, b, c in LONG)), {"gpt-1": 3, "gpt-2": 3, "llama-1": 1, "llama-2": 1}, note="systems from column `agent`"),
    Case("systems and styles of prompts", lines("model,prompt_style,question_id,correct", *(f"{a},{p},{b},{c if p == 'cot' else 1}" for p in ("cot", "zero-shot") for a, b, c in LONG)), STYLES, note="a system is a combination of model and prompt_style"),
    Case("two columns of systems that the user names", lines("model,x,question_id,correct", *(f"{a},{p},{b},{c if p == 'cot' else 1}" for p in ("cot", "zero-shot") for a, b, c in LONG)), STYLES, options={"system": "model,x"}),
    Case("a column that may distinguish systems or items", lines("model,x,question_id,correct", *(f"{a},{p},{b},{c}" for p in ("u", "v") for a, b, c in LONG)), "--option system=model,x;.*--option item=x,question_id"),
    Case("results of Mechanical Turk", lines("HITId,Reward,WorkerId,WorkTimeInSeconds,Input.item,Input.system,Input.text,Answer.quality", *(f"H{b}{a},0.12,W{b}{w},{50 + w},{b},{a},Some text,{c + w}" for w in (1, 2, 3) for a, b, c in LONG)), {"gpt": 11, "llama": 9}, note="mean over column `WorkerId`"),
    Case("turns of dialogues, one file per model and seed", {f"{name}_seed{k}.csv": lines("dialogue_id,turn_id,n_slots,joint_acc", "M1.json,0,5,1", f"M1.json,2,3,{k % 2}", f"M2.json,0,1,{f}") for f, name in enumerate(("bert", "t5")) for k in (13, 20)}, {"bert-seed13": 2, "bert-seed20": 1, "t5-seed13": 3, "t5-seed20": 2}, 3, note="dialogue_id, turn_id identify an item"),
    Case("predictions named after their systems", lines("text,label,pred_gpt,pred_llama", *(f"t{k},{'pos' if k % 2 else 'neg'},{'pos' if k % 2 else 'neg'},pos" for k in range(6))), {"gpt": 6, "llama": 3}, 6, note="right where it equals `label`"),
    Case("a metric in the table and another in the name of the file", {"wer.csv": long("model,item,bleu")}, {"gpt/bleu": 3, "llama/bleu": 1}),
]  # fmt: skip
"""Kinds that were misread in a second trial by strangers."""


SECONDS = lines(
    "utt,duration_s,n_ref_words,gpt_wer,llama_wer", "a,4.25,9,0.5,0.25", "b,2.5,12,0.75,0.5", "c,9.5,20,0.25,0"
)
STATED = [
    Case("JSON: an error rate beside the scores", {"t.json": json.dumps({"metric": "WER", "scores": {"gpt": [1, 0, 1], "llama": [0, 0, 1]}})}, {"gpt/WER": 2, "llama/WER": 1}, 3, note="the scores are WER, as `metric` says"),
    Case("JSON: an error rate in settings", {"t.json": json.dumps({"metadata": {"metric": "per_utterance_wer", "lang": "is"}, "gpt": [1, 0.5, 1], "llama": [0, 0, 1]})}, {"gpt/per_utterance_wer": 2.5, "llama/per_utterance_wer": 1}, 3, note="lower is better for per_utterance_wer"),
    Case("JSON: an error rate beside records", {"t.json": json.dumps({"metric_name": "perplexity", "results": [{"model": a, "item": b, "score": c} for a, b, c in LONG]})}, {"gpt/perplexity": 3, "llama/perplexity": 1}, note="lower is better for perplexity"),
    Case("JSON: a missing score in a metric beside the scores", {"t.json": json.dumps({"metric": "bleurt", "scores": {"gpt": [1, None, 1], "llama": [0, 1, 0]}})}, {"gpt/bleurt": 2, "llama/bleurt": 1}, 3, missing="wrong"),
    Case("the metric in a column", long("model,item,score,metric", extra=lambda row: ("WER",)), {"gpt/WER": 3, "llama/WER": 1}, note="lower is better for WER"),
    Case("JSON: a direction beside the scores", {"t.json": json.dumps({"metric": "surprise", "higher_is_better": False, "scores": {"gpt": [1, 0, 1], "llama": [0, 0, 1]}})}, {"gpt/score": 2, "llama/score": 1}, 3, note="lower is better, as `higher_is_better` says"),
    Case("a direction in a column", long("model,item,score,lower_is_better", extra=lambda row: ("True",)), {"gpt/score": 3, "llama/score": 1}, note="lower is better for score"),
    Case("an error whose direction is stated", long("model,item,wer,higher_is_better", extra=lambda row: ("true",)), {"gpt/wer": 3, "llama/wer": 1}, note="higher is better, as `higher_is_better` says"),
    Case("seconds beside error rates of systems", SECONDS, {"gpt/wer": 1.5, "llama/wer": 0.75}, 3, note="not used: duration_s, n_ref_words; lower is better for wer"),
    Case("another scale beside error rates of systems", SECONDS.replace("duration_s", "loudness"), {"gpt/wer": 1.5, "llama/wer": 0.75}, 3, note="not used: loudness, n_ref_words"),
    Case("two error rates in the name of a file", {"wer_cer.csv": WIDE}, {"gpt/score": 3, "llama/score": 1}, note="the scores are wer or cer, as the name of the file says; lower is better"),
    Case("two directions in the name of a file", {"bleu_ter.csv": WIDE}, {"gpt/score": 3, "llama/score": 1}, note="higher is better, unless you name the columns of scores with --option lower_is_better="),
]  # fmt: skip
"""Files that state the metric or its direction."""


def of_systems(name: str, more: str) -> str:
    """Ten items with columns of right answers and others with the same systems in their names."""
    rows = [f"s{k},{more.format(k=k)},{k % 2},{int(k < 7)}" for k in range(10)]
    return lines(f"text,{name},correct_bert,correct_roberta", *rows)


TREEBANKS = ("ar", "eu", "bg", "cs", "fi")
LATER_TRIALS = [
    Case("a system called bert", lines("item,bert,roberta", "a,1,0", "b,0,0", "c,1,1"), {"bert": 2, "roberta": 1}, 3),
    Case("probabilities of the same systems", of_systems("prob_bert,prob_roberta", "0.{k}5,0.6{k}"), {"bert": 5, "roberta": 7}, 10, note="not used: prob_bert, prob_roberta"),
    Case("a property of items that is true or false", lines("item,is_question,gpt,llama", "a,true,1,0", "b,false,0,0", "c,true,1,1"), {"gpt": 2, "llama": 1}, 3, note="not used: is_question"),
    Case("JSON: systems below a metric beside a truth", {"t.json": json.dumps([{"id": k, "inside": k > 1, "correct": {"sentence-level": k % 2, "concat": 1}} for k in range(4)])}, {"sentence-level": 2, "concat": 4}, 4, note="not used: inside"),
    Case("metrics with numbers below systems", lines("system,gpt,gpt,llama,llama", "metric,COMET-22,chrF2,COMET-22,chrF2", "seg_id,,,,", "a,0.5,40.5,0.25,45", "b,0.75,50,0.5,30"), {"gpt/COMET-22": 1.25, "llama/COMET-22": 0.75, "gpt/chrF2": 90.5, "llama/chrF2": 75}, 2),
    Case("metrics below systems, one of which is unknown", lines(",gpt,gpt,llama,llama", ",bertscore_f1,summac,bertscore_f1,summac", "id,,,,", "a,0.5,0.25,0.25,0.5", "b,0.75,0.5,0.5,0.75"), {"gpt/bertscore_f1": 1.25, "llama/bertscore_f1": 0.75, "gpt/summac": 0.75, "llama/summac": 1.25}, 2),
    Case("a mean in bold letters", {"t.md": lines("| # | Prompt | gpt | llama |", "|--|:--|:-:|:-:|", "| 1 | One sentence. | **4** | 3 |", "| 2 | Another one. | **5** | 2 |", "| 3 | And a third. | 3 | 3 |", "| | **Mean** | 4.00 | 2.67 |")}, {"gpt": 12, "llama": 8}, 3, note="**Mean** left out"),
    Case("a sum of marks", {"t.md": lines("Some text.", "", "| # | Task | gpt | llama |", "|--|--|--|--|", *(f"| {k} | `t{k}` | {'✅' if k % 2 else '❌'} | ❌ |" for k in range(1, 8)), "| | **Total** | **4/7** | **0/7** |", "", "✅ = passes.")}, {"gpt": 4, "llama": 0}, 7, note="**Total** left out"),
    Case("a weighted mean", {f"{name}.tsv": lines("document_id\ttp\tf1", *(f"doc-{k}\t{k + 3}\t0.{k + f}" for k in range(1, 5)), f"MICRO-AVERAGE\t22\t0.{f}9") for name, f in (("gpt", 3), ("llama", 1))}, {"gpt": 2.2, "llama": 1.4}, 4, note="MICRO-AVERAGE left out"),
    Case("a mean of counts in LaTeX", {"t.tex": lines(r"\begin{tabular}{lrr}", r"Document & BART & T5 \\", r"x\_1 & 1 & \textbf{0} \\", r"x\_2 & 3 & 2 \\", r"x\_3 & 2 & 5 \\", r"x\_4 & 3 & 1 \\", r"Average & 2.25 & 2.00 \\", r"\end{tabular}")}, {"BART": 9, "T5": 8}, 4, note="Average left out"),
    Case("grades of SimpleQA", long("model,item,grade", shown=lambda score: "CORRECT" if score else "NOT_ATTEMPTED"), note="not attempted as 0"),
    Case("tasks as columns with a sum", lines("model\t" + "\t".join(f"HumanEval/{k}" for k in range(12)) + "\tpassed", "gpt\t" + "pass\t" * 12 + "12/12", "llama\t" + "pass\tfail\t" * 6 + "6/12"), {"gpt": 12, "llama": 6}, 12, note="the columns are items"),
    Case("W&B: runs with a metric on each task", lines("Name,arch,seed,train/loss," + ",".join(f"test/{own}/LAS" for own in TREEBANKS), *(f"r{a}{s},{a},{s},0.{s},{','.join(str(80 + f + s + k) for k in range(5))}" for f, a in enumerate(("mbert", "xlmr")) for s in (1, 2))), {"mbert-seed1": 415, "mbert-seed2": 420, "xlmr-seed1": 420, "xlmr-seed2": 425}, 5, note="not used: train/loss"),
    Case("documents that are the items", lines("Document,Topic,gpt,llama", "D1,art,4,3", "D2,art,5,2", "D3,sport,3,3"), {"gpt": 12, "llama": 8}, 3, note="items from column `Document`"),
    Case("a workbook with a sheet of means", {"t.xlsx": workbook(("Overview", [["System", "mean", "n"], ["gpt", 0.75, 4], ["llama", 0.25, 4]]), *((name, [["Seg", "Source", "chrF"], *([b, "text", c] for a, b, c in LONG if a == name)]) for name in SUMS))}, note="read the sheets gpt, llama, not Overview"),
    Case("a workbook with a title above the table of each system", {"t.xlsx": workbook(("Notes", [["Read this."]]), *((name, [[f"Scores of {name}"], [], ["Seg", "Overall quality (1-5)"], *([b, c] for a, b, c in LONG if a == name)]) for name in SUMS))}, note="read the sheets gpt, llama, not Notes"),
    Case("a workbook with a sheet per metric", {"t.xlsx": workbook(("BLEU", SHEET), ("chrF", SHEET))}, note="read the sheet BLEU, not chrF"),
    Case("a workbook with instructions before the table", {"t.xlsx": workbook(("Guidelines", [["Rate from 1 to 5."], ["Do not hurry."]]), ("Ratings", [["Ratings of June"], [], *SHEET]))}, note="read the sheet Ratings, not Guidelines"),
    Case("numbers of sentences above a mean", lines("Testsuite: chrF;;;", "Satz-Nr.;Text;gpt;llama", "1;Ein Satz.;72,6;77,6", "2;Noch einer.;68,8;68,3", "3;Der dritte.;62,5;51,3", "Mittelwert;;68,0;65,7"), {"gpt": 203.9, "llama": 197.2}, 3, note="items from column `Satz-Nr.`"),
    Case("a score beside other numbers of a system", {f"{name}.jsonl": lines(*(json.dumps({"doc_id": f"d{k}", "prediction": {"total": 2.5 + k}, "gold": {"total": 3.5 * k}, "field_f1": f}) for k in range(3))) for name, f in (("a", 0.5), ("b", 0.25))}, {"a": 1.5, "b": 0.75}, 3, note="scores from column `field_f1`"),
    Case("names of files that repeat beside numbers that do not", {"t.md": lines("| PR | File | gpt | llama |", "|--|--|--|--|", "| #1 | a.py | ✅ | ❌ |", "| #2 | b.py | ✅ | ✅ |", "| #3 | a.py | ❌ | ❌ |")}, {"gpt": 2, "llama": 1}, 3, note="PR, File identify an item together"),
    Case("conditions of items beside columns of systems", lines("item,condition,sentence,ppl_gpt,ppl_llama", "1,good,One.,3.5,2.5", "1,bad,Two.,4.5,2.25", "2,good,Three.,3.25,2", "2,bad,Four.,9.5,8"), "beside column condition; if each has a system, use --option system=ppl_gpt,ppl_llama;"),
    Case("tasks in the names of metrics of systems", lines("checkpoint,question_id,mmlu_acc,arc_acc", "a,q1,1,0", "a,q2,0,0", "b,q1,1,1", "b,q2,1,0"), "name the score with --option score=mmlu_acc"),
    Case("variants of metrics of systems", lines("method,doc_id,rouge1_f1,rouge2_f1", "a,q1,0.5,0.25", "a,q2,0.75,0.5", "b,q1,1,0.5", "b,q2,0.5,0.5"), {"a/rouge1_f1": 1.25, "b/rouge1_f1": 1.5, "a/rouge2_f1": 0.75, "b/rouge2_f1": 1}, 2),
    Case("tokens of sentences with predictions and verdicts", lines("sent\ttok\tform\tgold\tpred_gpt\tok_gpt\tpred_llama\tok_llama", *(f"{k // 3}\t{k % 3}\tlike\t{'N' if k % 2 else 'V'}\tV\t{int(k % 2 == 0)}\t{'N' if k % 2 else 'V'}\t1" for k in range(9))), {"gpt": 5, "llama": 9}, 9, note="tok, sent identify an item together"),
    Case("seconds of tools", lines("sentence,brat (sec),webanno (sec)", "s1,42.5,30", "s2,31,35.5"), {"brat/time": 73.5, "webanno/time": 65.5}, 2, note="lower is better for time"),
    Case("the name of a file that counts errors", {"hallucination_counts.csv": WIDE}, {"gpt/hallucination": 3, "llama/hallucination": 1}, note="lower is better"),
    Case("JSON: items of systems beside settings and means", {"t.json": json.dumps({"config": {"k": 5}, "summary": {name: {"mean": 0.5, "n": 20} for name in SUMS}, "per_item": {name: {f"c{k}": k % f == 0 for k in range(20)} for name, f in (("gpt", 2), ("llama", 4))}})}, {"gpt": 10, "llama": 5}, 20),
    Case("a system called FiD", lines(",question_id,FiD,T5", "0,q1,1,0", "1,q2,0,0", "2,q3,1,1"), {"FiD": 2, "T5": 1}, 3),
    Case("comments of one word", lines("task,gpt,llama,comment", "a,PASS,FAIL,ok", "b,FAIL,FAIL,ok", "c,PASS,PASS,flaky test?", "d,PASS,PASS,"), {"gpt": 3, "llama": 2}),
    Case("a mean below numbers without a known name", lines("nummer,gpt,llama", "1,84,70", "2,90,75", "3,99,80", "PROMEDIO,91,75"), {"gpt": 273, "llama": 225}, 3, note="PROMEDIO left out"),
    Case("lines of a log with names and values", {"eval.log": lines("2024-11-05 09:12:00 INFO loading bm25", *(f"2024-11-05 09:12:0{k} INFO system={a} qid={b} rr@10={c}" for k, (a, b, c) in enumerate(LONG)), "2024-11-05 09:12:09 INFO done llama MRR@10=0.25")}, note="read the 8 lines that have system=…, qid=…, rr@10=…"),
    Case("marks of Japanese teachers", WIDE.replace(",1", ",○").replace(",0", ",×")),
    Case("numbers of queries without a header", {f"{name}.tsv": lines(*(f"{q}\t0.{f}{k}" for k, q in enumerate(order))) for name, f, order in (("a", 5, (301, 303, 302)), ("b", 2, (301, 303, 302)))}, {"a": 1.53, "b": 0.63}, 3, note="items from column `item`"),
    Case("attacks that succeed", long("model,item,attack_success"), {"gpt/attack_success": 3, "llama/attack_success": 1}, note="lower is better"),
]  # fmt: skip
"""Kinds that were misread or refused in later trials by strangers."""


def check(case: Case, folder) -> None:
    files = {"t.csv": case.files} if isinstance(case.files, str) else case.files
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    paths = [str(folder / name) for name in files]
    if isinstance(case.expected, str):
        with pytest.raises(InputError, match=case.expected) as caught:
            inputs.read_systems(paths, None, options=case.options, missing=case.missing)
        assert "\n" not in str(caught.value)
        return
    found, notes = inputs.read_systems(paths, None, options=case.options, missing=case.missing)
    assert case.note in "; ".join(notes)
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


@pytest.mark.parametrize(
    "case", [*NAMED, *OTHERS, *UNSEEN, *OF_STRANGERS, *SECOND_TRIAL, *STATED, *LATER_TRIALS], ids=lambda case: case.name
)
def test_a_table_is_read_as_it_comes(case, tmp_path):
    check(case, tmp_path)


def test_lower_is_better_by_the_name_of_a_file_or_folder(tmp_path):
    """The best system has the lowest score, for commands and functions."""
    (tmp_path / "wer_results").mkdir()
    for path in (tmp_path / "ppl.csv", tmp_path / "wer_results" / "dev.csv"):
        path.write_text(WIDE)
        found, _ = inputs.read_systems([str(path)], None)
        assert [metric.higher_is_better for _, metrics in found for metric in metrics] == [False]
        assert not inputs.read(path, inputs.Columns()).metric.higher_is_better
    found, _ = inputs.read_systems([str(path)], None, options={"lower_is_better": "gpt"})
    assert [metric.name for _, metrics in found for metric in metrics] == ["score"]


@pytest.mark.parametrize(
    ("names", "runs"),
    [
        (("gpt/seed_1/s.csv", "gpt/seed_2/s.csv", "t5/seed_1/s.csv", "t5/seed_2/s.csv"), ["seed1", "seed2"] * 2),
        (("seed1/gpt/s.csv", "seed2/gpt/s.csv", "seed1/t5/s.csv", "seed2/t5/s.csv"), ["seed1", "seed2"] * 2),
        (("gpt_s1.csv", "gpt_s2.csv", "t5_s1.csv", "t5_s2.csv"), ["s1", "s2"] * 2),
        (("gpt_seed1.csv", "gpt_seed2.csv", "gpt_seed3.csv", "gpt_seed4.csv"), []),
        (("gpt_seed1.csv", "gpt_seed2.csv", "gpt_seed3.csv", "t5_seed1.csv"), []),
        (("gpt_fold1.csv", "gpt_fold2.csv", "t5_fold1.csv", "t5_fold2.csv"), []),
    ],
)
def test_runs_from_the_names_of_files_or_folders(tmp_path, names, runs):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(lines("id,score", "x,1", "y,0"))
    (found, _), *_ = inputs.read_systems([str(tmp_path / name) for name in names], None)[0]
    assert list(found.runs) == (runs or [""] * 4)
    assert set(found.methods) == ({"gpt", "t5"} if runs else set(found.systems))


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


@pytest.mark.parametrize("option", ["", "system=base,cand"])
def test_the_first_system_is_the_baseline(tmp_path, capsys, option):
    """Also if its scores are on another scale than the other's, and in the order of an option for rows of a long table."""
    rows = [(f"0.{7 + row % 2}", f"{-0.5 + row / 10:.1f}") for row in range(8)]
    (tmp_path / "wide.csv").write_text("id,base,cand\n" + "".join(f"{n},{a},{b}\n" for n, (a, b) in enumerate(rows)))
    long = [f"{name},{n},{own[place]}\n" for place, name in ((1, "cand"), (0, "base")) for n, own in enumerate(rows)]
    (tmp_path / "long.csv").write_text("model,id,comet\n" + "".join(long))
    options = ["--option", option] if option else []
    assert cli.main(["test", str(tmp_path / ("long.csv" if option else "wide.csv")), *options, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["system_a"], row["system_b"]) == ("base", "cand")


def test_shares_beside_percentages_are_refused(tmp_path, capsys):
    for name, scores in (("a", "0110111010"), ("b", "1010101110")):
        factor = 100 if name == "b" else 1
        (tmp_path / f"{name}.csv").write_text(
            "id,acc\n" + "".join(f"q{n},{int(s) * factor}\n" for n, s in enumerate(scores))
        )
    assert cli.main(["test", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 2
    assert "is from 0 to 1 in" in capsys.readouterr().err


def test_rows_beside_ids(tmp_path, capsys):
    """Ids that number the rows pair with rows; other ids, or another number of rows, do not."""
    scores = [f"0.{n}\n" for n in (1, 5, 3, 7)]
    (tmp_path / "rows.csv").write_text("score\n" + "".join(scores))
    (tmp_path / "ids.csv").write_text("id,score\n" + "".join(f"{n},{own}" for n, own in enumerate(scores)))
    (tmp_path / "names.csv").write_text("id,score\n" + "".join(f"q{n},{own}" for n, own in enumerate(scores)))
    (tmp_path / "fewer.csv").write_text("score\n" + "".join(scores[1:]))
    assert cli.main(["test", str(tmp_path / "rows.csv"), str(tmp_path / "ids.csv"), "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["n_segments"], row["difference"]) == (4, 0)
    for one, other in (("rows", "names"), ("ids", "fewer")):
        assert (
            cli.main(["test", str(tmp_path / f"{one}.csv"), str(tmp_path / f"{other}.csv"), "--missing", "drop"]) == 2
        )
        assert "expected ids in all files or in none; add a column `id`" in capsys.readouterr().err


def test_an_id_and_a_score_between_blanks_are_no_counts(tmp_path, capsys):
    for name, scores in (("a", "11010"), ("b", "01000")):
        (tmp_path / name).write_text("".join(f"{n} {own}\n" for n, own in enumerate(scores)))
    assert cli.main(["test", str(tmp_path / "a"), str(tmp_path / "b"), "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["score_a"], row["score_b"], row["n_segments"]) == (0.6, 0.2, 5)


def test_a_repeated_item_may_have_runs(tmp_path, capsys):
    rows = [f"{name},q{item},{run},{(item + run) % 2}\n" for name in "ab" for item in range(3) for run in range(3)]
    (tmp_path / "t.csv").write_text("model,question,sample,score\n" + "".join(rows))
    assert cli.main(["test", str(tmp_path / "t.csv")]) == 2
    hint = "if sample has the number of the run, use --option item=question --option run=sample"
    assert hint in capsys.readouterr().err
    assert cli.main(["test", str(tmp_path / "t.csv"), *hint.split("use ")[1].split(), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["n_segments"] == 3
