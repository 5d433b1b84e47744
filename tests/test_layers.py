"""The picture of imports: no arrow from a lower layer to a higher one, and no oversized file."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "onlinekern" / "core"
PACKAGE = ROOT / "onlinekern"
MOST_LINES = 300
# Siblings of one layer that may meet: (who, whom). A head puts a rule behind a gate.
SIBLINGS = {("heads", "rules"), ("heads", "gates")}
# The C interface is a way into the whole library: it alone imports the Python package.
ABOVE = {"capi": "_verbs"}
MODULES = sorted(path.stem for path in CORE.glob("*.pyx"))
# A module without a .pyx is declarations only.
DECLARED = sorted({path.stem for path in CORE.glob("*.pxd")} - {"__init__"})


def head_of(path):
    """Return the comment lines that open a .pxd, or the docstring that opens a .pyx."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".pyx":
        return text.split('"""')[1]
    lines = text.splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return " ".join(line.lstrip("# ") for line in lines[:end])


def layer_of(module):
    """Return the layer that the head of a .pxd states."""
    return int(re.search(r"\(layer (\d+)\)", head_of(CORE / f"{module}.pxd"))[1])


def imports_of(module):
    """Return the core modules that a module imports, at compile time or at run time."""
    found = set()
    for path in (CORE / f"{module}.pyx", CORE / f"{module}.pxd"):
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            match = re.match(r"\s*(?:from|cimport|import)\s+onlinekern(\S*)\s*(\S*)\s*(.*)", line)
            if match:
                found |= names_in(match, path)
    return found - {module}


def names_in(match, path):
    """Return the core modules that one import line names."""
    dotted, verb, names = match.groups()
    if dotted.startswith(".core."):
        return {dotted.split(".")[2]}
    if dotted == ".core" and verb in ("cimport", "import"):
        return set(re.findall(r"(\w+)(?:\s+as\s+\w+)?,?", names))
    if (dotted, verb, names) == ("", "import", ABOVE.get(path.stem)):
        return set()
    raise AssertionError(f"{path.name} imports onlinekern{dotted}: the core knows nothing above it")


def modules_in_order():
    """Return the list of modules in src/meson.build."""
    text = (ROOT / "src" / "meson.build").read_text(encoding="utf-8")
    return re.findall(r"'(\w+)'", re.search(r"^modules = \[(.*?)\]", text, re.M | re.S)[1])


@pytest.mark.parametrize("module", DECLARED)
def test_layer_is_stated(module):
    layer = layer_of(module)
    head = head_of(CORE / f"{module}.pxd")
    stable = module in ("capi", "header")
    promise = "Stable: ONLINEKERN_ABI" if stable else "May change at minor versions."
    assert promise in head
    if module in MODULES:
        stated = re.search(r"^Layer (\d+)\.", head_of(CORE / f"{module}.pyx"), re.M)
        assert stated, f"{module}.pyx states no layer"
        assert int(stated[1]) == layer


@pytest.mark.parametrize("module", DECLARED)
def test_imports_lower_layers_only(module):
    for other in sorted(imports_of(module)):
        if (module, other) not in SIBLINGS:
            text = f"{module} (layer {layer_of(module)}) imports {other} ({layer_of(other)})"
            assert layer_of(other) < layer_of(module), text


def test_the_parser_sees_imports():
    assert {"gates", "heads", "rules", "spaces", "rows"} <= imports_of("stream")
    assert "vector" in imports_of("chunks")  # its names follow in parentheses
    assert {other for module, other in SIBLINGS} <= imports_of("heads")
    assert all(layer_of(one) == layer_of(other) for one, other in SIBLINGS)


def test_modules_are_built_in_the_order_of_layers():
    modules = modules_in_order()
    assert sorted(modules) == MODULES
    assert [layer_of(module) for module in modules] == sorted(map(layer_of, modules))
    for i, module in enumerate(modules):
        assert imports_of(module) <= {*modules[:i], *set(DECLARED) - set(MODULES)}, module


def test_there_is_one_stream_loop():
    text = "".join(path.read_text(encoding="utf-8") for path in CORE.glob("*.pyx"))
    assert len(re.findall(r"\.head\.solve\(", text)) == 1
    assert len(re.findall(r"\.space\.update\(", text)) == 1


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_python_files_use_the_core_and_never_define_it(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onlinekern.core."):
            assert node.module.split(".")[2] in MODULES


def test_core_imports_nothing_above_it():
    tree = ast.parse((PACKAGE / "core" / "__init__.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.module.startswith("onlinekern.core.")


FILES = sorted(
    path
    for folder in (ROOT / "src", PACKAGE)
    for path in folder.rglob("*")
    if path.suffix in (".py", ".pyx", ".pxd", ".pyi", ".c", ".h", ".build")
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_is_one_concept(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
