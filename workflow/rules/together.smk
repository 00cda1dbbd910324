"""A run whose jobs take seconds, in three jobs: comparisons, analyses, and what is made of their tables.

Starting Python and reading the library takes two seconds of CPU, as long as most of these jobs. What is asked for by
name has a job of its own, see `alone.smk`.
"""

TOGETHER = config["together"] and not ASKED_FOR and not jobs.own_data

# Comparisons that are cut into parts stay apart.
if TOGETHER and len(scatter.resamples("{scatteritem}")) == 1:

    ruleorder: compare_together > compare
    ruleorder: compare_together > resize

    rule compare_together:
        """Compare the systems of each dataset, one dataset after another."""
        input:
            statistics=[study.datasets[name].statistics for name in SELECTED],
            library=sorted({*library("all-pairs"), *library("resize")}),
        output:
            jobs.comparisons(),
            jobs.test_sets(),
        log:
            "results/logs/compare.log",
        benchmark:
            "results/benchmarks/compare.tsv"
        group:
            "compare"
        conda:
            "../envs/pairsig.yaml"
        threads: 2
        resources:
            mem_mb=grown(2000),
            runtime=grown(60),
        params:
            words=chained(
                jobs.compared_whole(name, test, threads=2)
                for name in SELECTED
                for test in TESTS
            ),
        shell:
            r"""
            python -m study {params.words:q} >{log:q} 2>&1
            """


if TOGETHER:
    ANALYSES = {
        name: record for name, record in analysis.every().items() if record.function
    }

    rule analyse:
        """Run all analyses. One of them measures time, so the job reserves all cores."""
        input:
            instead_of(ANALYSES, "analyse"),
        output:
            [output.file for output in analysis.outputs().values()],
        log:
            "results/logs/analyse.log",
        benchmark:
            "results/benchmarks/analyse.tsv"
        group:
            "analyse"
        conda:
            "../envs/pairsig.yaml"
        threads: workflow.resource_settings.cores or 1
        resources:
            mem_mb=grown(max(record.memory for record in ANALYSES.values())),
            runtime=grown(sum(record.minutes for record in ANALYSES.values())),
        params:
            words=chained(
                getattr(rules, name).params.words
                + [f"--threads={record.threads}"] * ("threads" in record.inputs)
                for name, record in ANALYSES.items()
            ),
        shell:
            r"""
            python -m study {params.words:q} >{log:q} 2>&1
            """

    SHOWN_BY = ["plot", *["plot_datasets"] * bool(DATASET_FIGURES)]
    SHOWN_BY += ["tabulate", "findings", "site"]

    rule show:
        """Plot the figures, and write the tables for readers, the findings and the pages."""
        input:
            instead_of(SHOWN_BY, "show"),
        output:
            PICTURES,
            DATASET_PICTURES,
            TABULATED,
            "results/findings.md",
            directory("results/site"),
        log:
            "results/logs/show.log",
        benchmark:
            "results/benchmarks/show.tsv"
        group:
            "figures"
        conda:
            "../envs/pairsig.yaml"
        resources:
            mem_mb=grown(1500),
            runtime=grown(30),
        params:
            words=chained(getattr(rules, name).params.words for name in SHOWN_BY),
        shell:
            r"""
            python -m study {params.words:q} >{log:q} 2>&1
            """
