"""``onlinekern methods``: lists the learning methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from onlinekern._registry import public
from onlinekern.cli import options
from onlinekern.cli.options import argument, methods_that_begin
from onlinekern.evaluate.methods import METHODS, Method


@dataclass(frozen=True, kw_only=True)
class Request(options.Request):
    """onlinekern methods kernel-rls"""

    # fmt: off
    name: str | None = argument(None, "NAME", "A method, of which is told what it is, its "
        "parameters and its paper.", autocompletion=methods_that_begin)
    # fmt: on

    def carry_out(self) -> None:
        """Print the table of all methods, or a description of one."""
        from rich.table import Table

        from onlinekern.reports.console import PLAIN, open_console

        console = open_console()
        if self.name is not None:
            for line in about_method(self.name):
                console.print(line, **PLAIN)
            return
        table = Table(box=None, pad_edge=False)
        for head in ("name", "what", "paper"):
            table.add_column(head, no_wrap=head == "name")
        for method in METHODS.values():
            table.add_row(method.name, *summary_of_method(method))
        console.print(table)


def summary_of_method(method: Method) -> tuple[str, str]:
    """Return the first sentence about a method from its class, and its reference."""
    text = documentation(method)
    found = re.search(r"\.\. \[1\] (.*?) \((\d{4})\)", text, re.S)
    if found is None:
        return first_paragraph(text).rstrip("."), ""
    authors = " ".join(found[1].split()).split(", ")
    named = authors[0] + " et al." if len(authors) > 2 else ", ".join(authors)
    return first_paragraph(text).rstrip("."), f"{named} ({found[2]})"


def about_method(name: str) -> Iterator[str]:
    """Yield lines of text: the summary of a method, its parameters with defaults, its papers."""
    from onlinekern.estimators.validation import one_of

    one_of("NAME", name, METHODS)
    method = METHODS[name]
    text = documentation(method)
    yield f"{name} ({method.label}): {first_paragraph(text)}"
    yield ""
    for paragraph in text.partition("Parameters\n---")[0].split("\n\n")[1:]:
        if not paragraph.startswith("    ") and paragraph.strip():
            yield plain(paragraph)
            yield ""
    for task, cls in (("classification", method.classifier), ("regression", method.regressor)):
        if cls is not None:
            values = method.build(task, {}).get_params(deep=False)
            if "standardize_target" in values:
                values["standardize_target"] = True  # `train` has this default
            known = method.parameter_names(task)
            yield f"{task}: {cls}, --param " + ", ".join(f"{n}={values[n]!r}" for n in known)
    references = text.partition("References\n----------\n")[2].partition("\n\nExamples")[0]
    if references:
        yield ""
        yield from map(plain, re.split(r"\n(?=\.\. \[)", references))


def documentation(method: Method) -> str:
    """Return the docstring of a method's class."""
    return inspect.getdoc(public(str(method.classifier or method.regressor))) or ""


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a docstring as one line, without markup."""
    return plain(text.partition("\n\n")[0])


def plain(text: str) -> str:
    """Return text of a docstring as one line, without markup."""
    text = re.sub(r"^\.\. (?=\[)", "", text).replace("`", "")
    return " ".join(re.sub(r"(\[\d+\])_", r"\1", text).split())
