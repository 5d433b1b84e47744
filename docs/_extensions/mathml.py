"""Formulas as MathML, which browsers draw themselves: no script, no font and no network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)


def written(node: nodes.Element, form: str) -> str:
    """The formula of a node; a command that the converter does not know is a warning."""
    formula = convert(node.astext(), display=form)
    if "\\" in formula:
        logger.warning("no MathML for a command of %s", node.astext(), location=node)
    return formula


def inline(translator: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    translator.body.append(written(node, "inline"))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """Write a formula of its own. A wide one scrolls, with the keyboard too."""
    formula = written(node, "block")
    translator.body.append(f'<div class="math-block" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Make 'mathml' a value of `html_math_renderer`."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
