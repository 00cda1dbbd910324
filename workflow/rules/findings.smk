"""The findings of a run, whose numbers are cells of its tables."""


rule findings:
    """Write the findings as a page and as the first entry of the report."""
    input:
        tables=collect("<results>/tables/{table}.tsv", table=MADE),
        templates=[
            workflow.source_path(f"../../src/study/findings/{name}")
            for name in ("findings.md", "numbers.jinja")
        ],
    output:
        markdown="<results>/findings.md",
        html=report(
            "<results>/findings.html",
            caption="../report/findings.rst",
            category="0. Findings",
            labels={"page": "findings"},
        ),
    log:
        "<logs>/findings.log",
    benchmark:
        "<benchmarks>/findings.tsv"
    conda:
        "../envs/pairsig.yaml"
    resources:
        mem_mb=grown(2000),
        runtime=grown(20),
    params:
        code=code("study.findings.text"),
    script:
        "../scripts/findings.py"
