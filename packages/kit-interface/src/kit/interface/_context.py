# SPDX-License-Identifier: MIT
"""The context and the request as seen by handlers and middleware."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

from ._codecs import Codecs
from ._errors import ValidationTarget
from ._routes import RouterRoute
from ._web import Blob, Bytes, FormData, Request, Response
from .generics import TypeVar, fill_arguments

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")
BindingsT_co = TypeVar("BindingsT_co", covariant=True, default=Any)
VariablesT_co = TypeVar("VariablesT_co", covariant=True, default=Any)


class ExecutionContext(Protocol):
    """Keeps work running after the response was sent."""

    def wait_until(self, awaitable: Awaitable[Any], /) -> None:
        """Keeps `awaitable` running after the response; its exception is logged."""


Cleanup: TypeAlias = Callable[[BaseException | None], object]
"""Called at the end of a request with the exception that ended it; True if it handled that.

Plain or async: `def cleanup(error)`. A plain function must not block, and costs less.
"""


class KitRequest(Protocol):
    """`c.req`: the request with its parameters, query and body readers; see `kit.KitRequest`.

    The body is kept, so its readers may be used in any order and more than once. With a type,
    `param`, `query`, `queries`, `header` and `json` convert the value, and raise an HTTPException
    with a problem document if that fails; `valid` checks that the data has the type.
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
        """HTTP method as sent, e.g. `HEAD`."""

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
        """Reads the body as a form; raises an HTTPException, 400 or 413, if it cannot."""

    async def parse_body(
        self, *, all: bool = False, dot: bool = False, **limits: Any
    ) -> dict[str, Any]:
        """Reads the body as a form into a dict; for any other body, returns `{}`."""

    @property
    def max_memory_size_bytes(self) -> int | None:
        """The number of bytes that a form may take in memory; None for no limit."""

    def limit_body(self, max_size: int, refuse: Callable[[], Exception], /) -> None:
        """Limits the size of the body, regardless of how it is read.

        Args:
            max_size: Maximum number of bytes. If several limits are set, all of them apply.
            refuse: Returns the exception to raise: here if the body is known to be larger, or else
                where it is read.
        """

    @overload
    def valid(self, target: ValidationTarget, /) -> Any: ...
    @overload
    def valid(self, target: ValidationTarget, type: TypeForm[T], /) -> T: ...

    def add_validated_data(self, target: ValidationTarget, data: Any, /) -> None:
        """Keeps the validated part of the request, for `valid`."""


class Context(Protocol[BindingsT_co, VariablesT_co]):
    """`c`: one request on its way through handlers and middleware; see `kit.Context`.

    Annotate middleware with this protocol to use it with every `Kit`, regardless of its type
    parameters. Both parameters default to Any.
    """

    if not TYPE_CHECKING and sys.version_info < (3, 13):

        def __class_getitem__(cls, arguments: Any) -> Any:
            return super().__class_getitem__(fill_arguments(cls, arguments))

    @property
    def req(self) -> KitRequest:
        """The request."""

    @property
    def matched_routes(self) -> Sequence[RouterRoute]:
        """The routes that matched, middleware included; `c.req.route_index` is the running one."""

    @property
    def env(self) -> BindingsT_co:
        """The bindings: those that the lifespan yielded, and those passed to `fetch`."""

    @property
    def var(self) -> VariablesT_co:
        """Read-only view of the variables set so far."""

    @property
    def codecs(self) -> Codecs:
        """The encoders and decoders of the app."""

    @property
    def error(self) -> Exception | None:
        """The exception that a handler raised, after it was handled."""

    @property
    def finalized(self) -> bool:
        """Whether there is a response yet."""

    @property
    def execution_ctx(self) -> ExecutionContext:
        """Keeps work running after the response; a RuntimeError if there is none in process."""

    def add_cleanup(self, cleanup: Cleanup, /) -> None:
        """Runs `cleanup` after the response was sent, with its body; last added, first run."""

    @property
    def res(self) -> Response:
        """The response so far; an empty one if there is none yet."""

    @res.setter
    def res(self, value: Response | None, /) -> None: ...

    def get(self, key: str, default: Any = None, /) -> Any:
        """Returns the variable `key`, or `default` if it isn't set."""

    def set(self, key: str, value: Any, /) -> None:
        """Sets a variable for this request."""

    def header(self, name: str, value: str | None = None, /, *, append: bool = False) -> None:
        """Sets a header of the response; None deletes it."""

    def set_headers(self, headers: Mapping[str, str], /, *, overwrite: bool = True) -> None:
        """Sets several headers of the response; unless `overwrite`, existing ones are kept."""

    def status(self, code: int, /) -> None:
        """Sets the status of the next response."""

    def text(
        self,
        data: str,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Returns a text/plain response."""

    def json(
        self,
        data: Any,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
        by_alias: bool | None = None,
    ) -> Response:
        """Returns an application/json response; `by_alias` is for pydantic models."""

    def html(
        self,
        data: str,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Returns a text/html response."""

    def body(
        self,
        data: Any,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Returns a response without a default content type; the body may be streamed.

        Args:
            data: bytes, str, or an (async) iterable of them, which is streamed; None for no body.
            status: HTTP status code; default: the one that `status` set, or 200.
            headers: Headers to set; a list adds several lines, an empty list removes the header.
        """

    def new_response(
        self,
        data: Any,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> Response:
        """Like `body`, but includes the headers and status set so far."""

    def path_to(
        self,
        handler: Callable[..., Any] | str,
        /,
        *,
        query: Any = None,
        **values: Any,
    ) -> str:
        """Returns the path of a handler's route, with the app's root path in front."""

    def redirect(self, location: str, status: int = 302) -> Response:
        """Returns a redirect."""

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """Renders a page with the renderer set by `set_renderer`, by default `html`."""

    def set_renderer(self, renderer: Callable[..., Any], /) -> None:
        """Sets the function that `render` calls for this request."""

    async def not_found(self) -> Response:
        """Returns the app's not-found response."""
