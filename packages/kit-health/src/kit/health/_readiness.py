# SPDX-License-Identifier: MIT
"""Runs all checks, once for all that ask at the same time."""

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
        lifetime_s: For how many seconds a result is used again.

    Attributes:
        has_passed: Whether all checks have passed at least once.
    """

    def __init__(self, probes: Iterable[Probe], lifetime_s: float) -> None:
        self._probes = tuple(probes)
        self._lifetime_s = lifetime_s
        self._outcomes: dict[str, Outcome] | None = None
        self._ended_at = 0.0
        # An event can only be waited for in its own event loop.
        self._under_way: RunVar[Event | None] = RunVar("kit.health", None)
        self.has_passed = False

    async def outcomes(self, env: Mapping[str, Any]) -> Mapping[str, Outcome]:
        """Returns what the checks found, by their names.

        Probes that come while the checks run wait for these. They run on, as long as each may take,
        even if the probe that began them is cancelled.

        Args:
            env: The bindings of the app, which each check is called with.
        """
        known = self._outcomes
        if known is not None and monotonic() - self._ended_at < self._lifetime_s:
            return known
        under_way = self._under_way.get()
        if under_way is None:
            return await self._run(env)
        await under_way.wait()
        known = self._outcomes
        return await self._run(env) if known is None else known

    async def _run(self, env: Mapping[str, Any]) -> Mapping[str, Outcome]:
        found: dict[str, Outcome] = {}

        async def run(probe: Probe) -> None:
            found[probe.name] = await probe.run(env)

        event = Event()
        self._under_way.set(event)
        try:
            with CancelScope(shield=True):
                async with create_task_group() as tasks:
                    for probe in self._probes:
                        tasks.start_soon(run, probe)
            self._outcomes = {probe.name: found[probe.name] for probe in self._probes}
            self._ended_at = monotonic()
        finally:
            self._under_way.set(None)
            event.set()
        if all(each.error is None for each in found.values()):
            self.has_passed = True
        return self._outcomes
