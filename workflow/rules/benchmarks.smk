"""Benchmarks of language models: published outcomes."""


rule count:
    """Convert the published outcomes of a benchmark to statistics, for all of its systems."""
    input:
        outcomes=lambda w: study.datasets[w.dataset].outcomes,
        verified=collect(
            "results/corpora/{corpus}.sha256",
            corpus=lambda w: study.datasets[w.dataset].corpora,
        ),
        library=library("count"),
    output:
        statistics="results/statistics/{dataset}.parquet",
    log:
        "results/logs/count/{dataset}.log",
    benchmark:
        "results/benchmarks/count/{dataset}.tsv"
    wildcard_constraints:
        dataset=from_source("counted"),
    group:
        "statistics"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1000),
        runtime=grown(10),
    params:
        options=lambda w: study.datasets[w.dataset].counting,
        provenance=lambda w: study.datasets[w.dataset].provenance,
    shell:
        r"""
        python -m study count {input.outcomes:q} \
            {params.options:q} \
            --dataset {wildcards.dataset:q} \
            {params.provenance:q} \
            --output {output.statistics:q} \
            >{log:q} 2>&1
        """
