import sys

from pairsig.comparisons import all_pairs
from study import inputs
from study.figures import confidence, style
from study.reproduction.thresholds import thresholds
from study.tables.columns import PUBLISHED

sys.stderr = open(snakemake.log[0], "w")
shown = snakemake.params.shown
comparisons = all_pairs.read(snakemake.input.comparisons)
published = inputs.sheet(snakemake.input.published, PUBLISHED)
draw = getattr(confidence, shown["kind"])
figure = draw(comparisons, thresholds(comparisons), published, *map(all_pairs.read, snakemake.input.overlay))
style.write(figure, shown["title"], snakemake.output)
