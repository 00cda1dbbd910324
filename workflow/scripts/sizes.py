import sys

from pairsig.comparisons import all_pairs
from study import inputs
from study.figures import style
from study.figures.confidence import sizes
from study.tables.columns import PUBLISHED

sys.stderr = open(snakemake.log[0], "w")
test_sets, comparisons = map(all_pairs.read, (snakemake.input.test_sets, snakemake.input.comparisons))
figure = sizes(test_sets, comparisons, inputs.sheet(snakemake.input.published, PUBLISHED))
style.write(figure, snakemake.params.shown["title"], snakemake.output)
