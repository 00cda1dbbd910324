import sys

from pairsig.io import tables
from pairsig.io.columns import COMPARISONS
from study import inputs
from study.analysis.pairs import Window
from study.figures import confidence, style
from study.reproduction.thresholds import thresholds
from study.tables.columns import PUBLISHED

sys.stderr = open(snakemake.log[0], "w")
shown, paths = snakemake.params.shown, snakemake.input
published = inputs.sheet(paths.published, PUBLISHED)
comparisons, test_sets, overlay = (
    tables.read(*path, COMPARISONS) if path else None for path in (paths.comparisons, paths.test_sets, paths.overlay)
)
match shown["kind"]:
    case "sizes":
        figure = confidence.sizes(test_sets, comparisons, published)
    case "domains":
        figure = confidence.domains(test_sets)
    case kind:
        estimates = thresholds(comparisons, window=Window(**snakemake.params.window))
        figure = getattr(confidence, kind)(comparisons, estimates, published, overlay)
style.write(figure, shown["title"], snakemake.output)
