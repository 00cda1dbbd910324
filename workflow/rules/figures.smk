"""Plot figures from tables: one job for the study, and one job per dataset and test."""

# Figures of the whole study, for the first test of the config.
STUDY_FIGURES = jobs.figures()
# Datasets with the same figures share a rule, so that one process plots all figures of a dataset.
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
    """Plot the figures of the whole study."""
    input:
        tables=sum(map(jobs.tables, STUDY_FIGURES), []),
        library=library("plot"),
    output:
        svg=[
            report(
                f"results/figures/{figure.name}.svg",
                caption=CAPTIONS / f"figures/{figure.name}.rst",
                category=section(figure),
                labels={"figure": figure.name},
            )
            for figure in STUDY_FIGURES
        ],
        pdf=[f"results/figures/{x.name}.pdf" for x in STUDY_FIGURES],
        png=[f"results/figures/{x.name}.png" for x in STUDY_FIGURES],
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
        figures=jobs.drawn(STUDY_FIGURES),
    shell:
        r"""
        python -m study plot {params.figures:q} >{log:q} 2>&1
        """


for figures, names in DRAWN.items():

    rule:
        """Plot the figures of a dataset and test."""
        name:
            f"plot_{'_'.join(figures)}"
        input:
            tables=lambda w: sum((jobs.tables(one, **w) for one in plotted(w)), []),
            library=library("plot"),
        output:
            svg=[
                report(
                    f"results/figures/{figure}/{{dataset}}.{{test}}.svg",
                    caption=CAPTIONS / f"figures/{figure}.rst",
                    category=section(FIGURES[figure]),
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
            figures=lambda w: jobs.drawn(plotted(w), **w),
        shell:
            r"""
            python -m study plot {params.figures:q} >{log:q} 2>&1
            """
