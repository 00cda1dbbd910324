# The study: workflow/study.smk, whose rules are in workflow/rules. `snakemake` in this folder runs it as profiles/default
# says; `snakemake -n` shows what would run, `snakemake FILE` makes only that file.


include: "workflow/study.smk"


rule all:
    input:
        ALL,
