# SPDX-License-Identifier: MIT
"""Requests of several browsers in any order, against a model of what has to come of them."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kit.session import get_session, revoke_sessions
from kit.session.stores import MemoryStore

KEYS = st.sampled_from("abc")
NUMBERS = st.sampled_from(range(3))


class Request:
    """A request under way, which has read its session and waits for what the test tells it."""

    def __init__(self, browser) -> None:
        self.browser = browser
        self.session: Any = None
        self.goes_on = asyncio.Event()
        self.has_read = asyncio.Event()
        # What it was told, in terms of the model.
        self.steps: list[tuple[str, Any, Any]] = []
        self.key: str | None = None

    async def handle(self, c):
        self.session = await get_session(c)
        self.has_read.set()
        await self.goes_on.wait()


class SessionsAtOnce(RuleBasedStateMachine):
    """One browser whose requests overlap, and the session that they share.

    The model keeps for each session what is certain: the last value written to a key, and the sum
    of all increments.
    """

    client_class: Any = None

    @initialize()
    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.store = MemoryStore()
        self.client = self.client_class(store=self.store)
        self.requests: list[tuple[Request, asyncio.Task[Any]]] = []
        self.model: dict[str, Any] = {"n": 0}
        self.do(self.client.do(lambda s: s.update(n=0)))

    def do(self, awaitable):
        return self.loop.run_until_complete(awaitable)

    @precondition(lambda self: len(self.requests) < 3)
    @rule()
    def begin(self) -> None:
        request = Request(self.client.other())

        async def begin():
            task = asyncio.ensure_future(request.browser.request(request.handle))
            await request.has_read.wait()
            return task

        self.requests.append((request, self.do(begin())))

    def some(self, number: int) -> Request:
        return self.requests[number % len(self.requests)][0]

    @precondition(lambda self: self.requests)
    @rule(number=NUMBERS, key=KEYS, value=st.integers(0, 3))
    def assign(self, number: int, key: str, value: int) -> None:
        request = self.some(number)
        # What it has already is no change.
        if request.session.get(key) != value:
            request.session[key] = value
            request.steps.append(("assign", key, value))

    @precondition(lambda self: self.requests)
    @rule(number=NUMBERS)
    def increment(self, number: int) -> None:
        request = self.some(number)
        request.session.update(lambda data: data.update(n=data["n"] + 1))
        request.steps.append(("increment", None, None))

    @precondition(lambda self: self.requests)
    @rule(number=NUMBERS)
    def append(self, number: int) -> None:
        request = self.some(number)
        request.session.update(lambda data: data.setdefault("log", []).append(1))
        request.steps.append(("append", None, None))

    @precondition(lambda self: self.requests)
    @rule(number=NUMBERS)
    def end(self, number: int) -> None:
        request, task = self.requests.pop(number % len(self.requests))
        before = self.do(self.client.data())
        changed = dict(request.session)
        request.goes_on.set()
        response = self.do(task)
        assert response.status == 200
        assert response.headers.get_set_cookie() == []
        self.apply(request, before, changed)

    def apply(self, request: Request, before: dict[str, Any], changed: dict[str, Any]) -> None:
        now = self.do(self.client.data())
        kinds = [kind for kind, _, _ in request.steps]
        assert now["n"] == before["n"] + kinds.count("increment")
        assert len(now.get("log", [])) == len(before.get("log", [])) + kinds.count("append")
        for key in "abc":
            assigned = [
                value for kind, name, value in request.steps if (kind, name) == ("assign", key)
            ]
            if not assigned:
                assert now.get(key) == before.get(key)
            else:
                # Assigned and set back again, it counts as no change.
                assert now.get(key) in (assigned[-1], before.get(key))
                assert changed[key] == assigned[-1]

    @rule()
    def rotate(self) -> None:
        """Requests under way lose their changes, and nothing else."""
        before = self.do(self.client.data())
        old = self.client.cookie
        self.do(self.client.do(lambda s: s.rotate(user="42")))
        assert self.client.cookie != old
        for request, task in self.requests:
            request.goes_on.set()
            assert self.do(task).headers.get_set_cookie() == []
        self.requests.clear()
        assert self.do(self.client.data()) == before
        assert self.do(self.client.do(lambda s: s.user)) == "42"

    @rule(ends=st.sampled_from(["destroy", "revoke"]))
    def end_session(self, ends: str) -> None:
        """No request under way brings it back."""
        ended = self.client.other()
        if ends == "destroy":
            self.do(self.client.do(lambda s: s.destroy()))
        else:
            self.do(self.client.do(lambda s: s.rotate(user="42")))
            ended = self.client.other()
            assert self.do(revoke_sessions(self.store, "42")) == 1
        for request, task in self.requests:
            request.goes_on.set()
            assert self.do(task).headers.get_set_cookie() == []
        self.requests.clear()
        assert self.do(ended.do(lambda s: [dict(s), s.user, s.is_new])) == [{}, None, True]
        self.client.cookies = {}
        self.do(self.client.do(lambda s: s.update(n=0)))

    @invariant()
    def reads_are_consistent(self) -> None:
        if hasattr(self, "client"):
            data = self.do(self.client.data())
            assert isinstance(data["n"], int)
            assert len(self.client.cookies) == 1

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        for request, task in self.requests:
            request.goes_on.set()
            self.do(task)
        self.loop.close()


def test_requests_at_once_as_the_model_says(new_client):
    class Machine(SessionsAtOnce):
        client_class = new_client

    run_state_machine_as_test(
        Machine, settings=settings(max_examples=30, stateful_step_count=20, deadline=None)
    )
