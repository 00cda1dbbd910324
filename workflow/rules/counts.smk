"""Counts per segment: of the outputs of each system, collected by dataset; of published outcomes; and pooled ones."""


rule extract:
    """Count the statistics of each segment in the outputs of one system."""
    input:
        # One function for output, reference, documents and verified: calling functions takes most of a plan's time.
        unpack(lambda wildcards: PLAN.counted(*wildcards)[0]),
    output:
        counts="<results>/counts/{dataset}/{system}.parquet",
    log:
        "<logs>/extract/{dataset}/{system}.log",
    conda:
        "../envs/pairsig.yaml"
    params:
        counting=lambda wildcards: PLAN.counted(*wildcards)[1],
    script:
        "../scripts/extract.py"


rule collect_systems:
    """Combine the counts of all systems of a dataset in one file, with their provenance."""
    name:
        "collect"
    input:
        counts=lambda wildcards: PLAN.counts(wildcards.dataset),
    output:
        statistics="<results>/statistics/{dataset}.parquet",
    log:
        "<logs>/collect/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(PLAN.of_source("derived")),
    conda:
        "../envs/pairsig.yaml"
    params:
        order=lambda wildcards: PLAN.counts(wildcards.dataset),
        provenance=lambda wildcards: PLAN.provenance(wildcards.dataset),
    script:
        "../scripts/collect.py"


rule count:
    """Convert published outcomes, or a table of scores or counts, to counts of all systems at once."""
    input:
        outcomes=lambda wildcards: PLAN.outcomes(wildcards.dataset),
        verified=verified,
    output:
        statistics="<results>/statistics/{dataset}.parquet",
    log:
        "<logs>/count/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(PLAN.of_source("counted")),
    conda:
        "../envs/pairsig.yaml"
    params:
        counting=lambda wildcards: PLAN.counted_at_once(wildcards.dataset),
        provenance=lambda wildcards: PLAN.provenance(wildcards.dataset),
    script:
        "../scripts/count.py"


rule pool:
    """Pool several test sets, for the systems present in all of them."""
    input:
        statistics=lambda wildcards: PLAN.statistics(cell("pool")(wildcards).split()),
    output:
        statistics="<results>/statistics/{dataset}.parquet",
    log:
        "<logs>/pool/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(PLAN.of_source("pool")),
    conda:
        "../envs/pairsig.yaml"
    params:
        # Snakemake compares inputs as a set, but another order gives other draws.
        order=cell("pool"),
    script:
        "../scripts/pool.py"
