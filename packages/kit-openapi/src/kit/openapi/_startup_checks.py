# SPDX-License-Identifier: MIT
"""Checks the descriptions of all routes, before the document is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kit.authoring.options import OptionChecks

from ._description_checks import (
    check_extensions,
    check_external_docs,
    check_headers,
    check_parameters,
    check_tags,
    refuse,
)
from ._operations import Operation
from ._path_item_checks import check_callbacks

_CHECKS: Mapping[str, Callable[[OptionChecks, Any], Any]] = {
    "tags": check_tags,
    "parameters": check_parameters,
    "headers": check_headers,
    "callbacks": check_callbacks,
    "extensions": check_extensions,
    "external_docs": lambda check, given: check_external_docs(check, "external_docs", given),
}
_check = OptionChecks("describe")


def check_descriptions(operations: Iterable[Operation]) -> None:
    """Checks what `describe` and `attach` say of operations.

    Args:
        operations: All operations of an app.

    Raises:
        TypeError: If a description has a value of the wrong type.
        ValueError: If it can't be used, or has a parameter that no path of its routes has.
    """
    checked: set[int] = set()
    # The parameters of each description, those of its paths, and one of its operations.
    described: dict[int, tuple[Iterable[Mapping[str, Any]], set[str], str]] = {}
    for operation in operations:
        where = f"{operation.method} {operation.shown.path}"
        names = {each.name for each in operation.template.parameters}
        for facts in operation.facts:
            for field, value in facts.describes.items():
                if id(value) not in checked and field in _CHECKS:
                    checked.add(id(value))
                    _check_field(field, value, where)
            parameters = facts.describes.get("parameters", ())
            described.setdefault(id(parameters), (parameters, set(), where))[1].update(names)
    for parameters, names, where in described.values():
        for each in parameters:
            if each["in"] == "path" and each["name"] not in names:
                raise ValueError(
                    f"{where}: describe(parameters=...) has the path parameter "
                    f"{each['name']!r:.100}, which the path doesn't have"
                )


def _check_field(field: str, value: Any, where: str) -> None:
    try:
        _CHECKS[field](_check, value)
    except (TypeError, ValueError) as error:
        refuse(where, error)


def check_security(
    operations: Iterable[Operation], schemes: Mapping[str, Any], factory: str
) -> None:
    """Checks that the security schemes of descriptions are known.

    Args:
        operations: The operations of the document.
        schemes: The schemes that the document was given.
        factory: Name of the called function.

    Raises:
        ValueError: If one isn't.
    """
    for operation in operations:
        for each in operation.described.get("security", ()):
            for name in () if "type" in each else each:
                if name not in schemes:
                    raise ValueError(
                        f"{operation.method} {operation.shown.path}: describe(security=...) has "
                        f"the scheme {name!r:.100}, which {factory}(security_schemes=...) doesn't "
                        "have"
                    )
