import sys

from pairsig.comparisons import pair_tables
from pairsig.io import tables

sys.stderr = open(snakemake.log[0], "w")
tables.write(pair_tables.merge(map(pair_tables.read, snakemake.input.parts)), snakemake.output.comparisons)
