"""The study on top of pairsig: sheets, corpora, base models, analyses, figures, and the numbers of the papers.

The workflow calls it (`python -m study COMMAND`); it is not part of what a user of the library installs.
"""
