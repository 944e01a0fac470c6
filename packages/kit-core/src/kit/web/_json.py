# SPDX-License-Identifier: MIT
"""Encodes and decodes JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache, lru_cache, partial
from typing import Any

import msgspec

JSONDecodeError = msgspec.DecodeError

MARK = b"\xef\xbb\xbf"
"""The byte order mark, ignored before JSON (RFC 8259 section 8.1)."""


def _encode_other(value: Any) -> Any:
    """Encodes pydantic models, which msgspec doesn't support."""
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__}")


def _encode_model(value: Any, *, by_alias: bool) -> Any:
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    return _encode_other(value) if dump is None else dump(mode="json", by_alias=by_alias)


# PERF: created once, since creating an encoder costs more than encoding a small body.
encode_plainly = msgspec.json.Encoder(enc_hook=_encode_other).encode
"""Encodes a value like `encode`, with msgspec's own errors."""
_decode = msgspec.json.Decoder().decode


def encode(value: Any) -> bytes:
    """Encodes a value as compact JSON in UTF-8.

    Supports dict, list, str, int, float (NaN as null), bool and None, and also dataclasses, msgspec
    Structs, attrs classes, datetimes, UUIDs, enums, Decimals, and pydantic models.

    Raises:
        TypeError: If a part of it can't be encoded; the message names its type and place.
    """
    try:
        return encode_plainly(value)
    except (TypeError, UnicodeEncodeError) as error:
        _raise_place(value, error)
        raise


def encode_with_aliases(value: Any, by_alias: bool) -> bytes:
    """Encodes a value like `encode`, with a choice of field names for pydantic models.

    Args:
        value: The value.
        by_alias: Whether to write serialization aliases instead of field names.

    Raises:
        TypeError: As for `encode`.
    """
    try:
        return _encoder_with_aliases(by_alias)(value)
    except (TypeError, UnicodeEncodeError) as error:
        _raise_place(value, error)
        raise


@cache
def _encoder_with_aliases(by_alias: bool) -> Callable[[Any], bytes]:
    return msgspec.json.Encoder(enc_hook=partial(_encode_model, by_alias=by_alias)).encode


def _raise_place(value: Any, error: Exception) -> None:
    """Raises a TypeError that names the value that can't be encoded and its place, if found."""
    found = _first_unencodable(value, "$")
    if found is not None:
        place, culprit = found
        what = type(culprit).__qualname__
        raise TypeError(f"Can't encode {what} as JSON, at {place}: {culprit!r:.100}") from error


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


def _first_unencodable(value: Any, place: str) -> tuple[str, Any] | None:
    """Returns the path and value of the first part that can't be encoded, depth first; or None."""
    try:
        encode_plainly(value)
    except (TypeError, UnicodeEncodeError):
        for step, part in _parts(value):
            found = _first_unencodable(part, place + step)
            if found is not None:
                return found
        return place, value
    return None


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        return ((f"[{key!r}]", part) for key, part in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return ((f"[{index}]", part) for index, part in enumerate(value))
    if isinstance(value, type):
        return ()
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return ((f".{name}", part) for name, part in dump(mode="json").items())
    names: Iterable[str] = getattr(value, "__dataclass_fields__", ())
    names = names or getattr(value, "__struct_fields__", ())
    names = names or [field.name for field in getattr(value, "__attrs_attrs__", ())]
    return ((f".{name}", getattr(value, name)) for name in names)


def decode_as(data: bytes, type: Any) -> Any:
    """Decodes JSON into a value of a type.

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
        return _decoder(type)(data) if model is None else model.validate_json(data)
    except msgspec.ValidationError as error:
        from kit.authoring.whole_numbers import decode_again

        return decode_again(_decoder(type), data, error)
    except ValueError as error:
        decode(data)  # raises an error with the position if it is malformed
        from kit.authoring.models import summary

        raise msgspec.ValidationError(summary(error, model)) from error


def _decoder(type: Any) -> Callable[[bytes], Any]:
    try:
        return _new_decoder(type)
    except TypeError:  # metadata in Annotated may be unhashable
        return _new_decoder.__wrapped__(type)


@lru_cache(maxsize=256)
def _new_decoder(type: Any) -> Callable[[bytes], Any]:
    from kit.authoring.models import with_defaults
    from kit.authoring.numerals import checked

    decode = msgspec.json.Decoder(type).decode
    return with_defaults(checked(decode, type, is_json=True), type)
