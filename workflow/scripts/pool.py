import sys

from pairsig.core import statistics

sys.stderr = open(snakemake.log[0], "w")
parts = [statistics.read(path) for path in snakemake.input.statistics]
statistics.write(statistics.pool(parts, dataset=snakemake.wildcards.dataset), snakemake.output.statistics)
