# SPDX-License-Identifier: MIT
"""Finds the keys of a JSON Web Key Set that can verify a token (RFC 7517, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from kit.jwt._keys import ASYMMETRIC, Verify, verifier

# Most sets have two or three keys. A token may be tried with all of them, so there is a limit.
MOST_KEYS = 100


class KeySet:
    """The public keys of a set. A key is prepared when the first token uses it.

    Symmetric keys are never used, since a key in a public set isn't secret. Invalid keys are
    ignored.

    Args:
        keys: The JSON Web Keys.

    Raises:
        ValueError: If there are too many of them.
    """

    def __init__(self, keys: Sequence[Any]) -> None:
        if len(keys) > MOST_KEYS:
            raise ValueError(f"a key set has at most {MOST_KEYS} keys, not {len(keys)}")
        self._by_kid: dict[str | None, list[Mapping[str, Any]]] = {}
        for key in keys:
            if isinstance(key, Mapping) and isinstance(key.get("kid", ""), str):
                self._by_kid.setdefault(key.get("kid"), []).append(key)
        self._prepared: dict[tuple[str | None, str], list[Verify]] = {}

    def find(self, kid: str | None, alg: str) -> list[Verify]:
        """Returns a function for each key that can verify a token, see `verifier`.

        Args:
            kid: The key ID of the token: only the first key with this ID that matches the algorithm
                is used. With None, all keys without an ID are used.
            alg: The algorithm of the token. Keys for other uses and weak keys are excluded.
        """
        if kid not in self._by_kid or alg not in ASYMMETRIC:
            return []
        prepared = self._prepared.get((kid, alg))
        if prepared is None:
            prepared = self._prepared[kid, alg] = []
            for key in self._by_kid[kid]:
                try:
                    prepared.append(verifier(key, alg))
                except ValueError:  # for another use, weak or invalid
                    continue
                if kid is not None:
                    break
        return prepared


def key_list(value: Any) -> Sequence[Any]:
    """Returns the keys of a JSON Web Key Set, or of a list of keys.

    Raises:
        TypeError: If the value is neither.
    """
    if isinstance(value, Mapping):
        value = value.get("keys")
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return value
    raise TypeError("expected a JSON Web Key Set with 'keys', or a list of JSON Web Keys")


def key_set(value: Any) -> KeySet:
    """Returns the key set for a function's result; equal keys share one.

    Raises:
        TypeError: If it is neither a JSON Web Key Set nor a list of keys.
        ValueError: If it has too many keys.
    """
    return _cached(msgspec.json.encode(key_list(value)))


@lru_cache(maxsize=16)
def _cached(encoded: bytes) -> KeySet:
    return KeySet(msgspec.json.decode(encoded))
