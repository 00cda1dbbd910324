"""Figures and tables that are asked for by name: each has a job of its own, which needs its tables only.

Otherwise, one job makes all, since starting Python takes as long as drawing two figures.
"""

# Snakemake does not say what it is asked for before it has read the rules.
ASKED_FOR = [word for word in sys.argv[1:] if word.startswith("results/")]
ALONE = bool(ASKED_FOR) and all(
    re.match("results/(figures|tables)/", word) for word in ASKED_FOR
)


use rule plot as plot_figure with:
    input:
        tables=lambda w: jobs.tables(FIGURES[w.figure]),
        library=library("plot"),
    output:
        svg="results/figures/{figure}.svg",
        others=[f"results/figures/{{figure}}.{suffix}" for suffix in OTHERS],
    log:
        "results/logs/plot/{figure}.log",
    benchmark:
        "results/benchmarks/plot/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(figure.name for figure in STUDY_FIGURES),
    params:
        words=lambda w: jobs.drawn([(FIGURES[w.figure], "", "")]),


use rule plot as plot_dataset with:
    input:
        tables=lambda w: jobs.tables(FIGURES[w.figure], w.dataset, w.test),
        library=library("plot"),
    output:
        svg="results/figures/{figure}/{dataset}.{test}.svg",
        others=[
            f"results/figures/{{figure}}/{{dataset}}.{{test}}.{suffix}"
            for suffix in OTHERS
        ],
    log:
        "results/logs/plot/{figure}.{dataset}.{test}.log",
    benchmark:
        "results/benchmarks/plot/{figure}.{dataset}.{test}.tsv"
    wildcard_constraints:
        figure=one_of({figure.name for figure, *_ in DATASET_FIGURES}),
    params:
        words=lambda w: jobs.drawn([(FIGURES[w.figure], w.dataset, w.test)]),


use rule tabulate as tabulate_one with:
    input:
        tables="results/tables/{table}.tsv",
        library=library("tabulate"),
    output:
        multiext("results/tables/{table}", *READABLE),
    log:
        "results/logs/tabulate/{table}.log",
    benchmark:
        "results/benchmarks/tabulate/{table}.tsv"
    wildcard_constraints:
        table=one_of(TABLES),
    params:
        words=lambda w: jobs.tabulated([w.table]),


if ALONE:

    ruleorder: plot_figure > plot
    ruleorder: tabulate_one > tabulate

else:

    ruleorder: plot > plot_figure
    ruleorder: tabulate > tabulate_one


# Without figures of datasets, there is no job for all of them.
if DATASET_FIGURES and ALONE:

    ruleorder: plot_dataset > plot_datasets

elif DATASET_FIGURES:

    ruleorder: plot_datasets > plot_dataset
