"""The study on top of pairsig: sheets, corpora, base models, analyses, figures, and the numbers of the papers.

The workflow calls it by `python -m study COMMAND`. It is not installed with the library.
"""
