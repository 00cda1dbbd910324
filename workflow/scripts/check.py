import sys
from pathlib import Path

from pairsig.io import tables
from study import inputs
from study.reproduction.check import REPRODUCTION, TALLY, check
from study.tables.columns import PUBLISHED
from study.tables.declared import declared

sys.stderr = open(snakemake.log[0], "w")
ours = {name: tables.read(path, declared(name)) for path in snakemake.input.tables for name in [Path(path).stem]}
verdicts, tally = check(inputs.sheet(snakemake.input.published, PUBLISHED), **ours)
captions = snakemake.config["captions"]
inputs.write(verdicts, REPRODUCTION, snakemake.output.reproduction, captions)
inputs.write(tally, TALLY, [*snakemake.output.tally, snakemake.output.latex], captions)
