"""The public C interface does not change within an ABI number: signatures, structs and constants.

The name of a function's capsule is its signature. `abi_signatures.json` records what is promised
under the number in `onlinekern.h`. New names pass; a changed or missing one fails. After adding
something, or after raising `ONLINEKERN_ABI`, write the file again:

    python -P tests/test_abi.py

This refuses to change or drop a promise under the same number.
"""

import ctypes
import json
import re
from pathlib import Path

import pytest

from onlinekern.core import capi

HERE = Path(__file__).parent
HEADER = HERE.parent / "src" / "include" / "onlinekern" / "onlinekern.h"
FILE = HERE / "abi_signatures.json"


def capsule_name(capsule):
    """Return the name of a capsule."""
    function = ctypes.pythonapi.PyCapsule_GetName
    function.restype, function.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return function(capsule).decode()


def interface():
    """Return the present interface."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.S)
    structs = re.findall(r"typedef struct \{(.*?)\} (\w+);", text, re.S)
    opaque = re.findall(r"typedef struct (\w+) (\w+);", text)
    return {
        "abi": int(re.search(r"#define ONLINEKERN_ABI (\d+)", text)[1]),
        "constants": {name: int(value) for name, value in re.findall(r"(OK_\w+) = (-?\d+)", text)},
        "functions": {name: capsule_name(item) for name, item in capi.__pyx_capi__.items()},
        "structs": {name: " ".join(fields.split()) for fields, name in structs}
        | {name: f"struct {tag}" for tag, name in opaque},
    }


def broken(promised, now):
    """Return the promises that no longer hold."""
    return {
        name: f"{text!r} is now {now[kind].get(name)!r}"
        for kind in ("constants", "functions", "structs")
        for name, text in promised[kind].items()
        if now[kind].get(name) != text
    }


def promises():
    return json.loads(FILE.read_text(encoding="utf-8"))


def renew():
    """Write the promises again."""
    now = interface()
    before = promises() if FILE.exists() else None
    if before and before["abi"] == now["abi"] and broken(before, now):
        raise SystemExit(f"raise ONLINEKERN_ABI in onlinekern.h first: {broken(before, now)}")
    FILE.write_text(json.dumps(now, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def test_promises_are_kept():
    promised, now = promises(), interface()
    assert now["abi"] == promised["abi"], "the ABI has risen: python -P tests/test_abi.py"
    assert broken(promised, now) == {}, "raise ONLINEKERN_ABI, then python -P tests/test_abi.py"


def test_the_interface_is_found():
    now = interface()
    assert {"ok_abi", "ok_new", "ok_learn", "ok_scores", "ok_save", "ok_free"} <= set(
        now["functions"]
    )
    assert now["functions"]["ok_learn_one"] == "int (ok_model *, ok_matrix const *, double)"
    assert now["structs"].keys() == {"ok_matrix", "ok_model"}
    assert now["constants"]["OK_FLOAT64"] == 8
    # With the module's path in a signature, moving a file would break the ABI.
    assert "onlinekern" not in str(now["functions"])


@pytest.mark.parametrize("kind", ["constants", "functions", "structs"])
def test_breaks_are_seen(kind):
    promised, now = interface(), interface()
    now[kind]["ok_new_thing"] = "int (void)"
    assert broken(promised, now) == {}
    name = min(promised[kind])
    changed = {**now, kind: {**now[kind], name: "something else"}}
    assert broken(promised, changed).keys() == {name}
    del now[kind][name]
    assert broken(promised, now).keys() == {name}


if __name__ == "__main__":
    renew()
