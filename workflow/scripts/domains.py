import sys

from pairsig.comparisons import all_pairs
from study.figures import style
from study.figures.confidence import domains

sys.stderr = open(snakemake.log[0], "w")
figure = domains(all_pairs.read(snakemake.input.test_sets))
style.write(figure, snakemake.params.shown["title"], snakemake.output)
