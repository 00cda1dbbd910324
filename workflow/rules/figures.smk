"""Plot figures from tables: one job for the study, and one for all of its datasets."""

# Figures of the whole study, for the first test of the config.
STUDY_FIGURES = jobs.figures()
# Figures of the datasets, for every test. One process plots all of them, because its start takes as long as two figures.
DATASET_FIGURES = [
    (FIGURES[name], dataset, test)
    for dataset in SELECTED
    for name in study.datasets[dataset].figures
    for test in TESTS
]

# Formats for papers and slides; the pages and the report show SVG.
OTHERS = [suffix for suffix in config["figure_formats"] if suffix != "svg"]

PICTURES = [
    in_report(
        jobs.picture(figure),
        f"figures/{figure.name}.rst",
        SECTIONS[figure.section],
        labels={"figure": figure.name},
    )
    for figure in STUDY_FIGURES
] + [
    jobs.picture(figure, suffix=suffix)
    for figure, suffix in product(STUDY_FIGURES, OTHERS)
]
DATASET_PICTURES = [
    in_report(
        jobs.picture(figure, dataset, test),
        f"figures/{figure.name}.rst",
        SECTIONS[figure.section],
        subcategory=figure.name,
        labels={"dataset": dataset, "test": test},
    )
    for figure, dataset, test in DATASET_FIGURES
] + [jobs.picture(*drawn, suffix) for drawn, suffix in product(DATASET_FIGURES, OTHERS)]


rule plot:
    """Plot the figures of the whole study."""
    input:
        tables=sum(map(jobs.tables, STUDY_FIGURES), []),
        library=library("plot"),
    output:
        PICTURES,
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
        words=jobs.drawn((figure, "", "") for figure in STUDY_FIGURES),
    shell:
        r"""
        python -m study {params.words:q} >{log:q} 2>&1
        """


if DATASET_FIGURES:

    rule plot_datasets:
        """Plot the figures of all datasets."""
        input:
            tables=sorted(set(sum((jobs.tables(*one) for one in DATASET_FIGURES), []))),
            library=library("plot"),
        output:
            DATASET_PICTURES,
        log:
            "results/logs/plot_datasets.log",
        benchmark:
            "results/benchmarks/plot_datasets.tsv"
        group:
            "figures"
        conda:
            "../envs/pairsig.yaml"
        resources:
            mem_mb=grown(1500),
            runtime=grown(20),
        params:
            words=jobs.drawn(DATASET_FIGURES),
        shell:
            r"""
            python -m study {params.words:q} >{log:q} 2>&1
            """
