# SPDX-License-Identifier: MIT
"""The processes of the peers, seen from the one that compares them."""

from __future__ import annotations

import json
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTHON_M = (sys.executable, "-m")
"""The start of a command that runs a module of this tree."""
_END_LIMIT_S = 10


class WorkerError(Exception):
    """A worker could not do what it was told, or did not answer in time."""


class Worker:
    """A process that holds the apps of one peer, see `worker.py`.

    Args:
        name: The peer.
        python_m: The start of a command that runs a module.
        label: What errors call the worker; the peer by default.
    """

    def __init__(
        self, name: str, python_m: Sequence[str] = PYTHON_M, label: str | None = None
    ) -> None:
        self.name = label or name
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        self._process = subprocess.Popen(
            [*python_m, "benchmarks.worker", name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._selector = selectors.DefaultSelector()
        assert self._process.stdout is not None
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def ask(self, do: str, limit_s: float = 120, **arguments: Any) -> Any:
        """Has the worker do something.

        Args:
            do: A method of `worker.Worker`.
            limit_s: How many seconds it may take.
            **arguments: Those of the method.

        Returns:
            What it gave.

        Raises:
            WorkerError: If it failed, or took too long; the process is ended then.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise WorkerError(f"{self.name}: the process is gone; {self._last_words()}") from None
        if not self._selector.select(limit_s):
            self.kill()
            raise WorkerError(f"{self.name}: {do} took more than {limit_s:g} s")
        line = stdout.readline()
        if not line:
            raise WorkerError(f"{self.name}: the process is gone; {self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(f"{self.name}: {answer['error']}")
        return answer["ok"]

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Ends the process."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # it is gone, and did not read what is left
                self._process.stdin.close()
        try:
            self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._selector.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()

    def _last_words(self) -> str:
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        return said[-1] if said else "it said nothing"


class Crew:
    """The workers of several peers; a context manager, which ends them.

    Attributes:
        workers: By name, in order.
        left_out: What was left out, and why; a line each.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.workers: dict[str, Worker] = {}
        self.left_out: list[str] = []

    def __enter__(self) -> Crew:
        self.workers = {name: Worker(name) for name in self._names}
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers.values():
            worker.end()

    def in_turn(self, round_number: int) -> list[Worker]:
        """The workers, each round beginning with another one."""
        workers = list(self.workers.values())
        first = round_number % len(workers)
        return workers[first:] + workers[:first]
