"""How the documentation is built: `make docs`. Nothing is fetched, and the pages fetch nothing."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

import generated  # noqa: E402

import pairsig  # noqa: E402

project = "pairsig"
author = "The pairsig developers"
copyright = author  # noqa: A001
version = release = pairsig.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "executed"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
autosummary_generate = False
nitpicky = True
# Types of numpy and of the standard library are not looked up in other projects' pages: that needs a network.
nitpick_ignore_regex = [("py:.*", r".*")]
default_role = "literal"

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
html_sidebars = {"index": [], "tutorial": []}
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 6,
    "article_header_start": ["breadcrumbs"],
}


def _escape(*arguments: Any) -> None:
    """Formulas in docstrings are text: no substitutions |δ|, and δ* begins no emphasis."""
    lines: list[str] = arguments[-1]
    parts = re.compile(r"(`[^`]*`|``.*?``|^\s*>>>.*|^\s*\.\.\. .*)")
    for number, line in enumerate(lines):
        lines[number] = "".join(
            part if part[:1] == "`" or part.lstrip()[:3] in (">>>", "...") else re.sub(r"\||(?<=δ)\*", r"\\\g<0>", part)
            for part in parts.split(line)
        )


def _named(*arguments: Any) -> tuple[str, str]:
    """Aliases of types by their names."""
    signature, returned = (re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text or "") for text in arguments[-2:])
    return signature, returned


def _links(_: object, page: str, source: list[str]) -> None:
    if page == "how-to":  # a pattern in its list stands for pages there may be
        lines = source[0].splitlines()
        source[0] = "\n".join(line for line in lines if not line.endswith("*") or any(HERE.glob(f"{line}.md")))
    source[0] = generated.linked(source[0], HERE / f"{page}.md")


def setup(app: Any) -> None:
    """What Sphinx calls."""
    generated.write()
    app.connect("autodoc-process-docstring", _escape, priority=100)
    app.connect("autodoc-process-signature", _named)
    app.connect("source-read", _links, priority=900)
