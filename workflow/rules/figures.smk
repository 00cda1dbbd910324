"""Figures, from tables only."""

# Of the whole study; they show the first test of the config.
STUDY_TABLES = {
    "overview": collect(
        "results/comparisons/{dataset}.{test}.tsv",
        dataset=[name for name in SELECTED if study.datasets[name].source != "pool"],
        test=TESTS[0],
    ),
    "size_law": ["results/tables/thresholds.tsv", "results/tables/size_law.tsv"],
    "calibration": ["results/tables/calibration.tsv"],
    "thresholds": ["results/tables/reproduction.tsv"],
    "relative_error": ["results/tables/relative_error.tsv"],
    "run_time": ["results/tables/run_time.tsv"],
}
# Of one dataset and test.
DATASET_TABLES = {
    "gain_confidence": [
        "results/comparisons/{dataset}.{test}.tsv",
        "results/tables/thresholds.tsv",
    ],
    "sizes": [
        "results/test_sets/{dataset}.{test}.tsv",
        "results/comparisons/{dataset}.{test}.tsv",
    ],
    "domains": ["results/test_sets/{dataset}.{test}.tsv"],
    "similarity": ["results/similarity/{dataset}.{test}.tsv"],
}
STUDY_FIGURES = list(STUDY_TABLES)
DATASET_FIGURES = [
    f"results/figures/{figure}/{dataset}.{test}.svg"
    for dataset in SELECTED
    for figure in study.datasets[dataset].figures
    for test in TESTS
]


rule plot:
    """A figure of the whole study."""
    input:
        tables=lookup("{figure}", within=STUDY_TABLES),
        library=library("plot"),
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/study_figure.rst",
            category="The study",
            labels={"figure": "{figure}"},
        ),
        pdf="results/figures/{figure}.pdf",
        png="results/figures/{figure}.png",
    log:
        "results/logs/plot/{figure}.log",
    benchmark:
        "results/benchmarks/plot/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(STUDY_TABLES),
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    shell:
        r"""
        python -m study plot {wildcards.figure:q} {input.tables:q} \
            --output {output:q} \
            >{log:q} 2>&1
        """


rule plot_dataset:
    """A figure of one dataset."""
    input:
        tables=lookup("{figure}", within=DATASET_TABLES),
        overlay=laid_over,
        library=library("plot"),
    output:
        svg=report(
            "results/figures/{figure}/{dataset}.{test}.svg",
            caption="../report/dataset_figure.rst",
            category="Datasets",
            subcategory="{dataset}",
            labels={"figure": "{figure}", "test": "{test}"},
        ),
        pdf="results/figures/{figure}/{dataset}.{test}.pdf",
        png="results/figures/{figure}/{dataset}.{test}.png",
    log:
        "results/logs/plot/{figure}/{dataset}.{test}.log",
    benchmark:
        "results/benchmarks/plot/{figure}/{dataset}.{test}.tsv"
    wildcard_constraints:
        figure=one_of(DATASET_TABLES),
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    shell:
        r"""
        python -m study plot {wildcards.figure:q} {input.tables:q} {input.overlay:q} \
            --output {output:q} \
            >{log:q} 2>&1
        """
