"""The layers: a package of the core imports only packages below it, and every module is used."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "onlinekern" / "core"
PACKAGE = ROOT / "onlinekern"
MOST_LINES = 450
# The storeys, from the ground up. Packages of one storey do not know each other.
STOREYS = [
    {"base"},
    {"samples", "learning"},
    {"linalg", "kernels", "partitions"},
    {"budgets", "features"},
    {"models"},
    {"stream"},
    {"renewed_model"},
    {"one_row", "experts"},
    {"race", "capi"},
    {"renewed_race"},
]
# The C interface opens the whole library: it alone imports the Python package.
ABOVE = {"capi": ".compat"}
MODULES = sorted(
    ".".join(path.relative_to(CORE).with_suffix("").parts) for path in CORE.rglob("*.pyx")
)


def package_of(module):
    """Return the package of a module; a module at the top is a package of its own."""
    return module.split(".")[0]


def storey_of(module):
    """Return the number of the storey of a module."""
    return next(i for i, packages in enumerate(STOREYS) if package_of(module) in packages)


def file_of(module, ending):
    return CORE.joinpath(*module.split(".")).with_suffix(ending)


def imports_of(module):
    """Return the core modules that a module imports, at compile time or at run time."""
    found = set()
    for path in (file_of(module, ".pyx"), file_of(module, ".pxd")):
        for line in path.read_text(encoding="utf-8").splitlines():
            match = re.match(r"\s*(?:from|cimport|import)\s+onlinekern(\S*)\s*(\S*)\s*(.*)", line)
            if match:
                found |= modules_named(match, module)
    return found - {module}


def modules_named(match, module):
    """Return the core modules that one import line names."""
    dotted, verb, _ = match.groups()
    if dotted.startswith(".core."):
        name = dotted.removeprefix(".core.")
        assert name in MODULES, f"{module} imports {name}, which is no module of the core"
        return {name}
    if (dotted, verb) == (ABOVE.get(module), "import"):
        return set()
    raise AssertionError(f"{module} imports onlinekern{dotted}: the core knows nothing above it")


def in_meson():
    """Return the modules that src/meson.build compiles."""
    text = (ROOT / "src" / "meson.build").read_text(encoding="utf-8")
    table = re.search(r"^packages = \{(.*?)^\}", text, re.M | re.S)[1]
    found = []
    for package, modules in re.findall(r"'(\w*)': \[(.*?)\]", table, re.S):
        prefix = f"{package}." if package else ""
        found += [prefix + name for name in re.findall(r"'(\w+)'", modules)]
    return found


def test_modules_import_only_what_is_below():
    upward = [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports_of(module)
        if package_of(other) != package_of(module) and storey_of(other) >= storey_of(module)
    ]
    assert not upward


@pytest.mark.parametrize("package", sorted(set(map(package_of, MODULES))))
def test_no_circle_within_a_package(package):
    left = {
        module: {other for other in imports_of(module) if package_of(other) == package}
        for module in MODULES
        if package_of(module) == package
    }
    while left:
        free = {module for module, others in left.items() if not others & left.keys()}
        assert free, f"a circle among {sorted(left)}"
        left = {module: others for module, others in left.items() if module not in free}


def test_every_module_is_imported():
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in [*PACKAGE.rglob("*.py"), *(ROOT / "tests" / "consumers").glob("*.pyx")]
    )
    used = set(re.findall(r"onlinekern\.core\.([\w.]+)", text))
    used |= {
        f"{package}.{name}"
        for package, names in re.findall(r"from onlinekern\.core\.(\w+) import ([\w, ]+)", text)
        for name in names.split(", ")
    }
    # The modules of joined tables have their names there.
    tables = PACKAGE.joinpath("core", "__init__.py").read_text(encoding="utf-8")
    used = used.union(re.findall(r'"([\w.]+)"', tables), *map(imports_of, MODULES))
    assert set(MODULES) <= used


def test_the_parser_sees_imports():
    assert {"learning.heads", "learning.order", "models.composed"} <= imports_of("stream")
    assert "base.vector" in imports_of("kernels.block")  # its names follow in parentheses
    assert set(map(package_of, MODULES)) == set().union(*STOREYS)


def test_every_module_is_built_and_declared():
    assert sorted(in_meson()) == MODULES
    declared = {path.relative_to(CORE) for path in CORE.rglob("*.pxd")} - {Path("__init__.pxd")}
    modules = {file_of(module, ".pxd").relative_to(CORE) for module in MODULES}
    assert declared - modules == {Path(name, "__init__.pxd") for name in folders()}
    assert modules <= declared


def folders():
    """Return the packages that are folders."""
    return sorted(path.name for path in CORE.iterdir() if path.is_dir())


@pytest.mark.parametrize("package", folders())
def test_a_package_says_what_it_is_for(package):
    declared = (CORE / package / "__init__.pxd").read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse((PACKAGE / "core" / package / "__init__.py").read_text()))
    assert declared == f"# {said}\n"


def test_stability_is_stated():
    for module in MODULES:
        head = re.match(r"(?:#.*\n)+", file_of(module, ".pxd").read_text(encoding="utf-8"))[0]
        promise = "Stable: ONLINEKERN_ABI" if module == "capi" else "May change at minor versions."
        assert promise in re.sub(r"\s*\n# ", " ", head), module


def test_there_is_one_stream_loop():
    text = "".join(path.read_text(encoding="utf-8") for path in CORE.rglob("*.pyx"))
    assert len(re.findall(r"\.head\.solve\(", text)) == 1
    assert len(re.findall(r"\bspace\.update\(i, &model\.update\)", text)) == 1


def test_views_of_bytes_say_their_sign():
    """char is unsigned on ARM, so that a view of it refuses NumPy's int8 there."""
    for path in [*CORE.rglob("*.pyx"), *CORE.rglob("*.pxd")]:
        assert re.search(r"(?<!signed )\bchar\[:", path.read_text(encoding="utf-8")) is None, path


def test_python_files_use_the_core_and_never_define_it():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = (isinstance(node, ast.ImportFrom) and node.module) or ""
            if module.startswith("onlinekern.core."):
                name = module.removeprefix("onlinekern.core.")
                named = {f"{name}.{alias.name}" for alias in node.names}
                assert name in MODULES or named <= set(MODULES), path


FILES = sorted(
    path
    for folder in (ROOT / "src", PACKAGE)
    for path in folder.rglob("*")
    if path.suffix in (".py", ".pyx", ".pxd", ".pyi", ".c", ".h", ".hpp", ".build")
)


def lines_of(path):
    """Return the number of lines of a file without docstrings, which may be long."""
    text = path.read_text(encoding="utf-8")
    n_lines = len(text.splitlines())
    if path.suffix != ".py":
        return n_lines
    places = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, places) and ast.get_docstring(node) is not None:
            said = node.body[0]
            n_lines -= said.end_lineno - said.lineno + 1
    return n_lines


def test_a_file_is_one_concept():
    lengths = {str(path.relative_to(ROOT)): lines_of(path) for path in FILES}
    assert {path: n for path, n in lengths.items() if n > MOST_LINES} == {}
