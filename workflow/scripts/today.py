import sys

from pairsig.core import statistics
from study import inputs
from study.beyond.today import TODAY, YEARS, today, years

sys.stderr = open(snakemake.log[0], "w")
data = [statistics.read(path) for path in snakemake.input.statistics]
inputs.write(today(data), TODAY, snakemake.output.today)
inputs.write(years(data), YEARS, snakemake.output.years)
