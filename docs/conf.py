# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
How Sphinx builds the site from the pages in this folder.

`python -m sphinx -W --keep-going -b html docs build/docs` needs no network, and the site needs
none either: formulas are MathML, and nothing is loaded from elsewhere.
"""

from importlib import import_module
from pathlib import Path
import sys

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'docs' / '_ext')]

project = 'robot_identification'
author = 'The robot_identification developers'
project_copyright = '2026, The robot_identification developers'
version = release = import_module('robot_identification').__version__

extensions = [
    'sphinx.ext.autodoc',
    'sphinx.ext.napoleon',
    'myst_parser',
    'repository_pages',
    'command_pages',
    'mathml',
    'docstrings',
]
source_suffix = {'.md': 'markdown', '.rst': 'restructuredtext'}
exclude_patterns = ['_ext', '_static', 'images']
highlight_language = 'text'
# GitHub knows csv, Pygments does not.
lexers['csv'] = TextLexer()
add_module_names = False
# Two hyphens are the beginning of an option.
smartquotes = False

myst_enable_extensions = ['deflist', 'dollarmath', 'tasklist']
# As GitHub writes formulas: ```math.
myst_fence_as_directive = ['math']
myst_heading_anchors = 4
myst_dmath_double_inline = False

autodoc_default_options = {'members': True}
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = 'furo'
html_title = f'robot_identification {release}'
html_static_path = ['_static']
html_css_files = ['site.css']
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_math_renderer = 'mathml'
html_theme_options = {'navigation_with_keys': False}
