"""The study as pages: one folder of HTML that opens from disk, made of the tables and figures of a run.

`site.build` writes it. Every number on a page is a cell of a table, or a count of such cells; `findings` says which.
The explorer draws with Vega, whose script comes with the Python package vl-convert-python and lies beside the pages:
nothing is fetched from anywhere.
"""

from study.site.build import Run, build, replace

__all__ = ["Run", "build", "replace"]
