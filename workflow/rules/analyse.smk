"""What the comparisons tell: thresholds, the law of size, and the smaller claims of the papers."""


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
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        window=lookup("thresholds", within=config),
    shell:
        r"""
        python -m study thresholds {input.comparisons:q} {input.test_sets:q} --datasets {input.datasets:q} \
            --p-low {params.window[p_low]:q} \
            --p-high {params.window[p_high]:q} \
            --percentile {params.window[percentile]:q} \
            --min-pairs {params.window[min_pairs]:q} \
            --size-law {output.size_law:q} \
            --output {output.thresholds:q} \
            >{log:q} 2>&1
        """


# What needs more than comparisons is tested on one dataset or two of each task.
CLAIMED = [
    name
    for name in [
        "realsumm",
        "hansards-synthetic",
        "hansards-110",
        "conll2018-en_ewt",
        "ewt-test",
        "icepahc-modern",
        "mt-hansards",
        "wmt21-de-en",
        "wmt23-ja-en",
        "wmt24-en-de",
    ]
    if name in SELECTED
]


rule claims:
    """Test what costs little: small claims of the papers, and why numbers of ours are not theirs."""
    input:
        comparisons=of_text(COMPARISONS),
        test_sets=of_text(TEST_SETS),
        systems="results/tables/systems.tsv",
        statistics=collect("results/statistics/{dataset}.parquet", dataset=CLAIMED),
        library=library("claims"),
    output:
        claims="results/tables/claims.tsv",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/benchmarks/claims.tsv"
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        statistics=[
            f"results/statistics/{dataset}.parquet:{study.datasets[dataset].metric}"
            for dataset in CLAIMED
        ],
        n_resamples=min(config["resampling"]["n_resamples"], 100_000),
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study claims {input.comparisons:q} {input.test_sets:q} \
            --systems {input.systems:q} \
            --statistics {params.statistics:q} \
            --n-resamples {params.n_resamples} \
            --seed {params.seed} \
            --threads {threads} \
            --output {output.claims:q} \
            >{log:q} 2>&1
        """
