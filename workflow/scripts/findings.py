import sys
from pathlib import Path

from pairsig.io import tables
from study.findings import text
from study.tables.declared import declared

sys.stderr = open(snakemake.log[0], "w")
ours = {name: tables.read(path, declared(name)) for path in snakemake.input.tables for name in [Path(path).stem]}
page = text.findings(ours)
tables.write_text(page, snakemake.output.markdown)
tables.write_text(text.html_page(page), snakemake.output.html)
