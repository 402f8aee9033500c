"""Formulas as MathML, which browsers draw without a script and without a network.

The label of a formula is its number, such as (I3), so that a further formula does not
change the numbers of the others, which comments in the code cite.
"""

from docutils import nodes
from latex2mathml.converter import convert


def _visit_inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _visit_block(translator, node):
    label = node.get("label")
    place = f' id="equation-{label}"' if label else ""
    translator.body.append(f'<div class="formula"{place}>')
    if label:
        translator.body.append(f'<span class="eqno">({label})</span>')
    for formula in filter(str.strip, node.astext().split("\n\n")):
        translator.body.append(convert(formula, display="block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def _eq(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Link to a formula of the same page by its number: :eq:`I3`."""
    link = f"#equation-{text}"
    return [nodes.reference(rawtext, f"({text})", refuri=link, internal=True)], []


def setup(app):
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    app.add_role("eq", _eq, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
