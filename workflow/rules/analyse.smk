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
            command=name.replace("_", "-"),
            words=jobs.words(record),
        shell:
            # Snakemake does not record params that depend on `threads`, so a change of these would repeat no job.
            "python -m study {params.command} {params.words:q}"
            + " --threads {threads}" * ("threads" in record.inputs)
            + " >{log:q} 2>&1"


# Starting Python and reading the library takes two seconds of CPU, as long as most of them in a quick run. The one that
# measures time reserves all cores, so it has a job of its own.
TOGETHER = {
    name: record
    for name, record in analysis.every().items()
    if config["together"] and record.function and record.threads
}

if TOGETHER:
    files, words = jobs.together(TOGETHER)

    rule analyse:
        """Run the analyses one after another in one job."""
        input:
            files,
            library=sorted(set().union(*map(library, TOGETHER))),
        output:
            [output.file for record in TOGETHER.values() for output in record.tables],
        log:
            "results/logs/analyse.log",
        benchmark:
            "results/benchmarks/analyse.tsv"
        group:
            "analyse"
        conda:
            "../envs/pairsig.yaml"
        threads: max(record.threads for record in TOGETHER.values())
        resources:
            mem_mb=grown(max(record.memory for record in TOGETHER.values())),
            runtime=grown(sum(record.minutes for record in TOGETHER.values())),
        params:
            words=words,
        shell:
            r"""
            python -m study {params.words:q} >{log:q} 2>&1
            """


rule tabulate:
    """Convert the tables to CSV, Markdown, LaTeX and HTML."""
    input:
        tables=collect("results/tables/{table}.tsv", table=TABLES),
        library=library("tabulate"),
    output:
        csv=collect("results/tables/{table}.csv", table=TABLES),
        md=collect("results/tables/{table}.md", table=TABLES),
        tex=collect("results/tables/{table}.tex", table=TABLES),
        html=[
            report(
                f"results/tables/{table}.html",
                caption=CAPTIONS / f"tables/{table}.rst",
                category="Tables",
                labels={"table": table},
            )
            for table in TABLES
        ],
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
    shell:
        r"""
        python -m study tabulate {input.tables:q} \
            --output {output:q} \
            >{log:q} 2>&1
        """
