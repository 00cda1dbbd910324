import sys

from study.corpora import counts

sys.stderr = open(snakemake.log[0], "w")
counts.collect(
    snakemake.input.counts, snakemake.output.statistics, snakemake.wildcards.dataset, snakemake.params.provenance
)
