# SPDX-License-Identifier: MIT
"""`kit.factory`: apps with the same options, and middleware and handlers for them."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Any

import pytest

from kit import Context, Kit, Next, Response
from kit.factory import Factory, create_factory, create_middleware
from kit.router.trie_router import TrieRouter


async def mark(c: Context, next: Next) -> None:
    await next()
    c.header("x-marked", "yes")


def hello(c: Context) -> Response:
    return c.text("hello")


async def fail(app: Kit) -> None:
    raise AssertionError


# --- create_app ---------------------------------------------------------------------------------


async def test_every_app_is_initialised_and_its_own() -> None:
    factory = create_factory(init_app=lambda app: app.use(mark).get("/init", hello))
    first, second = factory.create_app(), factory.create_app()
    first.get("/only-first", hello)
    for app in (first, second):
        answer = await app.request("/init")
        assert (answer.status, answer.headers.get("x-marked")) == (200, "yes")
    assert (await first.request("/only-first")).status == 200
    assert (await second.request("/only-first")).status == 404


def test_options_take_the_place_of_the_defaults() -> None:
    factory = create_factory(default_app_options={"strict": False, "router": "trie"})
    assert (factory.create_app().strict, factory.create_app().router.name) == (False, "TrieRouter")
    app = factory.create_app(strict=True, router=None)
    assert (app.strict, app.router.name) == (True, Kit().router.name)
    assert create_factory().create_app().strict is True


def test_defaults_are_copied() -> None:
    options: Any = {"strict": False}
    factory = create_factory(default_app_options=options)
    options["strict"] = True
    factory.create_app(strict=True)
    assert factory.create_app().strict is False


def test_a_router_is_for_one_app() -> None:
    factory = create_factory(default_app_options={"router": TrieRouter()})
    factory.create_app(router="linear")
    factory.create_app()
    factory.create_app(router=TrieRouter())
    with pytest.raises(ValueError, match="router") as caught:
        factory.create_app()
    assert str(caught.value).startswith("create_app() can't use the router of")


async def test_apps_are_put_together() -> None:
    factory = create_factory(init_app=lambda app: app.use(mark))
    books = factory.create_app().get("/", hello)
    app = Kit().route("/books", books)
    assert (await app.request("/books")).headers.get("x-marked") == "yes"
    assert (await app.request("/other")).headers.get("x-marked") is None


KNOWN = (
    "expected 'strict', 'router', 'get_path', 'lifespan', 'limits', 'method_not_allowed', "
    "'validation_status', 'encoders' or 'decoders'"
)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"init_app": "logger"}, TypeError, "takes a function (app), not 'logger'"),
        ({"init_app": mark}, TypeError, "takes a function (app): got the signature mark(c"),
        ({"init_app": fail}, TypeError, "takes a plain function, not an async one"),
        ({"default_app_options": ["strict"]}, TypeError, "takes a mapping with 'strict'"),
        (
            {"default_app_options": {"debug": True}},
            ValueError,
            f"create_factory(default_app_options=...) has the unknown key 'debug': {KNOWN}",
        ),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        create_factory(**options)
    assert text in str(caught.value)


def test_an_async_init_app_in_disguise() -> None:
    # Nothing that it adds would be there, guards among them.
    factory: Factory[Any, Any] = create_factory(init_app=lambda app: fail(app))
    with pytest.raises(TypeError) as caught:
        factory.create_app()
    assert str(caught.value).startswith("create_factory(init_app=...) takes a plain function")


def test_a_wrong_option_of_one_app() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'debug'"):
        create_factory().create_app(debug=True)  # type: ignore[call-arg]


# --- create_middleware --------------------------------------------------------------------------


@pytest.mark.parametrize("make", [create_middleware, Factory().create_middleware])
def test_middleware_is_returned_unchanged(make: Any) -> None:
    assert make(mark) is mark
    partial = functools.partial(mark)
    assert make(partial) is partial


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (None, "create_middleware() takes a function (c, next), not None"),
        (hello, "takes a function (c, next): got the signature hello(c: 'Context') ->"),
    ],
)
@pytest.mark.parametrize("make", [create_middleware, Factory().create_middleware])
def test_what_is_no_middleware(make: Any, function: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        make(function)
    assert text in str(caught.value)


# --- create_handlers ----------------------------------------------------------------------------


async def test_handlers_are_registered_together() -> None:
    factory = create_factory()
    handlers = factory.create_handlers(None, mark, None, hello)
    assert handlers == [mark, hello]
    app = factory.create_app().get("/", *handlers).post("/", *handlers)
    for method in ("GET", "POST"):
        answer = await app.request("/", method=method)
        assert (await answer.text(), answer.headers["x-marked"]) == ("hello", "yes")
    assert factory.create_handlers(None) == []


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        ("hello", "is not callable"),
        (lambda: None, "neither a handler (c) nor middleware"),
    ],
)
def test_what_is_no_handler(handler: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        create_factory().create_handlers(mark, handler)
    assert words in str(caught.value)


def test_it_is_imported_by_those_who_use_it_alone() -> None:
    code = "import sys, kit; kit.Kit(); print('kit.factory' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
