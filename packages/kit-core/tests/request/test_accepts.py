# SPDX-License-Identifier: MIT
"""What `accepts` chooses by the request's headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.accepts import Accepted, AcceptsOptions, accepts

TYPES = ["application/json", "text/html", "image/png"]


class FakeRequest:
    def __init__(self, value: str | None) -> None:
        self._value = value

    def header(self, name: str) -> str | None:
        return self._value


class FakeContext:
    def __init__(self, value: str | None) -> None:
        self.req = FakeRequest(value)


def chosen(value: str | None, supports: list[str] = TYPES, **options: Any) -> Any:
    c: Any = FakeContext(value)
    return accepts(c, header="Accept", supports=supports, default="text/plain", **options)


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        (None, "text/plain"),
        ("", "text/plain"),
        ("text/html", "text/html"),
        ("TEXT/HTML", "text/html"),
        ("text/css", "text/plain"),
        # The client's order, then its qualities.
        ("text/html, application/json", "text/html"),
        ("text/html;q=0.8, application/json", "application/json"),
        ("text/html;q=0.8, application/json;q=0.9", "application/json"),
        ("text/html;level=1, application/json", "text/html"),
        # Ranges come after exact types of the same quality, and take the app's order.
        ("text/*", "text/html"),
        ("*/*", "text/plain"),
        ("*", "text/plain"),
        ("image/*, text/html", "text/html"),
        ("image/*, text/html;q=0.9", "image/png"),
        ("text/*;q=0.5, application/*;q=0.5", "text/html"),
        # 0 is a refusal, and what is named has no part in a range.
        ("text/html;q=0", "text/plain"),
        ("text/html;q=0.000, image/png;q=0.001", "image/png"),
        ("text/html;q=0, text/*", "text/plain"),
        ("text/html;q=0.1, text/*;q=0.9, image/png;q=0.2", "image/png"),
        # `*` is skipped, so what is named counts, and the default even where it is refused.
        ("*/*, text/html;q=0.1", "text/html"),
        ("text/plain;q=0, */*", "text/plain"),
        ('text/html;a="x,image/png"', "text/html"),
    ],
)
def test_choice(value: str | None, choice: str) -> None:
    assert chosen(value) == choice


def test_what_is_chosen_is_spelled_as_the_app_spells_it() -> None:
    assert chosen("text/html", ["Text/HTML"]) == "Text/HTML"
    assert chosen("text/*", ["Text/HTML", "text/html"]) == "Text/HTML"


@given(st.text(alphabet='aTb/*;,= "q.015'), st.lists(st.sampled_from([*TYPES, "a", "a/b", "A/T"])))
def test_choice_is_one_of_those_that_were_offered(value: str, supports: list[str]) -> None:
    assert chosen(value, supports) in {*supports, "text/plain"}


def test_in_an_app(run: Callable[..., Any]) -> None:
    app = Kit()

    @app.get("/")
    def language(c: Context) -> Response:
        return c.text(accepts(c, "Accept-Language", ["en", "de"], "en"))

    headers = {"accept-language": "fr, de;q=0.7, en;q=0.3"}
    response = run(app.request, "/", {"headers": headers})
    assert run(response.text) == "de"
    assert run(run(app.request, "/").text) == "en"


def test_match_gets_what_is_accepted_and_the_options() -> None:
    seen: list[Any] = []

    def match(accepted: list[Accepted], options: AcceptsOptions) -> str:
        seen.append((accepted, options))
        return "image/png"

    assert chosen("b;q=0, a;v=1", match=match) == "image/png"
    assert seen == [
        ([("a", 1, {"v": "1"}), ("b", 0, {"q": "0"})], ("Accept", TYPES, "text/plain")),
    ]
    # Without the header there is nothing to match.
    assert chosen(None, match=match) == "text/plain"
    assert len(seen) == 1


def test_async_match(run: Callable[..., Any]) -> None:
    async def match(accepted: list[Accepted], options: AcceptsOptions) -> str:
        return options.supports[-1]

    async def choose() -> Any:
        return await chosen("a", match=match)

    assert run(choose) == "image/png"


def test_one_str_is_no_list() -> None:
    with pytest.raises(TypeError) as raised:
        chosen("text/html", "text/html")  # type: ignore[arg-type]
    assert str(raised.value) == "accepts(supports=...) takes a list of str, not 'text/html'"
