import sys

from pairsig.io import tables
from study.findings import text
from study.tables.declared import read

sys.stderr = open(snakemake.log[0], "w")
ours = read(snakemake.input.tables)
page = text.findings(ours)
tables.write_text(page, snakemake.output.markdown)
tables.write_text(text.html_page(page), snakemake.output.html)
