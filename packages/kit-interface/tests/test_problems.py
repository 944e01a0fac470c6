# SPDX-License-Identifier: MIT
"""Problem documents (RFC 9457): ProblemError and RequestValidationError."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from typing import Any

import pytest

from kit.interface import FieldError, HTTPException, ProblemError, RequestValidationError

MISSING: FieldError = {"path": "title", "message": "Field required", "type": "missing"}
WHOLE: FieldError = {"path": "", "message": "Expected `object`", "type": "dict_type"}


def copies(error: Any) -> list[Any]:
    return [error, pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)]


@pytest.mark.parametrize(
    ("error", "document", "message"),
    [
        (ProblemError(404), {"title": "Not Found", "status": 404}, "Not Found"),
        (ProblemError(499), {"title": "Status 499", "status": 499}, "Status 499"),
        (ProblemError(400, "Odd"), {"title": "Odd", "status": 400}, "Odd"),
        (
            ProblemError(400, detail="It is odd"),
            {"title": "Bad Request", "status": 400, "detail": "It is odd"},
            "It is odd",
        ),
        (
            ProblemError(
                409,
                "Out of stock",
                "There are 3 left",
                type="/problems/stock",
                instance="/orders/7",
                message="order 7: 3 left",
                left=3,
                names=["a", None],
            ),
            {
                "type": "/problems/stock",
                "title": "Out of stock",
                "status": 409,
                "detail": "There are 3 left",
                "instance": "/orders/7",
                "left": 3,
                "names": ["a", None],
            },
            "order 7: 3 left",
        ),
    ],
)
def test_document(error: ProblemError, document: dict[str, Any], message: str) -> None:
    for each in copies(error):
        assert isinstance(each, HTTPException)
        assert isinstance(each.body, bytes)
        assert list(json.loads(each.body).items()) == list(document.items())
        assert (each.status, each.message, each.res) == (error.status, message, None)
        assert each.headers == {"content-type": "application/problem+json"}
        assert (each.title, each.detail) == (document["title"], document.get("detail"))
        assert (each.type, each.instance) == (document.get("type"), document.get("instance"))


def test_members_and_headers() -> None:
    error = ProblemError(429, headers={"retry-after": "3"}, limit=10)
    assert error.members == {"limit": 10}
    assert error.headers == {"retry-after": "3", "content-type": "application/problem+json"}


def test_text_is_utf_8_and_compact() -> None:
    assert ProblemError(400, "é", x=["a", 1]).body == (
        '{"title":"é","status":400,"x":["a",1]}'.encode()
    )
    error = ProblemError(400, "a\ud800b")
    assert error.body == b'{"title":"a\\ud800b","status":400}'
    assert json.loads(error.body)["title"] == "a\ud800b"


@pytest.mark.parametrize("status", [99, 600, "404", None])
def test_status_that_is_none(status: Any) -> None:
    with pytest.raises(ValueError, match="status") as caught:
        ProblemError(status)
    assert str(caught.value) == (
        f"HTTPException status must be an int from 200 to 599, not {status!r}"
    )


def test_member_that_is_no_json() -> None:
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        ProblemError(400, x={1})


class OutOfStockError(ProblemError):
    """As an app makes one, with parameters of its own."""

    def __init__(self, left: int) -> None:
        super().__init__(409, "Out of stock", f"There are {left} left", left=left)


def test_subclass_with_parameters_of_its_own() -> None:
    for each in copies(OutOfStockError(3)):
        assert type(each) is OutOfStockError
        assert str(each) == "409 There are 3 left"
        assert json.loads(each.body)["left"] == 3


@pytest.mark.parametrize(
    ("target", "detail"),
    [
        ("json", "The JSON body is invalid"),
        ("form", "The form is invalid"),
        ("query", "The query is invalid"),
        ("param", "The path parameters are invalid"),
        ("header", "The headers are invalid"),
        ("cookie", "The cookies are invalid"),
    ],
)
def test_validation_error(target: Any, detail: str) -> None:
    for each in copies(RequestValidationError(target, iter([MISSING, WHOLE]))):
        assert isinstance(each, ProblemError)
        assert (each.target, each.errors, each.detail) == (target, [MISSING, WHOLE], detail)
        assert str(each) == f"400 {detail}: title: Field required; Expected `object`"
        assert list(json.loads(each.body).items()) == [
            ("title", "Bad Request"),
            ("status", 400),
            ("detail", detail),
            ("target", target),
            ("errors", [MISSING, WHOLE]),
        ]


def test_validation_error_with_a_detail_of_its_own() -> None:
    error = RequestValidationError("json", [WHOLE], "The JSON body is missing")
    assert error.detail == "The JSON body is missing"
    assert error.message == "The JSON body is missing: Expected `object`"
    assert json.loads(str(error.body, "utf-8"))["detail"] == "The JSON body is missing"


def test_details_for_errors_of_others() -> None:
    invalid = RequestValidationError.describe_invalid
    missing = RequestValidationError.describe_missing
    assert invalid("param") == "The path parameters are invalid"
    assert invalid(None) == "The request is invalid"
    assert missing("json", None, "application/json") == (
        "The JSON body is missing: there is no Content-Type, expected application/json"
    )
    assert missing("form", "text/plain; charset=utf-8", "a form") == (
        "The form is missing: Content-Type is 'text/plain; charset=utf-8', expected a form"
    )
    assert missing("form", "x" * 5000, "a form") == (
        f"The form is missing: Content-Type is '{'x' * 99}, expected a form"
    )


@pytest.mark.parametrize("kind", [ProblemError, RequestValidationError, FieldError])
def test_where_they_say_they_are_from(kind: Any) -> None:
    assert kind.__module__ == "kit.interface"


def test_json_is_imported_for_the_first_problem() -> None:
    code = """
import sys, types
kit = types.ModuleType("kit")
kit.__path__ = [sys.argv[1]]
sys.modules["kit"] = kit
from kit.interface import ProblemError
before = "json" in sys.modules
ProblemError(400)
print(before, "json" in sys.modules)
"""
    import kit.interface

    folder = kit.interface.__path__[0] + "/.."
    # Measuring coverage imports json at the start.
    unmeasured = {name: os.environ[name] for name in os.environ if not name.startswith("COVERAGE")}
    output = subprocess.check_output(
        [sys.executable, "-c", code, folder], text=True, env=unmeasured
    )
    assert output == "False True\n"
