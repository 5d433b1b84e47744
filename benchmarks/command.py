"""The command line of a script, from the defaults of its options."""

import argparse


def read_options(doc, *places, **defaults):
    """Return what the command line says: `places` stand in order, `defaults` are options.

    A default says of which type an option is: False is a flag, a list one value or more, a tuple
    names with commas between, None a text that may be left out, a type a value of it that may be
    left out. A dictionary holds what `add_argument` takes.
    """
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=doc, formatter_class=shown)
    for place in places:
        parser.add_argument(place)
    for name, default in defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), **taken(default))
    return parser.parse_args()


def taken(default):
    """Return what `add_argument` takes for an option with a default."""
    if isinstance(default, dict):
        return default
    if default is False:
        return {"action": "store_true"}
    if isinstance(default, tuple):
        return {"type": lambda text: tuple(text.split(",")), "default": default}
    if isinstance(default, list):
        return {"nargs": "+", "type": type(default[0]), "default": default}
    if isinstance(default, type):
        return {"type": default}
    return {"type": str if default is None else type(default), "default": default}
