"""Counts per segment: of the outputs of each system, collected by dataset; of published outcomes; and pooled ones."""


rule extract:
    """Count the statistics of each segment in the outputs of one system."""
    input:
        # One function for output, reference, documents and verified: calling functions takes most of a plan's time.
        unpack(read),
    output:
        counts="<results>/counts/{dataset}/{system}.parquet",
    log:
        "<logs>/extract/{dataset}/{system}.log",
    benchmark:
        "<benchmarks>/extract/{dataset}/{system}.tsv"
    group:
        "extract"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        counting=counting,
    script:
        "../scripts/extract.py"


rule collect_systems:
    """Combine the counts of all systems of a dataset in one file, with their provenance."""
    name:
        "collect"
    input:
        counts=lambda wildcards: collect(
            "<results>/counts/{{dataset}}/{system}.parquet",
            system=PLAN.counted_systems(wildcards.dataset),
        ),
    output:
        statistics="<results>/statistics/{dataset}.parquet",
    log:
        "<logs>/collect/{dataset}.log",
    benchmark:
        "<benchmarks>/collect/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.of_source("derived")),
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        order=lambda wildcards: PLAN.counted_systems(wildcards.dataset),
        provenance=lambda wildcards: PLAN.provenance(wildcards.dataset),
    script:
        "../scripts/collect.py"


rule count:
    """Convert published outcomes, or a table of scores or counts, to counts of all systems at once."""
    input:
        outcomes=lambda wildcards: PLAN.outcomes(wildcards.dataset),
        verified=verified(lambda wildcards: DATASETS[wildcards.dataset]),
    output:
        statistics="<results>/statistics/{dataset}.parquet",
    log:
        "<logs>/count/{dataset}.log",
    benchmark:
        "<benchmarks>/count/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(PLAN.of_source("counted")),
    group:
        "statistics"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        reader=lambda wildcards: DATASETS[wildcards.dataset]["reader"],
        metric=lambda wildcards: DATASETS[wildcards.dataset]["metric"],
        options=lambda wildcards: sheets.pairs(
            DATASETS[wildcards.dataset].get("options", "")
        ),
        systems=lambda wildcards: [
            (row["system"], row.get("group", ""), row.get("kind", ""))
            for row in PLAN.systems.get(wildcards.dataset, {}).values()
        ],
        provenance=lambda wildcards: PLAN.provenance(wildcards.dataset),
    script:
        "../scripts/count.py"


rule pool:
    """Pool several test sets, for the systems present in all of them."""
    input:
        statistics=lambda wildcards: statistics(
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
    group:
        "statistics"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        # Snakemake compares inputs as a set, but another order gives other draws.
        order=lambda wildcards: DATASETS[wildcards.dataset]["pool"],
    script:
        "../scripts/pool.py"
