# SPDX-License-Identifier: MIT
"""The values that errors keep, that none is forgotten by the tests, and HTTPException alone."""

from __future__ import annotations

import copy
import inspect
import pickle
from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.interface import (
    HandlerError,
    HTTPException,
    KitError,
    MissingBindingError,
    RouterClosedError,
    UnsupportedPathError,
)
from kit.interface.plugins import (
    PluginConflictError,
    PluginError,
    PluginLoadError,
    PluginNotFoundError,
)
from kit.interface.websocket import WebSocketDisconnectedError

VALUES: list[tuple[type[KitError], dict[str, Any]]] = [
    (UnsupportedPathError, {"path": "/x", "reason": "r", "method": "GET", "position": 1}),
    (UnsupportedPathError, {"path": "/x", "reason": "r", "method": None, "position": None}),
    (RouterClosedError, {"method": "GET", "path": "/x", "reason": "r"}),
    (MissingBindingError, {"key": "db", "reason": "r"}),
    (HandlerError, {"handler": "h", "problem": "p"}),
    (PluginNotFoundError, {"group": "g", "name": "n", "available": ("a", "b")}),
    (PluginConflictError, {"group": "g", "name": "n", "distributions": ("a", "b")}),
    (
        PluginLoadError,
        {"group": "g", "name": "n", "distribution": "d", "target": "t", "reason": "r"},
    ),
    (WebSocketDisconnectedError, {"code": 1001, "reason": "r"}),
]


def copies(error: BaseException) -> list[Any]:
    pickled = [
        pickle.loads(pickle.dumps(error, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ]
    return [error, *pickled, copy.copy(error), copy.deepcopy(error)]


@pytest.mark.parametrize(("kind", "values"), VALUES)
def test_values_are_attributes(kind: type[KitError], values: dict[str, Any]) -> None:
    for error in copies(kind(**values)):
        assert type(error) is kind
        assert {name: getattr(error, name) for name in values} == values
        assert list(inspect.signature(kind).parameters) == list(values)
        assert repr(error).startswith(kind.__name__ + "(")


def test_no_error_is_missing_above() -> None:
    def below(kind: type[Any]) -> set[type[Any]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    ours = {kind for kind in below(KitError) if kind.__module__.startswith("kit.interface")}
    assert ours - {KitError, PluginError} == {kind for kind, _ in VALUES}


@pytest.mark.parametrize("kind", [KitError, HTTPException, UnsupportedPathError, RouterClosedError])
def test_where_errors_say_they_are_from(kind: type[Exception]) -> None:
    assert kind.__module__ == "kit.interface"


TEXT = st.text(max_size=12)


@given(TEXT, TEXT, st.none() | TEXT, st.none() | st.integers(0, 99))
def test_every_text_comes_out_readable(
    path: str, reason: str, method: str | None, position: int | None
) -> None:
    text = str(UnsupportedPathError(path, reason, method, position))
    assert repr(path) in text
    assert text.endswith(f": {reason}")
    assert ("at position" in text) >= (position is not None)


@given(TEXT, st.lists(TEXT, max_size=4, unique=True))
def test_the_nearest_name_is_one_of_them(name: str, available: list[str]) -> None:
    text = str(PluginNotFoundError("g", name, tuple(available)))
    if "Did you mean" in text:
        assert any(text.endswith(f"Did you mean {there!r}?") for there in available)
    for there in available:
        assert repr(there) in text


class Res:
    """Stands for a response; compares by value, since it is pickled."""

    def __init__(self, status: int) -> None:
        self.status = status

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Res) and other.status == self.status

    def __hash__(self) -> int:
        return hash(self.status)


@pytest.mark.parametrize("status", [200, 204, 299, 302, 404, 500, 599, HTTPStatus.IM_A_TEAPOT])
@pytest.mark.parametrize("message", [None, "", "é\n"])
@pytest.mark.parametrize("extra", [{}, {"res": Res(1)}, {"headers": {"Retry-After": "3"}}])
def test_http_exception(status: int, message: str | None, extra: dict[str, Any]) -> None:
    for error in copies(HTTPException(status, message, **extra)):
        assert (error.status, error.message) == (status, message)
        assert (error.res, error.headers) == (extra.get("res"), extra.get("headers"))
        assert str(error) == (f"{int(status)} {message}" if message else f"{int(status)}")
        assert isinstance(error, Exception)
        assert not isinstance(error, KitError)


def test_cause_and_notes_of_a_copy() -> None:
    error = HTTPException(400, "m")
    error.add_note("a note")
    for again in copies(error):
        assert again.__notes__ == ["a note"]


@pytest.mark.parametrize("status", [True, False, -1, 100, 101, 199, 600, 2.5, "200", b"200", [404]])
def test_http_exception_of_another_status(status: Any) -> None:
    with pytest.raises(ValueError, match="status") as caught:
        HTTPException(status)
    assert str(caught.value) == (
        f"HTTPException status must be an int from 200 to 599, not {status!r}"
    )


def test_res_and_headers_are_named() -> None:
    with pytest.raises(TypeError):
        HTTPException(404, "m", None)  # type: ignore[call-arg]


class OwnError(HTTPException):
    """As an app makes one, with parameters of its own."""

    def __init__(self, what: str) -> None:
        super().__init__(404, f"No such {what}")
        self.what = what


def test_subclass_with_parameters_of_its_own() -> None:
    for error in copies(OwnError("book")):
        assert (type(error), error.what, str(error)) == (OwnError, "book", "404 No such book")
