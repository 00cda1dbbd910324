"""Analyses, as their records in src/study/reproduction and src/study/beyond declare them, and their tables for readers."""

for name, record in analysis.every().items():
    if record.function is None:  # it only has figures
        continue

    rule:
        """Run an analysis; the help of its command describes it."""
        name:
            name
        input:
            **jobs.inputs(record),
            library=library(name),
        output:
            [output.file for output in record.tables],
        log:
            f"results/logs/{name}.log",
        benchmark:
            f"results/benchmarks/{name}.tsv"
        group:
            record.group
        conda:
            "../envs/pairsig.yaml"
        threads: record.threads or workflow.resource_settings.cores or 1
        resources:
            mem_mb=grown(record.memory),
            runtime=grown(record.minutes),
        params:
            words=[name.replace("_", "-"), *jobs.words(record)],
        shell:
            # Snakemake does not record params that depend on `threads`, so a change of these would repeat no job.
            "python -m study {params.words:q}"
            + " --threads {threads}" * ("threads" in record.inputs)
            + " >{log:q} 2>&1"


# The tables for readers.
TABULATED = [
    in_report(
        f"results/tables/{table}.html",
        f"tables/{table}.rst",
        "Tables",
        labels={"table": table},
    )
    for table in TABLES
] + collect(
    "results/tables/{table}{suffix}",
    table=TABLES,
    suffix=[suffix for suffix in READABLE if suffix != ".html"],
)


rule tabulate:
    """Convert the tables to CSV, Markdown, LaTeX and HTML."""
    input:
        tables=collect("results/tables/{table}.tsv", table=TABLES),
        library=library("tabulate"),
    output:
        TABULATED,
    log:
        "results/logs/tabulate.log",
    benchmark:
        "results/benchmarks/tabulate.tsv"
    group:
        "figures"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(500),
        runtime=grown(5),
    params:
        words=jobs.tabulated(TABLES),
    shell:
        r"""
        python -m study {params.words:q} >{log:q} 2>&1
        """
