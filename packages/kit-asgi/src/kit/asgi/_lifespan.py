# SPDX-License-Identifier: MIT
"""The lifespan of a mounted ASGI application."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from kit.concurrency import DetachedTask, Signal
from kit.interface import HandlerError

from ._exchange import call_app
from ._types import Message, Scope

_logger = logging.getLogger("kit")


@asynccontextmanager
async def run_lifespan(app: Callable[..., Any], name: str) -> AsyncIterator[dict[str, Any]]:
    """Starts an ASGI application, yields the state it set, and stops it at the end.

    If the application raises on the lifespan scope, or returns, it has no lifespan; this isn't an
    error.

    SPEC: ASGI Lifespan Protocol, version 2.0, including "Lifespan State".

    Args:
        app: The application.
        name: Its name in error messages.

    Raises:
        HandlerError: If it reports that its startup or shutdown failed.
    """
    run = _Run(app, name)
    await run.say("startup")
    try:
        yield run.state
    finally:
        await run.say("shutdown")
        await run.end()


class _Run:
    """The task in which an application runs its lifespan.

    Not a task group: different tasks may start and stop a lifespan, as in a test fixture, and a
    cancel scope must not stay open from one to the other.
    """

    def __init__(self, app: Callable[..., Any], name: str) -> None:
        self.state: dict[str, Any] = {}
        self._app = app
        self._name = name
        self._to_app = Signal()
        self._to_us = Signal()
        self._said: list[str] = []
        self._heard = 0
        self._answers: dict[str, Message] = {}
        self._task: DetachedTask | None = None

    async def say(self, event: str) -> None:
        """Sends an event and waits for the reply; returns without one if the application ends.

        Raises:
            HandlerError: If the application replies that it failed.
        """
        self._said.append(event)
        if self._task is None:
            self._task = DetachedTask(self._run, changed=self._to_us)
        self._to_app.tell()
        try:
            while event not in self._answers and not self._task.over:
                await self._to_us.wait()
        except BaseException:
            await self.end()
            raise
        answer = self._answers.get(event)
        if answer is not None and answer["type"].endswith(".failed"):
            await self.end()
            message = answer.get("message") or "no reason given"
            raise HandlerError(self._name, f"failed at {event}: {message}") from self._task.failure

    async def end(self) -> None:
        """Cancels the task; after its last reply, the application has nothing left to do in it."""
        if self._task is not None:
            await self._task.cancel_and_wait()

    async def _run(self) -> None:
        scope: Scope = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": self.state,
        }
        try:
            await call_app(self._app, self._name, scope, self._receive, self._send)
        except Exception as error:
            self._log(error)
            raise

    def _log(self, error: Exception) -> None:
        if any(answer["type"].endswith(".failed") for answer in self._answers.values()):
            return  # raised by `say`
        if "startup" in self._answers:
            _logger.error("Exception in the lifespan of %s", self._name, exc_info=error)
        elif self._heard:
            # By the specification, even this is an application without a lifespan.
            _logger.warning("%s has no lifespan, or it broke: %r", self._name, error)
        else:
            _logger.debug("%s has no lifespan: %r", self._name, error)

    async def _receive(self) -> Message:
        while self._heard == len(self._said):
            await self._to_app.wait()
        self._heard += 1
        return {"type": f"lifespan.{self._said[self._heard - 1]}"}

    async def _send(self, message: Message) -> None:
        kind: str = message["type"]
        _, _, event = kind.rpartition(".")[0].rpartition(".")
        if event not in self._said or not kind.endswith((".complete", ".failed")):
            raise RuntimeError(
                f"{self._name} sent {kind!r}, which isn't a reply to a lifespan event"
            )
        self._answers.setdefault(event, message)
        self._to_us.tell()
