"""The documentation site: `sphinx-build -n -W docs OUT`. It needs no network and makes pages that need none."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_site"))

from serq.base.version import __version__  # noqa: E402

project = "serQ"
author = "the serQ authors"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "site_mathml", "site_contents", "site_lexer", "site_families"]
exclude_patterns = ["_site/**"]
html_theme = "furo"
html_title = "serQ"
html_math_renderer = "mathml"
html_copy_source = False
html_static_path = ["_site/static"]
html_css_files = ["serq.css"]

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = True
default_role = "code"
python_use_unqualified_type_names = True
nitpick_ignore_regex = [
    # Types in signatures whose home has no page: Python's own, and what answers are made of.
    (r"py:.*", r"(?!serq\.api\.|serq\.pipeline\.).+"),
]
