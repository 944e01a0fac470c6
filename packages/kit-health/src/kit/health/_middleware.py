# SPDX-License-Identifier: MIT
"""The middleware that answers probes."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from kit.interface import Context, Next, Response
from kit.interface.options import OptionChecks
from kit.interface.signatures import accepts

from ._checks import Check, Outcome, Probe
from ._readiness import Readiness

__all__ = ("Health", "health")

# SPEC: draft-inadarei-api-health-check-06, which has expired, but is what is in use.
_HEADERS = {"content-type": "application/health+json", "cache-control": "no-store"}
_PASS, _FAIL = "pass", "fail"
_DRAINING = "The process is about to end"


class Health:
    """Middleware that answers probes; made by `health`."""

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
        """Whether the app is to get no more requests, since it is about to end."""
        return self._is_drained or (self._drain_file is not None and self._drain_file.exists())

    def drain(self) -> None:
        """Makes the app not ready from now on: load balancers then send it no more requests.

        It goes on answering. A signal handler may call it.
        """
        self._is_drained = True

    # PERF: not async, so that all other requests need no coroutine for it.
    def __call__(self, c: Context[Any, Any], next: Next) -> Awaitable[Response | None]:
        """Answers a probe, or calls the next handler."""
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
    """Returns middleware that answers probes, as Kubernetes and load balancers send them.

    `live` answers 200 as long as the process answers at all. `ready` runs all checks at the same
    time, and answers 200 if all pass, else 503. `startup` answers 503 until all checks have passed
    once, and 200 from then on. The answers to GET and HEAD are documents of the type
    `application/health+json` with the status and duration of each check; nothing caches them.

    Probes at the same time share one run of the checks, which a probe that is cancelled doesn't
    stop. A check that fails is logged when it begins to fail, and when it passes again.

    Args:
        checks: Name of each check, and its function: `(env)`, called with `c.env`, or `()`. It
            fails if it raises an exception or returns False. An async function runs in the event
            loop, a plain one in a thread; a thread that hangs is not started a second time.
        live: Path of the liveness probe, as it is matched by routes; None for none.
        ready: Path of the readiness probe; None for none.
        startup: Path of the startup probe; None for none.
        timeout: How many seconds each check may take. A plain function runs on after that.
        cache: For how many seconds a result of the checks is used again.
        drain_file: While this file exists, the app is not ready, as after `drain()`. Create it in a
            preStop hook; all processes see it.
        show_errors: Whether the answer has the text of exceptions, which may hold secrets.

    Returns:
        The middleware, for `app.use(...)`; its `drain()` makes the app not ready. Register it
        before loggers, metrics and guards.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If it can't be used, or two probes have the same path.

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
        if not (callable(function) and accepts(function, 0)):
            check.function(f"checks[{name!r}]", function, "(env)")
        probes.append(Probe(name, function, timeout))
    paths = _paths(check, {"live": live, "ready": ready, "startup": startup})
    file = None
    if drain_file is not None:
        if not isinstance(drain_file, (str, PathLike)):
            check.wrong_type("drain_file", drain_file, "a path")
        file = Path(fspath(drain_file))
    return Health(Readiness(probes, cache), paths, file, show_errors)


def _paths(check: OptionChecks, paths: Mapping[str, Any]) -> dict[str, str]:
    """Returns which probe each path is for."""
    found: dict[str, str] = {}
    for kind, path in paths.items():
        if path is None:
            continue
        check.text(kind, path, r"/.*", f"a path such as '/{kind}z', or None")
        if path in found:
            raise ValueError(
                f"health({kind}={path!r:.100}) can't be used: it is the path of {found[path]} too"
            )
        found[path] = kind
    if not found:
        raise ValueError("health() needs a path: live=..., ready=... or startup=...")
    return found
