"""Counts per segment of all systems of a dataset: from their outputs or from published outcomes; and pooled ones."""


rule count:
    """Count the statistics of every segment for all systems of a dataset."""
    input:
        unpack(lambda wildcards: PLAN.count(wildcards.dataset)[0]),
    output:
        statistics="<results>/statistics/{dataset}.parquet",
    log:
        "<logs>/count/{dataset}.log",
    benchmark:
        "<benchmarks>/count/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.of_source("counted")),
    conda:
        "../envs/pairsig.yaml"
    resources:
        runtime=grown(60),
    params:
        counting=lambda wildcards: PLAN.count(wildcards.dataset)[1],
        provenance=lambda wildcards: PLAN.provenance(wildcards.dataset),
    script:
        "../scripts/count.py"


rule pool:
    """Pool several test sets, for the systems present in all of them."""
    input:
        statistics=lambda wildcards: PLAN.statistics(
            DATASETS[wildcards.dataset]["pool"].split()
        ),
    output:
        statistics="<results>/statistics/{dataset}.parquet",
    log:
        "<logs>/pool/{dataset}.log",
    benchmark:
        "<benchmarks>/pool/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.of_source("pool")),
    conda:
        "../envs/pairsig.yaml"
    params:
        # Snakemake compares inputs as a set, but another order gives other draws.
        order=lambda wildcards: DATASETS[wildcards.dataset]["pool"],
    script:
        "../scripts/pool.py"
