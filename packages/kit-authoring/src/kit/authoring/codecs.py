# SPDX-License-Identifier: MIT
"""Converts values of classes that msgspec doesn't know, to JSON and from requests.

    codecs = TypeCodecs(encoders={ObjectId: str}, decoders={ObjectId: ObjectId})
    codecs.encode_json({"id": ObjectId()})

Each app has a `TypeCodecs`, as `app.codecs` and `c.codecs`. Without encoders of its own, it encodes
paths, addresses, time zones, patterns, deques, generators, other mappings and sets, subclasses of
str, int, datetime and the like, and the models and types of pydantic.

msgspec calls the hooks only for classes that it can't convert itself, so other values pay nothing.
"""

from __future__ import annotations

import sys
from collections import abc, deque
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from inspect import signature
from types import FunctionType, MethodType
from typing import Any

from ._built_in_encoders import built_in_encoders, find_pydantic_encoder
from ._codec_options import (
    Convert,
    check_decoder,
    check_encoder,
    check_function,
    find_decodable,
    find_result_type,
    find_unknown,
    list_items,
)
from .maybe_await import plain_result

__all__ = ("TypeCodecs", "default_codecs", "find_decodable", "find_unknown")

# The errors of msgspec, and those of encoders.
_UNENCODABLE = (TypeError, UnicodeEncodeError)

# Exceptions with which a decoder says that a value doesn't fit, beside those that libraries define.
_MISFITS = (ValueError, TypeError, ArithmeticError, LookupError)


class _NoEncoderError(TypeError):
    """A value of a class without an encoder."""


class _EncoderError(TypeError):
    """An encoder that raised an exception, or returned what it was given."""


class TypeCodecs:
    """Encoders and decoders by class; see `kit.interface.Codecs`.

    Args:
        encoders: By class, functions that return something that can be encoded: a str, a dict, or
            a value of another class that has an encoder. The one for the nearest base class of a
            value counts, then one for an abstract class of which it is an instance.
        decoders: By class, functions that return an instance of exactly this class. They get a str;
            a function whose parameter is annotated gets a value of that type.
        factory: The name of the function with these options, for errors.

    Raises:
        TypeError: If a key isn't a class, or is one that msgspec or pydantic converts itself; or if
            a function can't be called with a value.
    """

    __slots__ = ("_inputs", "_with_aliases", "decoders", "encode_plainly", "encoders")

    encode_plainly: Callable[[Any], bytes]
    """Encodes a value like `encode_json`, with msgspec's own errors."""

    encoders: dict[type, Convert]
    decoders: dict[type, Convert]

    def __init__(
        self,
        encoders: Mapping[Any, Convert] | None = None,
        decoders: Mapping[Any, Convert] | None = None,
        *,
        factory: str = "TypeCodecs",
    ) -> None:
        import msgspec

        self.encoders = {}
        self.decoders = {}
        # PERF: created once, since creating an encoder costs more than encoding a small body.
        self.encode_plainly = msgspec.json.Encoder(enc_hook=self.enc_hook).encode
        self._with_aliases: dict[bool, Callable[[Any], bytes]] = {}
        self._inputs: dict[type, Any] = {}
        if encoders is not None:
            for kind, function in list_items(factory, "encoders", encoders):
                check_encoder(factory, kind)
                check_function(factory, "encoders", kind, function)
                self.encoders[kind] = function
        if decoders is not None:
            for kind, function in list_items(factory, "decoders", decoders):
                self._inputs[kind] = check_decoder(factory, kind, function)
                self.decoders[kind] = function

    def merge(self, other: TypeCodecs, call: str) -> None:
        """Adds the encoders and decoders of another app, whose routes become part of this one.

        Args:
            other: Those of the other app.
            call: The call, for errors.

        Raises:
            ValueError: If both have different functions for a class.
        """
        for name in ("encoders", "decoders"):
            ours, theirs = getattr(self, name), getattr(other, name)
            for kind, function in theirs.items():
                if ours.get(kind, function) != function:
                    raise ValueError(
                        f"{call} was given an app with {name}={{{kind.__qualname__}: ...}}, but "
                        "this app has another function for it: give both apps the same one"
                    )
        self.encoders.update(other.encoders)
        self.decoders.update(other.decoders)
        self._inputs.update(other._inputs)

    def encode_json(self, value: Any, /) -> bytes:
        """Encodes a value as compact JSON in UTF-8.

        Supports dict, list, str, int, float (NaN as null), bool and None, and also dataclasses,
        msgspec Structs, attrs classes, datetimes, UUIDs, enums, Decimals, pydantic models, paths,
        addresses, and the classes with an encoder.

        Raises:
            TypeError: If a part of it can't be encoded; the message names its type and place.
        """
        try:
            return self.encode_plainly(value)
        except _UNENCODABLE as error:
            self._raise_place(value, error)
            raise

    def encode_json_with_aliases(self, value: Any, by_alias: bool) -> bytes:
        """Encodes a value like `encode_json`, with a choice of field names for pydantic models.

        Args:
            value: The value.
            by_alias: Whether to write serialization aliases instead of field names.

        Raises:
            TypeError: As for `encode_json`.
        """
        encode = self._with_aliases.get(by_alias)
        if encode is None:
            import msgspec

            hook = partial(self._encode_other, by_alias=by_alias)
            encode = self._with_aliases[by_alias] = msgspec.json.Encoder(enc_hook=hook).encode
        try:
            return encode(value)
        except _UNENCODABLE as error:
            self._raise_place(value, error)
            raise

    def enc_hook(self, value: Any, /) -> Any:
        """Converts a value that msgspec can't encode: the `enc_hook` of msgspec.

        Args:
            value: Any value.

        Returns:
            Something else that can be encoded, possibly after another call.

        Raises:
            TypeError: If there is no encoder for it, or the encoder raises an exception.
        """
        return self._encode_other(value)

    def _encode_other(self, value: Any, **options: Any) -> Any:
        kind = type(value)
        encode = self._find_encoder(value)
        if encode is None:
            if _is_model(value):
                return self._dump(value, options)
            raise _NoEncoderError(f"add an encoder: Kit(encoders={{{kind.__name__}: ...}})")
        try:
            encoded = plain_result(encode(value), encode, "Kit(encoders=...)", may_yield=True)
        except Exception as error:
            raise _EncoderError(
                f"the encoder for {kind.__qualname__} raised {type(error).__name__}: {error}"
            ) from error
        if type(encoded) is kind:
            raise _EncoderError(
                f"the encoder for {kind.__qualname__} returned another {kind.__qualname__}"
            )
        return encoded

    def _find_encoder(self, value: Any) -> Convert | None:
        """Returns the encoder for a value; None if it has none, or is a pydantic model."""
        kind = type(value)
        own, built_in = self.encoders, built_in_encoders()
        for base in kind.__mro__[:-1]:
            if base in own:
                return own[base]
            if base in built_in:
                return built_in[base].encode
        if not _is_model(value):
            for base, encode in own.items():
                if base is not object and isinstance(value, base):
                    return encode
            for base, known in built_in.items():
                if isinstance(value, base):
                    return known.encode
            encode_as_pydantic = find_pydantic_encoder(kind)
            if encode_as_pydantic is not None:
                return encode_as_pydantic
            return own.get(object)
        return None

    def _dump(self, value: Any, options: dict[str, Any]) -> Any:
        """Returns the data of a pydantic model, or of another object with `model_dump`."""
        pydantic = sys.modules.get("pydantic")
        is_model = pydantic is not None and isinstance(value, pydantic.BaseModel)
        if self.encoders and is_model and _takes_fallback(pydantic):
            options["fallback"] = self.enc_hook  # for values that pydantic can't encode
        return value.model_dump(mode="json", **options)

    def dec_hook(self, type: Any, value: Any, /) -> Any:
        """Builds an instance of a class from a JSON value: the `dec_hook` of msgspec.

        Args:
            type: The class.
            value: The decoded JSON.

        Returns:
            The instance; the value itself, which msgspec then refuses, without a decoder.

        Raises:
            ValueError: If the value doesn't fit.
        """
        return self._decode(type, value, is_strict=True)

    def dec_hook_of_text(self, type: Any, value: Any, /) -> Any:
        """Builds an instance of a class from text, like `dec_hook`."""
        return self._decode(type, value, is_strict=False)

    def _decode(self, kind: Any, value: Any, *, is_strict: bool) -> Any:
        decode = self.decoders.get(kind)
        if decode is None or isinstance(value, kind):
            return value
        import msgspec

        from .text_values import scalar_hook  # most apps have no decoders

        try:
            hook = scalar_hook(is_text=not is_strict)
            value = msgspec.convert(value, self._inputs[kind], strict=is_strict, dec_hook=hook)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None  # msgspec adds the path
        try:
            decoded = decode(value)
        except _MISFITS as error:
            raise ValueError(_describe_misfit(kind, error)) from error
        except Exception as error:
            # A built-in one, such as an AttributeError, is a mistake in the decoder.
            if type(error).__module__ == "builtins" or _is_http(error):
                raise
            raise ValueError(_describe_misfit(kind, error)) from error
        if not isinstance(decoded, kind):
            try:
                plain_result(decoded, decode, "Kit(decoders=...)")
            except TypeError as error:
                # msgspec would take a TypeError for a value that doesn't fit.
                raise RuntimeError(str(error)) from None
            raise RuntimeError(
                f"the decoder for {kind.__qualname__} returned {type(decoded).__qualname__}"
            )
        return decoded

    def find_json_type(self, kind: Any, /, *, is_sent: bool) -> Any:
        """Returns the type that describes instances of a class in JSON, for documentation.

        This is the type that the encoder declares to return, or that the decoder takes. If one of
        the two declares none, that of the other.

        Args:
            kind: A class.
            is_sent: Whether they are sent, or else received.

        Returns:
            The type; Any if the functions declare none; None if the class has no encoder and no
            decoder.
        """
        encoded = self._find_encoded_type(kind)
        taken = self._inputs.get(kind)
        types = (encoded, taken) if is_sent else (taken, encoded)
        known = [each for each in types if each is not None and each is not Any]
        return known[0] if known else encoded

    def _find_encoded_type(self, kind: Any) -> Any:
        if not isinstance(kind, type):
            return None
        own, built_in = self.encoders, built_in_encoders()
        abstract = [each for each in [*own, *built_in] if issubclass(kind, each)]
        for base in [*kind.__mro__[:-1], *abstract]:
            if base in own:
                return find_result_type(own[base])
            if base in built_in:
                return built_in[base].type
        return None

    def _raise_place(self, value: Any, error: Exception) -> None:
        """Raises a TypeError that names the value that can't be encoded and its place, if found."""
        found = self._first_unencodable(value, "$")
        if found is not None:
            place, culprit, problem = found
            what = type(culprit).__qualname__
            text = f"Can't encode {what} as JSON, at {place}: {culprit!r:.100}"
            if isinstance(problem, _EncoderError) or (
                isinstance(problem, _NoEncoderError) and _is_plain_object(culprit)
            ):
                text += f" ({problem})"
            raise TypeError(text) from error

    def _first_unencodable(self, value: Any, place: str) -> tuple[str, Any, Exception] | None:
        """Returns the path, value and error of the first part that can't be encoded, depth first.

        Returns None if everything can.
        """
        try:
            self.encode_plainly(value)
        except _UNENCODABLE as error:
            for step, part in _parts(value):
                found = self._first_unencodable(part, place + step)
                if found is not None:
                    return found
            return place, value, error
        return None


@cache
def default_codecs() -> TypeCodecs:
    """Returns the codecs where no app is known, with the built-in encoders."""
    return TypeCodecs()


def _is_model(value: Any) -> bool:
    return hasattr(value, "model_dump") and not isinstance(value, type)


@cache
def _takes_fallback(pydantic: Any) -> bool:
    return "fallback" in signature(pydantic.BaseModel.model_dump).parameters  # since 2.11


def _is_http(error: Exception) -> bool:
    from kit.interface import HTTPException

    return isinstance(error, HTTPException)


def _is_plain_object(value: Any) -> bool:
    """Returns whether a value may be meant for JSON: no class, function, awaitable or response."""
    return not (
        isinstance(value, (type, FunctionType, MethodType, abc.Awaitable, abc.AsyncIterable))
        or type(value).__module__.partition(".")[0] == "kit"
    )


def _describe_misfit(kind: type, error: Exception) -> str:
    text = str(error)
    return f"Invalid {kind.__name__}: {text}" if text else f"Invalid {kind.__name__}"


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, abc.Mapping):
        return ((f"[{key!r}]", part) for key, part in value.items())
    if isinstance(value, (list, tuple, set, frozenset, deque)):
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
