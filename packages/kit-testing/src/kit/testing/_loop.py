# SPDX-License-Identifier: MIT
"""The event loop of the synchronous test client, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from kit.testing._caller import Caller
from kit.testing._execution import WatchedBody
from kit.testing._inputs import Call
from kit.testing._sync_response import SyncResponse
from kit.web import BodyStream, Response

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal


class Worker:
    """A task of the event loop that runs functions for another thread, one after another.

    One task runs the handler and reads the body, as in a server: cancel scopes and context
    variables of a streamed body belong to the task that reads it.

    Args:
        portal: The portal to the event loop.
    """

    def __init__(self, portal: BlockingPortal) -> None:
        from math import inf

        from anyio import create_memory_object_stream

        self._portal = portal
        self._jobs, self._taken = create_memory_object_stream[Any](inf)
        self._ended = portal.start_task_soon(self._work)

    @property
    def interrupted(self) -> bool:
        """Whether the task is cancelled because the thread that waited for it was interrupted."""
        return self._ended.cancelled()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Runs an async function in the task; returns its result or raises its exception."""
        done: Future[Any] = Future()
        try:
            self._portal.call(self._jobs.send_nowait, (function, args, done))
            return done.result()
        finally:
            if not done.done():  # Ctrl-C, or a timeout of pytest
                self._ended.cancel()

    def cancel(self) -> None:
        """Ends the task, even while a function runs."""
        self._ended.cancel()
        self._portal.call(self._jobs.close)

    def end(self) -> None:
        """Ends the task, once all functions have run."""
        self._portal.call(self._jobs.close)
        if not self.interrupted:
            self._ended.result()

    async def _work(self) -> None:
        from anyio import get_cancelled_exc_class

        with self._taken:
            async for function, args, done in self._taken:
                try:
                    done.set_result(await function(*args))
                except get_cancelled_exc_class() as error:
                    done.set_exception(error)
                    raise
                except BaseException as error:  # pytest.fail() raises no Exception
                    done.set_exception(error)


class SyncCaller(Caller):
    """A caller for use from other threads.

    Attributes:
        portal: The portal to the event loop; None outside the client's `with` block.
    """

    portal: BlockingPortal | None = None

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._streams: dict[Worker, WatchedBody] = {}

    def answer(self, call: Call) -> SyncResponse:
        """Sends a request and returns the response; a streamed body stays unread."""
        worker = Worker(self.running_portal())
        try:
            response, content, watched = worker.run(self._fetch, call)
        except BaseException:
            worker.cancel()  # it may be interrupted at any point, even with the request under way
            raise
        if watched is None:
            worker.end()
            return SyncResponse(self, response, content, None)
        self._streams[worker] = watched
        return SyncResponse(self, response, None, worker)

    async def _fetch(self, call: Call) -> tuple[Response, bytes, WatchedBody | None]:
        response, watched = await self.fetch_watched(call)
        return response, b"" if watched else await response.bytes(), watched

    def running_portal(self) -> BlockingPortal:
        """Returns the portal to the event loop.

        Raises:
            RuntimeError: If the client is not running.
        """
        if self.portal is None:
            raise RuntimeError(
                "The client is not running: put the call into "
                "`with sync_test_client(app) as client:`"
            )
        return self.portal

    def is_open(self, worker: Worker) -> bool:
        """Returns whether a streamed body can still be read."""
        return worker in self._streams

    def close_stream(self, worker: Worker, chunks: BodyStream | None = None) -> None:
        """Closes a streamed body, which runs the background tasks of its request.

        Args:
            worker: The task that reads it.
            chunks: Its iterator, if it is being iterated.
        """
        body = self._streams.pop(worker, None)
        if body is None:
            return
        try:
            if not worker.interrupted:
                worker.run((chunks or body).aclose)
        finally:
            worker.end()

    def close_streams(self) -> None:
        """Closes all open streamed bodies."""
        with ExitStack() as stack:
            for worker in self._streams:
                stack.callback(self.close_stream, worker)
