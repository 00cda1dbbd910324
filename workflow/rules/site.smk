"""The findings of a run, results/findings.md, the web pages of the study, results/site, and one of a dataset alone."""

SITE = Path(SRC, "study", "site")
PAGES = [os.path.relpath(path) for path in sorted(SITE.glob("[a-z]*/*.*"))]
DOCUMENTATION = [
    os.path.relpath(path) for path in sorted(SRC.parent.glob("docs/**/*.md"))
]

WRITTEN = collect("results/tables/{table}.tsv", table=TABLES)
# What else the pages are made from, by option of the command.
ON_PAGES = {
    "--comparisons": jobs.comparisons(once=True),
    "--test-sets": collect(
        "results/test_sets/{dataset}.{test}.parquet", dataset=RESIZED, test=TESTS[0]
    ),
    "--calibrated": ["results/calibrated.parquet"],
    "--datasets": jobs.sheet("datasets"),
    "--corpora": jobs.sheet("corpora"),
    "--figures": [jobs.picture(figure) for figure in STUDY_FIGURES]
    + [jobs.picture(*one) for one in DATASET_FIGURES if one[2] == TESTS[0]],
}


rule findings:
    """Write the findings, with numbers from the tables of this run."""
    input:
        tables=WRITTEN,
        library=library("findings"),
        templates=[path for path in PAGES if "templates" in path],
    output:
        findings="results/findings.md",
    log:
        "results/logs/findings.log",
    benchmark:
        "results/benchmarks/findings.tsv"
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(500),
        runtime=grown(5),
    params:
        words=["findings", *WRITTEN, "--output", "results/findings.md"],
    shell:
        r"""
        python -m study {params.words:q} >{log:q} 2>&1
        """


rule site:
    """Build the web pages for the first test; they open from disk and can be served anywhere."""
    input:
        tables=WRITTEN,
        shown=chain.from_iterable(ON_PAGES.values()),
        library=library("site"),
        pages=PAGES,
        documentation=DOCUMENTATION,
    output:
        site=directory("results/site"),
    log:
        "results/logs/site.log",
    benchmark:
        "results/benchmarks/site.tsv"
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1500),
        runtime=grown(5),
    params:
        words=[
            "site",
            *WRITTEN,
            *chain.from_iterable((name, *files) for name, files in ON_PAGES.items()),
            "--output",
            "results/site",
        ],
    shell:
        r"""
        python -m study {params.words:q} >{log:q} 2>&1
        """


rule page:
    """Rank the systems of a dataset on a page of its own, which a run on one's own data makes."""
    input:
        statistics=lambda w: study.datasets[w.dataset].statistics,
        library=library("page"),
        pages=PAGES,
    output:
        page="results/pages/{dataset}.html",
    log:
        "results/logs/page/{dataset}.log",
    benchmark:
        "results/benchmarks/page/{dataset}.tsv"
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(1500),
        runtime=grown(20),
    params:
        metric=lambda w: study.datasets[w.dataset].metric,
        n_resamples=min(config["resampling"]["n_resamples"], 100_000),
        seed=config["resampling"]["seed"],
        unit=config["resampling"]["unit"],
    shell:
        r"""
        python -m study page {input.statistics:q} \
            --metric {params.metric:q} \
            --n-resamples {params.n_resamples} --seed {params.seed} \
            --unit {params.unit} --threads {threads} \
            --output {output.page:q} \
            >{log:q} 2>&1
        """
