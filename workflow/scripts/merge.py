import sys

from pairsig.comparisons import all_pairs
from pairsig.io import tables

sys.stderr = open(snakemake.log[0], "w")
tables.write(all_pairs.merge(map(all_pairs.read, snakemake.input.parts)), snakemake.output.comparisons)
