import sys

from pairsig.comparisons import pair_tables
from study import inputs
from study.figures import confidence, style
from study.reproduction.thresholds import thresholds
from study.tables.columns import PUBLISHED

sys.stderr = open(snakemake.log[0], "w")
shown = snakemake.params.shown
comparisons = pair_tables.read(snakemake.input.comparisons)
published = inputs.sheet(snakemake.input.published, PUBLISHED)
draw = getattr(confidence, shown["kind"])
figure = draw(comparisons, thresholds(comparisons), published, *map(pair_tables.read, snakemake.input.overlay))
style.write(figure, shown["title"], snakemake.output)
