# SPDX-License-Identifier: MIT
"""What probes are answered with, and how the checks are run."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from kit import Kit
from kit.health import Health, health
from kit.interface import plugins

DRAINING = {"status": "fail", "output": "The process is shutting down"}


def app_with(probes: Health) -> Kit:
    app = Kit()
    app.use(probes)
    app.get("/", lambda c: c.text("Hello"))
    return app


async def get(app: Kit, path: str, method: str = "GET", env: Any = None) -> tuple[int, Any]:
    response = await app.request(path, method=method, env=env)
    body = await response.text()
    assert response.headers.get("content-type") == "application/health+json"
    assert response.headers.get("cache-control") == "no-store"
    return response.status, json.loads(body)


def statuses(document: Any) -> dict[str, str]:
    """The status of each check; the rest of it is as documented."""
    found = {}
    for name, (check,) in document["checks"].items():
        assert {*check} == {"status", "observedValue", "observedUnit"}
        assert check["observedValue"] >= 0
        assert check["observedUnit"] == "ms"
        found[name] = check["status"]
    return found


def passes(env: Mapping[str, Any]) -> None:
    """A plain check that passes."""


async def passes_too(env: Mapping[str, Any]) -> bool:
    return True


def fails(env: Mapping[str, Any]) -> None:
    raise ConnectionError("secret of the database")


async def is_false(env: Mapping[str, Any]) -> bool:
    return False


class AsyncObject:
    async def __call__(self, env: Mapping[str, Any]) -> None:
        assert threading.current_thread() is threading.main_thread()


def test_without_checks_it_is_alive_and_ready(run: Callable[..., Any]) -> None:
    app = app_with(health())
    assert run(get, app, "/livez") == (200, {"status": "pass"})
    assert run(get, app, "/readyz") == (200, {"status": "pass", "checks": {}})


def test_all_checks_pass(run: Callable[..., Any]) -> None:
    checks = {"a": passes, "b": passes_too, "c": lambda env: passes_too(env), "d": AsyncObject()}
    status, document = run(get, app_with(health(checks)), "/readyz")
    assert (status, document["status"]) == (200, "pass")
    assert statuses(document) == dict.fromkeys("abcd", "pass")
    assert [*document["checks"]] == [*"abcd"]


def test_checks_may_take_no_argument(run: Callable[..., Any]) -> None:
    async def false() -> bool:
        return False

    checks: dict[str, Any] = {"a": lambda: True, "b": false, "c": passes}
    status, document = run(get, app_with(health(checks)), "/readyz")
    assert status == 503
    assert statuses(document) == {"a": "pass", "b": "fail", "c": "pass"}


def test_a_check_that_fails_is_told_without_its_text_and_logged_on_a_change(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kit.health")
    state = {"database": fails}
    app = app_with(health({"database": lambda env: state["database"](env), "cache": passes}))
    for _ in range(2):
        status, document = run(get, app, "/readyz")
        assert (status, document["status"]) == (503, "fail")
        assert statuses(document) == {"database": "fail", "cache": "pass"}
    assert run(get, app, "/livez")[0] == 200
    state["database"] = passes
    assert run(get, app, "/readyz")[0] == 200
    said = [(record.levelname, record.getMessage()) for record in caplog.records]
    error = "ConnectionError('secret of the database')"
    assert said == [
        ("WARNING", f"The health check 'database' fails: {error}"),
        ("INFO", "The health check 'database' passes again"),
    ]
    assert caplog.records[0].exc_info is not None


@pytest.mark.parametrize(
    ("check", "output"),
    [
        (fails, "ConnectionError('secret of the database')"),
        (is_false, "returned False"),
        (lambda env: False, "returned False"),
    ],
)
def test_errors_are_shown_if_that_is_asked_for(
    run: Callable[..., Any], check: Any, output: str
) -> None:
    status, document = run(get, app_with(health({"x": check}, show_errors=True)), "/readyz")
    assert status == 503
    assert document["checks"]["x"][0]["output"] == output


def test_a_check_that_ends_its_thread_fails(run: Callable[..., Any]) -> None:
    def leave(env: Any) -> None:
        raise SystemExit(3)

    _, document = run(get, app_with(health({"x": leave}, show_errors=True)), "/readyz")
    assert document["checks"]["x"][0]["output"] == (
        "RuntimeError('the check raised SystemExit(3)')"
    )


def test_an_async_check_that_takes_too_long_is_cancelled(run: Callable[..., Any]) -> None:
    cancelled = []

    async def slow(env: Any) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(True)

    probes = health({"slow": slow, "quick": passes}, timeout=0.01, show_errors=True)
    status, document = run(get, app_with(probes), "/readyz")
    assert status == 503
    assert document["checks"]["slow"][0]["output"] == "took longer than 0.01 s"
    assert cancelled == [True]


def test_a_thread_that_hangs_is_not_started_again(run: Callable[..., Any]) -> None:
    go_on = threading.Event()
    ended = threading.Semaphore(0)
    started = []

    def hang(env: Any) -> None:
        started.append(threading.current_thread())
        try:
            go_on.wait()
        finally:
            ended.release()

    app = app_with(health({"x": hang}, timeout=0.01, show_errors=True))

    async def ask() -> list[str]:
        outputs = []
        for _ in range(3):
            status, document = await get(app, "/readyz")
            assert status == 503
            outputs.append(document["checks"]["x"][0]["output"])
        return outputs

    try:
        still = "RuntimeError('the check of an earlier probe is still running')"
        assert run(ask) == ["took longer than 0.01 s", still, still]
        assert len(started) == 1
        assert started[0].daemon
    finally:
        go_on.set()
    assert ended.acquire(timeout=30)
    started[0].join(30)
    # Several times, as a busy machine may take longer than the timeout.
    assert 200 in (run(get, app, "/readyz")[0] for _ in range(1000))


def test_a_check_that_cant_be_cancelled_holds_no_probe_and_is_not_started_again(
    run: Callable[..., Any],
) -> None:
    go_on = threading.Event()
    started = []

    async def hang(env: Any) -> None:
        started.append(1)
        await anyio.to_thread.run_sync(go_on.wait)

    app = app_with(health({"x": hang, "y": passes_too}, timeout=0.01, show_errors=True))

    async def ask() -> None:
        outputs: list[str] = []

        async def probe() -> None:
            status, document = await get(app, "/readyz")
            assert status == 503
            assert document["checks"]["y"][0]["status"] == "pass"
            outputs.append(document["checks"]["x"][0]["output"])

        try:
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(probe)
            await probe()
            still = "RuntimeError('the check of an earlier probe is still running')"
            assert outputs == [*["took longer than 0.01 s"] * 3, still]
            assert len(started) == 1
        finally:
            go_on.set()
        # Several times: the thread has to end, and then a busy machine may exceed the timeout.
        while (await get(app, "/readyz"))[0] != 200:
            await anyio.lowlevel.checkpoint()
        assert len(started) >= 2

    run(ask)


def test_a_check_that_was_cancelled_in_vain_ends_with_the_event_loop() -> None:
    ended = []

    async def stubborn(env: Any) -> None:
        try:
            with anyio.CancelScope(shield=True):
                await anyio.sleep_forever()
        finally:
            ended.append(True)

    app = app_with(health({"x": stubborn}, timeout=0.01))

    async def ask() -> None:
        assert (await get(app, "/readyz"))[0] == 503
        assert ended == []

    asyncio.run(ask())
    assert ended == [True]


def test_after_an_interrupted_run_a_check_is_only_started_when_it_has_cleaned_up() -> None:
    async def ask() -> None:
        began, go_on = anyio.Event(), anyio.Event()
        running = []

        async def check(env: Any) -> None:
            assert running == []
            running.append(1)
            try:
                if not began.is_set():
                    began.set()
                    await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await go_on.wait()
                running.clear()

        app = app_with(health({"x": check}, timeout=30))
        interrupted = asyncio.create_task(get(app, "/readyz"))
        await began.wait()
        interrupted.cancel()
        with pytest.raises(asyncio.CancelledError):
            await interrupted
        later = asyncio.create_task(get(app, "/readyz"))
        await anyio.wait_all_tasks_blocked()
        assert not later.done()
        go_on.set()
        assert (await later)[0] == 200

    anyio.run(ask)


def test_what_is_no_exception_of_a_check_ends_the_probe(run: Callable[..., Any]) -> None:
    class Stop(BaseException):
        pass

    async def stop(env: Any) -> None:
        raise Stop

    async def ask() -> None:
        with pytest.raises(BaseExceptionGroup) as raised:
            await get(app_with(health({"x": stop})), "/readyz")
        assert raised.group_contains(Stop)

    run(ask)


def test_checks_run_at_the_same_time_and_probes_share_them(run: Callable[..., Any]) -> None:
    async def ask() -> None:
        both = anyio.Event()
        running = []

        async def meet(env: Any) -> None:
            running.append(1)
            if len(running) == 2:
                both.set()
            await both.wait()

        app = app_with(health({"a": meet, "b": meet}))
        found = []

        async def probe() -> None:
            found.append((await get(app, "/readyz"))[0])

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(probe)
        assert found == [200] * 5
        assert len(running) == 2

    run(ask)


def test_a_cancelled_probe_doesnt_stop_the_checks_of_others(run: Callable[..., Any]) -> None:
    async def ask() -> None:
        began, go_on = anyio.Event(), anyio.Event()
        calls = []

        async def check(env: Any) -> None:
            calls.append(1)
            began.set()
            await go_on.wait()

        app = app_with(health({"x": check}))
        found = {}

        async def probe(name: str) -> None:
            found[name] = (await get(app, "/readyz"))[0]

        async with anyio.create_task_group() as others, anyio.create_task_group() as first:
            first.start_soon(probe, "cancelled")
            await began.wait()
            others.start_soon(probe, "other")
            await anyio.lowlevel.checkpoint()
            first.cancel_scope.cancel()
            go_on.set()
        assert found["other"] == 200
        assert calls == [1]

    run(ask)


def test_a_check_that_awaits_a_cancelled_task_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def check(env: Any) -> None:
        task = asyncio.ensure_future(asyncio.Event().wait())
        task.cancel()
        await task

    app = app_with(health({"pool": check, "other": passes}, show_errors=True))
    status, document = anyio.run(get, app, "/readyz")
    assert status == 503
    assert document["checks"]["pool"][0]["output"] == "was cancelled"
    assert document["checks"]["other"][0]["status"] == "pass"
    assert [record.getMessage() for record in caplog.records] == [
        "The health check 'pool' fails: was cancelled"
    ]


def test_after_a_run_that_was_interrupted_the_others_run_the_checks_once_more() -> None:
    async def ask() -> None:
        began = anyio.Event()
        calls = []

        async def check(env: Any) -> bool:
            calls.append(1)
            if len(calls) == 2:
                began.set()
                await anyio.sleep_forever()
            return len(calls) == 1

        app = app_with(health({"x": check}, timeout=30))
        assert (await get(app, "/readyz"))[0] == 200
        # Unlike a cancel scope of anyio, asyncio's own cancellation ends what is shielded, too.
        interrupted = asyncio.create_task(get(app, "/readyz"))
        await began.wait()
        others = [asyncio.create_task(get(app, "/readyz")) for _ in range(3)]
        await asyncio.sleep(0)
        interrupted.cancel()
        assert [status for status, _ in await asyncio.gather(*others)] == [503] * 3
        assert len(calls) == 3
        with pytest.raises(asyncio.CancelledError):
            await interrupted

    anyio.run(ask)


def test_a_thread_that_cant_be_started_is_started_the_next_time(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    app = app_with(health({"x": passes}, show_errors=True))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        _, document = run(get, app, "/readyz")
    output = document["checks"]["x"][0]["output"]
    assert output == 'RuntimeError("can\'t start new thread")'
    assert run(get, app, "/readyz")[0] == 200


def test_results_are_used_again_for_some_time(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("kit.health._readiness.monotonic", lambda: now)
    calls = []
    app = app_with(health({"x": calls.append}, cache=10))
    for passed_s, expected in ((0, 1), (9.9, 1), (0.2, 2), (0, 2)):
        now += passed_s
        assert run(get, app, "/readyz")[0] == 200
        assert len(calls) == expected


def test_checks_get_the_bindings_of_the_app(run: Callable[..., Any]) -> None:
    app = app_with(health({"database": lambda env: env["database"] == "up"}))
    assert run(get, app, "/readyz", "GET", {"database": "up"})[0] == 200
    assert run(get, app, "/readyz", "GET", {"database": "down"})[0] == 503


def test_the_startup_probe_passes_once_all_checks_have(run: Callable[..., Any]) -> None:
    state = {"up": False}
    app = app_with(health({"x": lambda env: state["up"]}, startup="/startupz"))
    assert run(get, app, "/startupz")[0] == 503
    state["up"] = True
    assert run(get, app, "/startupz")[0] == 200
    state["up"] = False
    assert run(get, app, "/readyz")[0] == 503
    assert run(get, app, "/startupz") == (200, {"status": "pass"})


def test_drained_it_is_alive_but_not_ready_and_runs_no_checks(run: Callable[..., Any]) -> None:
    calls: list[Any] = []
    probes = health({"x": calls.append})
    app = app_with(probes)
    assert not probes.draining
    probes.drain()
    assert probes.draining
    assert run(get, app, "/readyz") == (503, DRAINING)
    assert run(get, app, "/livez")[0] == 200
    assert run(app.request, "/").status == 200
    assert calls == []


def test_a_drained_app_can_still_start(run: Callable[..., Any]) -> None:
    probes = health({"x": passes}, startup="/startupz")
    probes.drain()
    assert run(get, app_with(probes), "/startupz")[0] == 200


def test_it_is_drained_while_a_file_exists(run: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "draining"
    app = app_with(health(drain_file=file))
    assert run(get, app, "/readyz")[0] == 200
    file.touch()
    assert run(get, app, "/readyz") == (503, DRAINING)
    file.unlink()
    assert run(get, app, "/readyz")[0] == 200


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_head_get_and_other_methods(run: Callable[..., Any], path: str) -> None:
    app = app_with(health())
    response = run(lambda: app.request(path, method="HEAD"))
    assert response.status == 200
    assert run(lambda: app.request(path, method="POST")).status == 404
    assert run(app.request, f"{path}/").status == 404


def test_paths_are_options_and_none_is_none(run: Callable[..., Any]) -> None:
    app = app_with(health(live="/alive", ready=None))
    assert run(get, app, "/alive")[0] == 200
    assert run(app.request, "/livez").status == 404
    assert run(app.request, "/readyz").status == 404


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"checks": [passes]}, TypeError, "takes a mapping of names to functions (env), not"),
        ({"checks": {7: passes}}, TypeError, "health(checks=...) takes a str, not 7"),
        ({"checks": {"": passes}}, ValueError, "expected names such as 'database'"),
        ({"checks": {"a": lambda env, c: None}}, TypeError, "takes a function (env): got the"),
        ({"live": 7}, TypeError, "health(live=...) takes a str, not 7"),
        ({"ready": "ready"}, ValueError, "expected a path such as '/readyz', or None"),
        (
            {"live": "/livez#a"},
            ValueError,
            "health(live='/livez#a') can't be used: expected a path such as '/livez', or None",
        ),
        ({"ready": "/z", "startup": "/z"}, ValueError, "ready has the same path"),
        ({"live": None, "ready": None}, ValueError, "needs a path: live=..., ready=... or"),
        ({"timeout": "5"}, TypeError, "health(timeout=...) takes a number, not '5'"),
        ({"timeout": 0}, ValueError, "expected more than 0 seconds"),
        ({"cache": -1}, ValueError, "health(cache=-1) can't be used: expected at least 0 seconds"),
        ({"drain_file": 7}, TypeError, "health(drain_file=...) takes a path, not 7"),
        ({"show_errors": 1}, TypeError, "health(show_errors=...) takes a bool, not 1"),
    ],
)
def test_options_that_cant_be_used(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        health(**options)
    assert text in str(raised.value)


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "health") is health
