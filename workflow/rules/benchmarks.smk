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


# Items are passed, failed, or given a share: exact tests of other scores take minutes. Without any the tables are empty.
BOARDS = [
    name
    for name in SELECTED
    if study.datasets[name].study == sheets.BENCHMARK
    and study.datasets[name].metric == "accuracy"
]
BOARD_TABLES = collect(
    "results/tables/{table}.tsv", table=["leaderboards", "items_needed", "dollars"]
)


rule leaderboards:
    """Neighbours told apart, the items that a gain needs, the share of sampling, dollars."""
    input:
        statistics=collect("results/statistics/{dataset}.parquet", dataset=BOARDS),
        library=library("leaderboards"),
    output:
        leaderboards="results/tables/leaderboards.tsv",
        items_needed="results/tables/items_needed.tsv",
        dollars="results/tables/dollars.tsv",
    log:
        "results/logs/leaderboards.log",
    benchmark:
        "results/benchmarks/leaderboards.tsv"
    group:
        "analyse"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        statistics=[
            f"results/statistics/{dataset}.parquet:{study.datasets[dataset].metric}"
            for dataset in BOARDS
        ],
        n_resamples=min(config["resampling"]["n_resamples"], 100_000),
        seed=lookup("resampling/seed", within=config),
    shell:
        r"""
        python -m study leaderboards {params.statistics:q} \
            --n-resamples {params.n_resamples} \
            --seed {params.seed} \
            --items-needed {output.items_needed:q} \
            --dollars {output.dollars:q} \
            --output {output.leaderboards:q} \
            >{log:q} 2>&1
        """
