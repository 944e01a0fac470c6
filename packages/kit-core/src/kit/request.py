# SPDX-License-Identifier: MIT
"""`c.req`: the request, with methods to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from kit._request.conversion import check_absent_param, convert_value, convert_values
from kit._request.fields import query_pairs, query_value
from kit._request.parse_body import collect, nest
from kit._request.validated import check_validated
from kit.authoring.codecs import TypeCodecs, default_codecs
from kit.http.media_types import URLENCODED, media_type
from kit.http.paths import decode_component
from kit.interface import HTTPException, Result, RouterRoute, ValidationTarget
from kit.web import URL, Blob, FormData, Request
from kit.web import _json as _json
from kit.web._blob import Bytes
from kit.web._body import take
from kit.web._body_reader import FORMS, BodyReader
from kit.web._header_lines import encode_name, find_value, known_names, values_by_name
from kit.web._limits import LIMITS, Limits, header_too_large
from kit.web._request import header_lines, limit_body, served_request
from kit.web._streams import decode_text

__all__ = ("KitRequest", "clone_raw_request")

if TYPE_CHECKING:
    from typing_extensions import TypeForm


T = TypeVar("T")

_REQUIRED: Any = object()

_TARGETS = get_args(ValidationTarget)
# The longest part of a client's header name in an error message.
_LONGEST_NAME = 100
_NO_MATCH: Any = ([],)
_DEFAULT_LIMITS = Limits()
_DEFAULT_CODECS = default_codecs()


class KitRequest:
    """The request with its parameters, query, headers and body readers.

    Body readers may be used in any order and more than once, since the content is kept.

    Args:
        request: The Web request, `raw`. None creates it from `scope` and `receive` on first use.
        path: Routing path.
        match_result: The router's result, with the parameters for `param`.
        scope: The ASGI scope of a request from a server.
        receive: The ASGI `receive` of a request from a server.
        limits: The limits for headers and the body. Default: `Limits()`.
        codecs: The decoders for `type`. Default: none.
    """

    __slots__ = (
        "_codecs",
        "_handed_on",
        "_limits",
        "_match",
        "_pairs",
        "_query",
        "_raw",
        "_reader",
        "_receive",
        "_scope",
        "_served",
        "_validated",
        "path",
        "route_index",
    )

    path: str
    """Routing path, decoded as for matching."""

    route_index: int
    """Which of the matched routes is running, counted from 0 in registration order."""

    def __init__(
        self,
        request: Request | None,
        path: str = "/",
        match_result: Result[Any] = _NO_MATCH,
        scope: Any = None,
        receive: Any = None,
        limits: Limits = _DEFAULT_LIMITS,
        codecs: TypeCodecs = _DEFAULT_CODECS,
    ) -> None:
        self.path = path
        self.route_index = 0
        self._raw = request
        self._scope = scope
        self._receive = receive
        self._match: Any = match_result
        self._limits = limits
        self._codecs = codecs
        self._query: str | None = None
        self._pairs: list[tuple[str, str]] | None = None
        self._reader: BodyReader | None = None  # set when a method here first reads the body
        self._validated: dict[str, Any] | None = None
        self._served: Request | None = None  # by the server, if another one is read
        # To mounted applications, and what was read before another request took its place.
        self._handed_on: tuple[Request | BodyReader, ...] = ()

    @property
    def raw(self) -> Request:
        """The Web request. If you read its body directly, the methods here can't read it."""
        raw = self._raw
        if raw is None:
            is_used = self._reader is not None
            reader = self._reader or BodyReader(self._receive, self._scope)
            raw = self._raw = served_request(self._scope, reader, is_used=is_used)
        return raw

    @property
    def served(self) -> Request:
        """The request that the server received; `raw` is another one within ASGI middleware."""
        return self._served or self.raw

    @property
    def method(self) -> str:
        """HTTP method as the client sent it: `HEAD` stays `HEAD`."""
        return str(self._scope["method"]) if self._raw is None else self._raw.method

    @property
    def url(self) -> str:
        """Absolute URL."""
        return self.raw.url

    @property
    def _decoding(self) -> TypeCodecs | None:
        """The codecs of the app, if it has decoders."""
        codecs = self._codecs
        return codecs if codecs.decoders else None

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
    def param(self, key: str | None = None, type: Any = None, /, default: Any = _REQUIRED) -> Any:
        """Returns a path parameter of the running route, percent-decoded, or all of them.

        Args:
            key: Name of the parameter without its colon.
            type: The type to convert it to: int, float, bool, UUID, date, datetime, Decimal, an
                Enum, a Literal, or any other type that msgspec converts text to.
            default: Returned if the path has no value for an optional parameter.

        Returns:
            The value; without a type, a str, or None if there is no such parameter; without `key`,
            a dict of all path parameters.

        Raises:
            HTTPException: 400, as a problem document, if the value doesn't fit the type.
            LookupError: If the key begins with a colon; or if a type is given and the route's
                pattern has no such parameter, or the path has no value for it and there is no
                default.
            TypeError: If text can't be converted to the type.
        """
        match = self._match
        try:
            value = match[0][self.route_index][1][key]
            if len(match) == 2:
                value = match[1][value]
        except (IndexError, KeyError):  # no route runs, or it has no such parameter
            value = None
        if value is not None and type is None:
            return decode_component(value) if "%" in value else value
        if key is None or value is None:
            return self._absent_param(key, type, default)
        return convert_value("param", key, decode_component(value), type, None, self._decoding)

    def _absent_param(self, key: str | None, type: Any, default: Any) -> Any:
        """Returns what `param` returns if the path has no value for the key, or no key is given."""
        handlers = self._match[0]
        found = handlers[self.route_index][1] if self.route_index < len(handlers) else {}
        if key is None:
            params = {}
            for name in found:
                value = self.param(name)
                if value is not None:
                    params[name] = value
            return params
        if type is None:
            if key[:1] == ":":
                raise LookupError(f"c.req.param({key!r}): a parameter is read without its colon")
            return None if default is _REQUIRED else default
        running = handlers[self.route_index :][:1]
        pattern = getattr(running[0][0], "path", None) if running else None
        has_default = default is not _REQUIRED
        check_absent_param(
            key, type, pattern, found, has_default=has_default, codecs=self._decoding
        )
        return default

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
    def query(self, key: str | None = None, type: Any = None, /, default: Any = None) -> Any:
        """Returns the first value of a query parameter, or the first values of all.

        Args:
            key: Its decoded name.
            type: What to convert the value to; see `param`.
            default: Returned if there is no value.

        Returns:
            The decoded value, or `default`; without `key`, a dict.

        Raises:
            HTTPException: 400, as a problem document, if the value doesn't fit the type.
            TypeError: If text can't be converted to the type.
        """
        if key is not None:
            query = self._query
            value = query_value(self._query_string() if query is None else query, key)
            if type is not None:
                return convert_value("query", key, value, type, default, self._decoding)
            return default if value is None else value
        values: dict[str, str] = {}
        for name, value in self._query_pairs():
            values.setdefault(name, value)
        return values

    @overload
    def queries(self, /) -> dict[str, list[str]]: ...
    @overload
    def queries(self, key: str, /) -> list[str] | None: ...
    @overload
    def queries(self, key: str, type: TypeForm[T], /) -> list[T]: ...
    def queries(self, key: str | None = None, type: Any = None, /) -> Any:
        """Returns all values of one query parameter, or of every parameter.

        Args:
            key: Its decoded name.
            type: What to convert each value to; see `param`.

        Returns:
            The decoded values in order; if there are none, None, or with a type an empty list.
            Without `key`, a dict of lists.

        Raises:
            HTTPException: 400, as a problem document, if a value doesn't fit the type.
            TypeError: If text can't be converted to the type.
        """
        values: dict[str, list[str]] = {}
        for name, value in self._query_pairs():
            values.setdefault(name, []).append(value)
        if key is None:
            return values
        if type is None:
            return values.get(key)
        return convert_values(key, values.get(key, ()), type, self._decoding)

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
    def header(self, name: str | None = None, type: Any = None, /, default: Any = None) -> Any:
        """Returns a header, with repeated lines joined by `", "`, or all headers.

        Args:
            name: Its name, in any letter case.
            type: What to convert the value to; see `param`.
            default: Returned if there is no such header.

        Returns:
            The value, or `default`; without `name`, a dict with lower-case names.

        Raises:
            HTTPException: 400, as a problem document, if the value doesn't fit the type; 431 if a
                header is larger than `Limits.max_header_size_bytes`.
            TypeError: If text can't be converted to the type.
        """
        raw = self._raw
        lines = self._scope["headers"] if raw is None else header_lines(raw)
        if name is None:
            return self._all_headers(lines)
        # PERF: inlines find_value().
        try:
            key = known_names[name]
        except KeyError:
            key = encode_name(name)
        value = None
        for each, found in lines:
            if each != key:
                continue
            if value is not None:
                value = find_value(lines, name)
                break
            value = found.decode("latin-1")
        if value is not None and len(value) > self._limits.max_header_size_bytes:
            raise header_too_large(name, self._limits.max_header_size_bytes)
        if type is not None:
            return convert_value("header", name, value, type, default, self._decoding)
        return default if value is None else value

    def _all_headers(self, lines: Iterable[tuple[Bytes, Bytes]]) -> dict[str, str]:
        lines = [*lines]
        found = {name.decode("latin-1"): value.decode("latin-1") for name, value in lines}
        if len(found) < len(lines):  # PERF: rare, since few headers have several lines
            found = {name: ", ".join(values) for name, values in values_by_name(lines).items()}
        most = self._limits.max_header_size_bytes
        for name, value in found.items():
            if len(value) > most:
                raise header_too_large(name[:_LONGEST_NAME], most)
        return found

    def _query_string(self) -> str:
        query = self._query
        if query is None:
            if self._scope is not None:
                query = self._scope["query_string"].decode("utf-8", "replace")
            else:
                query = self.raw.url.partition("#")[0].partition("?")[2]
            self._query = query
        return query

    def _query_pairs(self) -> list[tuple[str, str]]:
        if self._pairs is None:
            self._pairs = query_pairs(self._query_string())
        return self._pairs

    async def bytes(self) -> Bytes:
        """Reads the body.

        Raises:
            HTTPException: 413 if it is larger than `Limits.max_body_size_bytes`.
            TypeError: If the body of `raw` was already read directly.
        """
        reader = self._reader or self._take_body()
        return await reader.bytes(self._limits) if reader.data is None else reader.data

    async def array_buffer(self) -> Bytes:
        """Reads the body; the Web name of `bytes`."""
        return await self.bytes()

    async def text(self) -> str:
        """Reads the body as UTF-8. Drops a byte order mark; invalid bytes become U+FFFD.

        Raises:
            HTTPException: As `bytes` does.
        """
        return decode_text(await self.bytes())

    async def blob(self) -> Blob:
        """Reads the body as a Blob with the request's content type.

        Raises:
            HTTPException: As `bytes` does.
        """
        return Blob([await self.bytes()], type=self.header("content-type") or "")

    @overload
    async def json(self) -> Any: ...
    @overload
    async def json(self, type: TypeForm[T]) -> T: ...
    async def json(self, type: Any = None) -> Any:
        """Reads the body as JSON; returns a new value at each call.

        Args:
            type: The type to decode into: a dataclass, msgspec Struct, TypedDict, any type that
                msgspec supports, or a pydantic model. Default: dicts, lists and plain values.

        Raises:
            HTTPException: 400 if the body isn't JSON, with the position, or doesn't match `type`,
                with the path of the field; 413 as for `bytes`.
        """
        reader = self._reader or self._take_body()
        data = reader.data
        if data is None:
            data = await reader.bytes(self._limits)  # PERF: self.bytes() would add a coroutine
        try:
            if type is None:
                return _json.decode(data)
            return _json.decode_as(data, type, self._decoding)
        except (ValueError, RecursionError) as error:
            problem = "it is nested too deeply" if isinstance(error, RecursionError) else error
            what = "Malformed" if type is None or _json.is_malformed(error) else "Unexpected"
            raise HTTPException(400, f"{what} JSON in the request body: {problem}") from error

    async def form_data(self) -> FormData:
        """Reads the body as a form, multipart or urlencoded.

        Raises:
            HTTPException: 400 if it isn't a form, 413 if it exceeds one of the `Limits`.
        """
        reader = self._reader or self._take_body()
        return await reader.form_data(self._content_type(), self._limits)

    async def parse_body(
        self, *, all: bool = False, dot: bool = False, **limits: Any
    ) -> dict[str, Any]:
        """Reads the body as a form into a dict; returns `{}` for any other body.

        Args:
            all: Whether repeated names become lists. Otherwise, the last value wins. Names that end
                in `[]` always become lists.
            dot: Whether `a.b` becomes nested dicts.
            **limits: Fields of `Limits` to override for this form. The body is read once, so if
                calls run concurrently, the limits of the first one apply.

        Returns:
            Text as str, files as `File`.

        Raises:
            HTTPException: 400 if the form is malformed, 413 if it exceeds a limit.
        """
        own_limits = self._limits
        if limits:
            for name in limits.keys() - LIMITS:
                known = ", ".join(LIMITS)
                raise TypeError(f"parse_body() has no limit {name!r}: there are {known}")
            own_limits = own_limits.but(**limits)
        content_type = self._content_type()
        kind = media_type(content_type)
        if kind not in FORMS:
            return {}
        reader = self._reader or self._take_body()
        values: dict[str, Any] | None = None
        if kind == URLENCODED and not all:
            values = await reader.last_values(own_limits)
        if values is None:
            values = collect(await reader.form_data(content_type, own_limits), all=all)
        return nest(values) if dot else values

    @property
    def max_memory_size_bytes(self) -> int | None:
        """The `Limits.max_memory_size_bytes` of the request, for code that reads files of forms."""
        return self._limits.max_memory_size_bytes

    @overload
    def valid(self, target: ValidationTarget, /) -> Any: ...
    @overload
    def valid(self, target: ValidationTarget, type: TypeForm[T], /) -> T: ...
    def valid(self, target: ValidationTarget, type: Any = None, /) -> Any:
        """Returns the validated value of a part of the request.

        Args:
            target: `json`, `form`, `query`, `param`, `header` or `cookie`.
            type: The expected type, for type checkers, and checked at runtime. Container items are
                checked too; TypedDict values aren't.

        Returns:
            The validated data; None if nothing validated this part and no type is given.

        Raises:
            ValueError: If there is no such target.
            LookupError: If a type is given and nothing validated this part.
            TypeError: If the validated data isn't of this type.
        """
        _check_target(target)
        validated = self._validated
        if type is None:
            return None if validated is None else validated.get(target)
        return check_validated(target, validated or {}, type)

    def add_validated_data(self, target: ValidationTarget, data: Any, /) -> None:
        """Stores the validated value of a part of the request, for `valid`.

        Args:
            target: As for `valid`.
            data: The validated data.

        Raises:
            ValueError: If there is no such target.
        """
        _check_target(target)
        if self._validated is None:
            self._validated = {}
        self._validated[target] = data

    @property
    def matched_routes(self) -> list[RouterRoute]:
        """The routes that matched. Deprecated: use `kit.route.matched_routes(c)`."""
        _warn_deprecated("matched_routes", "kit.route.matched_routes(c)")
        return [route for route, _ in self._match[0]]

    @property
    def route_path(self) -> str:
        """The pattern of the running route. Deprecated: use `kit.route.route_path(c)`."""
        _warn_deprecated("route_path", "kit.route.route_path(c)")
        handlers = self._match[0]
        return str(handlers[self.route_index][0].path) if self.route_index < len(handlers) else ""

    def _take_body(self) -> BodyReader:
        """Takes the body from `raw`, which then counts it as read.

        Raises:
            TypeError: If the body was read through `raw`.
        """
        if self._raw is None:
            reader = BodyReader(self._receive, self._scope)
        else:
            reader = BodyReader.of(take(self._raw))
        self._reader = reader
        return reader

    def _content_type(self) -> str | None:
        raw = self._raw
        lines = self._scope["headers"] if raw is None else header_lines(raw)
        return find_value(lines, "content-type")

    def limit_body(self, max_size: int, refuse: Callable[[], Exception], /) -> None:
        """Limits the size of the body for all readers.

        Reading more bytes raises an exception in the methods of this class and of `raw`, in clones
        and in mounted applications. Setting the limit doesn't read the body. If several limits
        are set, all of them apply, as do the app's `Limits`.

        Args:
            max_size: Maximum number of bytes.
            refuse: Returns the exception to raise.

        Raises:
            Exception: The exception from `refuse`, if the body is in memory or was read before, and
                is larger.
            RuntimeError: If the body was already read without recording its size.
        """
        if self._reader is None:
            limit_body(self.raw, max_size, refuse)
        else:
            self._reader.limit(max_size, refuse)

    def __repr__(self) -> str:
        return f"<KitRequest {self.method} {ascii(self.path)[1:-1]}>"

    def _replace(self, request: Request) -> None:
        """Reads another request from now on; what was read of this one ends with it."""
        old = self.raw
        self._served = self._served or old
        if old.is_below_root_path:
            url = URL(request.url)
            request = request.replace(
                url=f"{url.origin}{URL(old.url).pathname}{url.search}",
                root_path=old.root_path,
                root_pattern=old.root_pattern,
            )
        if self._reader is not None:
            self._handed_on += (self._reader,)
        self._raw, self._scope, self._reader = request, request.scope, None
        self._query = self._pairs = None

    def _hand_on(self, request: Request) -> None:
        """Makes a request that a mounted application gets end with this one."""
        if request is not self._raw and isinstance(request, Request):  # or it isn't ours to close
            self._handed_on += (request,)

    def _close(self) -> None:
        """Removes the temporary files of forms that were read."""
        if self._reader is not None:
            self._reader.close()
        for each in self._handed_on:
            each.close()


async def clone_raw_request(req: KitRequest, /) -> Request:
    """Returns a new request with the method, URL, headers and body of a request, read or not.

    An unread body can be read from both; see `Request.clone`. If a method of `req` has read it, the
    clone gets the stored content. A multipart body that was read as a form is encoded again; its
    files are streamed, and stay available until the request ends.

    Args:
        req: The request, `c.req`.

    Raises:
        TypeError: If the body of `req.raw` was read directly, so that its content wasn't stored.
        HTTPException: If the body was rejected when it was read.
    """
    raw, reader = req.raw, req._reader
    if reader is None:
        if not raw.body_used:
            return raw.clone()
        raise TypeError(
            "Can't clone the request: its body was read directly from `raw`, which keeps "
            "nothing of it; read it with text(), json() or another reader of KitRequest"
        )
    content = await reader.content(req._limits)
    clone = raw._with_body(content)
    if clone.headers.has("content-length"):
        # A form that is encoded again has other part headers than the client's.
        clone.headers.delete("content-length")
        if isinstance(content, Bytes):
            clone.headers.set("content-length", str(len(content)))
    return clone


def _check_target(target: str) -> None:
    if target not in _TARGETS:
        raise ValueError(f"Unknown target {target!r}: expected one of {', '.join(_TARGETS)}")


def _warn_deprecated(name: str, replacement: str) -> None:
    import warnings

    warnings.warn(
        f"KitRequest.{name} is deprecated: use {replacement}", DeprecationWarning, stacklevel=3
    )
