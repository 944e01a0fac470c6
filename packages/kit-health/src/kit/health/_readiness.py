# SPDX-License-Identifier: MIT
"""Runs all checks, once for all concurrent probes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any

from anyio import CancelScope, Event, create_task_group
from anyio.lowlevel import RunVar

from ._checks import Outcome, Probe

__all__ = ("Readiness",)


class Readiness:
    """The state of all checks.

    Args:
        probes: The checks.
        lifetime_s: How long to reuse a result, in seconds.

    Attributes:
        has_passed: Whether all checks have passed at least once.
    """

    def __init__(self, probes: Iterable[Probe], lifetime_s: float) -> None:
        self._probes = tuple(probes)
        self._lifetime_s = lifetime_s
        self._outcomes: Mapping[str, Outcome] | None = None
        self._ended_at = 0.0
        # An event can only be waited for in its own event loop. Older versions of anyio tell these
        # variables apart by name.
        self._under_way: RunVar[_Run | None] = RunVar(f"kit.health {id(self)}", None)
        self.has_passed = False

    async def outcomes(self, env: Mapping[str, Any]) -> Mapping[str, Outcome]:
        """Returns the outcomes of the checks by name.

        Probes that arrive while the checks are running wait for them. The checks continue, up to
        their timeout, even if the probe that started them is cancelled.

        Args:
            env: The bindings of the app, passed to each check.
        """
        known = self._outcomes
        if known is not None and monotonic() - self._ended_at < self._lifetime_s:
            return known
        while (under_way := self._under_way.get()) is not None:
            await under_way.over.wait()
            if under_way.outcomes is not None:
                return under_way.outcomes
        return await self._run(env)

    async def _run(self, env: Mapping[str, Any]) -> Mapping[str, Outcome]:
        found: dict[str, Outcome] = {}

        async def run(probe: Probe) -> None:
            found[probe.name] = await probe.run(env)

        this = _Run()
        self._under_way.set(this)
        try:
            with CancelScope(shield=True):
                async with create_task_group() as tasks:
                    for probe in self._probes:
                        tasks.start_soon(run, probe)
            outcomes = {probe.name: found[probe.name] for probe in self._probes}
            self._outcomes = this.outcomes = outcomes
            self._ended_at = monotonic()
        finally:
            self._under_way.set(None)
            this.over.set()
        if all(each.error is None for each in outcomes.values()):
            self.has_passed = True
        return outcomes


class _Run:
    """One run of all checks.

    Attributes:
        over: Set when it has ended.
        outcomes: Its results; None if it was interrupted.
    """

    def __init__(self) -> None:
        self.over = Event()
        self.outcomes: Mapping[str, Outcome] | None = None
