# SPDX-License-Identifier: MIT
"""Passes a document to the function that an app gives to change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import msgspec

from kit.authoring.maybe_await import plain_result
from kit.authoring.signatures import describe
from kit.interface import Codecs

# SPEC: OpenAPI 3.1.1 section 4.8.1. Without paths, a document may have webhooks or components only.
_MEMBERS: Mapping[str, type] = {"openapi": str, "info": dict, "paths": dict}
_INFO = ("title", "version")


def transform_document(
    transform: Callable[[dict[str, Any]], Mapping[str, Any]],
    document: dict[str, Any],
    codecs: Codecs,
    factory: str,
) -> dict[str, Any]:
    """Returns the document that a function makes of another one.

    Args:
        transform: The function.
        document: Its argument.
        codecs: The encoders and decoders of the app.
        factory: Name of the function that takes the option, for errors.

    Raises:
        TypeError: If the result isn't a document, or JSON can't represent it.
        ValueError: If a member is missing.
    """

    def refuse(kind: type[Exception], text: str) -> NoReturn:
        raise kind(f"{factory}(transform=...): {describe(transform)} returned {text}") from None

    returned: Any = plain_result(transform(document), transform, f"{factory}(transform=...)")
    if not isinstance(returned, Mapping):
        refuse(TypeError, f"{returned!r:.100}: expected the document, a mapping")
    try:
        result: dict[str, Any] = msgspec.json.decode(codecs.encode_json(returned))
    except Exception as error:
        refuse(TypeError, f"a document that isn't JSON: {error}")
    for name, kind in _MEMBERS.items():
        if name not in result:
            refuse(ValueError, f"a document without {name!r}")
        if not isinstance(result[name], kind):
            refuse(TypeError, f"a document with {result[name]!r:.100} as {name!r}")
    for name in _INFO:
        if not isinstance(result["info"].get(name), str):
            refuse(ValueError, f"a document without a text as {name!r} in its 'info'")
    return result
