"""What the tables of the reference show, from the library's own list of public names."""

import ast
import importlib.util
import inspect
import re
from pathlib import Path

import onlinekern

MODULES = (
    "drift",
    "streams",
    "evaluate",
    "distributed",
    "distributed.flink",
    "distributed.ray",
    "distributed.spark",
    "distributed.spark.pipelines",
    "plotting",
    "reports",
    "compat.river",
    "compat.onnx",
)
# They import packages that may be absent.
IMPORTING = {"compat.river", "compat.onnx", "distributed.spark.pipelines"}
# Of `onlinekern.plotting`: its own helpers.
HELPERS = {"check_suffix"}
PAPER = re.compile(r"\.\. \[1\] (.*?) \((\d{4})\)", re.S)
TASK = re.compile(r"Classifier$|Regressor$|OneClass$|Detector$")


def names_of(module: str) -> list[str]:
    """Return the public classes and functions of a module, and its tables, not its packages."""
    if module.removeprefix("onlinekern.") in IMPORTING:
        return listed_in(module)
    found = importlib.import_module(module)
    names = [name for name in found.__all__ if not inspect.ismodule(getattr(found, name))]
    if module == "onlinekern.plotting":
        names = [name for name in names if not name.isupper() and name not in HELPERS]
    return names


def listed_in(module: str) -> list[str]:
    """Return the list `__all__` of a module's text: the package that it imports may be absent."""
    spec = importlib.util.find_spec(module)
    tree = ast.parse(Path(str(spec and spec.origin)).read_text("utf-8"))
    (found,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return [str(name) for name in ast.literal_eval(found)]


def of_rooms(rooms: list[str]) -> list[str]:
    """Return the public names of the package that are defined in one of the rooms.

    The room ``outlier_detector`` stands for the learners of one class, which no other room has.
    """
    one_class = [name for name, _ in onlinekern.all_estimators("outlier_detector")]
    if rooms == ["outlier_detector"]:
        return one_class
    of_room = {
        name: getattr(onlinekern, name).__module__.removeprefix("onlinekern.") + "."
        for name in names_of("onlinekern")
        if name not in one_class
    }
    return [name for room in rooms for name in of_room if of_room[name].startswith(f"{room}.")]


def paper_of(cls: type) -> str:
    """Return the authors and the year of a class's first reference."""
    match = PAPER.search(inspect.getdoc(cls) or "")
    if match is None:
        return ""
    authors, year = " ".join(match[1].split()), match[2]
    surnames = [re.sub(r"^(?:[A-Z][\w.\-]*\. ?)+", "", name) for name in authors.split(", ")]
    several = f"{surnames[0]} et al." if len(surnames) > 3 else ", ".join(surnames)
    return f"{several} {year}"


def rows_of_algorithms() -> list[tuple[str, str, str]]:
    """Return a row for each algorithm: what it is, its classes, its paper."""
    of_name: dict[str, list[str]] = {}
    for name, _ in onlinekern.all_estimators():
        of_name.setdefault(TASK.sub("", name), []).append(name)
    rows = []
    for names in of_name.values():
        cls = getattr(onlinekern, names[0])
        summary = (inspect.getdoc(cls) or "").splitlines()[0].removesuffix(".")
        rows.append((summary, ", ".join(f"``{name}``" for name in names), paper_of(cls)))
    return rows
