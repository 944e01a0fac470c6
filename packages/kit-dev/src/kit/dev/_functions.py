# SPDX-License-Identifier: MIT
"""Makes commands of functions."""

from __future__ import annotations

import asyncio
import inspect
import sys
import types
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import click

from ._errors import AppError
from ._tracebacks import from_their_code

_TYPES: dict[Any, Any] = {
    str: str,
    int: int,
    float: float,
    bool: bool,
    Path: click.Path(path_type=Path),
    inspect.Parameter.empty: str,
}


class NotACommandError(ValueError):
    """Something can't be run as a command; the text says why."""


def as_command(name: str, value: Any) -> click.Command:
    """Returns the command that a plugin or a project means.

    Parameters of a function without a default become arguments; the others, and those that are
    keyword-only, become options.

    Args:
        name: What it is called.
        value: A click command, or a plain or async function whose parameters are annotated with
            `str`, `int`, `float`, `bool` or `Path`, or one of them and None.

    Returns:
        A click command as it is, else one that calls the function.

    Raises:
        NotACommandError: If it is something else, or the function has other parameters.
    """
    if isinstance(value, click.Command):
        return value
    if not inspect.isroutine(value):
        kind = f"an object of type {type(value).__name__}"
        raise NotACommandError(f"{name!r} is {kind}, expected a function or a click command")
    try:
        parameters = inspect.signature(value, eval_str=True).parameters.values()
    except Exception as error:  # annotations are evaluated, which can raise anything
        reason = f"the parameters of {name!r} can't be read: {type(error).__name__}: {error}"
        raise NotACommandError(reason) from error
    text = inspect.cleandoc(value.__doc__ or "").partition("\n\nArgs:\n")[0]
    return click.Command(
        name,
        params=[_parameter(name, each) for each in parameters],
        callback=_runner(value),
        help=text,
    )


def _parameter(command: str, parameter: inspect.Parameter) -> click.Parameter:
    name = parameter.name
    kind = _TYPES.get(_without_none(parameter.annotation))
    if kind is None or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise NotACommandError(
            f"the parameter {str(parameter)!r} of {command!r} can't be read from a command line: "
            "expected str, int, float, bool or Path; write a click command for others"
        )
    is_required = parameter.default is parameter.empty
    flag = f"--{name.replace('_', '-')}"
    if is_required and parameter.kind is not parameter.KEYWORD_ONLY:
        return click.Argument([name], type=kind)
    if kind is bool:
        flag += f"/--no-{flag[2:]}"
    if is_required:
        return click.Option([name, flag], type=kind, required=True)
    return click.Option([name, flag], type=kind, default=parameter.default, show_default=True)


def _without_none(annotation: Any) -> Any:
    """The type `T` of `T | None`; any other annotation as it is."""
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    others = [each for each in get_args(annotation) if each is not type(None)]
    return others[0] if len(others) == 1 else annotation


def _runner(function: Callable[..., Any]) -> Callable[..., None]:
    @wraps(function)
    def run(**arguments: Any) -> None:
        positional = [
            arguments.pop(each.name)
            for each in inspect.signature(function).parameters.values()
            if each.kind is each.POSITIONAL_ONLY
        ]
        try:
            result = function(*positional, **arguments)
            if inspect.iscoroutine(result):
                asyncio.run(result)
        except (AppError, click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            click.echo(from_their_code(error), err=True)
            sys.exit(1)

    return run
