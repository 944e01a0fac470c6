# SPDX-License-Identifier: MIT
"""`c`, the context of a request, shared by handlers and middleware."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec

from kit._response.responses import (
    close_discarded,
    joined,
    lines_to_keep,
    make_response,
    own,
    settle,
    take_over,
    without_representation,
)
from kit._routing.error_handlers import call_format
from kit._routing.no_bindings import NoBindings
from kit.authoring.cancellation import find_fault, is_fault
from kit.authoring.maybe_await import call, check_second
from kit.authoring.signatures import describe
from kit.interface import HandlerError, HTTPException
from kit.interface.generics import TypeVar, fill_arguments
from kit.request import KitRequest
from kit.web._body import is_stream, peek, take
from kit.web._header_lines import (
    FRAMING_NAMES,
    OWN_NAMES,
    HeaderArgument,
    HeaderLine,
    Lines,
    as_plain,
    encode_name,
    encode_value,
    header_line,
    known_lines,
    with_line,
)
from kit.web._location import encode_location
from kit.web._response import (
    NULL_BODY_STATUSES,
    Response,
    build_response,
    check_status,
)
from kit.web._struct import Opaque, Struct, with_plain_stores

if TYPE_CHECKING:
    from kit._routing.app_state import AppState
    from kit._routing.route import Route
    from kit.authoring.codecs import TypeCodecs
    from kit.concurrency._background import BackgroundTasks
    from kit.interface import Cleanup, ExecutionContext
    from kit.interface import Response as AnyResponse
    from kit.web import Request
    from kit.web._body import BodyInit

B = TypeVar("B", default=Any)
"""Bindings: the type of `c.env`, a TypedDict."""

V = TypeVar("V", default=Any)
"""Variables: the type of `c.var`, a TypedDict."""

_P = ParamSpec("_P")

_FIRST_FAULT = 400
_TEXT_LINE = (b"content-type", b"text/plain; charset=UTF-8")
_TEXT_LINES = (_TEXT_LINE,)
_JSON_LINE = (b"content-type", b"application/json")
_JSON_LINES = (_JSON_LINE,)
_HTML_LINE = (b"content-type", b"text/html; charset=UTF-8")


@with_plain_stores
class Context(Opaque, Struct, Generic[B, V], eq=False, weakref=False):
    """The request, the response so far, and values shared by handlers.

    The app creates a context for each request. `B` is the type of `env`, `V` the type of `var`.
    """

    if not TYPE_CHECKING and sys.version_info < (3, 13):

        def __class_getitem__(cls, arguments: Any) -> Any:
            return super().__class_getitem__(fill_arguments(cls, arguments))

    _state: AppState
    _scope: Any
    _receive: Any
    _path: str
    _match: Any  # the router's result; its first item lists the routes and their parameters
    _run: Any  # runs the handlers of the routes, see kit._engine.handlers
    _method: str
    _env: Any = None  # until it is read
    _index: int = -1  # of the handler that is running
    # The fields below are None until they are first used.
    _req: KitRequest | None = None
    _res: Response | None = None
    _finalized: bool = False
    _status: int | None = None
    _lines: Lines | None = None  # set before there is a response
    # The last response built here, and the lines set earlier that it contains.
    _taker: Response | None = None
    _taken: Sequence[HeaderLine] | None = None
    _variables: dict[str, Any] | None = None
    _error: Exception | None = None
    _failed: bool = False  # whether an error handler itself raised
    _execution_ctx: ExecutionContext | None = None
    _renderer: Callable[..., Any] | None = None
    _exits: list[Cleanup] | None = None

    @property
    def req(self) -> KitRequest:
        """The request."""
        req = self._req
        if req is None:
            # PERF: keyword arguments would take 50 % longer.
            req = self._req = KitRequest(
                None,
                self._path,
                self._match,
                self._scope,
                self._receive,
                self._state.limits,
                self._state.codecs,
            )
            if self._index > 0:
                req.route_index = min(self._index, len(self._match[0]) - 1)
        return req

    @property
    def env(self) -> B:
        """The bindings: the mapping that the lifespan yielded, and those passed to `fetch`."""
        env = self._env
        if env is None:
            lifespan = self._state.lifespan
            env = self._env = lifespan.bindings or NoBindings(lifespan.missing)
        return env  # type: ignore[no-any-return]  # the user chooses B

    @property
    def var(self) -> V:
        """Read-only view of the variables."""
        if self._variables is None:
            self._variables = {}
        return MappingProxyType(self._variables)  # type: ignore[return-value]  # the user chooses V

    def get(self, key: str, default: Any = None, /) -> Any:
        """Returns the variable `key`, or `default` if it isn't set."""
        return default if self._variables is None else self._variables.get(key, default)

    def set(self, key: str, value: Any, /) -> None:
        """Sets a variable for this request."""
        if self._variables is None:
            self._variables = {}
        self._variables[key] = value

    @property
    def codecs(self) -> TypeCodecs:
        """The encoders and decoders of the app."""
        return self._state.codecs

    @property
    def error(self) -> Exception | None:
        """The exception that a handler raised, once it has been handled."""
        return self._error

    @property
    def finalized(self) -> bool:
        """Whether there is a response yet."""
        return self._finalized

    @property
    def execution_ctx(self) -> ExecutionContext:
        """The execution context, which runs work after the response.

        Raises:
            RuntimeError: If `fetch` or `request` was called without one.
        """
        if self._execution_ctx is None:
            if self._receive is None:
                raise RuntimeError("This request has no execution context: fetch() was given none")
            self._execution_ctx = _background_tasks()()
        return self._execution_ctx

    def add_cleanup(self, cleanup: Cleanup, /) -> None:
        """Adds a function that runs at the end of the request, after the response was sent.

        Cleanup functions run after the last chunk of a streamed body and before the tasks of
        `wait_until`. The last one added runs first. They run to completion even if the request is
        cancelled. In process, the request ends when `fetch` returns the response, or when the
        streamed body has been read or closed.

        Args:
            cleanup: A plain or async function. It is called with the exception that a handler, a
                middleware or the streamed body raised (even if an error response was sent), or
                that cancelled the request; otherwise with None. If it returns True, the functions
                that run after it get None. If it raises an exception, they get this exception; it
                is logged, since the response was already sent.
        """
        if self._exits is None:
            self._exits = []
            if self._receive is not None and self._execution_ctx is None:
                # PERF: only served requests with an execution context run `_end`.
                self._execution_ctx = _background_tasks()()
        self._exits.append(cleanup)

    def after_success(
        self, function: Callable[_P, object], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        """Calls a function after the response was sent, if the request succeeded.

        It runs like a task of `execution_ctx.wait_until`, after all cleanup functions. It isn't
        called if the status is 400 or higher, if the request was cancelled, or if a handler, a
        middleware, a dependency, a streamed body or a cleanup function raised an exception, such as
        a failed commit.

        Args:
            function: A plain or async function. An exception that it raises is logged.
            *args: Its arguments.
            **kwargs: Its keyword arguments.

        Raises:
            TypeError: If it isn't a function.
            RuntimeError: If `fetch` or `request` was called without an execution context.
        """
        if not callable(function):
            what = type(function).__name__
            raise TypeError(f"after_success() takes a function and its arguments, not {what}")
        # Here, since it raises an exception if there is none.
        execution_ctx = self.execution_ctx
        variables = copy_context()
        work = partial(function, *args, **kwargs)

        def start(error: BaseException | None) -> None:
            if error is None and self._error is None and self.res.status < _FIRST_FAULT:
                variables.run(_start_call, execution_ctx, work)

        self.add_cleanup(start)
        exits: Any = self._exits
        exits.insert(0, exits.pop())  # the first one runs last, and learns of all exceptions

    async def _end(self, error: BaseException | None = None) -> None:
        """Runs exits and the tasks of `wait_until`, and releases the request's resources."""
        try:
            if self._exits is not None:
                await self._run_exits(error)
            if self._execution_ctx is not None:
                await self._execution_ctx.run()  # type: ignore[attr-defined]  # BackgroundTasks
        finally:
            self._close()

    async def _cancel(self, error: BaseException) -> None:
        """Runs the exits of a cancelled request, and releases its resources."""
        try:
            await self._close_body()
        finally:
            try:
                if self._exits is not None:
                    await self._run_exits(error)
            finally:
                self._close()

    async def _close_body(self, kept: AnyResponse | None = None) -> None:
        """Closes the stream of the response so far, which won't be sent.

        Args:
            kept: Another response; if it has the same body, the body stays open.
        """
        if self._finalized and self._res is not None:
            await close_discarded(self._res, kept)

    def _run_exits(self, error: BaseException | None = None) -> Awaitable[None]:
        return _exit_runner()(self._exits or [], error or self._error)

    def _close(self) -> None:
        """Releases the resources of the request when it is over."""
        if self._req is not None:
            self._req._close()
        if self._execution_ctx is not None:
            self._execution_ctx.close()  # type: ignore[attr-defined]  # a BackgroundTasks

    @property
    def matched_routes(self) -> list[Route]:
        """The routes that matched the request, including middleware, in registration order."""
        return [route for route, _ in self._match[0]]

    @property
    def res(self) -> Response:
        """The response so far; an empty one if there is none yet."""
        if self._res is None:
            if self._lines is None:
                self._lines = ()  # not None: headers may be set on the response
            if self._taken is not None:
                self._taken = [*self._taken]  # a copy, for the same reason
            self._res = build_response(None, 200, list(self._lines))
        return self._res

    @res.setter
    def res(self, value: AnyResponse | None) -> None:
        """Sets the response.

        The new response also gets the headers of the existing response, or the headers set before
        there was one. If both have a header that may occur only once, the new value wins. Cookies
        and lists such as Vary and Link keep the lines of both. Headers that describe the existing
        representation (RFC 9110, section 8), and caching headers, are dropped unless the new
        response is a 304. A replaced stream is closed at the end of the request.

        None removes the response and its headers.
        """
        if value is not None and not isinstance(value, Response):
            raise TypeError(f"c.res can be set to a Response or None, not {type(value).__name__}")
        old = self._res
        if value is None:
            self._taker = self._taken = None
            self._lines = ()
        elif old is not None or self._lines is not None:
            value = self._join(value)
        if old is not None and is_stream(peek(old)) and not _have_same_body(old, value):
            self._close_later(old)
        if self._lines is None:
            self._lines = ()  # as in the getter
        self._res = value
        self._finalized = True

    def _join(self, response: Response) -> Response:
        """Returns a response with the headers that were set for this request.

        A response built by this context has all headers set before it was built. A `Response` made
        by the handler, a mounted app or an error has none of them.
        """
        old, is_old = self._res, self._finalized
        taker, taken = self._taker, self._taken
        if response is old and is_old:
            return response
        if old is None:
            lines: Sequence[HeaderLine] = self._lines or ()
        else:
            lines = lines_to_keep(old._lines, response._status) if is_old else old._lines
        if taken is not None and taker is response:
            lines = [line for line in lines if line not in taken]
        if is_old and old is not None:
            return take_over(response, old, lines)
        return joined(response, lines) if lines else response

    def _close_later(self, response: Response) -> None:
        """Closes the streams of an unsent response at the end of the request.

        The body that is sent may read these streams, so they can't be closed earlier.
        """

        def close(_: BaseException | None) -> Awaitable[None]:
            return close_discarded(response, self._res)

        self.add_cleanup(close)

    def header(
        self,
        name: str,
        value: str | None = None,
        /,
        append: bool = False,  # PERF: not keyword-only, which would make every call slower
    ) -> None:
        """Sets a header of the response, whether or not the response already exists.

        Args:
            name: Name of the header.
            value: Its value; None removes the header.
            append: Whether to add a line instead of replacing existing ones.

        Raises:
            ValueError: If the name or value is invalid.
        """
        try:
            known = known_lines.get((name, value)) if value.__class__ is str else None
            key, line, is_plain = known or header_line(name, value)
        except TypeError:
            raise _no_header(name) from None
        lines = self._lines
        if self._res is None and is_plain:  # PERF: nearly every call takes this path, twice as fast
            if lines is None:
                self._lines = line
                return
            if lines.__class__ is tuple:
                for each, _ in lines:
                    if each == key and not (append and line):
                        break
                else:
                    self._lines = lines + line
                    return
        lines = with_line(self._own_lines(), key, line, append)
        self._set_lines(lines if is_plain else [*lines])

    def _own_lines(self) -> Lines:
        """Returns the lines of the response so far, safe to change for this request."""
        if self._res is None:
            return self._lines or ()
        if self._finalized:
            self._res = own(self._res)
        return self._res._lines

    def _set_lines(self, lines: Lines) -> None:
        """Sets the lines of the response so far."""
        if self._res is None:
            self._lines = lines
        elif isinstance(self._res._lines, list):
            self._res._lines[:] = lines  # in place: `c.res.headers` reads this list
        else:
            self._res._lines = lines

    def set_headers(self, headers: Mapping[str, str], /, *, overwrite: bool = True) -> None:
        """Sets several headers of the response, faster than separate calls of `header`.

        Args:
            headers: Names and values.
            overwrite: Whether to replace existing headers with these names; False keeps them.

        Raises:
            ValueError: If a name or value is invalid.
        """
        new = {encode_name(name): encode_value(name, value) for name, value in headers.items()}
        lines = self._own_lines()
        if overwrite:
            changed = [*[line for line in lines if line[0] not in new], *new.items()]
        else:
            present = {line[0] for line in lines}
            changed = [*lines, *(line for line in new.items() if line[0] not in present)]
        self._set_lines(as_plain(changed, OWN_NAMES if self._res is None else FRAMING_NAMES))

    def status(self, code: int, /) -> None:
        """Sets the status of the next response; an existing response keeps its own.

        Raises:
            ValueError: If it is not an int from 200 to 599, or 101.
        """
        check_status(code, has_body=False)
        self._status = code

    def text(
        self, data: str, status: int | None = None, headers: HeaderArgument | None = None
    ) -> Response:
        """Returns a text/plain response.

        Args:
            data: The text.
            status: HTTP status code; default: the one set by `status()`, or 200.
            headers: Headers to set; a list sets several lines, an empty one removes the header.

        Raises:
            TypeError: If the status allows no body.
            ValueError: If the status or a header is invalid.
        """
        try:
            body = data.encode()
        except AttributeError:
            raise _no_text("c.text()", data) from None
        # PERF: text() and json() handle the most common case without another call.
        if status is None and headers is None and self._status is None and self._res is None:
            lines = self._lines
            if lines is None:
                return build_response(body, 200, _TEXT_LINES)
            if lines.__class__ is tuple:
                self._taken = lines
                plain: Any = lines + _TEXT_LINES
                self._taker = response = build_response(body, 200, plain)
                return response
        return self._respond(body, _TEXT_LINE, status, headers)

    def json(
        self,
        data: Any,
        status: int | None = None,
        headers: HeaderArgument | None = None,
        # PERF: not keyword-only, which would make every call slower.
        by_alias: bool | None = None,
    ) -> Response:
        """Returns an application/json response.

        Args:
            data: The value to encode: dict, list, str, int, float (NaN as null), bool, None,
                dataclasses, msgspec Structs, attrs classes, datetimes, UUIDs, enums, Decimals,
                paths, IP addresses, deques, other mappings, pydantic models, classes with an
                encoder (see `Kit`), and any nesting of these.
            status: HTTP status code; default: the one set by `status()`, or 200.
            headers: As for `text`.
            by_alias: Whether pydantic models are encoded with the serialization aliases of their
                fields (True) or the field names (False), including models in lists, dicts and
                dataclasses. Default: each model's `serialize_by_alias` setting.

        Raises:
            TypeError: If a value in `data` can't be encoded (the message says which and where), or
                the status allows no body.
            ValueError: If the status or a header is invalid.
        """
        if by_alias is None:
            # PERF: msgspec's own function, unwrapped; called as a method, it takes longer.
            encode = self._state.encode_plainly
            try:
                body = encode(data)
            except (TypeError, UnicodeEncodeError):
                body = self.codecs.encode_json(data)  # its error names the value and its place
        else:
            body = self.codecs.encode_json_with_aliases(data, by_alias)
        if status is None and headers is None and self._status is None and self._res is None:
            lines = self._lines
            if lines is None:
                return build_response(body, 200, _JSON_LINES)
            if lines.__class__ is tuple:
                self._taken = lines
                plain: Any = lines + _JSON_LINES
                self._taker = response = build_response(body, 200, plain)
                return response
        return self._respond(body, _JSON_LINE, status, headers)

    def html(
        self, data: str, status: int | None = None, headers: HeaderArgument | None = None
    ) -> Response:
        """Returns a text/html response; see `text` for arguments and exceptions.

        `data` is sent unchanged, so escape text that comes from users.
        """
        try:
            body = data.encode()
        except AttributeError:
            raise _no_text("c.html()", data) from None
        return self._respond(body, _HTML_LINE, status, headers)

    def body(
        self,
        data: BodyInit | None,
        status: int | None = None,
        headers: HeaderArgument | None = None,
    ) -> Response:
        """Returns a response without a default content type.

        Args:
            data: str, bytes, Blob, FormData, URLSearchParams, an (async) iterable of str or
                bytes, or None.
            status: HTTP status code; default: the one set by `status()`, or 200.
            headers: As for `text`.

        Raises:
            TypeError: If `data` can't be sent, or the status allows no body.
            ValueError: As for `text`.
        """
        return self._respond(data, None, status, headers)

    def new_response(
        self,
        data: BodyInit | None,
        status: int | None = None,
        headers: HeaderArgument | None = None,
    ) -> Response:
        """Returns a response with the headers and status set so far; see `body` for arguments."""
        return self._respond(data, None, status, headers)

    def path_to(
        self,
        handler: Callable[..., Any] | str,
        /,
        *,
        query: Any = None,
        **values: Any,
    ) -> str:
        """Returns the path of the route of a handler, below the path that the app is served at.

        Args:
            handler: As for `Kit.path_to`.
            query: As for `Kit.path_to`.
            **values: As for `Kit.path_to`.

        Returns:
            The path and the query, percent-encoded, with the server's `root_path` or the path of
            the mount in front.

        Raises:
            LookupError: As for `Kit.path_to`.
            TypeError: As for `Kit.path_to`.
            ValueError: As for `Kit.path_to`.
            RuntimeError: As for `Kit.path_to`.

        Example:
            ```python
            return c.redirect(c.path_to(read_book, id=7))
            ```
        """
        from kit._routing.links import encode_root  # PERF: many apps have no links

        return encode_root(self.req.raw.root_path) + self._state.path_to(handler, query, values)

    def redirect(self, location: str, status: int = 302) -> Response:
        """Returns a redirect.

        Args:
            location: The target. Characters that aren't allowed in a URL, e.g. spaces and non-ASCII
                letters, are percent-encoded (RFC 9110, section 10.2.2); escapes stay as they are.
            status: HTTP status code.

        Raises:
            ValueError: If `location` contains CR, LF or NUL, or the status is invalid.
            TypeError: If `location` is None, or the status is a str.
        """
        if location is None:
            raise TypeError("c.redirect() takes a URL or path, not None")
        if isinstance(status, str):
            raise TypeError(
                "c.redirect() takes the location, then the status, "
                f"not {location!r:.100} and {status!r:.100}"
            )
        location = encode_location(str(location))
        return self._respond(None, None, status, {"location": location})

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """Renders a page with the renderer set by `set_renderer`; default: `html`.

        Args:
            *args: Arguments of the renderer, e.g. the content of the page.
            **kwargs: Keyword arguments of the renderer.

        Returns:
            The renderer's result: a response, or an awaitable of one. A handler may return either.

        Raises:
            TypeError: If no renderer was set and `html` doesn't accept the arguments.
        """
        if self._renderer is not None:
            return self._renderer(*args, **kwargs)
        unknown = [name for name in kwargs if name not in ("data", "status", "headers")]
        if unknown:
            raise TypeError(f"c.render({unknown[0]}=...) needs a renderer: see c.set_renderer()")
        return self.html(*args, **kwargs)

    def set_renderer(self, renderer: Callable[..., Any], /) -> None:
        """Sets the function that `render` calls for this request, e.g. to put pages in a layout.

        Raises:
            TypeError: If it can't be called.
        """
        if not callable(renderer):
            raise TypeError(f"c.set_renderer() takes a function, not {renderer!r:.100}")
        self._renderer = renderer

    async def not_found(self) -> Response:
        """Returns the response of the app's `not_found` handler, or a plain 404.

        Raises:
            HandlerError: If the app's `not_found` returns nothing.
        """
        not_found = self._state.not_found_at(self._path)
        if not_found is None:
            return self._answer_not_found()
        response = await settle(not_found(self), not_found)
        if response is None:
            raise HandlerError(describe(not_found), "returned nothing: return a Response")
        return response

    def __repr__(self) -> str:
        return f"<Context {self.req.method} {ascii(self._path)[1:-1]}>"

    def _respond(
        self,
        data: Any,
        content_type: HeaderLine | None,
        status: int | None,
        headers: HeaderArgument | None,
    ) -> Response:
        lines: Sequence[HeaderLine] | None = self._lines
        res = self._res
        if status is None:
            status = self._status
        if res is not None:
            has_type = content_type is not None
            lines = self._lines_for_next(res, status or 200, has_type=has_type)
        response = make_response(data, content_type, status, headers, lines)
        if lines is not None:
            self._taker, self._taken = response, lines
        return response

    def _lines_for_next(self, res: Response, status: int, *, has_type: bool) -> list[HeaderLine]:
        """Returns the lines that an existing response passes on to the next one.

        A body without its own type is most likely another form of the existing body.
        """
        if not self._finalized:
            return [line for line in res._lines if line[0] != b"content-length"]
        lines = lines_to_keep(res._lines, status)
        if not has_type:
            lines += [line for line in res._lines if line[0] == b"content-type"]
        return lines

    def _adopt(self, request: Request) -> None:
        """Adopts a served request that was created before the context."""
        self.req._raw = request

    def _begin(self, req: KitRequest, execution_ctx: ExecutionContext | None) -> None:
        """Adopts a request created in process.

        Args:
            req: The request.
            execution_ctx: See `Kit.fetch`.
        """
        req._limits = self._state.limits
        self._req = req
        self._execution_ctx = execution_ctx
        req.raw._closer = req._close

    def _fail(self, error: Exception, *, by_handler: bool = False) -> None:
        """Records an exception.

        Args:
            error: The exception, which becomes `c.error` unless an error handler raised it.
            by_handler: Whether an error handler raised it.
        """
        if by_handler:
            self._failed = True
        else:
            self._error = error

    async def _discard_representation(self, kept: AnyResponse | None = None) -> None:
        """Removes the body and its headers from a response that an error replaces.

        SPEC: RFC 9110 section 8: representation data and metadata. The response's own cookies are
        removed as well. Cookies set before there was a response stay, as do all headers that don't
        describe the representation.

        Args:
            kept: As for `_close_body`.
        """
        res = self._res
        if self._finalized and res is not None:
            await self._close_body(kept)
            self._res = without_representation(res)
        elif res is not None:
            res._lines = lines_to_keep(res._lines)
        elif self._lines:
            self._lines = tuple(lines_to_keep(self._lines))

    def _answer_not_found(self) -> Response:
        """Returns the 404 of an app without a `not_found` handler."""
        to_sent = self._state.error_format_at(self._path)
        if to_sent is not None:
            sent = call_format(to_sent, HTTPException(404, "404 Not Found"), self)
            if sent is not None:
                return self._answer(sent)
        return self.text("404 Not Found", 404)

    def _answer(self, error: HTTPException) -> Response:
        """Returns the response to an HTTPException, without the headers that were set before."""
        res: Any = error.res
        if res is None and error.body is not None:
            res = Response(error.body)
        lines: Sequence[HeaderLine]
        if res is not None:
            prepare(self, res)
            # The same exception object, and so its response, may be raised repeatedly.
            body = peek(res) if isinstance(peek(res), bytes) else take(res)
            lines = res._lines
        elif not error.message and error.status in NULL_BODY_STATUSES:
            body, lines = None, ()
        else:
            body, lines = (error.message or "").encode(), _TEXT_LINES
        return make_response(body, None, error.status, error.headers or None, lines)


# PERF: an import statement costs as much as the rest of an exit, even if the module is loaded.
@cache
def _background_tasks() -> type[BackgroundTasks]:
    """Imports `BackgroundTasks` at the first request that needs it."""
    from kit.concurrency._background import BackgroundTasks

    return BackgroundTasks


@cache
def _exit_runner() -> Callable[[list[Cleanup], BaseException | None], Awaitable[None]]:
    """Imports `run_exits` at the first request that has exits."""
    from kit.concurrency._exits import run_exits

    return run_exits


def _start_call(execution_ctx: ExecutionContext, function: Callable[[], object]) -> None:
    """Calls a plain or async function as a task of the execution context."""
    execution_ctx.wait_until(call(function))


def _have_same_body(response: Response, other: AnyResponse | None) -> bool:
    return isinstance(other, Response) and peek(other) is peek(response)


def _no_header(name: object) -> TypeError:
    """Returns the error for a name that isn't hashable."""
    return TypeError(f"c.header() takes a name and a value, not {name!r:.100}")


def _no_text(call: str, data: Any) -> TypeError:
    """Returns the error for a value that isn't text."""
    return TypeError(f"{call} takes a str, not {type(data).__name__}")


def get_scope(c: Context[Any, Any]) -> dict[str, Any] | None:
    """Returns the scope of a request. PERF: a served request has it already."""
    return c._scope or c.req.raw.scope


def accept(c: Context[Any, Any], response: Response, handler: Any) -> None:
    """Sets the response that a handler or middleware returned as the response of the request.

    Raises:
        HandlerError: If there is already another response, which would be sent in its place.
    """
    if c._finalized and c._res is not None:
        refuse_second(c, response, handler)
    else:
        c.res = response


def refuse_second(c: Context[Any, Any], response: Response, handler: Any) -> None:
    """Refuses a response that a handler returned although there is one already.

    Raises:
        HandlerError: If part of the returned response would be lost.
    """
    try:
        check_second(c, response, handler)
    except Exception:
        c._close_later(response)
        raise


def prepare(c: Context[Any, Any], response: Response) -> None:
    """Schedules the streams replaced by a response to close at the end of the request."""
    replaced = response._replaced
    if replaced is not None:
        c._close_later(replaced)


def switching_protocols(c: Context[Any, Any]) -> Response:
    """Returns a response with status 101 and the headers set so far."""
    return c.body(None, 101)


def note_cancelled(c: Context[Any, Any]) -> None:
    """Lets cleanups learn of handlers that were cancelled, although the request goes on."""
    if c._error is None:
        c._fail(RuntimeError("The handlers were cancelled before they answered"))


async def end_request(c: Context[Any, Any], error: BaseException | None) -> None:
    """Runs exits and the tasks of `wait_until`; a cancellation skips the tasks. See `_end`.

    Raises:
        RuntimeError: If the error is a CancelledError although the request wasn't cancelled.
    """
    if error is None or isinstance(error, Exception):
        await c._end(error)
    elif is_fault(error):
        fault = find_fault(error)
        await c._end(fault)
        raise fault
    else:
        await c._cancel(error)
