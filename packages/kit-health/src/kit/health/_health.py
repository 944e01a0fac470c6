# SPDX-License-Identifier: MIT
"""The middleware that responds to probes."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from kit.authoring.options import OptionChecks
from kit.authoring.signatures import accepts
from kit.interface import Context, Next, Response

from ._checks import Check, Outcome, Probe
from ._readiness import Readiness

__all__ = ("Health", "health")

# SPEC: draft-inadarei-api-health-check-06, which has expired but is widely used.
_HEADERS = {"content-type": "application/health+json", "cache-control": "no-store"}
_PASS, _FAIL = "pass", "fail"
_DRAINING = "The process is shutting down"


class Health:
    """Middleware that responds to probes; created by `health`."""

    def __init__(
        self,
        readiness: Readiness,
        paths: Mapping[str, str],
        drain_file: Path | None,
        show_errors: bool,
    ) -> None:
        self._readiness = readiness
        self._kinds = paths
        self._drain_file = drain_file
        self._show_errors = show_errors
        self._is_drained = False

    @property
    def draining(self) -> bool:
        """Whether the app is shutting down and should get no more requests."""
        return self._is_drained or (self._drain_file is not None and self._drain_file.exists())

    def drain(self) -> None:
        """Makes the app not ready, so that load balancers stop sending requests to it.

        The app keeps responding. A signal handler may call this.
        """
        self._is_drained = True

    # PERF: not async, which saves a coroutine for all other requests.
    def __call__(self, c: Context[Any, Any], next: Next) -> Awaitable[Response | None]:
        """Responds to a probe, or calls the next handler."""
        kind = self._kinds.get(c.req.path)
        if kind is None or c.req.method not in ("GET", "HEAD"):
            return next()
        return self._answer(c, kind)

    async def _answer(self, c: Context[Any, Any], kind: str) -> Response:
        has_passed = self._readiness.has_passed
        if kind == "live" or (kind == "startup" and has_passed):
            return c.json({"status": _PASS}, 200, _HEADERS)
        if kind == "ready" and self.draining:
            return c.json({"status": _FAIL, "output": _DRAINING}, 503, _HEADERS)
        outcomes = await self._readiness.outcomes(c.env)
        passed = all(each.error is None for each in outcomes.values())
        document = {
            "status": _PASS if passed else _FAIL,
            "checks": {name: [self._described(each)] for name, each in outcomes.items()},
        }
        return c.json(document, 200 if passed else 503, _HEADERS)

    def _described(self, outcome: Outcome) -> dict[str, Any]:
        described: dict[str, Any] = {
            "status": _PASS if outcome.error is None else _FAIL,
            "observedValue": round(outcome.duration_s * 1000, 3),
            "observedUnit": "ms",
        }
        if self._show_errors and outcome.error is not None:
            described["output"] = outcome.error
        return described


def health(
    checks: Mapping[str, Check] | None = None,
    *,
    live: str | None = "/livez",
    ready: str | None = "/readyz",
    startup: str | None = None,
    timeout: float = 5.0,
    cache: float = 0.0,
    drain_file: str | PathLike[str] | None = None,
    show_errors: bool = False,
) -> Health:
    """Returns middleware that responds to probes of Kubernetes and load balancers.

    `live` returns 200 as long as the process is running. `ready` runs all checks concurrently, and
    returns 200 if all pass, otherwise 503. `startup` returns 503 until all checks have passed once,
    and 200 from then on. The responses to GET and HEAD are documents of the type
    `application/health+json` with the status and duration of each check; they aren't cached.

    Concurrent probes share one run of the checks; cancelling a probe doesn't stop it. A check is
    logged when it starts to fail, and when it passes again.

    Args:
        checks: Maps the name of each check to its function: `(env)`, called with `c.env`, or `()`.
            It fails if it raises an exception or returns False. Async functions run in the event
            loop, plain ones in a thread. A check that hangs isn't started again, and fails.
        live: Path of the liveness probe, in the form that routes match; None disables it.
        ready: Path of the readiness probe; None disables it.
        startup: Path of the startup probe; None disables it.
        timeout: Timeout of each check in seconds. Then an async function is cancelled, and a plain
            one continues to run.
        cache: How long to reuse the results of the checks, in seconds.
        drain_file: While this file exists, the app isn't ready, as after `drain()`. Create it in a
            preStop hook; all processes see it.
        show_errors: Whether responses include exception messages, which may contain secrets.

    Returns:
        The middleware, for `app.use(...)`; its `drain()` makes the app not ready. Register it
        before loggers, metrics and guards.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If an option is invalid, or two probes have the same path.

    Example:
        app.use(health({"database": lambda env: env["database"].ping()}, timeout=2))
    """
    check = OptionChecks("health")
    if checks is None:
        checks = {}
    if not isinstance(checks, Mapping):
        check.wrong_type("checks", checks, "a mapping of names to functions (env)")
    check.number("timeout", timeout, whole=False, unit="seconds")
    if timeout <= 0:
        check.unusable("timeout", timeout, "more than 0 seconds")
    check.number("cache", cache, least=0, whole=False, unit="seconds")
    check.flag("show_errors", show_errors)
    probes = []
    for name, function in checks.items():
        check.text("checks", name, r"\S.*", "names such as 'database'")
        takes_nothing = callable(function) and accepts(function, 0)
        check.function(f"checks[{name!r}]", function, "()" if takes_nothing else "(env)")
        probes.append(Probe(name, function, timeout))
    paths = _paths(check, {"live": live, "ready": ready, "startup": startup})
    file = None
    if drain_file is not None:
        if not isinstance(drain_file, (str, PathLike)):
            check.wrong_type("drain_file", drain_file, "a path")
        file = Path(fspath(drain_file))
    return Health(Readiness(probes, cache), paths, file, show_errors)


def _paths(check: OptionChecks, paths: Mapping[str, Any]) -> dict[str, str]:
    """Maps each path to its probe."""
    found: dict[str, str] = {}
    for kind, path in paths.items():
        if path is None:
            continue
        check.text(kind, path, r"/[^?#]*", f"a path such as '/{kind}z', or None")
        if path in found:
            raise ValueError(
                f"health({kind}={path!r:.100}) can't be used: {found[path]} has the same path"
            )
        found[path] = kind
    if not found:
        raise ValueError("health() needs a path: live=..., ready=... or startup=...")
    return found
