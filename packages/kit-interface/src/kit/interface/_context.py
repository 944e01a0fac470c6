# SPDX-License-Identifier: MIT
"""The context and the request as handlers and middleware see them."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

from ._errors import ValidationTarget
from ._router import RouterRoute
from ._web import Blob, Bytes, FormData, Request, Response

if sys.version_info >= (3, 13):
    from typing import TypeVar
else:
    from typing_extensions import TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")
BindingsT_co = TypeVar("BindingsT_co", covariant=True, default=Any)
VariablesT_co = TypeVar("VariablesT_co", covariant=True, default=Any)


class ExecutionContext(Protocol):
    """Keeps work running after the response was sent."""

    def wait_until(self, awaitable: Awaitable[Any], /) -> None:
        """Keeps `awaitable` running after the response; its exception is logged."""


Exit: TypeAlias = Callable[[BaseException | None], object]
"""Runs at the end of a request, given the exception that ended it; True if it deals with that.

Plain or async: `def exit(error)`. A plain one must not wait, and costs less.
"""


class KitRequest(Protocol):
    """`c.req`: the request with its parameters, query and body readers.

    Body readers may be used in any order and more than once: what was read is kept.

    `param`, `query`, `queries` and `header` convert a value if they are given a type, e.g.
    `query("page", int, default=1)`; `json` validates by one. What can't be converted is an
    HTTPException with a problem document: 404 for a parameter of the path, 400 for the others.
    `param(key, type)` needs a default where the parameter is optional in the pattern, else its
    absence is a LookupError. `valid(target, type)` checks that the validated data is of this type.
    """

    @property
    def raw(self) -> Request:
        """The underlying Web request."""

    @property
    def path(self) -> str:
        """The routing path, decoded as for matching."""

    @property
    def url(self) -> str:
        """Absolute URL."""

    @property
    def method(self) -> str:
        """HTTP method as it was sent, e.g. `HEAD`."""

    @property
    def route_index(self) -> int:
        """Which of the matched routes is running, from 0 in registration order."""

    @overload
    def param(self, /) -> dict[str, str]: ...
    @overload
    def param(self, key: str, /) -> str | None: ...
    @overload
    def param(self, key: str, /, *, default: str) -> str: ...
    @overload
    def param(self, key: str, type: TypeForm[T], /) -> T: ...
    @overload
    def param(self, key: str, type: TypeForm[T], /, *, default: T) -> T: ...

    @overload
    def query(self, /) -> dict[str, str]: ...
    @overload
    def query(self, key: str, /) -> str | None: ...
    @overload
    def query(self, key: str, /, *, default: str) -> str: ...
    @overload
    def query(self, key: str, type: TypeForm[T], /) -> T | None: ...
    @overload
    def query(self, key: str, type: TypeForm[T], /, *, default: T) -> T: ...

    @overload
    def queries(self, /) -> dict[str, list[str]]: ...
    @overload
    def queries(self, key: str, /) -> list[str] | None: ...
    @overload
    def queries(self, key: str, type: TypeForm[T], /) -> list[T]: ...

    @overload
    def header(self, /) -> dict[str, str]: ...
    @overload
    def header(self, name: str, /) -> str | None: ...
    @overload
    def header(self, name: str, /, *, default: str) -> str: ...
    @overload
    def header(self, name: str, type: TypeForm[T], /) -> T | None: ...
    @overload
    def header(self, name: str, type: TypeForm[T], /, *, default: T) -> T: ...

    async def text(self) -> str:
        """Reads the body as UTF-8; a byte order mark is dropped, bad bytes become U+FFFD."""

    @overload
    async def json(self) -> Any: ...
    @overload
    async def json(self, type: TypeForm[T]) -> T: ...

    async def bytes(self) -> Bytes:
        """Reads the body."""

    async def array_buffer(self) -> Bytes:
        """Reads the body; the Web name of `bytes`."""

    async def blob(self) -> Blob:
        """Reads the body as a Blob with the request's content type."""

    async def form_data(self) -> FormData:
        """Reads the body as a form.

        Raises:
            HTTPException: 400 if it is no form, 413 if it is beyond a limit.
        """

    async def parse_body(
        self, *, all: bool = False, dot: bool = False, **limits: Any
    ) -> dict[str, Any]:
        """Reads the body as a form into a dict; any other body is `{}`.

        Args:
            all: Make a list of the values of a name that comes several times.
            dot: Turn `a.b` into nested dicts.
            **limits: Limits of the app that differ for this form.
        """

    def limit_body(self, max_size: int, refuse: Callable[[], Exception], /) -> None:
        """Limits the size of the body, whoever reads it and in whatever way.

        Whatever reads on once more bytes have come gets an exception: the readers here and those of
        `raw`, clones, mounted applications. Nothing is read for that, and a stream stays one. If
        several limits are set, each of them holds.

        Args:
            max_size: Maximum number of bytes.
            refuse: Returns the exception to raise, e.g. an `HTTPException`.

        Raises:
            Exception: That of `refuse`, if the body is known to be larger: it is in memory, or was
                read before.
            RuntimeError: If the body was already read without recording its size.
        """

    @overload
    def valid(self, target: ValidationTarget, /) -> Any: ...
    @overload
    def valid(self, target: ValidationTarget, type: TypeForm[T], /) -> T: ...

    def add_validated_data(self, target: ValidationTarget, data: Any, /) -> None:
        """Keeps the validated part of the request, for `valid`."""


class Context(Protocol[BindingsT_co, VariablesT_co]):
    """`c`: one request on its way through handlers and middleware.

    Type middleware on this protocol and it can be used with every `Kit`, whatever its type
    parameters. Both parameters default to Any.
    """

    @property
    def req(self) -> KitRequest:
        """The request."""

    @property
    def matched_routes(self) -> Sequence[RouterRoute]:
        """The routes that matched the request, middleware included, in registration order.

        `c.req.route_index` is the number of the one that is running; see `kit.route`.
        """

    @property
    def env(self) -> BindingsT_co:
        """The bindings: what the lifespan gave, and what was passed to `fetch`."""

    @property
    def var(self) -> VariablesT_co:
        """Read view of the variables set so far."""

    @property
    def error(self) -> Exception | None:
        """The exception that a handler raised, once it was handled."""

    @property
    def finalized(self) -> bool:
        """Whether there is a response yet."""

    @property
    def execution_ctx(self) -> ExecutionContext:
        """Keeps work running after the response.

        Raises:
            RuntimeError: If the request was made in process without one.
        """

    def add_exit(self, exit: Exit, /) -> None:
        """Runs `exit` when the response was sent, streamed bodies included; the last added first.

        Args:
            exit: Plain or async; called with the exception that a handler, a middleware or the
                streamed body raised, or that cancelled the request; else with None. If it returns
                True, the exits after it are called with None.
        """

    @property
    def res(self) -> Response:
        """The response so far; an empty one if there is none yet."""

    @res.setter
    def res(self, value: Response | None, /) -> None: ...

    def get(self, key: str, /) -> Any:
        """Returns the variable `key`, or None."""

    def set(self, key: str, value: Any, /) -> None:
        """Sets a variable for this request."""

    def header(self, name: str, value: str | None = None, /, *, append: bool = False) -> None:
        """Sets a header of the response; None deletes it."""

    def set_headers(self, headers: Mapping[str, str], /, *, overwrite: bool = True) -> None:
        """Sets several headers of the response; unless `overwrite`, existing ones are kept."""

    def status(self, code: int, /) -> None:
        """Sets the status of the response that is made next."""

    def text(
        self,
        data: str,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Makes a text/plain response."""

    def json(
        self,
        data: Any,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
        by_alias: bool | None = None,
    ) -> Response:
        """Makes an application/json response.

        Args:
            data: What to encode.
            status: HTTP status code; default what `status` set, or 200.
            headers: As for `body`.
            by_alias: Whether fields of pydantic models are named by their aliases; default what the
                configuration of each model says.
        """

    def html(
        self,
        data: str,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Makes a text/html response."""

    def body(
        self,
        data: Any,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Makes a response without a default content type, also a streamed one.

        Args:
            data: bytes, str, or an (async) iterable of them, which is streamed as it yields; None
                for no body. A generator is closed when the response is sent, or the client gone.
            status: HTTP status code; default what `status` set, or 200.
            headers: Headers to set, Content-Type among them; a list makes several lines, an empty
                one removes the header.
        """

    def new_response(
        self,
        data: Any,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Makes a response that carries the headers and status set so far; else as `body`."""

    def redirect(self, location: str, status: int = 302) -> Response:
        """Makes a redirect."""

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """Makes a page with the renderer that `set_renderer` set, by default `html`."""

    def set_renderer(self, renderer: Callable[..., Any], /) -> None:
        """Sets what `render` calls for this request."""

    async def not_found(self) -> Response:
        """Makes the not-found answer of the app."""
