"""The study on top of pairsig: sheets, corpora, base models, analyses, figures, and the numbers of the papers.

The scripts of the workflow call its functions. It is not installed with the library.
"""
