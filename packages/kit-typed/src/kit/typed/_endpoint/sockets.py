# SPDX-License-Identifier: MIT
"""Compiles the types of a `Socket`, which convert its messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from kit.authoring.models import check_union, find_model
from kit.interface import Codecs

from .._results.results import ResponseValidationError, ResultOptions, compile_result
from .._signature.signature import Signature, is_connection
from .._signature.socket import Socket

_RAW = (str, bytes)


def find_message_types(signature: Signature) -> tuple[Any, Any] | None:
    """Returns the types of received and sent messages; None if the endpoint has no `Socket`."""
    for parameter in signature.parameters:
        if is_connection(parameter) and get_origin(parameter.annotation) is Socket:
            received, sent = get_args(parameter.annotation)
            return received, sent
    return None


def check_sockets(signature: Signature) -> None:
    """Rejects a `Socket` whose messages can't be converted.

    Args:
        signature: The endpoint.

    Raises:
        TypeError: If a type of its messages can't be received or sent.
    """
    for parameter in signature.parameters:
        if parameter.annotation is Socket:
            signature.refuse(
                f"the parameter {parameter.name!r} is a Socket without types: write "
                "Socket[Received, Sent]"
            )
    types = find_message_types(signature)
    if types is None:
        return
    for kind in types:
        members = _members(kind)
        if len(members) > 1 and not all(each in _RAW for each in members):
            mixed = [each.__name__ for each in _RAW if each in members]
            if mixed:
                signature.refuse(
                    f"a Socket has messages of the type {kind!r:.100}, but {mixed[0]} messages "
                    "aren't JSON, so they can't be told from the others: keep one kind"
                )
        try:
            check_union(kind)
            if find_model(kind) is None and not set(members) & {*_RAW}:
                msgspec.json.Decoder(kind)
        except TypeError as error:
            if not all(each in _RAW for each in members):
                signature.refuse(f"a Socket can't have messages of the type {kind!r:.100}: {error}")


def compile_socket(signature: Signature, codecs: Codecs) -> Callable[[Any], Any] | None:
    """Returns a function that makes the `Socket` of a connection; None if there is none.

    Args:
        signature: The endpoint.
        codecs: The encoders and decoders of the app.
    """
    types = find_message_types(signature)
    if types is None:
        return None
    received, sent = types
    raw = _raw_types(received)
    kind = received if raw is None else raw
    classes = _raw_types(sent)
    if classes is None:
        signature = signature._replace(returns=sent, stream=None)
        encode = compile_result(signature, None, ResultOptions()).bind(codecs).apply
    else:
        encode = partial(_check_class, classes)
    return lambda ws: Socket(ws, kind, encode, sends_json=classes is None)


def _check_class(classes: tuple[type, ...], message: Any) -> Any:
    if not isinstance(message, classes):
        expected = " or ".join(each.__name__ for each in classes) or "None: no messages are sent"
        raise ResponseValidationError(
            f"a message of the class {type(message).__qualname__} isn't the declared {expected}"
        )
    return message


def _raw_types(kind: Any) -> tuple[type, ...] | None:
    """Returns the classes of messages that aren't JSON; None if messages are JSON."""
    if kind in (None, NoneType):
        return ()
    members = _members(kind)
    return tuple(members) if all(each in _RAW for each in members) else None


def _members(kind: Any) -> list[Any]:
    return [*get_args(kind)] if get_origin(kind) in (Union, UnionType) else [kind]
