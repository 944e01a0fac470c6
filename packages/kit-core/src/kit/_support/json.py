# SPDX-License-Identifier: MIT
"""JSON: what Python values become, and how a body is read."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

JSONDecodeError = msgspec.DecodeError

MARK = b"\xef\xbb\xbf"
"""The byte order mark, which is passed over before JSON (RFC 8259 section 8.1)."""

# What msgspec calls truncated within the last bytes of a body, after complete escapes: half of a
# surrogate pair that no other half follows, or an escape with too few digits.
# PERF: compiled when it is first looked for, not at import.
_WRONG_ESCAPE = (
    rb"(?:[^\\]++|\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}"
    rb"|u(?![dD][89abAB])[0-9a-fA-F]{4}|[^u]))*+"
    rb"\\(?:(u[dD][89abAB][0-9a-fA-F]{2})(?=[^\\]|\\[^u])"
    rb"|(?:u[dD][89abAB][0-9a-fA-F]{2}\\)?u[0-9a-fA-F]{0,3}(?=[^0-9a-fA-F]))"
)


def _encode_other(value: Any) -> Any:
    """What msgspec doesn't know: pydantic models, which describe themselves."""
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__}")


# PERF: made once; making an encoder costs more than a small body.
_encode = msgspec.json.Encoder(enc_hook=_encode_other).encode
_decode = msgspec.json.Decoder().decode


def encode(value: Any) -> bytes:
    """Encodes a value as compact JSON in UTF-8.

    Besides dict, list, str, int, float (NaN as null), bool and None: dataclasses, msgspec
    Structs, attrs classes, datetimes, UUIDs, enums, Decimals, and pydantic models.

    Raises:
        TypeError: If something in it can't be encoded; the text names its type and place.
    """
    try:
        return _encode(value)
    except (TypeError, UnicodeEncodeError) as error:
        found = _first_unencodable(value, "$")
        if found is None:
            raise
        place, culprit = found
        raise TypeError(
            f"Can't encode {type(culprit).__qualname__} as JSON, at {place}: {culprit!r:.100}"
        ) from error


def decode(data: bytes) -> Any:
    """Decodes JSON.

    Raises:
        ValueError: If it is no JSON in UTF-8; the text has the position in bytes.
    """
    data = data.removeprefix(MARK)
    try:
        return _decode(data)
    except ValueError as error:
        problem = _malformation(data, error)
        if problem is None:
            raise
        raise msgspec.DecodeError(problem) from error


def _malformation(data: bytes, error: ValueError) -> str | None:
    """Says what is wrong where msgspec says something else, or no position in the whole body."""
    if isinstance(error, UnicodeDecodeError):
        try:
            data.decode()
        except UnicodeDecodeError as whole:
            return f"JSON is malformed: invalid UTF-8 (byte {whole.start})"
    if str(error) != "Input data was truncated":
        return None
    wrong = re.match(_WRONG_ESCAPE, data)
    if wrong is None:
        return f"{error} (byte {len(data)})"
    problem = "invalid character in unicode escape"
    if wrong[1] is not None:
        problem = "unexpected end of escaped utf-16 surrogate pair"
    return f"JSON is malformed: {problem} (byte {wrong.end()})"


def is_malformed(error: Exception) -> bool:
    """Whether an error of `decode_as` means that it is no JSON, not that it is of another type."""
    return not isinstance(error, msgspec.ValidationError)


def _first_unencodable(value: Any, place: str) -> tuple[str, Any] | None:
    """Where, going depth first, the encoder gives up; None if it doesn't."""
    try:
        _encode(value)
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
        ValueError: If it is no JSON, with the position, or doesn't fit, with the place.
    """
    data = data.removeprefix(MARK)
    model = None
    # Kit doesn't import pydantic: as long as nobody has, there are no types of it.
    if "pydantic" in sys.modules or hasattr(type, "model_validate_json"):
        from kit.interface.models import model_of

        model = model_of(type)
    try:
        return msgspec.json.decode(data, type=type) if model is None else model.validate_json(data)
    except msgspec.ValidationError:
        raise
    except ValueError as error:
        decode(data)  # says where, if it is malformed
        from kit.interface.models import summary

        raise msgspec.ValidationError(summary(error)) from error
