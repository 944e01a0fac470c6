# SPDX-License-Identifier: MIT
"""Compares credentials of requests with secrets in constant time.

All secrets are compared, whichever one matches, and each comparison takes the same time for equal
and for different texts.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, TypeAlias, cast

from kit.interface import Context, HTTPException, is_response

from .maybe_await import call, check_answer, dispose, is_awaitable, settle
from .options import OptionChecks
from .signatures import describe, is_async

__all__ = (
    "HashFunction",
    "build_refusal",
    "check_message",
    "compare_by_digest",
    "compare_by_hash_function",
)

HashFunction: TypeAlias = Callable[[str], str | bytes | Awaitable[str | bytes | None] | None]
"""Returns the hash of a text: `def hash(text)`, plain or async; None matches nothing."""

_SAMPLE = "sample"


def compare_by_digest(secrets: Iterable[str]) -> Callable[[str], bool]:
    """Returns a function that compares a text with secrets by their SHA-256 digests.

    Args:
        secrets: The secrets. Only their digests are kept.

    Returns:
        A function `(text)` that returns whether one of the secrets is that text.
    """
    known = [sha256(secret.encode()).digest() for secret in secrets]

    def is_known(text: str) -> bool:
        digest = sha256(text.encode()).digest()
        found = False
        for each in known:
            # APPSEC: no early exit: the time taken must not reveal which secret matched.
            found |= hmac.compare_digest(each, digest)
        return found

    return is_known


def compare_by_hash_function(
    factory: str, secrets: Iterable[Sequence[str]], hash_function: HashFunction
) -> Callable[..., Awaitable[bool]]:
    """Returns a function that compares texts with secrets by a custom hash function.

    The secrets are hashed on the first call, since an async function can't run earlier. Concurrent
    first calls may each hash them, with the same result.

    Args:
        factory: Name of the middleware factory, for errors.
        secrets: The secrets, each a sequence of texts that have to match together, such as a name
            and a password. All sequences have the same length.
        hash_function: The function. It must be deterministic.

    Returns:
        An async function that takes as many texts as a secret has, and returns whether one of the
        secrets consists of them.

    Raises:
        TypeError: If the function can't hash a text, as far as a call with a sample shows.
    """
    _try_out(factory, hash_function)
    pairs = [(secret, [text.encode() for text in secret]) for secret in secrets]
    known: list[tuple[list[bytes], list[bytes | None]]] | None = None

    async def hashes(texts: Sequence[str]) -> list[bytes | None]:
        return [await _hashed(factory, hash_function, text) for text in texts]

    async def is_known(*texts: str) -> bool:
        nonlocal known
        if known is None:
            known = [(encoded, await hashes(secret)) for secret, encoded in pairs]
        presented = [text.encode() for text in texts]
        digests = await hashes(texts)
        found = False
        for encoded, expected in known:
            alike = True
            for text, own, digest, other in zip(presented, encoded, digests, expected, strict=True):
                alike &= digest is not None and other is not None
                alike &= hmac.compare_digest(digest or b"", other or b"")
                # Equal hashes aren't enough, since the hash function may be weak.
                alike &= hmac.compare_digest(text, own)
            found |= alike
        return found

    return is_known


def _try_out(factory: str, hash_function: HashFunction) -> None:
    """Calls a hash function with a sample; only a TypeError tells that it takes no str."""
    if is_async(hash_function):
        return
    try:
        digest: Any = hash_function(_SAMPLE)
    except TypeError as error:
        raise TypeError(
            f"{factory}(hash_function=...) can't hash a str: {describe(hash_function)} raised "
            f"{error!r:.200}; expected a function such as lambda text: "
            "hashlib.sha256(text.encode()).digest()"
        ) from error
    except Exception:
        return
    if is_awaitable(digest):
        dispose(digest)
        return
    _check_digest(factory, digest)


def _check_digest(factory: str, digest: object) -> None:
    if not (digest is None or isinstance(digest, (str, bytes))):
        raise TypeError(
            f"{factory}(hash_function=...) returned {type(digest).__name__}: "
            "expected str, bytes or None"
        )


async def _hashed(factory: str, hash_function: HashFunction, text: str) -> bytes | None:
    digest: Any = hash_function(text)
    if is_awaitable(digest):
        digest = await settle(digest, f"{factory}(hash_function=...)")
    _check_digest(factory, digest)
    return digest.encode() if isinstance(digest, str) else cast("bytes | None", digest)


def check_message(check: OptionChecks, name: str, message: Any) -> Any:
    """Checks the message of a refusal: text, a value for JSON, or a function `(c)`.

    Args:
        check: The checks of the factory.
        name: The option.
        message: Its value.

    Returns:
        The message.

    Raises:
        TypeError: If it is bytes, an awaitable, or a response, which can be sent only once; or a
            function that can't be called with the context.
    """
    expected = "a str, a value for JSON, or a function (c)"
    if is_awaitable(message):
        dispose(message)
        check.wrong_type(name, message, f"{expected}, which may be async")
    if isinstance(message, (bytes, bytearray)):
        check.wrong_type(name, message, expected)
    if is_response(message):
        check.wrong_type(name, message, f"{expected}, which may return a response")
    return check.function(name, message, "(c)") if callable(message) else message


async def build_refusal(
    c: Context[Any, Any], message: Any, status: int, headers: dict[str, str]
) -> HTTPException:
    """Returns the error of a request that a guard refuses.

    A response that the function of a message returns is sent with the headers that it doesn't have
    itself. Its status is kept if it is that of a redirect or an error. Otherwise it gets the status
    of the refusal, as for `return c.json(...)`.

    Args:
        c: The context.
        message: The body: a str is sent as text/plain, any other value as JSON; or a function
            `(c)`, plain or async, that returns either of them, or a response.
        status: The status.
        headers: The headers, such as the challenge.

    Returns:
        An exception with the response in `res`.

    Raises:
        TypeError: If the function returned something else, such as an exception.
    """
    body = await call(message, c) if callable(message) else message
    if isinstance(body, str):
        return HTTPException(status, body, res=c.text(body, status, headers))
    if not is_response(body):
        if callable(message):
            check_answer(describe(message), body, "a str, a value for JSON, or a response")
        return HTTPException(status, res=c.json(body, status, headers))
    if body.status < 300:
        body = body.replace(status=status)
    for name, value in headers.items():
        if name not in body.headers:
            body.headers.set(name, value)
    return HTTPException(body.status, res=body)
