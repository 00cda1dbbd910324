"""What the comparisons tell: thresholds and the law of size, similarity."""


rule thresholds:
    """The gain that is probably significant, and how it falls with the size of the test set."""
    input:
        comparisons=COMPARISONS,
        test_sets=TEST_SETS,
        datasets=config["sheets"]["datasets"],
        library=library("thresholds"),
    output:
        thresholds="results/tables/thresholds.tsv",
        size_law="results/tables/size_law.tsv",
    log:
        "results/logs/thresholds.log",
    benchmark:
        "results/benchmarks/thresholds.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        window=lookup("thresholds", within=config),
    shell:
        r"""
        python -m study thresholds {input.comparisons:q} {input.test_sets:q} \
            --datasets {input.datasets:q} \
            --p-low {params.window[p_low]:q} \
            --p-high {params.window[p_high]:q} \
            --percentile {params.window[percentile]:q} \
            --min-pairs {params.window[min_pairs]:q} \
            --size-law {output.size_law:q} \
            --output {output.thresholds:q} \
            >{log:q} 2>&1
        """


rule similarity:
    """How alike the systems of each pair are, and what that does to the gain they need."""
    input:
        statistics="results/statistics/{dataset}.parquet",
        comparisons="results/comparisons/{dataset}.{test}.tsv",
        library=library("similarity"),
    output:
        similarity="results/similarity/{dataset}.{test}.tsv",
    log:
        "results/logs/similarity/{dataset}.{test}.log",
    benchmark:
        "results/benchmarks/similarity/{dataset}.{test}.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        metric=lambda w: study.datasets[w.dataset].metric,
    shell:
        r"""
        python -m study similarity {input.statistics:q} \
            --metric {params.metric:q} \
            --comparisons {input.comparisons:q} \
            --output {output.similarity:q} \
            >{log:q} 2>&1
        """
