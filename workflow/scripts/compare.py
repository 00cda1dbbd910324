import sys

from pairsig.core import statistics
from pairsig.io import tables
from study.test_sets.compare import whole

sys.stderr = open(snakemake.log[0], "w")
comparisons = whole(
    statistics.read(snakemake.input.statistics),
    snakemake.params.metric,
    part=snakemake.params.part,
    threads=snakemake.threads,
    **snakemake.params.drawn,
)
tables.write(comparisons, snakemake.output.comparisons)
