# SPDX-License-Identifier: MIT
"""The objects that the callbacks of `kit.streaming` write to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from kit.authoring.codecs import default_codecs
from kit.http.server_sent_events import check_event_field, check_retry, encode_event
from kit.interface import Codecs
from kit.streaming._body import CallbackBody
from kit.web._streams import Chunk, Stream, close_stream, encode_chunk, iterate


class StreamingApi:
    """The stream that a callback writes to. Created by `stream` and `stream_text`."""

    __slots__ = ("_body",)

    _body: CallbackBody

    @property
    def aborted(self) -> bool:
        """Whether the response was aborted: the client disconnected, or `abort()` was called."""
        return self._body.aborted

    @property
    def closed(self) -> bool:
        """Whether nothing more can be written: closed, aborted, or the callback has ended."""
        return self._body.closed

    async def write(self, data: Chunk) -> None:
        """Sends a part of the body; waits until the server has accepted previous writes.

        Several tasks may write; chunks are sent in the order of the calls. If a timeout in the
        callback cancels a write, its data may or may not have been sent.

        Args:
            data: bytes, or str, which is sent as UTF-8.

        Raises:
            TypeError: If it is neither.
            StreamClosedError: If the stream is closed, aborted, or over. If it was aborted or the
                client disconnected, the callback itself is cancelled instead.
        """
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"stream.write() takes str or bytes, not {type(data).__name__}")
        await self._body.put(encode_chunk(data))

    async def writeln(self, line: str) -> None:
        r"""Sends a line: the text and `\n`.

        Args:
            line: The text.

        Raises:
            TypeError: If it is not a str.
            StreamClosedError: As for `write`.
        """
        if not isinstance(line, str):
            raise TypeError(f"stream.writeln() takes a str, not {type(line).__name__}")
        await self.write(line + "\n")

    async def sleep(self, seconds: float) -> None:
        """Sleeps.

        Args:
            seconds: How long, in seconds.
        """
        from anyio import sleep

        await sleep(seconds)

    async def pipe(self, source: Stream) -> None:
        """Writes all chunks of an iterable, and closes it if it can be closed.

        Args:
            source: An async or plain iterable of bytes or str, such as the body of a response. A
                plain one must not block.

        Raises:
            TypeError: If it is not such an iterable.
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
        """Registers a function to call when the response is aborted before its end.

        The callback of the stream is always cancelled. Use this for other work that can't be
        cancelled and must be notified, such as a thread. Functions are called in order, each after
        the previous one is done; exceptions are logged.

        Args:
            callback: Called without arguments; may return an awaitable.
        """
        self._body.on_abort.append(callback)

    def close(self) -> None:
        """Marks the response as complete: nothing more can be written.

        The response ends when the callback returns, even if it raises an exception. Slow work that
        doesn't concern the response belongs in `c.execution_ctx.wait_until`.
        """
        self._body.closed_early = True

    async def abort(self) -> None:
        """Aborts the response and its connection, as if the client had disconnected.

        Does nothing once the callback has ended.
        """
        await self._body.abort()


class SSEStreamingApi(StreamingApi):
    """The stream that a callback writes server-sent events to. Created by `stream_sse`."""

    __slots__ = ("_codecs", "_last_event_id")

    def __init__(self, last_event_id: str | None = None, codecs: Codecs | None = None) -> None:
        self._last_event_id = last_event_id
        self._codecs = codecs or default_codecs()

    @property
    def last_event_id(self) -> str | None:
        """The id of the last event that a reconnecting client received; None if there is none.

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
            data: A str is sent unchanged; its lines arrive joined with LF, whatever their line
                ends. Any other value is sent as JSON; see `Context.json`.
            event: Type of the event. Default: `message`.
            id: The id that a reconnecting client sends as `last_event_id`; `""` makes it send none.
            retry: Time that a client waits before it reconnects, in milliseconds.

        Raises:
            TypeError: If an argument has the wrong type, or `data` can't be encoded.
            ValueError: If `event` or `id` contains CR or LF, `id` NUL, or `retry` is negative.
            StreamClosedError: As for `write`.
        """
        if event is not None:
            check_event_field("write_sse()", "event", event)
        if id is not None:
            check_event_field("write_sse()", "id", id)
        if retry is not None:
            check_retry("write_sse()", retry)
        text = data if isinstance(data, str) else self._codecs.encode_json(data).decode()
        await self.write(encode_event(text, event=event, id=id, retry=retry))
