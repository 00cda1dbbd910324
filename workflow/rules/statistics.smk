"""Statistics of datasets that are not embedded: combined from their systems (derived), or pooled."""


rule collect_systems:
    """Combine the counts of all systems of a dataset in one file, with their provenance."""
    name:
        "collect"
    input:
        counts=collect(
            "results/counts/{{dataset}}/{system}.parquet",
            system=lambda w: study.datasets[w.dataset].systems,
        ),
        onto=lambda w: study.datasets[w.dataset].onto,
        library=library("collect"),
    output:
        statistics="results/statistics/{dataset}.parquet",
    log:
        "results/logs/collect/{dataset}.log",
    benchmark:
        "results/benchmarks/collect/{dataset}.tsv"
    wildcard_constraints:
        dataset=from_source("derived"),
    group:
        # Whenever one of its inputs is made, Snakemake (9.27) looks at all inputs of a job in a group.
        lambda w: "statistics" if len(study.datasets[w.dataset].systems) < 200 else None
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        provenance=lambda w: study.datasets[w.dataset].provenance,
    shell:
        r"""
        python -m pairsig collect {input.counts:q} \
            --dataset {wildcards.dataset:q} \
            {params.provenance:q} \
            --output {output.statistics:q} \
            >{log:q} 2>&1
        """


rule pool:
    """Pool several test sets, for the systems present in all of them."""
    input:
        statistics=lambda w: [
            study.datasets[one].statistics for one in study.datasets[w.dataset].pool
        ],
        library=library("pool"),
    output:
        statistics="results/statistics/{dataset}.parquet",
    log:
        "results/logs/pool/{dataset}.log",
    benchmark:
        "results/benchmarks/pool/{dataset}.tsv"
    wildcard_constraints:
        dataset=from_source("pool"),
    group:
        "statistics"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        # Snakemake compares inputs as a set, but another order gives other draws.
        order=lambda w: study.datasets[w.dataset].pool,
    shell:
        r"""
        python -m pairsig pool {input.statistics:q} \
            --dataset {wildcards.dataset:q} \
            --output {output.statistics:q} \
            >{log:q} 2>&1
        """
