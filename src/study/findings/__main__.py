"""`python -m study.findings TABLES FINDINGS PAGE …`: write the findings of a folder of tables, and fill in pages."""

import sys
from pathlib import Path

from pairsig.io import tables
from study.findings import text
from study.tables.declared import read

folder, findings, *pages = map(Path, sys.argv[1:])
ours = read(sorted(folder.glob("*.tsv")))
written = {findings: text.findings(ours, folder.name)}
for page in pages:
    content = page.read_text(encoding="utf-8")
    written[page] = text.filled(content, ours)
for page, content in written.items():
    tables.write_text(content, page)
