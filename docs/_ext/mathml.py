# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Formulas as MathML, which browsers draw by themselves: no script, no network."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula of a sentence."""
    translator.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands alone."""
    formula = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, object]:
    """Add the renderer `mathml`."""
    app.add_html_math_renderer('mathml', (visit_inline, None), (visit_block, None))
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
