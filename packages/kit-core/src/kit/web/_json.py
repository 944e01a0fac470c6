# SPDX-License-Identifier: MIT
"""Decodes JSON, and encodes it where no app is known."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from kit.authoring.codecs import default_codecs

if TYPE_CHECKING:
    from kit.authoring.codecs import TypeCodecs

JSONDecodeError = msgspec.DecodeError

MARK = b"\xef\xbb\xbf"
"""The byte order mark, ignored before JSON (RFC 8259 section 8.1)."""


_decode = msgspec.json.Decoder().decode

encode = default_codecs().encode_json
"""Encodes a value as JSON where no app is known."""


def decode(data: bytes) -> Any:
    """Decodes JSON.

    Raises:
        ValueError: If it isn't JSON in UTF-8; the message includes the position in bytes.
    """
    try:
        return _decode(data)  # PERF: fails if there is a mark, so no search is necessary
    except ValueError:
        pass
    return _decode_again(data.removeprefix(MARK))


def _decode_again(data: bytes) -> Any:
    """Decodes JSON that has a mark, or raises an error with the position."""
    try:
        return _decode(data)
    except ValueError as error:
        problem = _malformation(data, error)
        if problem is None:
            raise
        raise msgspec.DecodeError(problem) from error


def _malformation(data: bytes, error: ValueError) -> str | None:
    """Returns a message with the position in the body if msgspec's message lacks it, or None."""
    if isinstance(error, UnicodeDecodeError):
        try:
            data.decode()
        except UnicodeDecodeError as whole:
            return f"JSON is malformed: invalid UTF-8 (byte {whole.start})"
    return f"{error} (byte {len(data)})" if str(error) == "Input data was truncated" else None


def is_malformed(error: Exception) -> bool:
    """Returns whether an error of `decode_as` means malformed JSON, not JSON of another type."""
    return not isinstance(error, msgspec.ValidationError)


def decode_as(data: bytes, type: Any, codecs: TypeCodecs | None = None) -> Any:
    """Decodes JSON into a value of a type.

    Args:
        data: The JSON.
        type: The type.
        codecs: The codecs of an app with decoders; None: no decoders.

    Raises:
        ValueError: If it isn't JSON (with the position), or doesn't fit the type (with the path).
    """
    data = data.removeprefix(MARK)
    model = None
    # Kit doesn't import pydantic; until the app does, no type can come from pydantic.
    if "pydantic" in sys.modules or hasattr(type, "model_validate_json"):
        from kit.authoring.models import find_model

        model = find_model(type)
    try:
        return _decoder(type, codecs)(data) if model is None else model.validate_json(data)
    except msgspec.ValidationError as error:
        from kit.authoring.whole_numbers import decode_again

        return decode_again(_decoder(type, codecs), data, error)
    except ValueError as error:
        decode(data)  # raises an error with the position if it is malformed
        from kit.authoring.models import summary

        raise msgspec.ValidationError(summary(error, model)) from error


def _decoder(type: Any, codecs: TypeCodecs | None) -> Callable[[bytes], Any]:
    try:
        return _new_decoder(type, codecs)
    except TypeError:  # metadata in Annotated may be unhashable
        return _new_decoder.__wrapped__(type, codecs)


@lru_cache(maxsize=256)
def _new_decoder(type: Any, codecs: TypeCodecs | None) -> Callable[[bytes], Any]:
    from kit.authoring.models import with_defaults
    from kit.authoring.numerals import checked
    from kit.authoring.text_values import decode_hook

    hook = decode_hook(type, is_text=False, codecs=codecs)
    decode = msgspec.json.Decoder(type, dec_hook=hook).decode
    return with_defaults(checked(decode, type, is_json=True), type)
