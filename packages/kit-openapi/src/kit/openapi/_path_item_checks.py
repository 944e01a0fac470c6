# SPDX-License-Identifier: MIT
"""Checks the operations of other servers: webhooks and callbacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_origin

from kit.authoring.options import OptionChecks
from kit.authoring.route_hooks import is_bindable
from kit.authoring.signatures import describe
from kit.interface.metadata import Facts, get_facts

from ._description_checks import check_described, check_members
from ._methods import FIXED_METHODS

METHODS = tuple(sorted(map(str.lower, FIXED_METHODS)))

_PATH_ITEM = (*METHODS, "summary", "description", "servers", "parameters", "$ref")
_EXPECTED = (
    "the type of a body, `describe(...)`, a function with one of its decorators, or a Path Item "
    "Object such as {'post': ...}"
)
_OPERATION = (
    *("tags", "summary", "description", "externalDocs", "operationId", "parameters"),
    *("requestBody", "responses", "callbacks", "deprecated", "security", "servers"),
)


def check_path_item(check: OptionChecks, option: str, value: Any) -> None:
    """Checks the operations of another server.

    Args:
        check: The checks of the called function.
        option: The option, with the name of the webhook or callback.
        value: Its value.

    Raises:
        TypeError: If it can't be read, or a function says nothing of its request.
        ValueError: If a Path Item Object has an unknown member, or no operation.
    """
    if isinstance(value, Mapping):
        check_members(check, option, value, _PATH_ITEM)
        methods = [name for name in METHODS if name in value]
        if not methods and "$ref" not in value:
            check.unusable(option, dict(value), "an operation, such as {'post': ...}")
        for name in methods:
            shown = f"{option}[{name!r}]"
            if isinstance(value[name], Mapping):
                _check_object(check, shown, value[name])
            else:
                _check_operation(check, shown, value[name])
        return
    _check_operation(check, option, value)


def _check_object(check: OptionChecks, option: str, value: Mapping[str, Any]) -> None:
    """Checks an Operation Object (OpenAPI 3.1.1, section 4.8.10)."""
    check_members(check, option, value, _OPERATION)
    responses = value.get("responses", {})
    if not isinstance(responses, Mapping) or not all(
        isinstance(each, Mapping) for each in responses.values()
    ):
        check.wrong_type(option, {"responses": responses}, "Response Objects by status")


def _check_operation(check: OptionChecks, option: str, value: Any) -> None:
    if value is None or isinstance(value, (str, bytes)):
        check.wrong_type(option, value, _EXPECTED)
    if is_type(value):
        check_described(f"{check.factory}({option}=...)", value)
    elif not is_bindable(value) and get_facts(value) == Facts():
        raise TypeError(
            f"{check.factory}({option}=...) takes {_EXPECTED}: {describe(value)} says nothing of "
            "its request; put @typed or @describe(request_body=...) above it"
        )


def is_type(value: Any) -> bool:
    """Returns whether an operation is given by the type of its body."""
    return isinstance(value, type) or get_origin(value) is not None or not callable(value)


def check_callbacks(check: OptionChecks, callbacks: Any) -> dict[str, Any]:
    """Checks callbacks (OpenAPI 3.1.1, section 4.8.18): by name, then by the URL to call.

    Raises:
        TypeError: If they aren't mappings, or an operation can't be read.
        ValueError: If a Path Item Object can't be used.
    """
    expected = "a mapping such as {'paid': {'{$request.body#/callback_url}': Payment}}"
    if not isinstance(callbacks, Mapping):
        check.wrong_type("callbacks", callbacks, expected)
    for name, urls in callbacks.items():
        if not isinstance(name, str) or not isinstance(urls, Mapping) or not urls:
            check.wrong_type("callbacks", callbacks, expected)
        for url, operations in urls.items():
            check_path_item(check, f"callbacks[{name!r:.100}][{url!r:.100}]", operations)
    return dict(callbacks)
