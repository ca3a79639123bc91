# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Docstrings as they are meant: the `n` of `shape (N, n)` is no attribute `n`.

And the two hyphens that Sphinx writes before a description are a dash, as `smartquotes`, which
would spoil options, does not make one of them.
"""

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

# What stands for a type and is longer has a name that somebody else has not by chance.
LONGEST = 2
HYPHENS, DASH = ' -- ', ' \N{EN DASH} '


def on_read(app: Sphinx, page: nodes.document) -> None:
    """Take references off the letters of shapes, and write dashes."""
    for reference in list(page.findall(pending_xref)):
        if reference.get('refdomain') == 'py' and len(reference['reftarget']) <= LONGEST:
            reference.replace_self(reference.children)
    for text in list(page.findall(nodes.Text)):
        if text.startswith(HYPHENS):
            text.parent.replace(text, nodes.Text(DASH + text.removeprefix(HYPHENS)))


def setup(app: Sphinx) -> dict[str, object]:
    """Follow what is read."""
    app.connect('doctree-read', on_read)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
