# SPDX-License-Identifier: MIT
"""How an app converts values of classes that JSON doesn't have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Codecs(Protocol):
    """The encoders and decoders of an app: `Kit(encoders=..., decoders=...)`.

    Packages encode with `encode_json`, or pass the hooks to msgspec, so that a class has the same
    form wherever the app sends or reads it.
    """

    @property
    def encoders(self) -> Mapping[type, Callable[[Any], Any]]:
        """The app's own functions that encode instances of classes; without the built-in ones."""

    @property
    def decoders(self) -> Mapping[type, Callable[[Any], Any]]:
        """The app's own functions that build instances of classes."""

    def find_json_type(self, kind: Any, /, *, is_sent: bool) -> Any:
        """Returns the type that describes instances of a class in JSON, for documentation.

        Args:
            kind: The class.
            is_sent: Whether they are sent, or else received.

        Returns:
            The type; Any if the functions declare none; None if the class has no encoder and no
            decoder.
        """

    def encode_json(self, value: Any, /) -> bytes:
        """Encodes a value as JSON.

        Raises:
            TypeError: If a part of it can't be encoded; the message names its type and place.
        """

    def enc_hook(self, value: Any, /) -> Any:
        """Converts a value that msgspec can't encode: the `enc_hook` of msgspec.

        Raises:
            TypeError: If there is no encoder for it, or the encoder raises an exception.
        """

    def dec_hook(self, type: Any, value: Any, /) -> Any:
        """Builds an instance of a class from a JSON value: the `dec_hook` of msgspec.

        Raises:
            ValueError: If the value doesn't fit.
        """

    def dec_hook_of_text(self, type: Any, value: Any, /) -> Any:
        """Like `dec_hook`, for values sent as text: in a path, query, header, cookie or form."""
