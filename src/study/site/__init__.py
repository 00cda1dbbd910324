"""The web pages of the study: one folder of HTML that opens from disk, built from the tables and figures of a run.

`site.build` writes the folder. `site.text` renders the findings, whose numbers are cells of tables. Both use
`templates/`. The explorer draws with Vega. Its script comes with the Python package vl-convert-python and is stored
beside the pages, so that nothing is loaded from the network.
"""

from pairsig.io.errors import InputError

try:
    from study.site.build import Run, build, replace
except ModuleNotFoundError as error:
    if str(error.name).startswith(("pairsig", "study")):
        raise
    raise InputError(
        f"found no Python module {error.name}, expected it for the pages; type pip install pairsig[workflow]"
    ) from None

__all__ = ["Run", "build", "replace"]
