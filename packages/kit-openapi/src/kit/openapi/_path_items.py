# SPDX-License-Identifier: MIT
"""Reads the operations of other servers, which the app calls: webhooks and callbacks.

Each is the type of the body of a POST, a description, a function with one, or a Path Item Object
(OpenAPI 3.1.1, section 4.8.9), in which these may stand for Operation Objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from kit.authoring.route_hooks import bind
from kit.interface import Codecs
from kit.interface.metadata import Facts, get_facts

from ._operations import Operation
from ._path_item_checks import METHODS, is_type
from ._patterns import Template
from ._source import innermost

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")


class PathItem(NamedTuple):
    """The operations of one address of another server.

    Attributes:
        operations: The operations by method, in lower case.
        others: The other members, and Operation Objects in which types may stand for schemas.
    """

    operations: Mapping[str, Operation]
    others: Mapping[str, Any]


def read_path_item(value: Any, name: str, codecs: Codecs) -> PathItem:
    """Reads the operations of another server.

    Args:
        value: A checked value.
        name: The name of the webhook or callback, for `kit.interface.hooks`.
        codecs: The encoders and decoders of the app.
    """
    if not isinstance(value, Mapping):
        return PathItem({"post": _operation("POST", value, name, codecs)}, {})
    operations = {
        method: _operation(method.upper(), value[method], name, codecs)
        for method in METHODS
        if method in value and not isinstance(value[method], Mapping)
    }
    return PathItem(operations, {key: value[key] for key in value if key not in operations})


def _operation(method: str, value: Any, name: str, codecs: Codecs) -> Operation:
    if is_type(value):
        facts = Facts(describes={"request_body": value})
        handler: Any = _called_elsewhere
    else:
        path = f"/{_NOT_IN_NAMES.sub('-', name).strip('-')}"
        # A description is bound to middleware, which has no text or source of its own.
        is_function = getattr(type(value), "__kit_runs__", True)
        handler = bind(value, method, path, codecs) if is_function else _called_elsewhere
        facts = get_facts(handler if is_function else value)
    return Operation(
        method,
        Template(()),
        Template(()),
        handler,
        "/",
        [facts],
        innermost(handler),
        dict(facts.describes),
        facts.describes.get("operation_id", ""),
    )


async def _called_elsewhere(c: Any) -> Any:
    # No docstring, which would describe the operation.
    raise NotImplementedError
