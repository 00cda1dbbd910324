"""The findings of a run, whose numbers are cells of its tables."""

TEMPLATES = ("study/findings/findings.md", "study/findings/numbers.jinja")


rule findings:
    """Write the findings as a page and as the first entry of the report."""
    input:
        tables=collect("<results>/tables/{table}.tsv", table=MADE),
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
    params:
        code=code("study.findings.text", files=TEMPLATES),
    script:
        "../scripts/findings.py"
