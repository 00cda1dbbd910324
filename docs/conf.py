"""Settings of the documentation, which `make docs` builds. Neither the build nor the pages use the network."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

import generated  # noqa: E402
from docutils import nodes  # noqa: E402

import pairsig  # noqa: E402

project = "pairsig"
author = "The pairsig developers"
copyright = author  # noqa: A001
version = release = pairsig.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "executed"]
# The first one is that of the generated pages of the API.
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
autosummary_generate = True
autosummary_generate_overwrite = True
nitpicky = True
# References to types of numpy and the standard library would need the network.
nitpick_ignore_regex = [("py:.*", r".*")]
default_role = "literal"

nb_execution_mode = "off" if os.environ.get("PAIRSIG_DOCS_UNEXECUTED") else "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds per cell; on a busy machine numba takes half a minute to compile

myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Unit", "Progress", "Adjustment", "Claim", "AnyPath")}
python_maximum_signature_line_length = 80
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "pairsig"
html_static_path = ["_static"]
html_css_files = ["pairsig.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "**": ["globaltoc.html"]}  # all pages under their captions; the front page has a table
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "navbar_center": [],
    "article_header_start": ["breadcrumbs"],
}


def _escape(*arguments: Any) -> None:
    """Escape formulas in docstrings: |δ| is no substitution, and δ* does not begin an emphasis."""
    lines: list[str] = arguments[-1]
    parts = re.compile(r"(``.*?``|`[^`]*`|^\s*>>>.*|^\s*\.\.\. .*)")
    for number, line in enumerate(lines):
        lines[number] = "".join(
            part if part[:1] == "`" or part.lstrip()[:3] in (">>>", "...") else re.sub(r"\||(?<=δ)\*", r"\\\g<0>", part)
            for part in parts.split(line)
        )


def _named(*arguments: Any) -> tuple[str, str] | None:
    """Show aliases of types by their names. Properties, and classes that only pairsig constructs, have no signature."""
    if not any(arguments[-2:]):
        return None
    signature, returned = (re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text or "") for text in arguments[-2:])
    if re.search(r"[(,] ?_\w", signature):
        return "", ""
    return signature.replace("inputs.ColumnName", "str | int").replace("inputs.Data", "Data"), returned


def _links(_: object, page: str, source: list[str]) -> None:
    source[0] = generated.linked(source[0], HERE / f"{page}.md")


def _wrap(_: object, page: nodes.document) -> None:
    for block in page.findall(nodes.literal_block):
        if "--format sentence\n" in block.astext():
            block["classes"].append("wraps")
        tables = [line for line in block.astext().splitlines() if not line.startswith("- ")]
        if max(map(len, tables), default=0) <= 100 < max(map(len, block.astext().splitlines()), default=0):
            block["classes"].append("notes")


def setup(app: Any) -> None:
    """Entry point for Sphinx."""
    generated.write()
    app.connect("autodoc-process-docstring", _escape, priority=100)
    app.connect("autodoc-process-signature", _named)
    app.connect("source-read", _links, priority=900)
    app.connect("doctree-read", _wrap)
