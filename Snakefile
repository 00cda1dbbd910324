# The study, from system outputs (or the statistics this project carries) to figures and the paper's numbers.
# Stages in the order of the data: see ARCHITECTURE.md.

from snakemake.utils import min_version

min_version("9.5")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


# On a cluster: what takes less than a submission, or needs the internet.
localrules:
    all,
    embed,
    fetch,
    jar,


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/prepare.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/describe.smk"
include: "workflow/rules/benchmarks.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/scatter.smk"
include: "workflow/rules/analyse.smk"
include: "workflow/rules/validate.smk"
include: "workflow/rules/next.smk"
include: "workflow/rules/montecarlo.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/site.smk"


rule all:
    default_target: True
    input:
        collect(
            "results/comparisons/{dataset}.{test}.tsv", dataset=SELECTED, test=TESTS
        ),
        collect("results/tables/{table}.html", table=TABLES),
        collect("results/figures/{figure}.svg", figure=STUDY_TABLES),
        DATASET_FIGURES,
        "results/site",
