"""Figures of the study: each function takes tables and returns a matplotlib `Figure` in the common style.

The record of an analysis names its figures, each with its module here and its tables; the function has the name of
the figure. The command `plot` reads the tables, checks their columns, and passes them on in the same order. If a table
has no rows, or too few to draw, the figure contains a sentence that says so. The title states what the intervals in the
tables show, or names what is plotted (`style.says`).
"""
