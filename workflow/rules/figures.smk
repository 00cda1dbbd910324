"""Figures: one rule for each kind; config/figures.yaml has one entry for each figure.

A figure is an SVG for the report, and a PNG for pages.
"""

FIGURES = [
    name
    for name, entry in config["figures"].items()
    if (
        entry["dataset"] in PLAN.selected
        if "dataset" in entry
        else set(entry["tables"]) <= set(MADE)
    )
]


rule gain_confidence:
    """Draw confidence against gain for all pairs of a dataset (the paper's Figures 2 to 8)."""
    input:
        comparisons=of_dataset("comparisons"),
        overlay=overlay,
        published=sheet("published"),
    output:
        svg=in_report(),
        png=picture("png"),
    log:
        "<logs>/figures/{figure}.log",
    benchmark:
        "<benchmarks>/figures/{figure}.tsv"
    wildcard_constraints:
        figure=of_kind("gain_confidence", "full_sets"),
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        shown=shown,
        code=code("study.figures.confidence", "study.reproduction.thresholds"),
    script:
        "../scripts/gain_confidence.py"


rule sizes:
    """Draw confidence against gain on initial segments of a test set (Figures 9 and 10)."""
    input:
        comparisons=of_dataset("comparisons"),
        test_sets=of_dataset("test_sets"),
        published=sheet("published"),
    output:
        svg=in_report(),
        png=picture("png"),
    log:
        "<logs>/figures/{figure}.log",
    benchmark:
        "<benchmarks>/figures/{figure}.tsv"
    wildcard_constraints:
        figure=of_kind("sizes"),
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        shown=shown,
        code=code("study.figures.confidence"),
    script:
        "../scripts/sizes.py"


rule domains:
    """Draw confidence against gain on test sets of one size from several domains (Figure 11)."""
    input:
        test_sets=of_dataset("test_sets"),
    output:
        svg=in_report(),
        png=picture("png"),
    log:
        "<logs>/figures/{figure}.log",
    benchmark:
        "<benchmarks>/figures/{figure}.tsv"
    wildcard_constraints:
        figure=of_kind("domains"),
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        shown=shown,
        code=code("study.figures.confidence"),
    script:
        "../scripts/domains.py"


rule of_tables:
    """Draw a figure from tables of analyses; its entry names the function and the tables."""
    input:
        tables=lambda wildcards: collect(
            "<results>/tables/{table}.tsv", table=shown(wildcards)["tables"]
        ),
    output:
        svg=in_report(),
        png=picture("png"),
    log:
        "<logs>/figures/{figure}.log",
    benchmark:
        "<benchmarks>/figures/{figure}.tsv"
    wildcard_constraints:
        figure=of_kind("of_tables"),
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        shown=shown,
        code=lambda wildcards: code(
            f"study.figures.{shown(wildcards)['function'].partition('.')[0]}"
        ),
    script:
        "../scripts/of_tables.py"
