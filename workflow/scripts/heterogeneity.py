import sys

from study import inputs
from study.beyond.heterogeneity import HETEROGENEITY, NEXT_TEST_SETS, heterogeneity
from study.tables.columns import FAMILIES

sys.stderr = open(snakemake.log[0], "w")
data = inputs.data(snakemake.input.statistics, snakemake.params.metrics)
estimates, predictions = heterogeneity(data, inputs.sheet(snakemake.input.families, FAMILIES))
captions = snakemake.config["captions"]
inputs.write(estimates, HETEROGENEITY, snakemake.output.heterogeneity, captions)
inputs.write(predictions, NEXT_TEST_SETS, snakemake.output.next_test_sets, captions)
