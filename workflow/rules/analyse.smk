"""What the comparisons tell: thresholds and the law of size."""


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
