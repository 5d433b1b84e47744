"""The rooms of the Python half: each imports only those below it, and nothing runs in a circle."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "onlinekern"
# From the ground up. Rooms of one storey do not know each other. `_registry` opens the list of
# public names, which is the package itself.
STOREYS = [
    {"core"},
    {"_config"},
    {"estimators"},
    {"preprocessing"},
    {"learners"},
    {"drift"},
    {"_registry"},
    {"fitted"},
    {"extending", "streams"},
    {"evaluate"},
    {"plotting"},
    {"reports"},
    {"distributed", "serve", "compat"},
    {"cli"},
    {"", "__main__"},
]
# Methods of estimators and of reports for which the room above is imported when they are called.
UPWARD = {
    ("estimators.savable", "fitted"),
    ("learners.race.report", "plotting"),
    ("_registry", ""),
}
MOST_FLAT = 14


def name_of(path):
    """Return the dotted name of a module within the package; "" is the package itself."""
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PYTHON = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module):
    return module.partition(".")[0]


def storey_of(module):
    return next(i for i, rooms in enumerate(STOREYS) if room_of(module) in rooms)


def known(dotted):
    """Return the module that a dotted name belongs to, if it is one of the package's."""
    if dotted.partition(".")[0] != "onlinekern":
        return None
    name = dotted.partition(".")[2]
    if room_of(name) == "core":
        return "core"
    while name not in PYTHON:
        name = name.rpartition(".")[0]
    return name


def is_for_type_checkers(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def nodes_of(tree, types_too):
    """Yield the nodes of a tree, without what is imported for type checkers only if that is so."""
    for node in ast.iter_child_nodes(tree):
        if types_too or not is_for_type_checkers(node):
            yield node
            yield from nodes_of(node, types_too)


def imports_of(module, types_too=True):
    """Return the modules that a module imports, at its top and in functions."""
    found = set()
    for node in nodes_of(ast.parse(PYTHON[module].read_text(encoding="utf-8")), types_too):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {known(f"{node.module}.{alias.name}") for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {known(alias.name) for alias in node.names}
    return found - {None, module}


def stubbed(module):
    """Return the modules that a lazy package names in its stub."""
    stub = PYTHON[module].with_suffix(".pyi")
    if not stub.exists():
        return set()
    here = f"onlinekern.{module}".rstrip(".")
    return {
        known(f"{here}.{node.module or alias.name}")
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


OWN = sorted(module for module in PYTHON if room_of(module) != "core")


def test_modules_import_only_what_is_below():
    upward = {
        (module, other)
        for module in OWN
        for other in imports_of(module) | stubbed(module)
        if room_of(other) != room_of(module) and storey_of(other) >= storey_of(module)
    }
    assert upward <= UPWARD


def test_the_ways_up_are_used():
    assert len(UPWARD) <= 3
    for module, other in UPWARD:
        assert other in imports_of(module)


def test_no_circle():
    left = {
        module: {other for other in imports_of(module, False) if (module, other) not in UPWARD}
        for module in OWN
    }
    while left:
        free = {module for module, others in left.items() if not others & left.keys()}
        assert free, f"a circle among {sorted(left)}"
        left = {module: others for module, others in left.items() if module not in free}


def test_every_room_has_its_storey():
    assert set(map(room_of, PYTHON)) == set().union(*STOREYS)


def test_few_modules_are_flat():
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_FLAT


@pytest.mark.parametrize("module", [m for m in OWN if PYTHON[m].name == "__init__.py"])
def test_a_room_says_what_it_is_for(module):
    assert ast.get_docstring(ast.parse(PYTHON[module].read_text(encoding="utf-8")))


def test_the_parser_sees_imports():
    assert {"estimators.kernel", "core"} <= imports_of("learners.spa")
    assert "learners.spa" in stubbed("")
