# SPDX-License-Identifier: MIT
"""Cancels work on asyncio once, and tells a cancellation from an error that looks like one."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from .event_loops import running_trio

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ("Cancellation", "find_fault", "is_cancelled", "is_fault", "is_shielded")

# How often a cancellation that has to wait for a shield is tried again.
_RETRY_S = 0.01


def is_shielded(task: Any) -> bool:
    """Returns whether a task of asyncio is within a cancel scope of anyio that shields it.

    PERF: work in a cancel scope of our own would be shielded by anyio itself, but entering one
    takes as long as a short stream. anyio has no function for that; without what is looked up here,
    nothing is shielded.

    Args:
        task: The task.
    """
    states = getattr(sys.modules.get("anyio._backends._asyncio"), "_task_states", {})
    scope = getattr(states.get(task), "cancel_scope", None)
    while scope is not None:
        if scope.shield:
            return True
        scope = getattr(scope, "_parent_scope", None)
    return False


def is_cancelled() -> bool:
    """Returns whether somebody has cancelled the running task of asyncio.

    If not, a CancelledError in it is an error of the code that raised it.
    """
    import asyncio

    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def is_fault(error: BaseException) -> bool:
    """Returns whether an exception is an error of the code that raised it; see `find_fault`.

    Args:
        error: An exception that was raised in the running task.
    """
    if isinstance(error, Exception):
        return True
    asyncio: Any = sys.modules.get("asyncio")
    if asyncio is None or not isinstance(error, asyncio.CancelledError):
        return False
    return running_trio() is not None or not is_cancelled()


def find_fault(error: BaseException) -> Exception:
    """Returns the error of code that raised CancelledError although its task wasn't cancelled.

    As a BaseException, it would pass by everything that handles errors.

    Args:
        error: An exception that was raised in the running task.

    Returns:
        A RuntimeError with the exception as its cause; or the exception itself if it is an
        Exception.

    Raises:
        BaseException: The exception, if the task was cancelled or the process is to end.
    """
    if isinstance(error, Exception):
        return error
    if not is_fault(error):
        try:
            raise error
        finally:
            # The traceback refers to this frame. A cycle would keep alive what the request holds.
            del error
    fault = RuntimeError(
        f"The code raised {error!r}, but was not cancelled itself: it awaited a task or future "
        "that was, or raised it. Catch it where that is awaited"
    )
    fault.__cause__ = error
    return fault


class Cancellation:
    """A context manager whose block can be cancelled once, where it waits, on asyncio.

    A cancel scope of anyio goes on to cancel every `await` of the block. With this, `finally`
    blocks and context managers can roll back and return connections to a pool, as with
    `asyncio.timeout()`. Shields of anyio are respected.

        with Cancellation() as cancellation:
            timer = loop.call_later(5, cancellation.request)
            ...

    It is created in the task that runs the block.

    Attributes:
        is_caught: Whether the block ended because of the cancellation, after it has ended.
    """

    def __init__(self) -> None:
        import asyncio

        self.is_caught = False
        self._loop = asyncio.get_running_loop()
        task: Any = asyncio.current_task(self._loop)
        self._task = task
        self._cancellations = task.cancelling()
        self._has_cancelled = self._has_ended = self._is_requested = False

    def __enter__(self) -> Cancellation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        from asyncio import CancelledError

        self._has_ended = True
        if self._has_cancelled:
            # If more cancellations are left, someone else has cancelled the task as well.
            is_ours = self._task.uncancel() <= self._cancellations
            self.is_caught = is_ours and isinstance(error, CancelledError)
        return self.is_caught

    def request(self) -> None:
        """Cancels the block where it waits, or as soon as it leaves a shield.

        Call it in the event loop, from outside of the block's task. Later calls, and those after
        the end of the block, do nothing.
        """
        if self._has_ended or self._has_cancelled:
            return
        if is_shielded(self._task):
            self._is_requested = True
            self._loop.call_later(_RETRY_S, self.request)
        else:
            self._cancel()

    def checked(self, steps: Any) -> Generator[Any, Any, Any]:
        """Returns steps of the block that are cancelled at their first wait after a shield.

        Args:
            steps: The result of the `__await__` of the block's work, or a coroutine; see
                `kit.authoring.maybe_await.resume`.
        """
        return _Checked(self, steps)

    def _cancel(self) -> None:
        self._has_cancelled = True
        self._task.cancel()

    def _check(self) -> None:
        if self._is_requested and not self._has_cancelled and not is_shielded(self._task):
            self._cancel()


class _Checked(Generator[Any, Any, Any]):
    """See `Cancellation.checked`."""

    def __init__(self, cancellation: Cancellation, steps: Any) -> None:
        self._cancellation = cancellation
        self._steps = steps

    def send(self, value: Any) -> Any:
        waits_for = self._steps.send(value)
        self._cancellation._check()
        return waits_for

    def throw(self, error: Any, *rest: Any) -> Any:
        waits_for = self._steps.throw(error, *rest)
        self._cancellation._check()
        return waits_for
