# SPDX-License-Identifier: MIT
"""A response body that a callback writes, for `kit.streaming`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any, NoReturn, TypeAlias

from kit.authoring.maybe_await import call
from kit.concurrency import DetachedTask
from kit.interface import KitError
from kit.web import ClientDisconnectedError

Sink: TypeAlias = Callable[[bytes], Awaitable[None]]

_logger = logging.getLogger("kit")
_UNSET = object()


class StreamClosedError(KitError, RuntimeError):
    """A write to a stream that accepts no more data.

    Args:
        reason: Why the stream accepts no more data.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"Can't write to the stream: {self.reason}"


class StreamAbortedError(KitError, RuntimeError):
    """The stream was aborted; raised to the server, so that it cuts the connection."""

    def __str__(self) -> str:
        return "The stream was aborted, so the response is incomplete"


class CallbackBody:
    """Runs a callback and accepts its writes, one chunk at a time.

    For a served response, `write_to` gets the server's channel: the callback runs in the task of
    the request, and a write is a `send`. Any other reader, such as a middleware that changes the
    body, or a test, iterates the body. The callback then runs in its own task: a cancel scope that
    it holds open during a write must not be open around the reader, as it would be in a generator.

    Args:
        place: Origin of the stream, for the log.
        callback: Writes the body.
        on_error: Called with an exception of the callback. None logs it.
    """

    _sink: Sink

    def __init__(
        self,
        place: str,
        callback: Callable[[], Awaitable[None]],
        on_error: Callable[[Exception], object] | None,
    ) -> None:
        self.place = place
        self.callback = callback
        self.on_error = on_error
        self.on_abort: list[Callable[[], object]] = []
        self.on_sent: Callable[[bytes], None] | None = None
        self.aborted = False
        self.closed_early = False
        self.over = False
        self.gone = False
        self.lock: Any = None  # held while a chunk is sent
        self._context = copy_context()
        self._scope: Any = None
        self._reader: _Reader | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing more can be written."""
        return self.closed_early or self.aborted or self.over

    async def put(self, chunk: bytes, only_if: Callable[[], bool] | None = None) -> None:
        """Sends a chunk, unless it is empty, after the previous chunks.

        If `only_if` returns False when it is the chunk's turn, nothing is sent.
        """
        if self.closed:
            await self._refuse()
        if not chunk:
            return
        async with self.lock:
            if self.closed:
                await self._refuse()
            if only_if is not None and not only_if():
                return
            try:
                await self._sink(chunk)
            except OSError as error:
                if not self.gone:
                    _logger.debug("The client disconnected during a streamed response: %r", error)
                await self.abort(gone=True)
                await self._refuse()
            if self.on_sent is not None:
                self.on_sent(chunk)

    async def _refuse(self) -> NoReturn:
        if self.aborted:
            from anyio.lowlevel import checkpoint

            await checkpoint()  # cancels the callback, and the tasks of its groups, here
            raise StreamClosedError("it was aborted, or the client went away")
        if self.closed_early:
            raise StreamClosedError("it was closed by close()")
        raise StreamClosedError("its callback has returned; await all that writes to it there")

    async def abort(self, *, gone: bool = False) -> None:
        """Cancels the callback where it waits, and calls the functions of `on_abort`.

        With `gone`, nothing reads the body any more, so there is no connection to drop.
        """
        if self.aborted or self.over:
            return
        from anyio import CancelScope

        self.aborted = True
        self.gone = gone
        if self._scope is not None:
            self._scope.cancel()
        # Cancelled code resumes when something below waits, or after this function. Plain functions
        # therefore run before the callback's clean-up.
        with CancelScope(shield=True):
            for callback in self.on_abort:
                try:
                    await call(callback)
                except Exception as error:
                    self._log("Exception in an on_abort callback of", error)

    async def client_left(self) -> None:
        """Handles the client's disconnect."""
        await self.abort(gone=True)

    async def write_to(self, sink: Sink) -> bool:
        """Runs the callback in this task, and passes its chunks to `sink`.

        Args:
            sink: Takes a chunk, and returns when it is ready for the next. It raises OSError if the
                client has disconnected.

        Returns:
            Whether the body is complete; if not, the client has disconnected.

        Raises:
            Exception: The exception of the callback, after it was reported.
            StreamAbortedError: If the callback aborted the stream.
        """
        from anyio import CancelScope, Lock

        if self.aborted:
            return False
        self._sink = sink
        self.lock = Lock(fast_acquire=True)
        failure: Exception | None = None
        try:
            with _seeing(self._context), CancelScope() as self._scope:
                failure = await self._call()
                # A task that the callback didn't wait for may still be writing.
                async with self.lock:
                    self.over = True
        except BaseException:  # cancelled from outside, e.g. by a server that shuts down
            self._scope = None
            await self.abort(gone=True)
            raise
        finally:
            self.over = True
        if self.gone:
            return False
        if failure is not None and not self.closed_early:
            raise failure
        if self.aborted:
            raise StreamAbortedError
        return True

    async def _call(self) -> Exception | None:
        """Runs the callback; reports and returns an exception that it raises."""
        try:
            await self.callback()
        except ClientDisconnectedError as error:
            _logger.debug("%s", error)
            await self.abort(gone=True)
        except Exception as error:
            if self._follows_abort(error):
                return None
            await self._report(error)
            return error
        return None

    async def _report(self, error: Exception) -> None:
        if self.on_error is None:
            self._log("Exception in the callback of", error)
            return
        try:
            await call(self.on_error, error)
        except Exception as second:
            if not self._follows_abort(second):
                self._log("Exception in the on_error of", second)

    def _follows_abort(self, error: Exception) -> bool:
        """Returns whether an error only results from the abort."""
        if isinstance(error, ExceptionGroup):
            return self.aborted and error.split(StreamClosedError)[1] is None
        return self.aborted and isinstance(error, StreamClosedError)

    def _log(self, what: str, error: Exception) -> None:
        _logger.error("%s %s", what, self.place, exc_info=error)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._reader is None:
            self._reader = _Reader(self)
        return await self._reader.next()

    async def aclose(self) -> None:
        """Stops the callback if the body was iterated, but not completely."""
        if self._reader is not None:
            await self._reader.aclose()


class _Reader:
    """Runs a callback in its own task while its chunks are read, and returns the chunks.

    It isn't an async generator: loop shutdown would close it and the generators around it at once.
    """

    def __init__(self, body: CallbackBody) -> None:
        from anyio import create_memory_object_stream

        self._body = body
        self._giving, self._taking = create_memory_object_stream[bytes](0)
        # Raised to the reader at the end; the initial one if the event loop ends the task.
        self._failure: BaseException | None = StreamAbortedError()
        self._task = DetachedTask(self._work, on_end=self._giving.close)

    async def _work(self) -> None:
        try:
            complete = await self._body.write_to(self._sink)
            self._failure = None if complete else ClientDisconnectedError("The client disconnected")
        except (Exception, SystemExit) as error:  # a SystemExit would end the event loop
            self._failure = error

    async def _sink(self, chunk: bytes) -> None:
        from anyio import BrokenResourceError

        try:
            await self._giving.send(chunk)
        except BrokenResourceError as error:
            raise BrokenPipeError("the body is not read any further") from error

    async def next(self) -> bytes:
        from anyio import ClosedResourceError, EndOfStream

        try:
            return await self._taking.receive()
        except (ClosedResourceError, EndOfStream):
            failure = self._failure
            await self.aclose()
        except BaseException:
            await self.aclose()
            raise
        if failure is not None:
            raise failure
        raise StopAsyncIteration

    async def aclose(self) -> None:
        from anyio import CancelScope

        with CancelScope(shield=True):
            await self._body.client_left()
            self._taking.close()
            await self._task.wait()
        self._failure = None


@contextmanager
def _seeing(context: Context) -> Iterator[None]:
    """Sets the context variables to the values they had when `context` was copied.

    A middleware may have reset its variables, and a reader may run in another task.
    """
    tokens = [
        (variable, variable.set(value))
        for variable, value in context.items()
        if variable.get(_UNSET) is not value
    ]
    try:
        yield
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)
