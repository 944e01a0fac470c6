# SPDX-License-Identifier: MIT
"""Finds what to run for a request."""

from __future__ import annotations

from typing import Any

from kit._state.app_state import AppState
from kit._state.plans import Plan
from kit.compose import chain_for


def plan_for(state: AppState, method: str, path: str) -> Plan:
    """Returns what to run for a method and a routing path.

    PERF: `serve` does the same without a call.
    """
    plans = state.plans
    plan = plans.by_method.get(method, {}).get(path)
    if plan is None:
        plan = _plan_of_match(state, state.find("GET" if method == "HEAD" else method, path))
        plans.until_next -= 1
        if plans.until_next <= 0:
            plans.keep(method, path, plan)
    return plan


def _plan_of_match(state: AppState, match: Any) -> Plan:
    """Returns what to run for a result of the router."""
    handlers = match[0]
    if len(handlers) == 1 and not handlers[0][0].takes_next:
        return match, handlers[0][0].handler, None, 0
    if not handlers:
        return match, None, None, 0
    return match, None, *chain_for(state.chains, handlers)
