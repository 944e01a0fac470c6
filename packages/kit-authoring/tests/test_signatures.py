# SPDX-License-Identifier: MIT
"""How functions want to be called, and how errors name them and the user's line."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

import kit.authoring.caller_frame
import kit.authoring.signatures
from kit.authoring.caller_frame import describe_call_site, find_caller_frame
from kit.authoring.signatures import (
    accepts,
    describe,
    describe_signature,
    parameter_names,
    takes_next,
)


def test_public_names() -> None:
    assert kit.authoring.signatures.__all__ == (
        "accepts",
        "behind_wrappers",
        "copy_names",
        "describe",
        "describe_signature",
        "find_code",
        "is_async",
        "is_factory",
        "is_generator",
        "parameter_names",
        "takes_next",
    )
    assert kit.authoring.caller_frame.__all__ == ("describe_call_site", "find_caller_frame")


def one(c: Any) -> None: ...
def two(c: Any, next: Any) -> None: ...
def optional_next(c: Any, next: Any = None) -> None: ...
def optional_other(c: Any, limit: int = 3) -> None: ...
def positional_only(c: Any, next: Any, /) -> None: ...
def any_number(*args: Any) -> None: ...
def one_and_any(c: Any, *args: Any) -> None: ...
def keyword_with_default(c: Any, *, limit: int = 3) -> None: ...
def keyword_without_default(c: Any, *, limit: int) -> None: ...
def three(a: Any, b: Any, c: Any) -> None: ...
def none() -> None: ...


class Guard:
    def method(self, c: Any, next: Any) -> None: ...

    @classmethod
    def of_class(cls, c: Any) -> None: ...

    @staticmethod
    def static(c: Any, next: Any) -> None: ...

    def __call__(self, c: Any, next: Any) -> None: ...


def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def with_own_parameters(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(c: Any) -> Any:
        return function(c, None)

    return wrapper


@pytest.mark.parametrize(
    ("function", "counts"),
    [
        (one, {1}),
        (two, {2}),
        (optional_next, {1, 2}),
        (positional_only, {2}),
        (any_number, {0, 1, 2, 3}),
        (one_and_any, {1, 2, 3}),
        (keyword_with_default, {1}),
        (keyword_without_default, set()),
        (none, {0}),
        (Guard().method, {2}),
        (Guard.of_class, {1}),
        (Guard(), {2}),
        (functools.partial(two, None), {1}),
        (functools.partial(optional_next, next=None), {1}),
        (dict.fromkeys, {1, 2}),
        (print, {0, 1, 2, 3}),
        (dict, {1}),  # tells no signature
        (Mock(), {0, 1, 2, 3}),
        (42, set()),
    ],
)
def test_accepts(function: Any, counts: set[int]) -> None:
    assert {count for count in range(4) if accepts(function, count)} == counts


@pytest.mark.parametrize(
    ("handler", "answer"),
    [
        (one, False),
        (two, True),
        (optional_next, True),
        (optional_other, False),
        (positional_only, True),
        (any_number, True),
        (one_and_any, True),
        (keyword_with_default, False),
        (Guard().method, True),
        (Guard().of_class, False),
        (Guard.static, True),
        (Guard(), True),
        (functools.partial(two, None), False),
        (wrapping(one), False),
        (wrapping(two), True),
        (wrapping(wrapping(one)), False),
        (with_own_parameters(two), False),
        (dict, False),
    ],
)
def test_takes_next(handler: Any, answer: bool) -> None:
    assert takes_next(handler, "GET '/'") is answer


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (42, "The handler of GET '/x' is not callable: expected a function (c) or (c, next)"),
        (none, "neither a handler (c) nor middleware (c, next): its signature is none()"),
        (Guard().method.__func__, "its signature is Guard.method(self, c: 'Any', next: 'Any')"),
    ],
)
def test_handler_that_can_not_be_called(handler: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        takes_next(handler, "GET '/x'")
    assert words in str(caught.value)


def test_describe_signature() -> None:
    assert describe_signature(optional_other) == (
        "optional_other(c: 'Any', limit: 'int' = 3) -> 'None'"
    )
    assert describe_signature(dict) == "dict(...)"


def test_parameter_names() -> None:
    assert parameter_names(two) == ("c", "next")
    assert parameter_names(Guard().method) == ("c", "next")
    assert parameter_names(keyword_with_default) == ("c",)
    assert parameter_names(print) == ()


def test_values_of_a_partial_are_not_shown() -> None:
    def verify(key: str, token: str, *, salt: str = "", c: Any = None) -> None: ...

    name = f"{test_values_of_a_partial_are_not_shown.__name__}.<locals>.verify"
    bound = functools.partial(functools.partial(verify, "s3cret"), salt="s3cret")
    assert describe_signature(bound) == (
        f"{name}(token: 'str', *, salt: 'str' = ..., c: 'Any' = None) -> 'None'"
    )


def test_describe() -> None:
    line = inspect.getsourcelines(one)[1]
    assert describe(one) == f"one ({__file__}:{line})"
    assert describe(functools.partial(functools.partial(one), 1)) == describe(one)
    assert describe(Guard().method).startswith(f"Guard.method ({__file__}:")
    assert describe(Guard()) == f"{__name__}.Guard"
    assert describe(print) == "builtins.print"
    assert describe(Mock()) == "unittest.mock.Mock"


def test_user_s_line() -> None:
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    assert describe_call_site() == f"{__file__}:{line}"


def test_frames_of_kit_are_skipped() -> None:
    """A function of a module below `kit` is stood in for by one with such globals."""
    code = """
def call():
    return find_caller_frame(), describe_call_site()

def outer():
    return call()
"""
    inside: dict[str, Any] = {
        "__name__": "kit.example",
        "find_caller_frame": find_caller_frame,
        "describe_call_site": describe_call_site,
    }
    exec(code, inside)
    (frame, level), place = inside["outer"]()
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    assert frame is inspect.currentframe()
    assert level == 3
    assert place == f"{__file__}:{line}"


def test_level_is_that_of_warnings() -> None:
    inside: dict[str, Any] = {
        "__name__": "kit.example",
        "find_caller_frame": find_caller_frame,
        "warn": warnings.warn,
    }
    exec("def check():\n    warn('odd', stacklevel=find_caller_frame()[1])", inside)
    with pytest.warns(UserWarning, match="odd") as caught:
        inside["check"]()
    assert caught[0].filename == __file__


def test_outermost_frame_where_all_are_kit_s() -> None:
    code = """
import sys
from kit.authoring.caller_frame import find_caller_frame
__name__ = "kit.example"
frame, level = find_caller_frame()
print(frame is sys._getframe(), level)
"""
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output == "True 1\n"
