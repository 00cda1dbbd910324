import sys

from pairsig.io import tables
from pairsig.io.columns import COMPARISONS
from study.test_sets import all_pairs

sys.stderr = open(snakemake.log[0], "w")
tables.write(
    all_pairs.merge(tables.read(path, COMPARISONS) for path in snakemake.input.parts), snakemake.output.comparisons
)
