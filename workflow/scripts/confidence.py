import sys

from pairsig.io import tables
from pairsig.io.columns import COMPARISONS
from study import inputs
from study.analysis.pairs import Window
from study.figures import confidence, style
from study.tables.columns import PUBLISHED

sys.stderr = open(snakemake.log[0], "w")
shown, window, paths = snakemake.params.shown, Window(**snakemake.params.window), snakemake.input
shown_pairs = {
    name: tables.read(*paths[name], COMPARISONS) if paths[name] else None
    for name in ("comparisons", "test_sets", "overlay")
}
figure = confidence.draw(shown["kind"], window, inputs.sheet(paths.published, PUBLISHED), **shown_pairs)
style.write(figure, shown["title"], snakemake.output)
