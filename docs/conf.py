"""Sphinx configuration. Build with ``sphinx-build -W docs docs/_build``."""

import os
import re
import sys
import tomllib
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

sys.path.insert(0, str(Path(__file__).parent))

from docutils import nodes

import skcalib
from skcalib import _names

# The gallery looks for the shortest path of a name. It would find the old ones.
for _table in (_names.MOVED, _names.OLD, _names.REPLACED):
    _table.clear()

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
VALIDATION = tomllib.loads(PYPROJECT.read_text("utf-8"))["tool"]["numpydoc_validation"]

project = "skcalib"
author = "The skcalib developers"
copyright = "2026, The skcalib developers"
version = release = skcalib.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "_mathml",
    "_measured",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_reredirects",
]
# The inventories of other projects need a network, without which the documentation
# has to build: their names become links where it is built online.
if os.environ.get("SKCALIB_DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
}
linkcheck_timeout, linkcheck_retries, linkcheck_workers = 20, 2, 4
# Publishers turn programs away.
linkcheck_ignore = [r"https://doi\.org/.*", r"https://dl\.acm\.org/.*"]
exclude_patterns = ["_build", "examples"]
templates_path = ["_templates"]
default_role = "literal"

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_validation_checks = set(VALIDATION["checks"])
numpydoc_validation_exclude = set(VALIDATION["exclude"])
numpydoc_validation_overrides = {
    key.removeprefix("override_"): patterns
    for key, patterns in VALIDATION.items()
    if key.startswith("override_")
}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skcalib",),
    "reference_url": {"skcalib": None},
    "abort_on_example_error": True,
    "show_signature": False,
    # Pages of running times, which load a script from the network.
    "write_computation_times": False,
    "image_srcset": ["2x"],
    # What drawing returns says nothing to a reader.
    "ignore_repr_types": r"matplotlib\.",
}

# Pages that moved, by their address of release 0.9.
MOVED = {
    "guide/bin_size": "experiments/bin_size.html",
    "guide/coref_corpora": "experiments/coref_corpora.html",
    "guide/corrected_counts": "guide/counting.html",
    "guide/decisions": "experiments/decisions.html",
    "guide/decomposition": "guide/choosing.html#decomposing-a-score",
    "guide/emoticons": "experiments/emoticons.html",
    "guide/entities": "guide/taggers.html#entities",
    "guide/event_corpora": "experiments/event_corpora.html",
    "guide/event_counts": "guide/events.html",
    "guide/glossary": "guide/theory.html#glossary",
    "guide/hmm_crf": "experiments/hmm_crf.html",
    "guide/model_selection": "guide/classifiers.html#choosing-a-model",
    "guide/models/coreference": "guide/your_model.html#coreference-models",
    "guide/models/neural_crf": "guide/neural_taggers.html#neural-crf-models",
    "guide/models/spacy": "guide/neural_taggers.html#spacy-models",
    "guide/models/transformers": "guide/your_model.html#transformers-models",
    "guide/names_in_tweets": "experiments/names_in_tweets.html",
    "guide/not_done": "developers/not_done.html",
    "guide/peers": "experiments/speed_tables.html#comparison-with-other-packages",
    "guide/posterior": "guide/taggers.html#posterior-over-taggings",
    "guide/scale": "guide/speed.html#data-that-do-not-fit-in-memory",
    "guide/significance": "guide/compare.html",
    "guide/significance_studies": "experiments/significance_studies.html",
}
redirects = {old: "../" * old.count("/") + new for old, new in MOVED.items()}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"skcalib {version}"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    # With the field of the search, the header has two rows on most screens.
    "navbar_persistent": ["search-button"],
    # One entry per release, newest first; read from the pages themselves.
    "switcher": {
        "json_url": "_static/switcher.json",
        "version_match": version,
    },
    "check_switcher": False,
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
}
# These pages lead to nothing but themselves.
ALONE = ("index", "changelog", "install", "references", "developers/index")
html_sidebars = {page: [] for page in ALONE}


def skip_inherited_requests(app, what, name, obj, skip, options):
    """Leave out the ``set_*_request`` methods, which scikit-learn documents."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def cell(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Show the number of a role that names its cell in a CSV: `0.3 <file | row | ...>`.

    tests/test_guide_numbers.py compares the number with the cell.
    """
    return [nodes.inline(rawtext, text.partition("<")[0].strip())], []


def setup(app):
    app.add_role("cell", cell)
    app.connect("autodoc-skip-member", skip_inherited_requests)
