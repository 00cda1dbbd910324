# The study, from system outputs (or the embedded statistics) to figures and published numbers beside ours.
# The stages follow the data; see ARCHITECTURE.md.

from snakemake.utils import min_version

min_version("9.5")


configfile: "config/config.yaml"


# Rules that run outside the cluster: they take less time than a submission, or require the internet.
localrules:
    all,
    fetch,
    jar,


include: "workflow/rules/common.smk"


report: CAPTIONS / "workflow.rst"


include: "workflow/rules/data.smk"
include: "workflow/rules/prepare.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/benchmarks.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/scatter.smk"
include: "workflow/rules/analyse.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/site.smk"
include: "workflow/rules/alone.smk"
include: "workflow/rules/together.smk"


onstart:
    # Snakemake (9.27) keeps its limit of jobs per second with a timer for each job that has finished. Each timer starts
    # its successor, so they never end: in a full run, they took minutes of CPU time.
    workflow.scheduler.job_rate_limiter = None


rule all:
    default_target: True
    input:
        collect(
            "results/comparisons/{dataset}.{test}.parquet",
            dataset=SELECTED,
            test=TESTS,
        ),
        map(str, DATASET_PICTURES),
        collect("results/pages/{dataset}.html", dataset=SELECTED)
        if jobs.own_data
        else [
            *collect("results/tables/{table}.html", table=TABLES),
            *map(str, PICTURES),
            "results/findings.md",
            "results/site",
        ],
