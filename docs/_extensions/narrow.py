"""Tables that fit a narrow window: there a row is a box, and a cell has the head of its column.

The style sheet does that for tables of three columns and more. This puts the heads where it finds
them, as attributes of the cells.
"""

import re
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

FEWEST = 3
TABLE = re.compile(r"<table\b.*?</table>", re.S)


def labelled(found: re.Match[str]) -> str:
    """Return a table whose cells have the heads of their columns."""
    table: Any = BeautifulSoup(found[0], "html.parser")
    heads = [" ".join(head.get_text().split()) for head in table.select("thead tr > th")]
    rows = table.select("tbody > tr")
    cells = [row.find_all("td", recursive=False) for row in rows]
    if len(heads) < FEWEST or any(len(row) != len(heads) for row in cells):
        return found[0]
    table.table["class"] = [*table.table.get("class", []), "labelled"]
    for row in cells:
        for head, cell in zip(heads, row, strict=True):
            cell["data-label"] = head
            if cell.contents:
                # The head stands beside one thing.
                whole = table.new_tag("div")
                whole.extend([part.extract() for part in list(cell.contents)])
                cell.append(whole)
    return str(table)


def label_tables(app: Sphinx, page: str, template: str, context: Any, doctree: Any) -> None:
    """Label the tables of a page."""
    if "body" in context:
        context["body"] = TABLE.sub(labelled, context["body"])


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect the above."""
    app.connect("html-page-context", label_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
