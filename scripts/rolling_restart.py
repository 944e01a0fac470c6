# SPDX-License-Identifier: MIT
"""Restarts the machines of examples/scaling under load, and counts failed requests.

    uv run python scripts/rolling_restart.py rolling --seconds 120
    uv run python scripts/rolling_restart.py kill --seconds 60 --markdown

Two machines, each with two workers of `kit serve`, run behind nginx and share one Redis. 40
simulated visitors send 200 requests a second, a quarter of them POST. Each visitor knows how many
visits its session must contain. The scenarios:

- `rolling` restarts one machine after the other as a deployment does: drain, SIGTERM, wait, start,
  ready.
- `undrained` does the same without the drain.
- `kill` stops machines with SIGKILL.
- `redis` kills Redis and starts it again.

The exit code is 1 if a response was wrong, or if a request failed in `rolling`.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

# Found by the line above, which mypy doesn't follow.
import scaled  # type: ignore[import-not-found]
import scaled_load  # type: ignore[import-not-found]
from serving import exit_on_sigterm  # type: ignore[import-not-found]
from soak import unplanned

LIMIT = 1_000_000
SCENARIOS = ("rolling", "undrained", "kill", "redis")
DOWN_S = 2.0


class Trial:
    """A scenario and its results.

    Args:
        scenario: One of SCENARIOS.
        seconds: Duration of the load.
        pause_s: Seconds between two restarts.
        listens: Whether a client holds an event stream open, which delays a restart.
    """

    def __init__(self, scenario: str, seconds: float, pause_s: float, listens: bool) -> None:
        self.scenario = scenario
        self.seconds = seconds
        self.pause_s = pause_s
        self.listens = listens
        self.restarts: Counter[str] = Counter()
        self.restart_s: list[float] = []
        self.result = scaled_load.Result()
        self.unplanned: list[str] = []

    def run(self, folder: Path) -> None:
        """Runs the scenario."""
        with scaled.Scaled(folder, limit=f"{LIMIT}/hour") as all_of_it:
            asyncio.run(self._run(all_of_it))
            for machine in all_of_it.machines:
                self.unplanned += unplanned(machine.printed())

    async def _run(self, all_of_it: scaled.Scaled) -> None:
        load = scaled_load.Load(all_of_it.proxy.port, self.seconds, listens=self.listens)
        running = asyncio.create_task(load.run())
        disturbing = asyncio.create_task(self._disturb(all_of_it, load.end))
        # If a machine doesn't come back, the rest of the load is pointless.
        await asyncio.wait([running, disturbing], return_when=asyncio.FIRST_EXCEPTION)
        load.is_over.set()
        await disturbing
        self.result = await running

    async def _disturb(self, all_of_it: scaled.Scaled, end: float) -> None:
        await asyncio.sleep(self.pause_s)
        targets = ["redis"] if self.scenario == "redis" else ["machine 1", "machine 2"]
        longest = 0.0
        for target in itertools.cycle(targets):
            # Each target at least once; then more, while they can finish before the load does.
            has_time = time.monotonic() + longest + self.pause_s < end
            if not has_time and len(self.restarts) == len(targets):
                return
            start = time.monotonic()
            await asyncio.to_thread(self._disturb_once, all_of_it, target)
            self.restart_s.append(time.monotonic() - start)
            longest = max(self.restart_s)
            self.restarts[target] += 1
            await asyncio.sleep(self.pause_s)

    def _disturb_once(self, all_of_it: scaled.Scaled, target: str) -> None:
        if target == "redis":
            all_of_it.redis.stop()
            time.sleep(DOWN_S)
            all_of_it.redis.start()
            return
        machine = all_of_it.machines[int(target[-1]) - 1]
        if self.scenario == "kill":
            all_of_it.kill(machine, DOWN_S)
        else:
            all_of_it.restart(machine, drain=self.scenario == "rolling")

    @property
    def is_limit_shared(self) -> bool:
        """Whether the rate limit counted all responses, whichever worker sent them."""
        left: int | None = self.result.remaining
        # Failed requests may have been counted too.
        most = self.result.counted + self.result.failures
        return left is not None and self.result.counted <= LIMIT - left <= most

    def problems(self) -> list[str]:
        """Lists everything that went wrong."""
        result = self.result
        found = [f"{count} times {what}" for what, count in Counter(result.wrong).most_common(5)]
        if self.scenario == "rolling" and result.failures:
            found.append(f"{result.failures} requests failed")
        if self.scenario in ("rolling", "undrained") and self.unplanned:
            found.append(f"in the log: {self.unplanned[0]}")
        # Redis saves once a second, so it may lose counts when it is killed.
        if self.scenario != "redis" and not self.is_limit_shared:
            found.append(f"{result.counted} counted, but the limit has {result.remaining} left")
        return found

    def report(self) -> str:
        """Returns the figures as text."""
        result = self.result
        requests = result.counts["GET"] + result.counts["POST"]
        rows = [
            ("requests", f"{requests:,} ({requests / self.seconds:,.0f} a second)"),
            ("of which POST", f"{result.counts['POST']:,}"),
            ("failed", f"{result.failures:,}"),
            *((f"- {what}", f"{count:,}") for what, count in sorted(result.failed.items())),
            ("sent again by clients", f"{result.counts['sent again by the client']:,}"),
            ("wrong responses", f"{len(result.wrong):,}"),
            ("responses by worker", " ".join(map(str, result.workers.values()))),
            ("restarts", ", ".join(f"{what}: {n}" for what, n in sorted(self.restarts.items()))),
            ("a restart takes", f"{min(self.restart_s):.1f} to {max(self.restart_s):.1f} s"),
            ("times", f"{result.percentile_ms(50):.1f} ms median, {self._p99_and_longest()}"),
        ]
        if self.listens:
            events = result.events
            received = f"{events['received']:,} of about {result.counts['POST']:,}"
            rows.append(("events", f"{received}, reconnected {events['connected again']} times"))
        return "\n".join(f"{name:28}{value}" for name, value in rows)

    def _p99_and_longest(self) -> str:
        result = self.result
        longest = max(result.times_s) * 1000
        return f"{result.percentile_ms(99):.0f} ms 99th percentile, {longest:.0f} ms longest"

    def markdown(self) -> str:
        """Returns the row for the table in docs/scaling-out.md."""
        result = self.result
        failed = ", ".join(f"{n} {what}" for what, n in sorted(result.failed.items()))
        cells = [
            f"`{self.scenario}`",
            f"{self.restarts.total()}",
            f"{result.counts['GET'] + result.counts['POST']:,}",
            f"{result.failures}" + (f" ({failed})" if failed else ""),
            f"{len(result.wrong)}",
            f"{result.percentile_ms(50):.1f} ms",
            f"{result.percentile_ms(99):.0f} ms",
            f"{max(result.times_s) * 1000:.0f} ms",
        ]
        return f"| {' | '.join(cells)} |"


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument(
        "--seconds", type=float, default=120, help="duration of the load (default: 120)"
    )
    parser.add_argument(
        "--pause", type=float, default=5, help="seconds between restarts (default: 5)"
    )
    parser.add_argument("--listen", action="store_true", help="also hold an event stream open")
    parser.add_argument(
        "--markdown", action="store_true", help="also print the table row for the docs"
    )
    options = parser.parse_args()
    if reason := scaled.missing():
        sys.exit(reason)
    exit_on_sigterm()
    trial = Trial(options.scenario, options.seconds, options.pause, options.listen)
    with tempfile.TemporaryDirectory() as folder:
        trial.run(Path(folder))
    print(f"{options.scenario}, {options.seconds:g} s")
    print(trial.report())
    if options.markdown:
        print(trial.markdown())
    problems = trial.problems()
    print("\n".join(f"wrong: {each}" for each in problems) or "no problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
