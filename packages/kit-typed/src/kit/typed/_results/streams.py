# SPDX-License-Identifier: MIT
"""Endpoints that yield: server-sent events or JSON Lines, by Accept."""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from functools import partial
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from kit.authoring.maybe_await import settle
from kit.authoring.signatures import describe, is_generator
from kit.authoring.vary import depend_on
from kit.http.media_types import EVENT_STREAM, JSON_LINES, choose_media_type
from kit.http.server_sent_events import encode_event, set_event_headers
from kit.http.vary import add_vary
from kit.interface import Codecs, Context, HTTPException, Response, is_response

from .._signature.signature import REQUIRED, Signature, StreamType
from .._signature.types import aliased, split
from .item_stream import ItemStream
from .results import Result
from .server_sent_event import ServerSentEvent

KEEP_ALIVE_S = 15.0
"""Seconds without an event after which a comment is sent (WHATWG HTML, section 9.2.7)."""

_STREAMS = (AsyncIterator, AsyncIterable, AsyncGenerator, Iterator, Generator)
# Names of JSON Lines that clients use besides the one that is documented.
_OTHER_JSON_LINES = ("application/x-ndjson", "application/ndjson")
_BINARY = (bytes, bytearray, memoryview)
_WITHOUT_CONTENT = (204, 205, 304)


# --- At decoration ----------------------------------------------------------------------------


def with_stream(signature: Signature, status: int | None, keep_alive: Any) -> Signature:
    """Returns the signature of an endpoint, with its stream if it yields or returns one.

    Args:
        signature: The endpoint.
        status: The status of its result, or None.
        keep_alive: Seconds without an event after which a comment is sent; None: never; UNSET for
            the default.

    Raises:
        TypeError: If it yields what can't be sent, or if an option doesn't fit.
    """
    item = _find_item(signature)
    if item is None:
        if keep_alive is not msgspec.UNSET:
            signature.refuse("it yields no events, so keep_alive has no effect: leave it out")
        return signature
    kind, has_events = _find_data(item[0])
    if any(each in _BINARY for each in _list_members(kind)):
        signature.refuse(
            "it yields bytes, but items are sent as JSON: return c.body(stream()) for a stream of "
            "bytes"
        )
    if status in _WITHOUT_CONTENT:
        signature.refuse(
            f"a response with the status {status} has no body, but it yields: leave the status out"
        )
    if signature.connections:
        signature.refuse(
            f"it takes a WebSocket, {signature.connections[0]!r}, so it can't yield: send with "
            f"await {signature.connections[0]}.send_json(item)"
        )
    stream = StreamType(
        item=kind,
        # Beside other types, text is sent as JSON as well, so that clients can tell them apart.
        is_text=_is_text(kind),
        media_types=(EVENT_STREAM, JSON_LINES) if has_events else (JSON_LINES, EVENT_STREAM),
        keep_alive_s=KEEP_ALIVE_S if keep_alive is msgspec.UNSET else keep_alive,
    )
    return signature._replace(call=signature.function, mode="async", stream=stream)


def _find_item(signature: Signature) -> tuple[Any] | None:
    """Returns the annotated type of the items; None if the endpoint isn't a stream."""
    function = signature.function
    if _is_context_manager(function):
        return None
    returns, _ = split(signature.returns)
    value = aliased(returns)
    returns = returns if value is None else split(value)[0]
    origin = get_origin(returns) or returns
    if not _yields(function):
        if origin not in _STREAMS:
            _refuse_choice(signature, returns)
            return None
    elif returns in (REQUIRED, Any, object):
        return (Any,)
    elif origin not in (*_STREAMS, Iterable):
        signature.refuse(
            f"it yields, but is annotated to return {returns!r:.100}: annotate what it yields, "
            "such as -> AsyncIterator[Event]"
        )
    arguments = get_args(returns)
    return (arguments[0] if arguments else Any,)


def _refuse_choice(signature: Signature, returns: Any) -> None:
    if any((get_origin(each) or each) in _STREAMS for each in _list_members(returns)):
        signature.refuse(
            f"it may return a stream or something else, {returns!r:.100}: annotate the stream "
            "alone, and raise an HTTPException for another response"
        )


def _is_context_manager(function: Any) -> bool:
    """Returns whether a function is one of `@contextmanager`, with the annotations of a stream."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__globals__", {}).get("__name__") == "contextlib"


def _yields(function: Any) -> bool:
    """Returns whether a function, or one that it wraps, yields."""
    if is_generator(function):
        return True
    while isinstance(function, partial):
        function = function.func
    return not isinstance(function, type) and is_generator(inspect.unwrap(function))


def _find_data(item: Any) -> tuple[Any, bool]:
    """Returns the type of the data of items, and whether there are `ServerSentEvent`s."""
    members = [*_list_members(item)]
    events = [each for each in members if (get_origin(each) or each) is ServerSentEvent]
    if not events:
        return item, False
    kinds = [(get_args(each) or (Any,))[0] if each in events else each for each in members]
    return Any if Any in kinds else Union[tuple(kinds)], True  # noqa: UP007


def _is_text(kind: Any) -> bool:
    inner, _ = split(kind)
    behind = aliased(inner) or getattr(inner, "__supertype__", None)  # of a NewType
    return inner in (str, Any) if behind is None else _is_text(behind)


def _list_members(kind: Any) -> list[Any]:
    """Returns the members of a union, also behind aliases; otherwise the type."""
    inner, _ = split(kind)
    value = aliased(inner)
    if value is not None:
        return _list_members(value)
    if get_origin(inner) in (Union, UnionType):
        return [member for each in get_args(inner) for member in _list_members(each)]
    return [inner]


def describe_stream(stream: StreamType, status: int | None) -> dict[int, Any]:
    """Returns the responses of an endpoint that streams, for documents; see `Facts.responses`."""
    content = {each: {"itemSchema": stream.item} for each in stream.media_types}
    return {
        200 if status is None else status: {"content": content},
        406: "None of the media types of the stream is accepted",
    }


# --- At a request -----------------------------------------------------------------------------


class StreamedCall:
    """Calls an endpoint, and sends what it yields.

    Args:
        signature: The endpoint.
        stream: What it streams.
        call: Calls it with values by their local names.
        result: How the items are sent, and the status of the response.
        codecs: The encoders of the app.
    """

    def __init__(
        self,
        signature: Signature,
        stream: StreamType,
        call: Callable[[dict[str, Any]], Any],
        result: Result,
        codecs: Codecs,
    ) -> None:
        self._function = signature.function
        self._stream = stream
        self._encode = codecs.encode_json
        self._result = result
        self._call = call
        self._status = result.status
        self._available = (*self._stream.media_types, *_OTHER_JSON_LINES)

    async def respond(self, values: dict[str, Any]) -> Response:
        """Returns the response, once there is an item, or a second has passed.

        Args:
            values: The values by their local names.

        Raises:
            HTTPException: 406 if the client accepts none of the media types.
            Exception: The exception of an endpoint that has yielded nothing.
        """
        c: Context[Any, Any] = values["c"]
        depend_on(c, "Accept")
        media_type = choose_media_type(c.req.header("accept"), self._available)
        if media_type is None:
            raise HTTPException(
                406,
                f"This is a stream of {' or '.join(self._stream.media_types)}",
                headers={"Vary": "Accept"},
            )
        if c.req.method == "HEAD":
            return self._respond(c, media_type, iter(()))
        items = await settle(self._call(values), self._function, may_yield=True)
        if is_response(items):
            return items
        if not hasattr(items, "__aiter__") and not hasattr(items, "__next__"):
            raise TypeError(
                f"{describe(self._function)} is annotated to return a stream, but returned "
                f"{type(items).__name__}: yield the items, or return an iterator of them"
            )
        if media_type == EVENT_STREAM:
            body = ItemStream(items, self._encode_as_event, self._stream.keep_alive_s)
        else:
            body = ItemStream(items, self._encode_as_line, None)
        await body.wait_for_first()
        c.add_cleanup(lambda error: body.aclose())  # also if the response isn't sent
        return self._respond(c, media_type, body)

    def _respond(self, c: Context[Any, Any], media_type: str, body: Any) -> Response:
        response = c.new_response(body, self._status)
        headers = response.headers
        if media_type == EVENT_STREAM:
            set_event_headers(headers)
        else:
            headers.set("content-type", media_type)
            if not headers.has("x-accel-buffering"):  # as for events
                headers.set("x-accel-buffering", "no")
        add_vary(headers, "Accept")
        return response

    def _encode_as_event(self, item: Any) -> bytes:
        if not isinstance(item, ServerSentEvent):
            return encode_event(self._as_text(item))
        return encode_event(
            None if item.data is msgspec.UNSET else self._as_text(item.data),
            event=item.event,
            id=item.id,
            retry=item.retry,
            comment=item.comment,
        )

    def _as_text(self, data: Any) -> str:
        data = self._result.apply(data)
        if self._stream.is_text and isinstance(data, str):
            return data
        return self._encode(data).decode()

    def _encode_as_line(self, item: Any) -> bytes:
        data = item.data if isinstance(item, ServerSentEvent) else item
        return b"" if data is msgspec.UNSET else self._encode(self._result.apply(data)) + b"\n"
