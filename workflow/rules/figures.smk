"""Figures: config/figures.yaml has one entry for each. A figure is an SVG for the report, and a PNG for pages."""

ENTRIES = config["figures"].items()
OF_TABLES = [name for name, entry in ENTRIES if entry["kind"] == "of_tables"]
# What a run draws: figures of its datasets and tables.
FIGURES = [
    name
    for name, entry in ENTRIES
    if {*entry.get("tables", [entry.get("dataset")])} <= {*PLAN.selected, *MADE}
]


rule confidence:
    """Draw confidence against gain for the pairs of a dataset (the paper's Figures 2 to 11)."""
    input:
        comparisons=branch(
            lookup(dpath="{figure}/kind", within=config["figures"]),
            cases={"domains": []},
            otherwise=of_dataset("comparisons"),
        ),
        test_sets=branch(
            lookup(dpath="{figure}/kind", within=config["figures"]),
            cases=dict.fromkeys(("sizes", "domains"), of_dataset("test_sets")),
            otherwise=[],
        ),
        overlay=overlay,
        published=sheet("published"),
    output:
        svg=in_report(),
        png="<results>/figures/{figure}.png",
    log:
        "<logs>/figures/{figure}.log",
    benchmark:
        "<benchmarks>/figures/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(set(config["figures"]) - set(OF_TABLES)),
    conda:
        "../envs/pairsig.yaml"
    params:
        shown=lookup(dpath="{figure}", within=config["figures"]),
        window=config["window"],
        code=code("study.figures.confidence", "study.reproduction.thresholds"),
    script:
        "../scripts/confidence.py"


rule of_tables:
    """Draw a figure from tables of analyses; its entry names the function and the tables."""
    input:
        tables=collect(
            "<results>/tables/{table}.tsv",
            table=lookup(dpath="{figure}/tables", within=config["figures"]),
        ),
    output:
        svg=in_report(),
        png="<results>/figures/{figure}.png",
    log:
        "<logs>/figures/{figure}.log",
    benchmark:
        "<benchmarks>/figures/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(OF_TABLES),
    conda:
        "../envs/pairsig.yaml"
    params:
        shown=lookup(dpath="{figure}", within=config["figures"]),
        code=lambda wildcards: code(
            f"study.figures.{config['figures'][wildcards.figure]['function'].partition('.')[0]}"
        ),
    script:
        "../scripts/of_tables.py"
