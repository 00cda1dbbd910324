"""Benchmarks of language models: outcomes that others have published, and what they tell of a leaderboard."""


rule count:
    """Count the outcomes of a benchmark, of all its systems at once."""
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
