"""No logic is written twice: no two places share six lines of statements."""

import ast
from pathlib import Path

import onlinekern

SHARED = 6
ROOT = Path(onlinekern.__file__).parent


def without_docstrings(tree):
    """Remove docstrings and declarations; keep the logic."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            node.body = [
                part
                for part in node.body
                if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
                and not isinstance(part, ast.AnnAssign | ast.Import | ast.ImportFrom)
            ] or [ast.Pass()]
    return tree


def windows(source):
    """Return every run of `SHARED` lines of each function and class, formatted alike."""
    for node in without_docstrings(ast.parse(source)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            lines = [line.strip() for line in ast.unparse(node).splitlines() if line.strip()]
            for first in range(len(lines) - SHARED + 1):
                yield "\n".join(lines[first : first + SHARED])


def repeated(sources):
    """Return the runs that occur in two places, with the names of their files."""
    places = {}
    for name, source in sources.items():
        for window in windows(source):
            places.setdefault(window, []).append(name)
    return {window: names for window, names in places.items() if len(names) > 1}


def test_a_repetition_is_found():
    body = "\n".join(f"    x = f(x, {i})" for i in range(SHARED))
    source = "def {}(x):\n    '''Say {}.'''\n" + body + "\n    return x\n"
    found = repeated({"a": source.format("one", 1), "b": source.format("two", 2)})
    assert list(found.values()) == [["a", "b"]] * 2


def test_no_two_places_share_six_lines():
    sources = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in sorted(ROOT.rglob("*.py"))
    }
    assert len(sources) > 20
    assert repeated(sources) == {}
