import sys

from pairsig.core import statistics
from pairsig.io import tables
from study.test_sets import all_pairs

sys.stderr = open(snakemake.log[0], "w")
number, _, parts = snakemake.params.part.partition("-of-")
comparisons = all_pairs.compare(
    statistics.read(snakemake.input.statistics),
    metric=snakemake.params.metric,
    part=(int(number), int(parts)),
    threads=snakemake.threads,
    **snakemake.params.drawn,
)
tables.write(comparisons, snakemake.output.comparisons)
