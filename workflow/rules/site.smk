"""The study as pages, for people: results/site/index.html."""

SITE = Path(workflow.basedir, "src", "study", "site")


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


rule site:
    """A folder of pages that opens from disk and can be served anywhere; of the first test."""
    input:
        tables=collect("results/tables/{table}.tsv", table=TABLES),
        comparisons=collect(
            "results/comparisons/{dataset}.{test}.tsv", dataset=SELECTED, test=TESTS[0]
        ),
        test_sets=collect(
            "results/test_sets/{dataset}.{test}.tsv", dataset=RESIZED, test=TESTS[0]
        ),
        calibrated="results/calibrated.parquet",
        datasets=config["sheets"]["datasets"],
        corpora=config["sheets"]["corpora"],
        figures=collect("results/figures/{figure}.svg", figure=STUDY_TABLES),
        dataset_figures=[
            f"results/figures/{figure}/{dataset}.{TESTS[0]}.svg"
            for dataset in SELECTED
            for figure in study.datasets[dataset].figures
        ],
        library=library("site"),
        pages=[
            os.path.relpath(path)
            for folder in ("templates", "assets")
            for path in sorted((SITE / folder).iterdir())
        ],
    output:
        site=directory("results/site"),
    log:
        "results/logs/site.log",
    benchmark:
        "results/benchmarks/site.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1500),
        runtime=grown(5),
    shell:
        r"""
        python -m study site {input.tables:q} \
            --comparisons {input.comparisons:q} \
            --test-sets {input.test_sets:q} \
            --calibrated {input.calibrated:q} \
            --datasets {input.datasets:q} \
            --corpora {input.corpora:q} \
            --figures {input.figures:q} {input.dataset_figures:q} \
            --output {output.site:q} \
            >{log:q} 2>&1
        """
