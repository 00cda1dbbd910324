import sys

from study import inputs
from study.analysis.pairs import Window
from study.reproduction.calibrate import CALIBRATION_TABLE, TABLE_1, calibrate_and_arrange
from study.tables.columns import CALIBRATIONS, PUBLISHED

sys.stderr = open(snakemake.log[0], "w")
comparisons = inputs.comparisons(snakemake.input.comparisons)
calibrations = inputs.sheet(snakemake.input.calibrations, CALIBRATIONS)
published = inputs.sheet(snakemake.input.published, PUBLISHED)
rates, paper = calibrate_and_arrange(comparisons, calibrations, published, Window(**snakemake.params.window))
inputs.write(rates, CALIBRATION_TABLE, snakemake.output.calibration)
inputs.write(paper, TABLE_1, [*snakemake.output.table_1, snakemake.output.latex])
