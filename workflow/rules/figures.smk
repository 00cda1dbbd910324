"""Figures, from tables only: those of the study in one job, those of a dataset and test in another.

A process that draws one figure spends most of its time on getting ready to.
"""

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
    "trainings": [f"results/tables/{x}.tsv" for x in ("trainings", "better_method")],
}
# Of one dataset and test; `overlay` is a natural dataset, laid over a synthetic one.
DATASET_TABLES = {
    "gain_confidence": [
        "results/comparisons/{dataset}.{test}.tsv",
        "results/tables/thresholds.tsv",
        "results/comparisons/{overlay}.{test}.tsv",
    ],
    "sizes": [
        "results/test_sets/{dataset}.{test}.tsv",
        "results/comparisons/{dataset}.{test}.tsv",
    ],
    "domains": ["results/test_sets/{dataset}.{test}.tsv"],
    "similarity": ["results/comparisons/{dataset}.{test}.tsv"],
}
# Which datasets have the same figures: one rule makes what one list of files says.
DRAWN = {
    figures: [name for name in SELECTED if study.datasets[name].figures == figures]
    for figures in {study.datasets[name].figures: None for name in SELECTED}
    if figures
}
DATASET_FIGURES = [
    f"results/figures/{figure}/{dataset}.{test}.svg"
    for dataset in SELECTED
    for figure in study.datasets[dataset].figures
    for test in TESTS
]


rule plot:
    """The figures of the whole study."""
    input:
        tables=sum(STUDY_TABLES.values(), []),
        library=library("plot"),
    output:
        svg=[
            report(
                f"results/figures/{figure}.svg",
                caption=f"../report/figures/{figure}.rst",
                category="The study",
                labels={"figure": figure},
            )
            for figure in STUDY_TABLES
        ],
        pdf=collect("results/figures/{figure}.pdf", figure=STUDY_TABLES),
        png=collect("results/figures/{figure}.png", figure=STUDY_TABLES),
    log:
        "results/logs/plot.log",
    benchmark:
        "results/benchmarks/plot.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(20),
    params:
        figures=to_plot(STUDY_TABLES, "{figure}"),
    shell:
        r"""
        python -m study plot {params.figures:q} >{log:q} 2>&1
        """


for figures, names in DRAWN.items():

    rule:
        """The figures of a dataset and test."""
        name:
            f"plot_{'_'.join(figures)}"
        input:
            tables=lambda w: sum(plotted(w).values(), []),
            library=library("plot"),
        output:
            svg=[
                report(
                    f"results/figures/{figure}/{{dataset}}.{{test}}.svg",
                    caption=f"../report/figures/{figure}.rst",
                    category="Datasets",
                    subcategory="{dataset}",
                    labels={"figure": figure, "test": "{test}"},
                )
                for figure in figures
            ],
            pdf=[f"results/figures/{x}/{{dataset}}.{{test}}.pdf" for x in figures],
            png=[f"results/figures/{x}/{{dataset}}.{{test}}.png" for x in figures],
        log:
            "results/logs/plot/{dataset}.{test}.log",
        benchmark:
            "results/benchmarks/plot/{dataset}.{test}.tsv"
        wildcard_constraints:
            dataset=one_of(names),
        conda:
            "../envs/pairsig.yaml"
        resources:
            mem_mb=grown(1000),
            runtime=grown(20),
        params:
            figures=lambda w: to_plot(plotted(w), f"{{figure}}/{w.dataset}.{w.test}"),
        shell:
            r"""
            python -m study plot {params.figures:q} >{log:q} 2>&1
            """
