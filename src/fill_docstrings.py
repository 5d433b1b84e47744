"""The modules with the shared passages in their docstrings, for editors that read the files.

    python fill_docstrings.py FOLDER                    lists the modules that name a passage
    python fill_docstrings.py FOLDER SOURCE TARGET      writes one of them, filled

FOLDER is that of the package. At import the passages are put in place where they are not yet.
"""

import re
import sys
import textwrap
import types
from pathlib import Path

PLACE = re.compile(r"^( +)\{(\w+)\}$", re.M)


def passages_of(folder):
    """Return name -> passage, without the package, whose core may not be compiled yet."""
    package = types.ModuleType("onlinekern")
    package.__path__ = [str(folder)]
    sys.modules.setdefault("onlinekern", package)
    from onlinekern._docs import fill

    return lambda name: fill("{" + name + "}")


def filled(source, passage):
    """Return the text of a module with its passages in place."""

    def put(place):
        text = passage(place[2]).replace("\\", "\\\\")
        return textwrap.indent(text, place[1])

    return PLACE.sub(put, source)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if sys.argv[2:]:
        text = filled(Path(sys.argv[2]).read_text("utf-8"), passages_of(folder))
        Path(sys.argv[3]).write_text(text, "utf-8")
    else:
        print(*(p.name for p in sorted(folder.glob("*.py")) if PLACE.search(p.read_text("utf-8"))))
