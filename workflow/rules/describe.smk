"""The systems of every dataset: how good they are, and the ranks they may have."""


rule describe:
    """How many systems there are, how good they are, and which had to be left out."""
    input:
        statistics=collect("results/statistics/{dataset}.parquet", dataset=SELECTED),
        library=library("describe"),
    output:
        systems="results/tables/systems.tsv",
    log:
        "results/logs/describe.log",
    benchmark:
        "results/benchmarks/describe.tsv"
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        statistics=[
            f"results/statistics/{dataset}.parquet:{study.datasets[dataset].metric}"
            for dataset in SELECTED
        ],
    shell:
        r"""
        python -m study describe {params.statistics:q} \
            --output {output.systems:q} \
            >{log:q} 2>&1
        """


rule ranks:
    """The systems of every dataset with their scores, and the ranks they may have."""
    input:
        statistics=collect("results/statistics/{dataset}.parquet", dataset=SELECTED),
        library=library("ranks"),
    output:
        ranks="results/tables/ranks.tsv",
    log:
        "results/logs/ranks.log",
    benchmark:
        "results/benchmarks/ranks.tsv"
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    threads: 2
    resources:
        mem_mb=grown(2000),
        runtime=grown(10),
    params:
        statistics=[
            f"results/statistics/{dataset}.parquet:{study.datasets[dataset].metric}"
            for dataset in SELECTED
        ],
        n_resamples=min(config["resampling"]["n_resamples"], 10_000),
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study ranks {params.statistics:q} \
            --n-resamples {params.n_resamples} \
            --seed {params.seed} \
            --threads {threads} \
            --output {output.ranks:q} \
            >{log:q} 2>&1
        """
