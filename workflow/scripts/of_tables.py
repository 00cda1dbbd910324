import sys
from importlib import import_module

from study.figures import style
from study.tables.declared import read

sys.stderr = open(snakemake.log[0], "w")
shown = snakemake.params.shown
module, _, function = shown["function"].partition(".")
draw = getattr(import_module(f"study.figures.{module}"), function)
figure = draw(*read(snakemake.input.tables).values())
style.write(figure, shown["title"], snakemake.output)
