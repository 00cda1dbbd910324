"""The findings of a run, whose numbers are cells of its tables."""

TEMPLATES = ("study/findings/findings.jinja", "study/findings/numbers.jinja")


rule findings:
    """Write the findings, with which the report begins (report/workflow.rst)."""
    input:
        tables=collect("<results>/tables/{table}.tsv", table=MADE),
    output:
        markdown="<results>/findings.md",
        html="<results>/findings.html",
    log:
        "<logs>/findings.log",
    benchmark:
        "<benchmarks>/findings.tsv"
    conda:
        "../envs/pairsig.yaml"
    params:
        code=code("study.findings.text", files=TEMPLATES),
    script:
        "../scripts/findings.py"
