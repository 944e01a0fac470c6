# SPDX-License-Identifier: MIT
"""`c.req`: the request, with methods to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from kit._request.body import RequestBody
from kit._request.fields import query_pairs, query_value
from kit._request.parse_body import (
    AS_MULTIPART,
    AS_URLENCODED,
    collect,
    nest,
    only_content_type,
)
from kit._support import json as _json
from kit._support.late import import_late
from kit._support.limits import LIMITS, Limits, header_too_large
from kit._support.struct import Opaque, Struct, with_plain_stores
from kit.http.paths import decode_component
from kit.interface import HTTPException, Result, RouterRoute, ValidationTarget
from kit.web import Blob, FormData, Request
from kit.web._blob import Bytes
from kit.web._forms.urlencoded import last_values
from kit.web._header_lines import encode_name, find_value, known_names, values_by_name
from kit.web._received import (
    LEAST_OF_MANY_BYTES,
    MOST_WHOLE_BYTES,
    MOST_WHOLE_MESSAGES,
    declared_length,
    is_cut,
)
from kit.web._request import (
    give_back_channel,
    header_lines,
    limit_body,
    request_of_scope,
    take_channel,
    use_up,
)
from kit.web._streams import decode_text

__all__ = ("KitRequest", "clone_raw_request")

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from kit._request.conversion import check_absent_param, convert_value, convert_values
    from kit._request.validated import check_validated
    from kit.web._forms.multipart import decode_in_memory
else:
    import_late(
        globals(),
        "kit._request.conversion",
        "check_absent_param",
        "convert_value",
        "convert_values",
    )
    import_late(globals(), "kit._request.validated", "check_validated")
    import_late(globals(), "kit.web._forms.multipart", "decode_in_memory")

T = TypeVar("T")

_REQUIRED: Any = object()

_TARGETS = get_args(ValidationTarget)
# Of a name that a client sent, in an error.
_LONGEST_NAME = 100


class KitRequest:
    """The request with its parameters, query, headers and body readers.

    Body readers may be used in any order and more than once, since the content is kept.

    Args:
        request: The Web request; also kept as `raw`.
        path: Routing path.
        match_result: The result of the router, with the parameters for `param`.
    """

    path: str
    """Routing path, decoded as for matching."""

    route_index: int
    """Which of the matched routes is running, counted from 0 in registration order."""

    if TYPE_CHECKING:
        _raw: Request | None
        _scope: Any
        _receive: Any
        _match: Any
        _limits: Limits
        _query: str | None
        _pairs: list[tuple[str, str]] | None
        _reader: RequestBody | None
        _validated: dict[str, Any] | None
        _body_limits: tuple[tuple[int, Callable[[], Exception]], ...]
        _data: Bytes | None
        _is_receiving: bool
        _is_parsed: bool
        _form: FormData | None

        def __init__(
            self, request: Request, path: str = "/", match_result: Result[Any] | None = None
        ) -> None: ...

    else:
        __slots__ = ()  # Those of ServedRequest, which every instance is.

    @property
    def raw(self) -> Request:
        """The Web request. If you read its body directly, the readers here can't."""
        raw = self._raw
        if raw is None:
            raw = self._raw = request_of_scope(self._scope, self._receive)
            if self._data is not None:
                use_up(raw)
            elif self._is_receiving:
                take_channel(raw)
            for max_size, refuse in self._body_limits:
                limit_body(raw, max_size, refuse)
        return raw

    @property
    def method(self) -> str:
        """HTTP method as the client sent it: `HEAD` stays `HEAD`."""
        return str(self._scope["method"]) if self._raw is None else self._raw.method

    @property
    def url(self) -> str:
        """Absolute URL."""
        return self.raw.url

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
            The value. Without a type, a str, or None if there is no such parameter. Without
            `key`, a dict of all parameters of the path.

        Raises:
            HTTPException: 404, as a problem document, if the value doesn't fit the type: the path
                names no resource.
            LookupError: If the key begins with a colon; or if a type is given and the route's
                pattern has no such parameter, or the path has no value for it and there is no
                default.
            TypeError: If a text can't be converted to the type.
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
        return convert_value("param", key, decode_component(value), type, None)

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
        check_absent_param(key, type, pattern, found, has_default=has_default)
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
            The decoded value, by default None if there is none; without `key` a dict.

        Raises:
            HTTPException: 400, as a problem document, if the value doesn't fit the type.
            TypeError: If a text can't be converted to the type.
        """
        if key is not None:
            query = self._query
            value = query_value(self._query_string() if query is None else query, key)
            if type is not None:
                return convert_value("query", key, value, type, default)
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
        """Returns all values of a query parameter, or of all of them.

        Args:
            key: Its decoded name.
            type: What to convert each value to; see `param`.

        Returns:
            The decoded values in order; None if there is none, with a type an empty list. Without
            `key` a dict of lists.

        Raises:
            HTTPException: 400, as a problem document, if a value doesn't fit the type.
            TypeError: If a text can't be converted to the type.
        """
        values: dict[str, list[str]] = {}
        for name, value in self._query_pairs():
            values.setdefault(name, []).append(value)
        if key is None:
            return values
        if type is None:
            return values.get(key)
        return convert_values(key, values.get(key, ()), type)

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
            Its value, by default None if there is none; without `name` a dict with lower-case
            names.

        Raises:
            HTTPException: 400, as a problem document, if the value doesn't fit the type; 431 if a
                header is larger than `Limits.max_header_size_bytes`.
            TypeError: If a text can't be converted to the type.
        """
        raw = self._raw
        lines = self._scope["headers"] if raw is None else header_lines(raw)
        if name is None:
            return self._all_headers(lines)
        # PERF: what find_value() does, without the call.
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
            return convert_value("header", name, value, type, default)
        return default if value is None else value

    def _all_headers(self, lines: Iterable[tuple[Bytes, Bytes]]) -> dict[str, str]:
        lines = [*lines]
        found = {name.decode("latin-1"): value.decode("latin-1") for name, value in lines}
        if len(found) < len(lines):  # PERF: rarely, as few headers have several lines
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
            TypeError: If the body of `raw` was read directly before.
        """
        data = self._data
        if data is None:
            data = await self._receive_whole(None)
        return await self._body.bytes() if data is None else data

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
        data = self._data
        if data is None:
            # PERF: not by bytes(), another coroutine.
            if self._raw is None and not self._is_receiving:
                self._is_receiving = True
                try:
                    message = await self._receive()
                except BaseException:
                    self._stop_receiving()
                    raise
                data = self._keep(message)
                if self._is_receiving:
                    data = await self._receive_rest(message, None)
            if data is None:
                data = await self._body.bytes()
        try:
            return _json.decode(data) if type is None else _json.decode_as(data, type)
        except (ValueError, RecursionError) as error:
            problem = "it is nested too deeply" if isinstance(error, RecursionError) else error
            what = "Malformed" if type is None or _json.is_malformed(error) else "Unexpected"
            raise HTTPException(400, f"{what} JSON in the request body: {problem}") from error

    async def form_data(self) -> FormData:
        """Reads the body as a form, multipart or urlencoded.

        Raises:
            HTTPException: 400 if it isn't a form, 413 if it exceeds one of the `Limits`.
        """
        form = None
        if self._raw is None:
            content_type = only_content_type(self._scope["headers"])
            if content_type.startswith(AS_MULTIPART):
                form = await self._read_multipart(content_type)
        return await self._body.form_data() if form is None else form

    async def parse_body(
        self, *, all: bool = False, dot: bool = False, **limits: Any
    ) -> dict[str, Any]:
        """Reads the body as a form into a dict; returns `{}` for any other body.

        Args:
            all: Whether repeated names become lists. Otherwise, the last value is returned. Names
                that end in `[]` are always lists.
            dot: Whether `a.b` becomes nested dicts.
            **limits: Fields of `Limits` to override for this form. The body is read once, so of
                several concurrent calls, the limits of the first one apply.

        Returns:
            Text as str, files as `File`.

        Raises:
            HTTPException: 400 if the form is malformed, 413 if it exceeds a limit.
        """
        if self._raw is not None or limits:
            values = await self._parse_any_body(limits, all=all)
            return nest(values) if dot else values
        # PERF: nearly every form needs no more than this.
        may_be_simple = not all
        found: dict[str, Any] | None = None
        content_type = only_content_type(self._scope["headers"])
        if content_type == AS_URLENCODED:
            if may_be_simple:
                data = self._data
                if data is None:
                    data = await self._receive_whole(MOST_WHOLE_BYTES)
                if data is not None:
                    found = last_values(data, self._limits)
                    if found is not None:
                        self._is_parsed = True
                        return nest(found) if dot else found
                    may_be_simple = False
        elif content_type.startswith(AS_MULTIPART):
            form = await self._read_multipart(content_type)
            if form is not None:
                found = collect(form, all=all)
        if found is None:
            found = await self._parse_any_body({}, all=all, may_be_simple=may_be_simple)
        return nest(found) if dot else found

    async def _parse_any_body(
        self, limits: dict[str, Any], *, all: bool, may_be_simple: bool = True
    ) -> dict[str, Any]:
        """Does what `parse_body` does, for any body, but doesn't nest the values.

        Args:
            limits: As for `parse_body`.
            all: As for `parse_body`.
            may_be_simple: Whether the last value of each name may be enough, so that no FormData
                is needed.
        """
        for name in limits.keys() - LIMITS:
            raise TypeError(f"parse_body() has no limit {name!r}: there are {', '.join(LIMITS)}")
        body = self._body
        if not body.is_form:
            return {}
        own_limits = self._limits.but(**limits) if limits else None
        if may_be_simple and not all:
            values = await body.last_values(own_limits)
            if values is not None:
                return values
        return collect(await body.form_data(own_limits), all=all)

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
            type: The expected type, for type checkers and checked at runtime. Items of containers
                are checked too; values of a TypedDict aren't.

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

    @property
    def _body(self) -> RequestBody:
        body = self._reader
        if body is None:
            body = self._reader = RequestBody(self.raw, self._limits)
            if self._data is not None:
                body.adopt(self._data, self._form, self._limits if self._is_parsed else None)
            elif self._is_receiving:
                body.wait()
        return body

    async def _read_multipart(self, content_type: Bytes) -> FormData | None:
        """Reads a small multipart form, if nothing has used `raw`.

        PERF: it needs none of the objects that larger forms do, see `_receive_whole`.

        Args:
            content_type: The only Content-Type line.

        Returns:
            The form, which is kept; None if the reader has to be asked.

        Raises:
            HTTPException: 400 if the form is malformed, 413 if it exceeds one of the `Limits`.
        """
        form = self._form
        if form is None:
            data = self._data
            if data is None:
                data = await self._receive_whole(MOST_WHOLE_BYTES)
            if data is not None and len(data) <= self._limits.spool_size_bytes:
                text = content_type.decode("latin-1")
                form = self._form = decode_in_memory(data, text, self._limits)
        return form

    async def _receive_whole(self, most_whole: int | None) -> Bytes | None:
        """Receives the body if the server delivers it in few messages, and nothing has used `raw`.

        PERF: it needs none of the objects that read a body in pieces and share the channel among
        tasks. If they turn out to be needed, they get the messages.

        Args:
            most_whole: Number of bytes from which on the body is left to them; None for no limit.

        Returns:
            The body, which is kept; None if the reader has to be asked.
        """
        if self._raw is not None or self._is_receiving:
            return None
        self._is_receiving = True
        try:
            message = await self._receive()
        except BaseException:
            self._stop_receiving()
            raise
        data = self._keep(message)
        return await self._receive_rest(message, most_whole) if self._is_receiving else data

    async def _receive_rest(self, message: Any, most_whole: int | None) -> Bytes | None:
        """Receives what comes after the first message; otherwise as `_receive_whole`.

        Some servers end every body with an empty message, as granian does. PERF: that isn't waited
        for if the body is as long as declared, since it comes from another thread there.
        """
        length = declared_length(self._scope)
        is_long = length is not None and most_whole is not None and length > most_whole
        most = self._limits.max_body_size_bytes
        in_memory = self._limits.max_memory_size_bytes
        messages = [message]
        parts = [message["body"] if "body" in message else b""]  # noqa: SIM401 - PERF: no call
        size = len(parts[0])
        try:
            while size != length and "more_body" in message and message["more_body"]:
                if (
                    is_long
                    or (most_whole is not None and size > most_whole)
                    or (
                        len(messages) >= MOST_WHOLE_MESSAGES
                        and size < len(messages) * LEAST_OF_MANY_BYTES
                    )
                ):
                    break
                message = await self._receive()
                messages.append(message)
                if message["type"] != "http.request":
                    break
                if "body" in message:
                    part = message["body"]
                    parts.append(part)
                    size += len(part)
                if (
                    self._raw is not None
                    or (most is not None and size > most)
                    or (in_memory is not None and size > in_memory)
                    or (self._body_limits and not self._is_within_own_limits(size))
                ):
                    break
            else:
                # A body that is cut is left to the reader, too, which refuses it.
                if size == length or not is_cut(self._scope, size):
                    data = self._data = b"".join(parts)
                    return data
        except BaseException:
            self._stop_receiving(messages)
            raise
        finally:
            self._is_receiving = False
        self._give_back(self.raw, messages)
        return None

    def _keep(self, message: Any) -> Bytes | None:
        """Keeps a body that is complete with the first message.

        Otherwise leaves it to the reader, unless the rest may be received; `_is_receiving` then
        stays True.
        """
        self._is_receiving = False
        if self._raw is None and message["type"] == "http.request":
            data = message["body"] if "body" in message else b""  # noqa: SIM401 - PERF: no call
            size = len(data)
            most = self._limits.max_body_size_bytes
            in_memory = self._limits.max_memory_size_bytes
            if (
                (most is None or size <= most)
                and (in_memory is None or size <= in_memory)
                and (not self._body_limits or self._is_within_own_limits(size))
            ):
                if message.get("more_body"):
                    self._is_receiving = True
                    return None
                if is_cut(self._scope, size):
                    self._give_back(self.raw, (message,))
                    return None
                data = self._data = data if data.__class__ is bytes else bytes(data)
                return data
        self._give_back(self.raw, (message,))
        return None

    def _is_within_own_limits(self, size: int) -> bool:
        """Returns whether a body of so many bytes exceeds no limit of this request."""
        return all(size <= most for most, _ in self._body_limits)

    def _stop_receiving(self, messages: Sequence[Any] = ()) -> None:
        """Leaves the body to other readers, with the messages that have come."""
        self._is_receiving = False
        if self._raw is not None or messages:
            self._give_back(self.raw, messages)

    def _give_back(self, raw: Request, messages: Sequence[Any] = ()) -> None:
        """Lets the readers go on that wait for the first messages, which may have come."""
        try:
            give_back_channel(raw, messages)
        finally:
            if self._reader is not None:
                self._reader.resume()

    def limit_body(self, max_size: int, refuse: Callable[[], Exception], /) -> None:
        """Limits the size of the body for all readers.

        Reading more bytes raises an exception in the methods here, in those of `raw`, in clones
        and in mounted applications. Setting the limit doesn't read the body. If several limits
        are set, all of them apply, as well as the app's `Limits`.

        Args:
            max_size: Maximum number of bytes.
            refuse: Returns the exception to raise.

        Raises:
            Exception: The exception of `refuse`, if the body is known to be larger because it is in
                memory or was read before.
            RuntimeError: If the body was already read without recording its size.
        """
        if self._data is not None:
            self._body.limit(max_size, refuse)
        elif self._raw is None:
            # PERF: applied when the body is read; most requests have none.
            self._body_limits = (*self._body_limits, (max_size, refuse))
        elif self._reader is None:
            limit_body(self._raw, max_size, refuse)
        else:
            self._reader.limit(max_size, refuse)

    def __repr__(self) -> str:
        return f"<KitRequest {self.method} {ascii(self.path)[1:-1]}>"

    def _close(self) -> None:
        """Removes the temporary files of the form that was read."""
        if self._reader is not None:
            self._reader.close()


async def clone_raw_request(req: KitRequest, /) -> Request:
    """Returns a new request with the method, URL, headers and body of a request, read or not.

    An unread body can be read from both, see `Request.clone`. If a reader of `req` has read it, the
    clone gets the stored content. A multipart body that was read as a form is encoded again; its
    files are streamed, and available until the request ends.

    Args:
        req: The request, `c.req`.

    Raises:
        TypeError: If the body of `req.raw` was read directly, so that its content wasn't stored.
        HTTPException: If the body was rejected when it was read.
    """
    return await req._body.clone()


def _check_target(target: str) -> None:
    if target not in _TARGETS:
        raise ValueError(f"Unknown target {target!r}: expected one of {', '.join(_TARGETS)}")


def _warn_deprecated(name: str, replacement: str) -> None:
    import warnings

    warnings.warn(
        f"KitRequest.{name} is deprecated: use {replacement}", DeprecationWarning, stacklevel=3
    )


_NO_MATCH: Any = ([],)
_DEFAULT_LIMITS = Limits()


@with_plain_stores
class ServedRequest(KitRequest, Opaque, Struct, eq=False):
    """The fields of every KitRequest.

    PERF: a Struct's only constructor takes its fields. Creating one takes 95 ns; a class with an
    `__init__` takes 180, a difference of 2 % of a request. `KitRequest(...)` has the signature of
    the specification, and creates an instance of this class.
    """

    path: str
    _match: Any
    _scope: Any
    _receive: Any
    _limits: Limits = _DEFAULT_LIMITS
    route_index: int = 0
    _raw: Request | None = None
    _query: str | None = None
    _pairs: list[tuple[str, str]] | None = None
    _reader: RequestBody | None = None
    _validated: dict[str, Any] | None = None
    _body_limits: tuple[tuple[int, Callable[[], Exception]], ...] = ()
    _data: Bytes | None = None
    _is_receiving: bool = False
    _is_parsed: bool = False  # whether a form was read with the app's limits
    _form: FormData | None = None  # of a multipart body that was read without `_reader`


def _new_request(
    cls: type[KitRequest],
    request: Request,
    path: str = "/",
    match_result: Result[Any] | None = None,
) -> KitRequest:
    if cls is not KitRequest:
        raise TypeError(f"{cls.__qualname__} can't be created: KitRequest can't be subclassed")
    # Without its scope, since the query of the request may have changed.
    return ServedRequest(path, match_result or _NO_MATCH, None, None, _raw=request)


# Errors of Python name the class, and no user knows it by another name.
ServedRequest.__name__ = ServedRequest.__qualname__ = KitRequest.__name__

# After ServedRequest, since msgspec accepts no base that has a constructor.
KitRequest.__new__ = _new_request  # type: ignore[method-assign,assignment]
