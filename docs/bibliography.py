"""The publications that docstrings cite: `references.bib`, and how they stand in a docstring.

`python docs/docstrings.py --write` uses it. In the section References of any docstring of the
library, ``.. [1] lu2016spa`` becomes the publication of that key; one that is written out is found
by its title, and written anew.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "references.bib"
WIDTH = 100
VENUES = ("journal", "booktitle", "publisher", "howpublished")
# A number, and the text of the item: continued lines are further in.
ITEM = re.compile(r"^( *)\.\. \[(\d+)\] (.+(?:\n\1   \S.*)*)", re.M)
CITED = re.compile(r"\[(\d+)\]_")


class Publication(NamedTuple):
    """One entry of the file, with its fields as they are written."""

    key: str
    fields: Mapping[str, str]

    @property
    def authors(self) -> str:
        """The authors with initials: J.-B. Lasserre, E. Pauwels."""
        return ", ".join(initialled(name) for name in self.fields["author"].split(" and "))

    def __str__(self) -> str:
        """The reference as it stands in a docstring."""
        fields = self.fields
        venue = next(fields[name] for name in VENUES if name in fields)
        where = f"{venue} {fields.get('volume', '')}".rstrip()
        if "pages" in fields:
            where += ", " + fields["pages"].replace("--", "-")
        parts = [f"{self.authors} ({fields['year']})", fields["title"], where, fields.get("note")]
        return ". ".join(filter(None, parts)) + "."


def initialled(name: str) -> str:
    """``Lasserre, Jean-Bernard`` as ``J.-B. Lasserre``."""
    family, given = name.split(", ")
    names = ["-".join(f"{part[0]}." for part in name.split("-")) for name in given.split()]
    return " ".join([*names, family])


def read(text: str) -> dict[str, Publication]:
    """Key -> publication of a BibTeX file with a field a line."""
    found: dict[str, Publication] = {}
    for key, body in re.findall(r"^@\w+\{(\w+),\n(.*?)^\}$", text, re.M | re.S):
        assert key not in found, f"two entries {key}"
        fields = dict(re.findall(r"^ +(\w+) = \{(.+)\},$", body, re.M))
        assert len(fields) == body.count("\n"), f"a line of {key} is no field"
        missing = [name for name in ("author", "year", "title") if name not in fields]
        if sum(name in fields for name in VENUES) != 1:
            missing.append("one of " + ", ".join(VENUES))
        assert not missing, f"{key} lacks {', '.join(missing)}"
        found[key] = Publication(key, fields)
    return found


def publication_of(text: str, publications: Mapping[str, Publication]) -> Publication | None:
    """The publication of a key or of a reference that is written out."""
    text = re.sub(r"\s+", " ", text)
    if text in publications:
        return publications[text]
    for publication in publications.values():
        if f"({publication.fields['year']}). {publication.fields['title']}. " in text:
            return publication
    return None


def written(
    source: str, publications: Mapping[str, Publication]
) -> tuple[str, list[str], list[str]]:
    """A module with its references written, the keys that it cites, and what is unknown."""
    cited: list[str] = []
    unknown: list[str] = []

    def reference(match: re.Match[str]) -> str:
        margin, number, text = match.groups()
        publication = publication_of(text, publications)
        if publication is None:
            unknown.append(f"[{number}] {text.splitlines()[0]}: not in {FILE.name}")
            return match[0]
        cited.append(publication.key)
        return textwrap.fill(
            f".. [{number}] {publication}", WIDTH, initial_indent=margin,
            subsequent_indent=f"{margin}   ", break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip

    return ITEM.sub(reference, source), cited, unknown


def mismatches(source: str) -> Iterator[str]:
    """Docstrings whose citations are not their references, each once and in order."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        text = ast.get_docstring(node) if isinstance(node, documented) else None
        if text is None:
            continue
        name = getattr(node, "name", "the module")
        section = text.partition("\nReferences\n---")[2]
        numbers = [int(match[2]) for match in ITEM.finditer(section)]
        if bool(section) != bool(numbers):
            yield f"{name}: its references are not numbered"
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"{name}: the references are numbered {numbers}"
        cited = {int(number) for number in CITED.findall(text)}
        for number in sorted(cited ^ set(numbers)):
            is_cited = number in cited
            yield f"{name}: [{number}] is {'cited' if is_cited else 'a reference'} and not " + (
                "a reference" if is_cited else "cited"
            )
