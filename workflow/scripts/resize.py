import sys

from pairsig.core import statistics
from pairsig.io import tables
from study.test_sets.resize import made

sys.stderr = open(snakemake.log[0], "w")
comparisons = made(
    statistics.read(snakemake.input.statistics),
    snakemake.params.metric,
    snakemake.params.made,
    threads=snakemake.threads,
    **snakemake.params.drawn,
)
tables.write(comparisons, snakemake.output.comparisons)
