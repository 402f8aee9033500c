"""Formulas as MathML, which browsers draw without a script and without a network."""

from docutils import nodes
from latex2mathml.converter import convert


def _visit_inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _visit_block(translator, node):
    translator.body.append('<div class="formula">')
    for formula in filter(str.strip, node.astext().split("\n\n")):
        translator.body.append(convert(formula, display="block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
