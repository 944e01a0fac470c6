# SPDX-License-Identifier: MIT
"""Comparisons with secrets: every one is compared, whichever matches."""

from __future__ import annotations

import hmac
from typing import Any

import pytest

from kit.authoring.credentials import compare_by_digest, compare_by_hash_function


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What each comparison said."""
    results: list[bool] = []
    compare = hmac.compare_digest

    def compare_digest(a: bytes, b: bytes) -> bool:
        results.append(compare(a, b))
        return results[-1]

    monkeypatch.setattr(hmac, "compare_digest", compare_digest)
    return results


def test_every_secret_is_compared_by_its_digest(compared: list[bool]) -> None:
    is_known = compare_by_digest(iter(["one", "two", "é"]))
    for text, expected in (
        ("one", [True, False, False]),
        ("é", [False, False, True]),
        ("ONE", [False] * 3),
        ("", [False] * 3),
    ):
        compared.clear()
        assert is_known(text) is any(expected)
        assert compared == expected


def test_no_secrets_match_nothing() -> None:
    assert compare_by_digest([])("") is False


async def test_every_text_of_every_secret_is_compared_by_a_hash_function(
    compared: list[bool],
) -> None:
    hashed: list[str] = []

    def weak(text: str) -> str:
        hashed.append(text)
        return str(len(text))

    is_known = compare_by_hash_function("made", [("ann", "pw"), ("bob", "pq")], weak)
    assert hashed == ["sample"]
    hashed.clear()
    assert await is_known("ann", "pw")
    assert hashed == ["ann", "pw", "bob", "pq", "ann", "pw"]
    for texts, expected in ((("bob", "pq"), True), (("ann", "pq"), False), (("x", ""), False)):
        compared.clear()
        hashed.clear()
        assert await is_known(*texts) is expected
        assert hashed == [*texts]
        assert len(compared) == 8


async def test_hash_function_plain_and_async_of_str_bytes_and_nothing() -> None:
    async def later(text: str) -> bytes:
        return text.encode()

    functions: list[Any] = [str, str.encode, later]
    for function in functions:
        is_known = compare_by_hash_function("made", [("a",), ("b",)], function)
        assert await is_known("b")
        assert not await is_known("c")
    assert not await compare_by_hash_function("made", [("a",)], lambda text: None)("a")


def test_hash_function_that_returns_something_else() -> None:
    with pytest.raises(TypeError) as caught:
        compare_by_hash_function("made", [("a",)], len)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "made(hash_function=...) returned int: expected str, bytes or None"
    )
