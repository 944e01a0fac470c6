# SPDX-License-Identifier: MIT
"""Checks the options of a middleware factory, with consistent error messages in every package.

    check = OptionChecks("session")
    check.flag("encrypted", encrypted)
    check.number("max_age", max_age, least=0, unit="seconds")

raises `TypeError: session(encrypted=...) takes a bool, not 'yes'` and
`ValueError: session(max_age=-1) can't be used: expected at least 0 seconds`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from math import isfinite
from types import BuiltinFunctionType
from typing import Any, NoReturn, TypeVar

from kit.http.fields import is_field_value, is_token

from .maybe_await import plain_result
from .signatures import accepts, describe, describe_signature, is_async, is_generator

__all__ = ("OptionChecks",)

T = TypeVar("T")


class OptionChecks:
    """The checks of one factory's options.

    Each method takes the option's name and value, and returns the value. It raises TypeError if the
    value has the wrong type, and ValueError if it is invalid.

    Args:
        factory: Name of the factory, with which each error begins.
    """

    __slots__ = ("factory",)

    def __init__(self, factory: str) -> None:
        self.factory = factory

    def flag(self, name: str, value: Any) -> bool:
        """Checks a bool."""
        if not isinstance(value, bool):
            self.wrong_type(name, value, "a bool")
        return value

    def text(
        self, name: str, value: Any, pattern: str | None = None, expected: str | None = None
    ) -> str:
        """Checks a str.

        Args:
            name: The option.
            value: Its value.
            pattern: Regular expression that the whole text has to match.
            expected: What the text should be, for the error; e.g. `a name such as 'lang'`.
        """
        if not isinstance(value, str):
            self.wrong_type(name, value, "a str")
        if pattern is not None and not re.fullmatch(pattern, value):
            self.unusable(name, value, expected or f"text that matches {pattern}")
        return value

    def texts(self, name: str, value: Any) -> tuple[str, ...]:
        """Checks a str or a list of them, and returns a tuple."""
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, Iterable) or isinstance(value, (bytes, bytearray, Mapping)):
            self.wrong_type(name, value, "a str or a list of them")
        texts = tuple(value)
        for each in texts:
            if not isinstance(each, str):
                raise TypeError(
                    f"{self.factory}({name}=...) takes a str or a list of them, "
                    f"not a list with {each!r:.100}"
                )
        return texts

    def function(
        self,
        name: str,
        value: Any,
        signature: str,
        *,
        plain: bool = False,
        may_yield: bool = False,
    ) -> Any:
        """Checks a function, and that it can be called with its arguments.

        Args:
            name: The option.
            value: Its value.
            signature: The arguments that the function is called with, e.g. `(origin, c)`.
            plain: Whether it has to be a plain function, since its result isn't awaited. Pass the
                result to `kit.authoring.maybe_await.plain_result`, since only that shows whether,
                for instance, a lambda calls an async function.
            may_yield: Whether it may be a generator function, since what it yields is used.
        """
        if not callable(value):
            self.wrong_type(name, value, f"a function {signature}")
        if not accepts(value, 0 if signature == "()" else signature.count(",") + 1):
            shown = describe_signature(value)
            if not shown.endswith("(...)"):  # C code without a signature may accept any arguments
                raise TypeError(
                    f"{self.factory}({name}=...) takes a function {signature}: "
                    f"got the signature {shown}"
                )
        if not may_yield and is_generator(value):
            raise TypeError(
                f"{self.factory}({name}=...) takes a function {signature} that returns its result: "
                f"{describe(value)} yields, so none of it would run"
            )
        if plain and is_async(value):
            raise TypeError(f"{self.factory}({name}=...) takes a plain function, not an async one")
        return value

    def clock(self, name: str, value: Any) -> Callable[[], float]:
        """Checks a plain function that returns the time, and returns a function that does so.

        Args:
            name: The option.
            value: Its value, a function `()`.
        """
        function = self.function(name, value, "()", plain=True)
        if isinstance(function, BuiltinFunctionType):  # PERF: such as time.time
            return function
        where = f"{self.factory}({name}=...)"
        return lambda: plain_result(function(), function, where)

    def number(
        self,
        name: str,
        value: Any,
        *,
        least: float | None = None,
        most: float | None = None,
        unit: str = "",
        whole: bool = True,
    ) -> Any:
        """Checks a number.

        Args:
            name: The option.
            value: Its value.
            least: The minimum.
            most: The maximum.
            unit: The unit, for the error, e.g. `seconds`.
            whole: Whether it has to be an int. Otherwise it has to be a finite float.
        """
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            self.wrong_type(name, value, "an int" if whole else "a number")
        unit = unit and f" {unit}"
        if not whole and not _is_finite(value):
            self.unusable(name, value, "a finite number")
        if least is not None and value < least:
            self.unusable(name, value, f"at least {least:.15g}{unit}")
        if most is not None and value > most:
            self.unusable(name, value, f"at most {most:.15g}{unit}")
        return value

    def choice(self, name: str, value: Any, choices: Collection[Any]) -> Any:
        """Checks that a value is one of a few."""
        if value not in choices:
            self.unusable(name, value, _listed(choices))
        return value

    def header_name(self, name: str, value: Any, example: str) -> str:
        """Checks the name of a header (RFC 9110, section 5.1)."""
        text = self.text(name, value)
        if not is_token(text):
            self.unusable(name, value, f"a header name such as {example!r}")
        return text

    def header_value(self, name: str, value: Any) -> str:
        """Checks the value of a header (RFC 9110, section 5.5)."""
        text = self.text(name, value)
        if not text or not is_field_value(text):
            self.unusable(
                name, value, "latin-1 text without control characters or surrounding spaces"
            )
        return text

    def keys(self, name: str, value: Any, known: Collection[str]) -> Mapping[str, Any]:
        """Checks that a mapping only has known keys."""
        if not isinstance(value, Mapping):
            self.wrong_type(name, value, f"a mapping with {_listed(known)}")
        for key in value:
            if key not in known:
                raise ValueError(
                    f"{self.factory}({name}=...) has the unknown key {key!r:.100}: "
                    f"expected {_listed(known)}"
                )
        return value

    def redis(
        self,
        value: Any,
        package: str,
        from_url: Callable[[str], T],
        of_client: Callable[[Any], T],
    ) -> T:
        """Checks the option `redis`: the URL of a server, or a redis-py client.

        Error messages don't show the value, since a URL may contain a password.

        Args:
            value: The value.
            package: The distribution with redis-py in its extra `redis`.
            from_url: Converts a URL to the result; raises ValueError or TypeError if it is invalid.
            of_client: Converts a `redis.asyncio.Redis` to the result.

        Returns:
            The result of the function that was called.

        Raises:
            ImportError: If redis-py isn't installed.
        """
        try:
            client: Any = import_module("redis.asyncio").Redis
        except ImportError as error:
            raise ImportError(
                f'{self.factory} needs redis-py: pip install "{package}[redis]"'
            ) from error
        if isinstance(value, client):
            return of_client(value)
        if not isinstance(value, str):
            kind = type(value)
            raise TypeError(
                f"{self.factory}(redis=...) takes a URL or a redis.asyncio.Redis, not a "
                f"{kind.__module__}.{kind.__qualname__}"
            )
        try:
            return from_url(value)
        except (ValueError, TypeError):
            raise ValueError(
                f"{self.factory}(redis=...) has a URL that can't be used: expected one such as "
                "'redis://127.0.0.1:6379', 'rediss://...' or 'unix:///run/redis.sock'"
            ) from None

    def wrong_type(self, name: str, value: Any, expected: str) -> NoReturn:
        """Raises the TypeError for an option.

        Args:
            name: The option.
            value: Its value, shown in the error.
            expected: The expected type, e.g. `an int`.
        """
        raise TypeError(f"{self.factory}({name}=...) takes {expected}, not {value!r:.100}")

    def unusable(self, name: str, value: Any, expected: str) -> NoReturn:
        """Raises the ValueError for an option.

        Args:
            name: The option.
            value: Its value, shown in the error.
            expected: The expected value, e.g. `at least 0`.
        """
        raise ValueError(
            f"{self.factory}({name}={value!r:.100}) can't be used: expected {expected}"
        )


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an int that is too large for a float
        return False


def _listed(names: Collection[Any]) -> str:
    shown = [repr(each) for each in names]
    return " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
