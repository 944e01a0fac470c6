# SPDX-License-Identifier: MIT
"""The parts of the Web-standard objects that middleware needs.

Members are methods and read-only properties, never plain attributes: a plain attribute would make
a protocol invariant, and the core's own classes could not be passed as these types.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import EllipsisType
from typing import Any, Protocol, Self, TypeAlias, TypeGuard, TypeVar, overload, runtime_checkable

T = TypeVar("T")

Bytes: TypeAlias = bytes
"""An alias for use where a method of the same name hides the type."""

HeadersInit: TypeAlias = "Headers | Mapping[str, str] | Iterable[tuple[str, str]]"
BodyInit: TypeAlias = bytes | str | AsyncIterable[bytes] | Iterable[bytes]


class Headers(Protocol):
    """Header names and values (WHATWG Fetch, section 2.2.2). Names are case-insensitive."""

    @overload
    def get(self, name: str) -> str | None: ...
    @overload
    def get(self, name: str, default: T) -> str | T: ...
    def get(self, name: str, default: T | None = None) -> str | T | None:
        """Returns the values of `name` joined by `", "`, or `default` if there is none."""

    def get_all(self, name: str) -> list[str]:
        """Returns the values of `name`, one per header line."""

    def get_set_cookie(self) -> list[str]:
        """Returns the values of Set-Cookie, which are never joined."""

    def set(self, name: str, value: str) -> None:
        """Replaces all values of `name` with `value`."""

    def append(self, name: str, value: str) -> None:
        """Adds a header line."""

    def delete(self, name: str) -> None:
        """Removes all header lines of `name`."""

    def has(self, name: str) -> bool:
        """Whether there is a header `name`."""

    def items(self) -> Iterator[tuple[str, str]]:
        """Yields names and joined values, sorted by name; each Set-Cookie line separately."""

    def keys(self) -> Iterator[str]:
        """Yields the names, as `items` does."""

    def values(self) -> Iterator[str]:
        """Yields the values, as `items` does."""

    def __contains__(self, name: object) -> bool: ...

    def __getitem__(self, name: str) -> str: ...

    def __setitem__(self, name: str, value: str) -> None: ...

    def __delitem__(self, name: str) -> None: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...

    def __eq__(self, other: object) -> bool: ...


class Blob(Protocol):
    """Bytes with a media type (W3C File API, section 3)."""

    @property
    def size(self) -> int:
        """Number of bytes."""

    @property
    def type(self) -> str:
        """Media type in lower case, or `""`."""

    async def bytes(self) -> Bytes:
        """Returns the content."""

    async def array_buffer(self) -> Bytes:
        """Returns the content; the Web name of `bytes`."""

    async def text(self) -> str:
        """Returns the content decoded as UTF-8; bad bytes become U+FFFD."""

    def stream(self) -> AsyncIterator[Bytes]:
        """Yields the content in chunks."""


@runtime_checkable
class File(Blob, Protocol):
    """A blob with a name, e.g. an uploaded file (W3C File API, section 4).

    It can be the type of a field in a validated form: `isinstance` distinguishes files from text.
    Read it before the response is complete, since its content may be in a temporary file.
    """

    @property
    def name(self) -> str:
        """File name as sent by the client. Never use it as a path without checking it."""

    @property
    def last_modified(self) -> int:
        """Milliseconds since the epoch."""


class FormData(Protocol):
    """Names and values of a form, in order; names may be repeated (XHR, section 5)."""

    @overload
    def get(self, name: str) -> str | File | None: ...
    @overload
    def get(self, name: str, default: T) -> str | File | T: ...
    def get(self, name: str, default: T | None = None) -> str | File | T | None:
        """Returns the first value of a name, or `default` if there is none."""

    def get_all(self, name: str) -> Sequence[str | File]:
        """Returns all values of a name."""

    def has(self, name: str) -> bool:
        """Whether there is an entry with this name."""

    def items(self) -> Iterator[tuple[str, str | File]]:
        """Yields all entries in order."""

    def keys(self) -> Iterator[str]:
        """Yields the name of each entry."""

    def values(self) -> Iterator[str | File]:
        """Yields the value of each entry."""

    def delete(self, name: str) -> None:
        """Removes all entries of a name."""

    def __copy__(self) -> Self:
        """Returns an independent form with the same entries."""

    def __iter__(self) -> Iterator[tuple[str, str | File]]: ...

    def __contains__(self, name: object) -> bool: ...

    def __len__(self) -> int: ...


class Request(Protocol):
    """The request as received (WHATWG Fetch, section 5.4); `kit.web.Request` is one.

    Its body can be read once. Handlers and middleware read it through `c.req`, which keeps it.
    """

    @property
    def method(self) -> str:
        """HTTP method, upper case for the standard ones."""

    @property
    def url(self) -> str:
        """Absolute URL."""

    @property
    def headers(self) -> Headers:
        """The header lines."""

    @property
    def scope(self) -> Mapping[str, Any] | None:
        """The ASGI scope, or None for a request made in process."""

    @property
    def root_path(self) -> str:
        """The decoded path prefix of the app or mounted application; may be empty."""

    @property
    def root_pattern(self) -> str:
        """The pattern of `root_path`: the parameters of mounts by their names, as in `/:tenant`."""

    @property
    def is_below_root_path(self) -> bool:
        """Whether the URL doesn't contain `root_path`, since a mount or `replace` has set it."""

    @property
    def is_moved(self) -> bool:
        """Whether the URL may differ from `scope`, since a mount or `replace` has set it."""

    @property
    def body(self) -> Bytes | AsyncIterable[Bytes] | None:
        """The body: bytes if it is in memory, a stream to read once, or None if there is none."""

    @property
    def body_used(self) -> bool:
        """Whether the body was read."""

    async def wait_for_disconnect(self) -> bool:
        """Waits until the client disconnects; False at once if that is not reported."""

    def clone(self) -> Self:
        """Returns a second request with the same content, which can be read independently."""

    def replace(
        self,
        *,
        method: str | None = None,
        url: str | None = None,
        headers: HeadersInit | None = None,
        body: BodyInit | FormData | EllipsisType | None = ...,
        root_path: str | None = None,
        root_pattern: str | None = None,
    ) -> Self:
        """Returns a copy of this request with some parts changed.

        A new body keeps Content-Type and drops Content-Length, except that a form is sent as
        multipart/form-data. By default, the copy takes the body of this request.
        """

    async def text(self) -> str:
        """Reads the body as UTF-8."""

    async def bytes(self) -> Bytes:
        """Reads the body."""

    async def json(self) -> Any:
        """Reads the body as JSON; raises ValueError if it is not JSON."""


class BodyProgress(Protocol):
    """The progress of reading a body."""

    @property
    def size_bytes(self) -> int:
        """Number of bytes read so far; the total size if the body is in memory."""

    @property
    def is_begun(self) -> bool:
        """Whether reading has started; True if it is in memory."""

    @property
    def is_complete(self) -> bool:
        """Whether all of it was read; True if it is in memory."""

    @property
    def failure(self) -> BaseException | None:
        """The exception that ended reading early, or None."""


class Response(Protocol):
    """A response (WHATWG Fetch, section 5.5); `kit.web.Response` is one.

    Create responses with the context: `c.text`, `c.json`, `c.html`, and `c.body` for bytes and
    streams.
    """

    @property
    def status(self) -> int:
        """HTTP status code."""

    @property
    def status_text(self) -> str:
        """Reason phrase; empty if none was given."""

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""

    @property
    def headers(self) -> Headers:
        """The header lines; changing them changes the response."""

    @property
    def body(self) -> Bytes | AsyncIterable[Bytes] | None:
        """The body: bytes if it is in memory, a stream to read once, or None if there is none."""

    @property
    def body_used(self) -> bool:
        """Whether the body was read; it can be read once."""

    def track_body(self) -> BodyProgress:
        """Returns an object that counts the bytes of the body that are read, by any reader."""

    def clone(self) -> Self:
        """Returns a second response with the same content, which can be read independently."""

    def replace(
        self,
        *,
        body: BodyInit | EllipsisType | None = ...,
        status: int | None = None,
        headers: HeadersInit | None = None,
    ) -> Self:
        """Returns a copy of this response with some parts changed.

        A new body keeps Content-Type and drops Content-Length. By default, the copy takes the body
        of this response. Raises TypeError if the status doesn't allow a body.
        """

    async def text(self) -> str:
        """Reads the body as UTF-8."""

    async def bytes(self) -> Bytes:
        """Reads the body."""


class PathBody(Protocol):
    """A streamed body that consists of a whole file, which the server may open by its path.

    Servers with the ASGI extension Path Send (`http.response.pathsend`) get the path, and the body
    is closed unread. Everything else iterates over it.
    """

    @property
    def send_path(self) -> str | None:
        """The absolute path of the file; None if the body has to be iterated."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None:
        """Closes the file."""


def is_response(value: object, /) -> TypeGuard[Response]:
    """Returns whether the class of a value has what it takes to send it as a `Response`.

    Args:
        value: Any value, e.g. the result of a handler. Streams aren't touched.
    """
    kind: Any = type(value)
    return _has_members_of_response(kind)


# PERF: until 3.12, a missing attribute of a class takes 0.1 us, as an exception is created for it.
@lru_cache(maxsize=1024)
def _has_members_of_response(kind: Any) -> bool:
    return hasattr(kind, "status") and hasattr(kind, "headers") and hasattr(kind, "body_used")
