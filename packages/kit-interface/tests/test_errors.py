# SPDX-License-Identifier: MIT
"""Errors: their whole text, their attributes, and that they survive pickle and copy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kit.interface import (
    HandlerError,
    HTTPException,
    KitError,
    ProblemError,
    RequestValidationError,
    RouterClosedError,
    UnsupportedPathError,
)
from kit.interface.plugins import PluginConflictError, PluginLoadError, PluginNotFoundError

ERRORS = [
    pytest.param(
        UnsupportedPathError("/x/:id{[}", "unterminated character set", "GET", 7),
        ValueError,
        "Unsupported route GET '/x/:id{[}' at position 7: unterminated character set",
        id="unsupported path",
    ),
    pytest.param(
        UnsupportedPathError("/x", "no"),
        ValueError,
        "Unsupported route '/x': no",
        id="unsupported path, little known",
    ),
    pytest.param(
        RouterClosedError("GET", "/late"),
        RuntimeError,
        "Can't add the route GET '/late': the router has already matched a request; "
        "register all routes before",
        id="router closed",
    ),
    pytest.param(
        PluginNotFoundError("kit.routers", "tire", ("smart", "trie")),
        LookupError,
        "No plugin 'tire' in the group 'kit.routers': installed are 'smart', 'trie'. "
        "Did you mean 'trie'?",
        id="plugin, nearly",
    ),
    pytest.param(
        PluginNotFoundError("kit.routers", "zzz", ("trie",)),
        LookupError,
        "No plugin 'zzz' in the group 'kit.routers': installed are 'trie'",
        id="plugin, nothing near",
    ),
    pytest.param(
        PluginNotFoundError("kit.routers", "trie", ()),
        LookupError,
        "No plugin 'trie' in the group 'kit.routers': none is installed",
        id="plugin, none",
    ),
    pytest.param(
        PluginConflictError("kit.routers", "trie", ("one", "two")),
        KitError,
        "The plugin 'trie' of the group 'kit.routers' is registered by one and two: "
        "ask for 'one:trie' or 'two:trie'",
        id="plugin conflict",
    ),
    pytest.param(
        PluginLoadError("kit.routers", "trie", "one", "m:a", "ImportError: no"),
        KitError,
        "The plugin 'trie' of the group 'kit.routers' can't be loaded: 'm:a' of the distribution "
        "'one' raised ImportError: no",
        id="plugin load",
    ),
    pytest.param(
        HandlerError("read_book (app.py:3)", "returned nothing: return a Response"),
        RuntimeError,
        "read_book (app.py:3) returned nothing: return a Response",
        id="handler",
    ),
    pytest.param(HTTPException(404), Exception, "404", id="HTTP, status alone"),
    pytest.param(
        HTTPException(503, "busy", headers={"retry-after": "3"}),
        Exception,
        "503 busy",
        id="HTTP, with headers",
    ),
    pytest.param(
        HTTPException(400, "bad", body=b"\x00", headers={"content-type": "image/png"}),
        Exception,
        "400 bad",
        id="HTTP, with a body",
    ),
    pytest.param(
        ProblemError(409, "Out of stock", "There are 3 left", left=3),
        HTTPException,
        "409 There are 3 left",
        id="problem",
    ),
    pytest.param(
        RequestValidationError(
            "query", [{"path": "page", "message": "Expected `int`", "type": "int_type"}]
        ),
        ProblemError,
        "400 The query is invalid: page: Expected `int`",
        id="validation",
    ),
]


@pytest.mark.parametrize(("error", "base", "text"), ERRORS)
def test_text_and_copies(error: Exception, base: type[Exception], text: str) -> None:
    assert str(error) == text
    assert isinstance(error, base)
    assert isinstance(error, KitError) != isinstance(error, HTTPException)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert (str(again), again.args, vars(again)) == (text, error.args, vars(error))


@pytest.mark.parametrize("status", [0, 99, 199, 600, "404", None, 404.0])
def test_status_that_is_none(status: Any) -> None:
    with pytest.raises(ValueError, match="HTTPException status must be an int from 200 to 599"):
        HTTPException(status)


def test_http_exception_keeps_what_it_is_given() -> None:
    marker: Any = object()
    error = HTTPException(401, "who?", res=marker, headers={"x": "1"}, body="b")
    assert (error.status, error.message, error.res, error.headers, error.body) == (
        401,
        "who?",
        marker,
        {"x": "1"},
        "b",
    )
    assert HTTPException(401).body is None


@pytest.mark.parametrize("body", [3, ["a"], {"a": 1}, bytearray(b"x")])
def test_body_that_can_not_be_sent(body: Any) -> None:
    with pytest.raises(TypeError) as caught:
        HTTPException(400, body=body)
    assert str(caught.value) == (
        f"HTTPException body must be bytes, str or None, not {type(body).__name__}"
    )
