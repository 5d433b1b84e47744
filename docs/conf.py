"""The site: `sphinx-build -W --keep-going -n docs docs/_build/html` (`pip install '.[docs]'`)."""

import sys
from importlib.util import find_spec
from pathlib import Path

import onlinekern

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "onlinekern"
author = "The onlinekern developers"
copyright = author
version = release = onlinekern.__version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "names",
    "narrow",
    "reference",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.json"]

# In docstrings a name in single quotes is a link if it is public, and code if it is not: a
# parameter, an attribute. So what has no capital is not asked to exist.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", r"[a-z_].*|[A-Z]")]
# Of scikit-learn, whose names need the network to be looked up.
nitpick_ignore = [("py:obj", "ConvergenceWarning")]

# The docstrings of onlinekern.compat need no other libraries, which not every Python has. Examples
# use those that are there.
autodoc_mock_imports = [
    name for name in ("onnx", "pyspark", "river", "skl2onnx") if find_spec(name) is None
]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": ["../examples/tasks", "../examples/figures"],
    # All of them: a minute. `-D plot_gallery=0` builds the pages without running them.
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py$",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "onlinekern"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Pages without pages below them have no list of these.
html_sidebars = {"start": [], "choosing": []}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "onlinekern"},
    "icon_links": [
        {
            "name": "Source",
            "url": "https://github.com/onlinekern/onlinekern",
            "icon": "fa-brands fa-github",
        }
    ],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
