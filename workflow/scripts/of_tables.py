import sys
from importlib import import_module

from pairsig.io import tables
from study.figures import style
from study.tables.declared import declared

sys.stderr = open(snakemake.log[0], "w")
shown = snakemake.params.shown
module, _, function = shown["function"].partition(".")
draw = getattr(import_module(f"study.figures.{module}"), function)
paths = zip(shown["tables"], snakemake.input.tables, strict=True)
figure = draw(*(tables.read(path, declared(name)) for name, path in paths))
style.write(figure, shown["title"], snakemake.output)
