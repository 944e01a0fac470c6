# SPDX-License-Identifier: MIT
"""JSON: what Python values become, and how a body is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

JSONDecodeError = msgspec.DecodeError


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
    return _decode(data.removeprefix(b"\xef\xbb\xbf"))


def is_malformed(error: Exception) -> bool:
    """Whether an error of `decode_as` means that it is no JSON, not that it is of another type."""
    # Pydantic's error, which is not imported here, is the one that lists `errors`.
    return not (isinstance(error, msgspec.ValidationError) or hasattr(error, "errors"))


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
    return ((f".{name}", getattr(value, name)) for name in names)


def decode_as(data: bytes, type: Any) -> Any:
    """Decodes JSON into a value of a type.

    Raises:
        ValueError: If it is no JSON, with the position, or doesn't fit, with the place.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    validate = getattr(type, "model_validate_json", None)
    if validate is not None:
        return validate(data)
    return msgspec.json.decode(data, type=type)
