# SPDX-License-Identifier: MIT
"""What the callbacks of `kit.streaming` write to."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from kit._support.json import encode
from kit.streaming._body import CallbackBody
from kit.web._streams import Chunk, Stream, close_stream, encode_chunk, iterate

# SPEC: WHATWG HTML section 9.2.5: these end a line. str.splitlines() knows more than these.
_LINE_END = re.compile(r"\r\n|\r|\n")
# SPEC: WHATWG HTML section 9.2.6: clients ignore an id with NUL in it.
_FORBIDDEN = {"event": re.compile(r"[\r\n]"), "id": re.compile(r"[\r\n\0]")}


class StreamingApi:
    """What a callback writes to. Made by `stream` and `stream_text`."""

    __slots__ = ("_body",)

    _body: CallbackBody

    @property
    def aborted(self) -> bool:
        """Whether the answer was given up: the client went away, or `abort()` was called."""
        return self._body.aborted

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more: closed, aborted, or the callback is over."""
        return self._body.closed

    async def write(self, data: Chunk) -> None:
        """Sends some of the body; waits until the server has taken what was written before.

        Several tasks may write; their chunks are sent in the order of the calls. A write that a
        timeout of the callback's own cancels may have been sent or not.

        Args:
            data: bytes, or str, which is sent as UTF-8.

        Raises:
            TypeError: If it is neither.
            StreamClosedError: If the stream is closed, aborted, or over. In the callback itself
                the cancellation comes before that, when it was aborted or the client went away.
        """
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"stream.write() takes str or bytes, not {type(data).__name__}")
        await self._body.put(encode_chunk(data))

    async def writeln(self, line: str) -> None:
        r"""Sends a line: the text and `\n`.

        Args:
            line: The text.

        Raises:
            TypeError: If it is no str.
            StreamClosedError: As for `write`.
        """
        if not isinstance(line, str):
            raise TypeError(f"stream.writeln() takes a str, not {type(line).__name__}")
        await self.write(line + "\n")

    async def sleep(self, seconds: float) -> None:
        """Waits.

        Args:
            seconds: How long, in seconds.
        """
        from anyio import sleep

        await sleep(seconds)

    async def pipe(self, source: Stream) -> None:
        """Writes all that an iterable gives, and closes it if it can be closed.

        Args:
            source: An async or plain iterable of bytes or str, such as the body of a response. A
                plain one must not block.

        Raises:
            TypeError: If it is no such iterable.
            StreamClosedError: As for `write`.
        """
        is_plain = isinstance(source, (str, bytes, bytearray, memoryview, dict))
        if not hasattr(source, "__aiter__") and (is_plain or not hasattr(source, "__iter__")):
            raise TypeError(
                "stream.pipe() takes an (async) iterable of str or bytes, "
                f"not {type(source).__name__}"
            )
        try:
            async with aclosing(iterate(source)) as chunks:
                async for chunk in chunks:
                    await self._body.put(chunk)
        finally:
            await close_stream(source)

    def on_abort(self, callback: Callable[[], object]) -> None:
        """Registers what to do when the answer is given up before its end.

        The callback of the stream is cancelled then in any case. This is for what has to hear of
        it although it can't be cancelled, such as a thread. What is registered is called in
        order, each when the one before is done; an exception in one is logged.

        Args:
            callback: Called without arguments; may give an awaitable.
        """
        self._body.on_abort.append(callback)

    def close(self) -> None:
        """Says that the answer is complete: nothing can be written any more.

        It is sent to its end when the callback returns, and then also if that raises. What takes
        time and has nothing to do with the answer belongs into `c.execution_ctx.wait_until`.
        """
        self._body.closed_early = True

    async def abort(self) -> None:
        """Gives the answer up: as if the client had gone away, and the connection is cut.

        Does nothing once the callback is over.
        """
        await self._body.abort()


class SSEStreamingApi(StreamingApi):
    """What a callback writes server-sent events to. Made by `stream_sse`."""

    __slots__ = ("_last_event_id",)

    def __init__(self, last_event_id: str | None = None) -> None:
        self._last_event_id = last_event_id

    @property
    def last_event_id(self) -> str | None:
        """The id of the last event that a client got which connects again; None if there is none.

        SPEC: WHATWG HTML section 9.2.4, the header Last-Event-ID.
        """
        return self._last_event_id

    async def write_sse(
        self,
        data: Any,
        event: str | None = None,
        id: str | None = None,
        retry: int | None = None,
    ) -> None:
        """Sends an event.

        SPEC: WHATWG HTML section 9.2.6.

        Args:
            data: str, sent as it is; its lines arrive joined by LF, however they end here. Anything
                else is sent as JSON, see `Context.json`.
            event: Its type; without one it is a `message`.
            id: What a client that connects again gives as `last_event_id`; `""` makes it give
                none.
            retry: How long a client waits before it connects again, in milliseconds.

        Raises:
            TypeError: If an argument is of another type, or `data` can't be encoded.
            ValueError: If `event` or `id` holds CR or LF, `id` NUL, or `retry` is negative.
            StreamClosedError: As for `write`.
        """
        lines = []
        if event is not None:
            lines.append(f"event: {_field('event', event)}")
        text = data if isinstance(data, str) else encode(data).decode()
        lines += [f"data: {line}" for line in _LINE_END.split(text)]
        if id is not None:
            lines.append(f"id: {_field('id', id)}")
        if retry is not None:
            if not isinstance(retry, int) or isinstance(retry, bool):
                raise TypeError(
                    f"write_sse() takes retry as an int of milliseconds, not {type(retry).__name__}"
                )
            if retry < 0:
                raise ValueError(f"Invalid retry {retry!r} of an event: expected 0 or more")
            lines.append(f"retry: {retry}")
        await self.write("\n".join(lines) + "\n\n")


def _field(name: str, value: str) -> str:
    """Checks the value of a field that is a single line."""
    if not isinstance(value, str):
        raise TypeError(f"write_sse() takes {name} as a str, not {type(value).__name__}")
    if _FORBIDDEN[name].search(value):
        what = "CR, LF and NUL" if name == "id" else "CR and LF"
        raise ValueError(f"Invalid {name} {value!r} of an event: {what} are not allowed")
    return value
