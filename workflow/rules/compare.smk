"""Comparisons of all pairs of systems: on the whole test set, and on other test sets made from it.

There is one job per dataset and test, because sharing the draws among all systems makes a million resamples cheap.
If other test sets are made from a dataset, the same job compares these, since reading the library takes seconds.
"""


rule compare:
    """Test every pair of systems of a dataset from which no other test sets are made."""
    input:
        statistics=lambda w: study.datasets[w.dataset].statistics,
        library=library("all-pairs"),
    output:
        comparisons="results/comparisons/{dataset}.{test}.parquet",
    log:
        "results/logs/compare/{dataset}.{test}.log",
    benchmark:
        "results/benchmarks/compare/{dataset}.{test}.tsv"
    wildcard_constraints:
        dataset=one_of(
            name for name, one in study.datasets.items() if not one.test_sets
        ),
    group:
        "compare"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        mem_mb=grown(2000),
        runtime=grown(60),
    params:
        words=lambda w: jobs.compared(w.dataset, w.test),
        part="1/1",
    shell:
        r"""
        python -m pairsig {params.words:q} \
            --part {params.part:q} \
            --threads {threads} \
            --output {output.comparisons:q} \
            >{log:q} 2>&1
        """


rule resize:
    """Test every pair on a test set, and on initial segments, domains, draws or halves of it."""
    input:
        statistics=lambda w: study.datasets[w.dataset].statistics,
        library=library("resize"),
    output:
        comparisons="results/comparisons/{dataset}.{test}.parquet",
        test_sets="results/test_sets/{dataset}.{test}.parquet",
    log:
        "results/logs/resize/{dataset}.{test}.log",
    benchmark:
        "results/benchmarks/resize/{dataset}.{test}.tsv"
    wildcard_constraints:
        dataset=one_of(name for name, one in study.datasets.items() if one.test_sets),
    group:
        "compare"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        mem_mb=grown(2000),
        runtime=grown(180),
    params:
        words=lambda w: jobs.compared(w.dataset, w.test),
        part="1/1",
    shell:
        r"""
        python -m study {params.words:q} \
            --part {params.part:q} \
            --threads {threads} \
            --whole {output.comparisons:q} \
            --output {output.test_sets:q} \
            >{log:q} 2>&1
        """
