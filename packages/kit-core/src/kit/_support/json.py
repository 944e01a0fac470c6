# SPDX-License-Identifier: MIT
"""Encodes and decodes JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache, lru_cache, partial
from types import CoroutineType, FunctionType, MethodType
from typing import Any

import msgspec

JSONDecodeError = msgspec.DecodeError

MARK = b"\xef\xbb\xbf"
"""The byte order mark, ignored before JSON (RFC 8259 section 8.1)."""

# Input that msgspec calls truncated although it isn't: an error in the last bytes of a body, after
# complete escapes. The first half of a surrogate pair without the second, or an escape with too
# few digits.
# PERF: compiled at first use, not at import.
_WRONG_ESCAPE = (
    rb"(?:[^\\]++|\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}"
    rb"|u(?![dD][89abAB])[0-9a-fA-F]{4}|[^u]))*+"
    rb"\\(?:(u[dD][89abAB][0-9a-fA-F]{2})(?=[^\\]|\\[^u])"
    rb"|(?:u[dD][89abAB][0-9a-fA-F]{2}\\)?u[0-9a-fA-F]{0,3}(?=[^0-9a-fA-F]))"
)


def _encode_other(value: Any) -> Any:
    """Encodes values that msgspec doesn't support: pydantic models, which describe themselves."""
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__}")


def _encode_model(value: Any, *, by_alias: bool) -> Any:
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    return _encode_other(value) if dump is None else dump(mode="json", by_alias=by_alias)


# PERF: created once; creating an encoder costs more than encoding a small body.
encode_plainly = msgspec.json.Encoder(enc_hook=_encode_other).encode
"""Encodes a value as `encode` does, with msgspec's own errors."""
_decode = msgspec.json.Decoder().decode


def encode(value: Any) -> bytes:
    """Encodes a value as compact JSON in UTF-8.

    Supports dict, list, str, int, float (NaN as null), bool and None, and also dataclasses, msgspec
    Structs, attrs classes, datetimes, UUIDs, enums, Decimals, and pydantic models.

    Raises:
        TypeError: If something in it can't be encoded; the message names its type and place.
    """
    try:
        return encode_plainly(value)
    except (TypeError, UnicodeEncodeError) as error:
        _raise_place(value, error)
        raise


def encode_with_aliases(value: Any, by_alias: bool) -> bytes:
    """Encodes a value as `encode` does, and chooses the names of the fields of pydantic models.

    Args:
        value: The value.
        by_alias: Whether to write their serialization aliases, or else their names.

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
    """Raises a TypeError that says what can't be encoded and where, if that can be found."""
    found = _first_unencodable(value, "$")
    if found is not None:
        place, culprit = found
        raise TypeError(f"{_named(culprit)} as JSON, at {place}: {_shown(culprit)}") from error


def _named(culprit: Any) -> str:
    what = type(culprit).__qualname__
    if isinstance(culprit, (CoroutineType, FunctionType, MethodType)):
        what = f"the {what} {culprit.__qualname__}"
    return f"Can't encode {what}"


def _shown(culprit: Any) -> str:
    """Shows what can't be encoded, or says what to do with a function or coroutine."""
    if isinstance(culprit, CoroutineType):
        culprit.close()  # it would warn that it was never awaited, which the error says already
        return "await it"
    if isinstance(culprit, MethodType | FunctionType):
        return "call it"
    return f"{culprit!r:.100}"


def decode(data: bytes) -> Any:
    """Decodes JSON.

    Raises:
        ValueError: If it is not JSON in UTF-8; the message includes the position in bytes.
    """
    try:
        return _decode(data)  # PERF: fails if there is a mark, so nothing has to look for one
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
    """Returns a better message if msgspec's is wrong or lacks the position in the body, or None."""
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
    """Returns whether an error of `decode_as` means malformed JSON, not JSON of another type."""
    return not isinstance(error, msgspec.ValidationError)


def _first_unencodable(value: Any, place: str) -> tuple[str, Any] | None:
    """Returns the path and value of what can't be encoded, depth first; None if all can."""
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
        ValueError: If it is not JSON, with the position, or doesn't fit the type, with the path.
    """
    data = data.removeprefix(MARK)
    model = None
    # Kit doesn't import pydantic: until the app does, no type can be pydantic's.
    if "pydantic" in sys.modules or hasattr(type, "model_validate_json"):
        from kit.authoring.models import find_model

        model = find_model(type)
    try:
        return _decoder(type)(data) if model is None else model.validate_json(data)
    except msgspec.ValidationError:
        raise
    except ValueError as error:
        decode(data)  # raises an error with the position if it is malformed
        from kit.authoring.models import summary

        raise msgspec.ValidationError(summary(error)) from error


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
