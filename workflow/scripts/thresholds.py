import sys

from study import inputs
from study.analysis.pairs import Window
from study.reproduction.thresholds import SIZE_SCALING, THRESHOLDS, size_scaling, thresholds

sys.stderr = open(snakemake.log[0], "w")
comparisons, tasks = inputs.comparisons(snakemake.input.comparisons), snakemake.params.tasks
window = Window(**snakemake.params.window)
inputs.write(thresholds(comparisons, tasks=tasks, window=window), THRESHOLDS, snakemake.output.thresholds)
inputs.write(size_scaling(comparisons), SIZE_SCALING, snakemake.output.size_scaling)
