"""The commands by name. Each command is a module, which is loaded when the command is used.

A new command is a module with a dataclass `Request`, and a line of `COMMANDS`.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, cleandoc
from typing import Annotated, Any, get_type_hints

import typer
import typer.core
import typer.main

from onlinekern.cli.arguments import default_of
from onlinekern.cli.options import Request

# Name of a command and of its module -> the first line of its help.
COMMANDS = {
    "train": "Learn a stream and write the model to a file.",
    "predict": "Print what a model says of each row.",
    "serve": "Serve a model over HTTP: it predicts and learns at the same time.",
    "export": "Write a model as C, which needs no library, or as ONNX.",
    "compare": "Run methods over a stream and print a table.",
    "methods": "List the methods that can be named, and their papers.",
    "info": "Print what a model file holds, or what is installed here.",
}
PLAIN: Any = {"pretty_exceptions_enable": False, "rich_markup_mode": None}


class Commands(typer.core.TyperGroup):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # An unknown name is compared with these to suggest the nearest one.
        self.commands: Any = dict.fromkeys(COMMANDS)

    def list_commands(self, context: Any) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, context: Any, name: str) -> Any:
        """Return a command after loading its module, or None for an unknown name."""
        return command(name) if name in COMMANDS else None

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


class Command(typer.core.TyperCommand):
    """A command that lists the arguments it takes if there are too many."""

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """Parse arguments; raise ValueError for unused ones, and for options without effect."""
        context.allow_extra_args = True
        if not context.resilient_parsing:
            self._check_once(context, args)
        rest = super().parse_args(context, args)
        if rest and not context.resilient_parsing:
            taken = [str(one.metavar) for one in self.params if one.param_type_name == "argument"]
            several = "; a folder, or a pattern in quotes, is a DATA of several files"
            raise ValueError(
                f"{context.info_name} takes {' and '.join(taken) or 'options only'}, got also "
                f"{', '.join(rest)}{several if 'DATA' in taken else ''}"
            )
        return rest

    def _check_once(self, context: Any, args: list[str]) -> None:
        """Raise ValueError if an option with a single value is given twice."""
        _, _, given = self.make_parser(context).parse_args(list(args))
        for one in {one.name: one for one in given if one.param_type_name == "option"}.values():
            if given.count(one) > 1 and not (one.multiple or one.is_eager):
                raise ValueError(
                    f"{one.opts[0]} is given {given.count(one)} times, and takes one value"
                )

    def invoke(self, context: Any) -> Any:
        """Return the request, with the names of the options given on the command line."""
        request = super().invoke(context)
        named = (name for name in context.params if is_named(context.get_parameter_source(name)))
        object.__setattr__(request, "named", frozenset(named))
        return request


def is_named(source: Any) -> bool:
    """Return whether an option's value comes from the command line."""
    # This class is in click or in typer's copy of click.
    return source is not None and source.name == "COMMANDLINE"


def command(name: str) -> Any:
    """Return the command that returns an object of a module's class `Request`."""
    request = import_module(f"onlinekern.cli.{name}").Request

    def parsed(**options: Any) -> Request:
        return request(**options)

    vars(parsed)["__signature__"] = signature_of(request)
    alone = typer.Typer(add_completion=False, **PLAIN)
    text = f"{COMMANDS[name]}\n\n{cleandoc(request.__doc__)}"
    alone.command(name, cls=Command, help=text)(parsed)
    return typer.main.get_command(alone)


def signature_of(request: type[Request]) -> Signature:
    """Return the fields of a class as parameters: its own fields first, then inherited ones."""
    inherited = {
        field.name for base in request.__bases__ if is_dataclass(base) for field in fields(base)
    }
    types = get_type_hints(request)
    return Signature([
        parameter_of(field, types[field.name])
        for field in sorted(fields(request), key=lambda field: field.name in inherited)
    ])  # fmt: skip


def parameter_of(field: Field[Any], kind: Any) -> Parameter:
    """Return a field as a parameter that typer understands."""
    default = default_of(field)
    annotation = Annotated[kind, field.metadata["parameter"]]
    default = Parameter.empty if default is MISSING else default
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def print_version(wanted: bool) -> None:
    """If `wanted`, print the version and exit."""
    if wanted:
        from onlinekern._config import version

        typer.echo(f"onlinekern {version()}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands, help="Online kernel learning: learn streams, predict, compare methods.", **PLAIN
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Print the help if no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
