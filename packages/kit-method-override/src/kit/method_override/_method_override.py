# SPDX-License-Identifier: MIT
"""The middleware that treats a POST as a request with another method."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from copy import copy
from typing import Any, Protocol
from urllib.parse import unquote_to_bytes

from kit.authoring.options import OptionChecks
from kit.http.fields import is_token
from kit.http.media_types import MULTIPART, URLENCODED, media_type
from kit.http.methods import SAFE_METHODS
from kit.http.paths import decode_component
from kit.interface import App, AsyncMiddleware, Context, HTTPException, Next, Request, Response
from kit.interface.metadata import attach

_DEFAULT_FIELD = "_method"
_METHODS = ("PUT", "PATCH", "DELETE")
# APPSEC: guards let safe methods through.
# SPEC: WHATWG Fetch section 2.2.1: forbidden methods.
_NEVER = SAFE_METHODS | {"CONNECT", "TRACK"}


def method_override(
    *,
    app: App,
    form: str | None = None,
    header: str | None = None,
    query: str | None = None,
    methods: Iterable[str] = _METHODS,
) -> AsyncMiddleware:
    """Returns middleware that treats a POST as a request with the method named in it.

    HTML forms can send only GET and POST. The method is the value of a form field, a header or a
    query parameter. The request is passed to the app again, with that method and without the field,
    header or parameter. A method outside `methods` raises an `HTTPException` with status 400.
    Requests with methods other than POST aren't changed.

    Middleware registered before this one runs for both requests, the POST and the one with the new
    method. Register guards before it, especially CSRF protection, and middleware that creates
    something new for each request, such as a nonce, after it.

    Args:
        app: The app that handles the request: the one that the server runs.
        form: Name of the field, in a form of either type. Default: `_method`, unless `header` or
            `query` is given.
        header: Name of the header.
        query: Name of the query parameter.
        methods: The methods that a request may name, case-insensitively. Safe methods
            such as GET and QUERY aren't allowed. POST, which changes nothing, is always allowed.

    Returns:
        The middleware, for `app.use(path, ...)`.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If more than one of `form`, `header` and `query` is given, one of them is empty,
            or a method can't be used.

    Example:
        app.use("/books/*", method_override(app=app))
    """
    check = OptionChecks("method_override")
    if isinstance(app, type) or not callable(getattr(app, "fetch", None)):
        check.wrong_type("app", app, "the app that handles the requests")
    allowed = _checked_methods(check, methods)
    *most, last = sorted(allowed)
    names = f"{', '.join(most)} or {last}" if most else last
    refusal = f"A POST can't be turned into that method: expected {names}"
    override = _override(check, form, header, query)

    async def method_override(c: Context[Any, Any], next: Next) -> Response | None:
        if c.req.method != "POST":
            await next()
            return None
        named = await override.method(c)
        method = named.upper() if isinstance(named, str) else named
        if method in (None, "", "POST"):
            await next()
            return None
        if method not in allowed:  # also a file
            raise HTTPException(400, refusal)
        request = await override.request(c, method)
        try:
            execution_ctx = c.execution_ctx
        except RuntimeError:  # there is none
            execution_ctx = None
        return await app.fetch(request, c.env, execution_ctx)

    return attach(method_override, responses={400: "The method named by the POST isn't allowed"})


class _Override(Protocol):
    """The place where a request names its method."""

    async def method(self, c: Context[Any, Any]) -> Any:
        """Returns the method, None if the request names none."""

    async def request(self, c: Context[Any, Any], method: str) -> Request:
        """Returns the request with that method, and without the field that names it."""


class _FormOverride:
    def __init__(self, field: str) -> None:
        self._field = field

    async def method(self, c: Context[Any, Any]) -> Any:
        kind = media_type(c.req.header("content-type"))
        if kind not in (MULTIPART, URLENCODED):
            return None
        values = (await c.req.form_data()).get_all(self._field)
        if not values:
            return None
        # If they differ, the one that Hono uses.
        return values[0] if kind == MULTIPART else values[-1]

    async def request(self, c: Context[Any, Any], method: str) -> Request:
        if media_type(c.req.header("content-type")) == URLENCODED:
            # The rest is kept as it was sent.
            pairs = (await c.req.bytes()).split(b"&")
            kept = [pair for pair in pairs if _field_name(pair) != self._field]
            return c.req.raw.replace(method=method, body=b"&".join(kept))
        form = copy(await c.req.form_data())
        form.delete(self._field)
        return c.req.raw.replace(method=method, body=form)


class _HeaderOverride:
    def __init__(self, name: str) -> None:
        self._name = name

    async def method(self, c: Context[Any, Any]) -> Any:
        return c.req.header(self._name)

    async def request(self, c: Context[Any, Any], method: str) -> Request:
        request = await _with_method(c, method)
        request.headers.delete(self._name)
        return request


class _QueryOverride:
    def __init__(self, name: str) -> None:
        self._name = name

    async def method(self, c: Context[Any, Any]) -> Any:
        return c.req.query(self._name)

    async def request(self, c: Context[Any, Any], method: str) -> Request:
        request = await _with_method(c, method)
        url, _, fragment = request.url.partition("#")
        path, _, query = url.partition("?")
        kept = "&".join(pair for pair in query.split("&") if _parameter(pair) != self._name)
        url = path + (kept and f"?{kept}") + (fragment and f"#{fragment}")
        return request.replace(url=url)


def _field_name(pair: bytes) -> str:
    """Returns the decoded name of a form pair (WHATWG URL, section 5.1)."""
    name = pair.partition(b"=")[0].replace(b"+", b" ")
    return unquote_to_bytes(name).decode("utf-8", "replace")


def _parameter(pair: str) -> str:
    """Returns the decoded name of a query pair, as `c.req.query` decodes it."""
    return decode_component(pair.partition("=")[0].replace("+", " "))


async def _with_method(c: Context[Any, Any], method: str) -> Request:
    """Returns the request with another method, and its body even if middleware has read it."""
    raw = c.req.raw
    if raw.body_used:
        # A TypeError means that it was read from `raw` itself, which doesn't keep it.
        with suppress(TypeError):
            return raw.replace(method=method, body=await c.req.bytes())
    return raw.replace(method=method)


def _override(
    check: OptionChecks, form: str | None, header: str | None, query: str | None
) -> _Override:
    """Checks which of the options is given, and returns its reader."""
    options = {"form": form, "header": header, "query": query}
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise ValueError(
            f"{check.factory}() was given {' and '.join(f'{name}=' for name in given)}: "
            "a request names its method in one place; add the middleware once for each"
        )
    if header is not None:
        return _HeaderOverride(check.header_name("header", header, "X-HTTP-Method-Override"))
    if query is not None:
        return _QueryOverride(check.text("query", query, r"(?s).+", "a name such as '_method'"))
    field = _DEFAULT_FIELD if form is None else form
    return _FormOverride(check.text("form", field, r"(?s).+", "a name such as '_method'"))


def _checked_methods(check: OptionChecks, methods: Iterable[str]) -> frozenset[str]:
    names = check.texts("methods", methods)
    for name in names:
        if not is_token(name) or name.upper() in _NEVER:
            check.unusable("methods", methods, "methods that change something, such as 'PUT'")
    if not names:
        check.unusable("methods", methods, "at least one method")
    return frozenset(name.upper() for name in names)
