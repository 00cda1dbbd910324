"""Figures, from tables only: those of the study in one job, those of a dataset and test in another."""

# Of the whole study; they show the first test of the config.
STUDY_TABLES = {
    "overview": COMPARED_ONCE,
    "size_law": ["results/tables/thresholds.tsv", "results/tables/size_law.tsv"],
    "thresholds": ["results/tables/reproduction.tsv"],
    "next_test_sets": FAMILY_TABLES,
    "segments_needed": ["results/tables/law.tsv", "results/tables/systems.tsv"],
    "trainings": TRAINING_TABLES,
    "leaderboards": BOARD_TABLES,
} | {
    name: [f"results/tables/{name}.tsv"]
    for name in ["calibration", "relative_error", "run_time", "documents"]
}
# Of one dataset and test; `overlay` is a natural dataset, laid over a synthetic one.
COMPARED = "results/comparisons/{dataset}.{test}.tsv"
OVERLAID = "results/comparisons/{overlay}.{test}.tsv"
MADE = "results/test_sets/{dataset}.{test}.tsv"
CONFIDENCE = [COMPARED, "results/tables/thresholds.tsv", OVERLAID]
DATASET_TABLES = {
    "gain_confidence": CONFIDENCE,
    "full_sets": CONFIDENCE,
    "sizes": [MADE, COMPARED],
    "domains": [MADE],
    "similarity": [COMPARED],
}
# Which datasets have the same figures: one rule makes what one list of files says, in one process, not many.
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
                category=SECTIONS.get(figure, BEYOND),
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
    group:
        "figures"
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
                    category=SECTIONS.get(figure, BEYOND),
                    subcategory=figure,
                    labels={"dataset": "{dataset}", "test": "{test}"},
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
        group:
            "figures"
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
