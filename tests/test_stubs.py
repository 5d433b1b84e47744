"""The stubs of the compiled core declare what the compiled modules hold, no more and no less."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import onlinekern.core

ROOT = Path(__file__).parents[1]
STUBS = SOURCES = ROOT / "src" / "onlinekern" / "core"
MODULES = sorted(".".join(path.relative_to(STUBS).with_suffix("").parts)
                 for path in STUBS.rglob("*.pyi"))  # fmt: skip
# Special methods that a stub declares. `__new__` is in every class of Cython, `__init__` is not.
SPECIAL = ("__init__", "__call__")
# Spaces hold what a model learns. Estimators make them; users do not.
WITHOUT_STUBS = "onlinekern.core.models"


def is_public(name):
    return not name.startswith("_") or name in SPECIAL


def stub_of(module):
    """Return the statements of a stub."""
    path = STUBS.joinpath(*module.split(".")).with_suffix(".pyi")
    return ast.parse(path.read_text(encoding="utf-8")).body


def compiled(module):
    return importlib.import_module(f"onlinekern.core.{module}")


def is_property(member):
    return "property" in map(ast.unparse, member.decorator_list)


def names_of(statements):
    """Return the public names that statements of a stub define."""
    names = set()
    for statement in statements:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.AnnAssign):
            names.add(statement.target.id)
    return {name for name in names if is_public(name)}


def functions_of(statements):
    return [one for one in statements if isinstance(one, ast.FunctionDef)]


def classes():
    """Yield (module, statement of its stub, compiled class) of each class."""
    for module in MODULES:
        for statement in stub_of(module):
            if isinstance(statement, ast.ClassDef):
                yield module, statement, getattr(compiled(module), statement.name)


def own_names(module):
    """Return the public classes, functions and tables that a compiled module defines itself."""
    found = compiled(module)
    tables = set(re.findall(r"^(\w+) = ", source_of(module), re.M))
    return {
        name
        for name, value in vars(found).items()
        if is_public(name)
        and (name in tables or getattr(value, "__module__", None) == found.__name__)
    }


def source_of(module):
    path = SOURCES.joinpath(*module.split(".")).with_suffix(".pyx")
    return path.read_text(encoding="utf-8")


def parameters_of_stub(function):
    """Return (name, default as text or None) of the parameters of a stub's function."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    absent = [None] * (len(positional) - len(arguments.defaults))
    found = [
        (argument.arg, None if default is None else ast.unparse(default))
        for argument, default in zip(positional, [*absent, *arguments.defaults], strict=True)
    ]
    variable = [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument]
    return found + [(name, None) for name in variable]


def parameters_of_signature(function):
    """Return the same of a compiled function."""
    return [
        (name, None if parameter.default is parameter.empty else repr(parameter.default))
        for name, parameter in inspect.signature(function).parameters.items()
    ]


def body_of(module, class_name):
    """Return the source of a class, without its first line."""
    pattern = rf"^(?:cdef )?class {class_name}\b.*\n((?:    .*\n|\n)*)"
    return re.search(pattern, source_of(module), re.M)[1]


def constructors_of(module, class_name):
    """Return {'__init__'} for a class whose ``__cinit__`` names its arguments, else nothing."""
    named = re.search(r"^    def __cinit__\(self(?:\)|, (?!\*))", body_of(module, class_name), re.M)
    return {"__init__"} if named else set()


def parameters_of_source(module, class_name, method):
    """Return the same from the source: a compiled special method has no signature."""
    body = body_of(module, class_name)
    if f"def {method}(" not in body:
        method = "__cinit__"
    listed = re.search(rf"^    def {method}\((.*?)\):", body, re.M | re.S)[1]
    found = []
    for text in re.sub(r"\[[^]]*\]| not None", "", " ".join(listed.split())).split(","):
        declared, _, default = text.partition("=")
        found.append((declared.split()[-1].lstrip("*"), default.strip() or None))
    return found


def same(stub, actual):
    """Whether parameters agree; '...' in a stub stands for a default that is no literal."""
    return [name for name, _ in stub] == [name for name, _ in actual] and all(
        (one is None) == (other is None) and one in ("...", other)
        for (_, one), (_, other) in zip(stub, actual, strict=True)
    )


def test_stubs_are_installed():
    installed = Path(onlinekern.core.__file__).parent
    if installed == ROOT / "onlinekern" / "core":
        pytest.skip("an editable install, whose stubs are in the source folder")
    assert (installed.parent / "py.typed").exists()
    for module in MODULES:
        assert installed.joinpath(*module.split(".")).with_suffix(".pyi").exists(), module


def test_every_table_of_parts_has_stubs():
    for table in onlinekern.core.__all__:
        for value in vars(onlinekern.core)[table].values():
            module = getattr(value, "__module__", "")
            if module and not module.startswith(WITHOUT_STUBS):
                assert module.removeprefix("onlinekern.core.") in MODULES, (table, value)


def test_stubs_have_the_names_of_their_modules():
    for module in MODULES:
        assert names_of(stub_of(module)) == own_names(module), module


def test_stubs_have_the_bases_and_members_of_each_class():
    for module, statement, actual in classes():
        bases = [base.__name__ for base in actual.__bases__ if base is not object]
        assert [ast.unparse(base) for base in statement.bases] == bases, statement.name
        members = {name for name in vars(actual) if is_public(name)}
        members |= constructors_of(module, statement.name)
        assert names_of(statement.body) == members, statement.name


def test_stubs_say_what_is_a_property():
    for _, statement, actual in classes():
        for member in functions_of(statement.body):
            if is_public(member.name):
                found = inspect.isdatadescriptor(vars(actual).get(member.name))
                assert is_property(member) == found, (statement.name, member.name)


def test_stubs_have_the_parameters_of_each_function():
    for module in MODULES:
        for statement in functions_of(stub_of(module)):
            actual = inspect.unwrap(getattr(compiled(module), statement.name))
            expected = parameters_of_signature(actual)
            assert same(parameters_of_stub(statement), expected), (module, statement.name)


def test_stubs_have_the_parameters_of_each_method():
    for module, statement, actual in classes():
        for member in functions_of(statement.body):
            if is_property(member) or not is_public(member.name):
                continue
            if member.name in SPECIAL:
                expected = parameters_of_source(module, statement.name, member.name)
            else:
                expected = parameters_of_signature(vars(actual)[member.name])
            assert same(parameters_of_stub(member), expected), (statement.name, member.name)
