import sys

from pairsig.core import statistics
from pairsig.io import tables
from study.test_sets.resize import resize

sys.stderr = open(snakemake.log[0], "w")
comparisons = resize(
    statistics.read(snakemake.input.statistics),
    snakemake.params.made,
    metric=snakemake.params.metric,
    threads=snakemake.threads,
    **snakemake.params.drawn,
)
tables.write(comparisons, snakemake.output.comparisons)
