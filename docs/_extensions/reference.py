"""The tables of the reference, from the library's own list of public names.

``public`` lists what a module has, ``algorithms`` every algorithm with its classes and its paper. A
new class, or a new function, needs no line in a page.
"""

from pathlib import Path
from typing import Any, ClassVar

from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList
from public_names import MODULES, names_of, of_rooms, rows_of_algorithms
from sphinx.application import Sphinx
from sphinx.ext.autosummary import Autosummary
from sphinx.util.typing import ExtensionMetadata

FOLDER = "generated"
# The list from which autosummary makes a page for each name.
LIST = f"{FOLDER}/names.rst"


class Public(Autosummary):
    """A table of public names: of a module, or of some rooms of the package."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"rooms": directives.unchanged_required}

    def run(self) -> list[Any]:
        """Give autosummary the names."""
        module = self.arguments[0]
        rooms = self.options.pop("rooms", "").split()
        names = of_rooms(rooms) if rooms else names_of(module)
        self.options |= {"toctree": FOLDER, "nosignatures": None}
        self.content = StringList(names, source=module)
        self.env.ref_context["py:module"] = module
        return super().run()


class Algorithms(Directive):
    """The table of all algorithms."""

    def run(self) -> list[Any]:
        """Write the table as text, which is then read."""
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for row in [("algorithm", "class", "paper"), *rows_of_algorithms()]:
            lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(row)]
        return publish_doctree("\n".join(lines)).children


def write_list(app: Sphinx, config: Any) -> None:
    """Write the list of all public names, for autosummary."""
    lines = []
    for module in ("onlinekern", *(f"onlinekern.{name}" for name in MODULES)):
        lines += [f".. currentmodule:: {module}", ".. autosummary::", "   :toctree: .", ""]
        lines += [*(f"   {name}" for name in names_of(module)), ""]
    path = Path(app.srcdir, LIST)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines), "utf-8")
    config.autosummary_generate = [LIST]
    config.exclude_patterns.append(LIST)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect the above."""
    app.add_directive("public", Public)
    app.add_directive("algorithms", Algorithms)
    app.connect("config-inited", write_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
