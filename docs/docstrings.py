"""Keeps equal what the docstrings of several classes share.

`python docs/docstrings.py --write` puts the passages of `docs/passages.txt` into the docstrings of
the public classes. `--check` shows what it would change, and fails if that is anything. The files
hold the whole text: nothing is filled in when the library is built or imported.

A passage is an entry (a parameter or an attribute) or a paragraph of the notes.

- An entry is found by its name. The classes in brackets above a passage have that passage; one
  without brackets is for all other classes with such an entry. What a class adds is a paragraph of
  its own, after a blank line. A passage of one line is the head of entries that each class
  describes itself. ``name : own`` is for the classes whose whole entry is their own.
- A paragraph of the notes is for the classes in brackets. It replaces the paragraph that is most
  like it; if none is, it comes after the passage before it, or after the others.

Besides, the default in the head of a parameter is that of the class, and the parameters come in the
order of the signature. References come from `docs/references.bib`, in every docstring of the
library (`docs/bibliography.py`).
"""

from __future__ import annotations

import argparse
import ast
import difflib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import bibliography  # noqa: E402

PASSAGES = ROOT / "docs" / "passages.txt"
WIDTH = 100
ENTRIES = ("Parameters", "Attributes")
SECTIONS = (*ENTRIES, "Notes")
# Paragraphs with a smaller share of words in common are not two versions of one.
ALIKE = 0.6

Lines = tuple[str, ...]
# Title -> entries or paragraphs; of another section all that it holds.
Docstring = dict[str, list[Lines]]
# Parameter -> default, in the order of the signature.
Signature = Mapping[str, Any]


class Passage(NamedTuple):
    """What several classes say.

    Attributes
    ----------
    section : str
        Title of the section that it stands in.
    classes : tuple of str
        Names, with ``*`` for any letters. Empty: all classes that no other passage names.
    lines : tuple of str
        The text, without the indentation of a docstring.
    """

    section: str
    classes: Lines
    lines: Lines

    @property
    def key(self) -> str:
        return key_of(self.section, self.lines)

    @property
    def is_own(self) -> bool:
        return self.section in ENTRIES and self.lines == (f"{self.key} : own",)

    def names(self, cls: str) -> bool:
        return any(fnmatchcase(cls, pattern) for pattern in self.classes)

    def __str__(self) -> str:
        return f"passage [{' '.join(self.classes)}] {self.section}, {self.key}"


class Use(NamedTuple):
    """What a class says, and which passage that is; None if it is none."""

    cls: str
    section: str
    lines: Lines
    passage: Passage | None

    @property
    def key(self) -> str:
        return key_of(self.section, self.lines)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def head(self) -> str:
        """What may stand above one text only."""
        return self.text if self.section == "Notes" else self.lines[0]

    def __str__(self) -> str:
        return f"{self.cls}, {self.section}, {self.key}"


def key_of(section: str, lines: Lines) -> str:
    """The name of an entry, or how a paragraph begins."""
    if section in ENTRIES:
        return lines[0].partition(" :")[0]
    return " ".join(line.strip() for line in lines)[:40]


# From text to parts, and back


def items_of(title: str, lines: list[str]) -> list[Lines]:
    """The entries or paragraphs of a section; else its text as the only item."""
    items: list[list[str]] = []
    after_blank = True
    for line in lines:
        begins = after_blank if title == "Notes" else title in SECTIONS and line[:1].strip()
        if line and (begins or not items):
            items.append([])
        if items:
            items[-1].append(line)
        after_blank = not line
    return [tuple("\n".join(item).rstrip().split("\n")) for item in items]


def parsed(lines: list[str]) -> Docstring:
    """The sections of a docstring; the text before the first one has the title ''."""
    sections: dict[str, list[str]] = {"": []}
    for line in lines:
        title = next(reversed(sections))
        if re.fullmatch("-{3,}", line):
            sections[sections[title].pop()] = []
        else:
            sections[title].append(line)
    return {title: items_of(title, body) for title, body in sections.items()}


def rendered(docstring: Docstring) -> list[str]:
    """The lines of a docstring."""
    lines: list[str] = []
    for title, items in docstring.items():
        lines += [title, "-" * len(title)] if title else []
        for i, item in enumerate(items):
            lines += ["", *item] if i and title == "Notes" else item
        lines.append("")
    return lines[:-1]


def folded(line: str) -> str:
    """The head of an entry as lines of source; what is beyond the width continues in the next."""
    parts = []
    while len(line) > WIDTH:
        cut = line.rindex(" ", 0, WIDTH - 1) + 1
        parts.append(line[:cut] + "\\\n")
        line = line[cut:]
    return "".join(parts) + line


def read(text: str) -> list[Passage]:
    """The passages of the file of passages; what comes before its first section explains it."""
    passages = []
    title = ""
    for chunk in re.split(r"\n{2,}", text.replace("\\\n", "").strip()):
        brackets = re.match(r"\[([\w*\s]+)\]\n", chunk)
        lines = chunk[brackets.end() if brackets else 0 :].split("\n")
        if set(lines[-1]) == {"-"}:
            title = lines[0]
        elif title:
            classes = tuple(brackets[1].split()) if brackets else ()
            passages += [Passage(title, classes, item) for item in items_of(title, lines)]
    return passages


# What a class should say


def passage_for(cls: str, section: str, lines: Lines, passages: list[Passage]) -> Passage | None:
    """The passage that an entry of a class has to be, if there is one."""
    same = [p for p in passages if p.section == section and p.key == key_of(section, lines)]
    named = [p for p in same if p.names(cls)]
    assert len(named) < 2, f"{cls}: " + " and ".join(map(str, named))
    return next(iter(named + [p for p in same if not p.classes]), None)


def with_default(head: str, default: Any) -> str:
    """The head of a parameter with that default, which is left as it is written if it is equal."""
    if default is inspect.Parameter.empty:
        return head
    written = re.search(r"default=(.+)$", head)
    if written is None:
        return f"{head}, default={default!r}"
    try:
        value = ast.literal_eval(written[1])
    except (SyntaxError, ValueError):
        value = written[1]
    same = value == default and isinstance(value, bool) == isinstance(default, bool)
    return head if same else f"{head[: written.start()]}default={default!r}"


def entry_of(lines: Lines, passage: Passage | None, signature: Signature) -> Lines:
    """The entry of a class: the passage, then what the class adds to it."""
    name = key_of("Parameters", lines)
    if passage is not None and not passage.is_own:
        own = lines[1:]
        if len(passage.lines) > 1:
            own = lines[lines.index("") :] if "" in lines else ()
        lines = (*passage.lines, *own)
    return (with_default(lines[0], signature.get(name, inspect.Parameter.empty)), *lines[1:])


def likeness(a: Lines, b: Lines) -> float:
    """The share of words that two paragraphs have in common, in the same order."""
    first, second = (" ".join(lines).split() for lines in (a, b))
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()


def notes_of(paragraphs: list[Lines], passages: list[Lines]) -> list[Lines]:
    """The notes of a class with the passages that are for it, in their places."""
    notes = list(paragraphs)
    place = len(notes)
    for passage in passages:
        if passage not in notes:
            free = [lines for lines in notes if lines not in passages]
            old = max(free, key=lambda lines: likeness(lines, passage), default=())
            if likeness(old, passage) >= ALIKE:
                notes[notes.index(old)] = passage
            else:
                notes.insert(place, passage)
        place = notes.index(passage) + 1
    return notes


def in_order(entries: list[Lines], signature: Signature) -> list[Lines]:
    """Parameters in the order of the signature; those that it lacks come last."""
    order = list(signature)
    first = [key_of("Parameters", lines).split(", ")[0] for lines in entries]
    places = [order.index(name) if name in order else len(order) for name in first]
    return [lines for _, lines in sorted(zip(places, entries, strict=True), key=lambda x: x[0])]


def filled(
    cls: str,
    docstring: Docstring,
    signature: Signature,
    passages: list[Passage],
) -> tuple[Docstring, list[Use]]:
    """The docstring with its passages, and what it says where passages are."""
    done: Docstring = dict(docstring)
    uses = []
    notes = {p.lines: p for p in passages if p.section == "Notes" and p.names(cls)}
    if "Notes" in done:
        done["Notes"] = notes_of(done["Notes"], list(notes))
    uses += [Use(cls, "Notes", lines, notes.get(lines)) for lines in done.get("Notes", [])]
    for section in ENTRIES:
        items = []
        for lines in docstring.get(section, []):
            passage = passage_for(cls, section, lines, passages)
            items.append(entry_of(lines, passage, signature if section == ENTRIES[0] else {}))
            uses.append(Use(cls, section, items[-1], passage))
        if items:
            done[section] = items
    if "Parameters" in done:
        done["Parameters"] = in_order(done["Parameters"], signature)
    return done, uses


# Files


def rewritten(
    source: str,
    signatures: Mapping[str, Signature],
    passages: list[Passage],
) -> tuple[str, list[Use]]:
    """A module with the docstrings of the named classes filled, and what they say.

    Parameters
    ----------
    source : str
        Text of the module.
    signatures : mapping
        Name of a class -> parameter -> default.
    passages : list of Passage
    """
    lines = source.split("\n")
    uses: list[Use] = []
    for node in reversed(ast.parse(source).body):
        if isinstance(node, ast.ClassDef) and node.name in signatures:
            text = node.body[0]
            assert isinstance(text, ast.Expr), f"{node.name} has no docstring"
            place = slice(text.lineno - 1, text.end_lineno)
            margin = " " * text.col_offset
            whole = "\n".join(lines[place]).replace("\\\n", "").split("\n")
            within = [line.removeprefix(margin) for line in whole[:-1]]
            docstring, said = filled(node.name, parsed(within), signatures[node.name], passages)
            body = [
                (margin + line).rstrip() if line[:1].strip() == "" else folded(margin + line)
                for line in rendered(docstring)
            ]
            lines[place] = [*"\n".join(body).split("\n"), whole[-1]]
            uses = said + uses
    return "\n".join(lines), uses


def problems(passages: Iterable[Passage], uses: Iterable[Use]) -> Iterator[str]:
    """What no writing mends, a sentence each."""
    uses = list(uses)
    for passage in passages:
        classes = {use.cls for use in uses if use.passage == passage}
        if len(classes) < 2 - passage.is_own:
            yield f"{passage}: {len(classes)} classes have it"
        for pattern in passage.classes:
            if not any(fnmatchcase(cls, pattern) for cls in classes):
                yield f"{passage}: no class {pattern} has it"
        if "\\" in "".join(passage.lines):
            yield f"{passage}: a backslash means something else in a docstring"
    same: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        same.setdefault((use.section, use.key), []).append(use)
        if len(use.lines) == 1 and use.section in ENTRIES:
            yield f"{use}: has no description"
    for group in same.values():
        yield from repetitions(group)
        yield from contradictions(group)


def repetitions(group: list[Use]) -> Iterator[str]:
    """Texts of one key that are no passage, although several classes have them."""
    texts: dict[str, Use] = {}
    for use in group:
        first = texts.setdefault(use.text, use)
        if first is not use and (use.passage is None or use.passage.is_own):
            yield f"{use}: the same as {first}, so it should be a passage"


def contradictions(group: list[Use]) -> Iterator[str]:
    """Classes that say something else under the head of another class."""
    heads: dict[str, Use] = {}
    for use in sorted(group, key=lambda use: use.passage is None):
        first = heads.setdefault(use.head, use)
        if first.text != use.text and use.passage is None:
            yield f"{use}: not what {first} says under the same head"


def signatures_by_file() -> dict[Path, dict[str, Signature]]:
    """File -> name -> signature of the public classes of the library."""
    import onlinekern

    files: dict[Path, dict[str, Signature]] = {}
    for name in onlinekern.__all__:
        # Functions and packages begin with a small letter.
        if name[0].isupper():
            cls = getattr(onlinekern, name)
            path = ROOT.joinpath(*cls.__module__.split(".")).with_suffix(".py")
            parameters = inspect.signature(cls).parameters.values()
            files.setdefault(path, {})[name] = {p.name: p.default for p in parameters}
    return files


def compared() -> tuple[dict[Path, tuple[str, str]], list[str]]:
    """File -> its text and what it should be, where they differ; and the other problems."""
    passages = read(PASSAGES.read_text(encoding="utf-8"))
    publications = bibliography.read(bibliography.FILE.read_text(encoding="utf-8"))
    signatures = signatures_by_file()
    changed = {}
    uses: list[Use] = []
    wrong: list[str] = []
    unused = set(publications)
    for path in sorted(ROOT.glob("onlinekern/**/*.py")):
        before = path.read_text(encoding="utf-8")
        after, said = rewritten(before, signatures.get(path, {}), passages)
        after, cited, unknown = bibliography.written(after, publications)
        uses += said
        unused -= set(cited)
        name = path.relative_to(ROOT)
        wrong += [f"{name}: {problem}" for problem in (*unknown, *bibliography.mismatches(after))]
        if after != before:
            changed[path] = (before, after)
    wrong += [f"{bibliography.FILE.name}: nobody cites {key}" for key in sorted(unused)]
    return changed, [*problems(passages, uses), *wrong]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--write", action="store_true", help="write the docstrings")
    task.add_argument("--check", action="store_true", help="show what would be written")
    arguments = parser.parse_args()
    changed, wrong = compared()
    for path, (before, after) in changed.items():
        name = str(path.relative_to(ROOT))
        if arguments.write:
            path.write_text(after, encoding="utf-8")
        else:
            pair = before.splitlines(), after.splitlines()
            print(*difflib.unified_diff(*pair, name, name, lineterm="", n=1), sep="\n")
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    sys.exit(bool(wrong or (changed and arguments.check)))


if __name__ == "__main__":
    main()
