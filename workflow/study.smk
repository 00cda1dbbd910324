"""The study, from system outputs or the embedded statistics to the papers' figures, tables and numbers on other data."""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"
configfile: "config/figures.yaml"


report: "report/workflow.rst"


# `make container` builds it; `--sdm apptainer` runs every job in it, and fails without it.
container: "pairsig.sif"


# Into how many jobs the comparison of a dataset in `split` is divided; `--set-scatter resamples=8` changes it.
scattergather:
    resamples=2,


include: "rules/common.smk"
include: "rules/corpora.smk"
include: "rules/train.smk"
include: "rules/counts.smk"
include: "rules/compare.smk"
include: "rules/analyses.smk"
include: "rules/figures.smk"
include: "rules/findings.smk"


# What a run makes.
ALL = [
    *collect("<results>/comparisons/{dataset}.parquet", dataset=PLAN.selected),
    *collect("<results>/figures/{figure}.svg", figure=FIGURES),
    *collect("<results>/tables/{table}.html", table=MADE),
]
if "reproduction" in MADE:
    ALL.append("<results>/findings.html")
    config["findings"] = "{}/findings.html".format(
        config.get("pathvars", {}).get("results", "results")
    )
