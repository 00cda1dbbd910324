import sys

from study import inputs
from study.reproduction.check import REPRODUCTION, TALLY, check
from study.tables.columns import PUBLISHED
from study.tables.declared import read

sys.stderr = open(snakemake.log[0], "w")
ours = read(snakemake.input.tables)
verdicts, tally = check(inputs.sheet(snakemake.input.published, PUBLISHED), **ours)
inputs.write(verdicts, REPRODUCTION, snakemake.output.reproduction)
inputs.write(tally, TALLY, [*snakemake.output.tally, snakemake.output.latex])
