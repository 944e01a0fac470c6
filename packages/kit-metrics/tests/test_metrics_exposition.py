# SPDX-License-Identifier: MIT
"""How the metrics are answered with: where, in which format, and to whom."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import anyio
import pytest
from prometheus_client import REGISTRY, CollectorRegistry, Counter
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as parse_text

from kit import Kit
from kit.bearer_auth import bearer_auth
from kit.compress import compress
from kit.interface.metadata import get_facts
from kit.metrics import expose, metrics

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# As Prometheus 3 sends it.
OF_PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


def app_with(registry: CollectorRegistry, **options: Any) -> Kit:
    app = Kit()
    app.use(metrics(registry=registry, **options))
    app.get("/", lambda c: c.text("Hello"))
    return app


def get(
    run: Callable[..., Any], app: Kit, path: str, method: str = "GET", **headers: str
) -> tuple[Any, bytes]:
    async def ask() -> tuple[Any, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = await app.request(path, method=method, headers=named)
        return response, await response.bytes()

    found: tuple[Any, bytes] = run(ask)
    return found


def test_scrapes_are_answered_and_not_measured(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Callable[..., Any]
) -> None:
    app = app_with(registry)
    get(run, app, "/")
    for _ in range(2):
        response, body = get(run, app, "/metrics")
        assert response.status == 200
        assert response.headers.get("content-type") == TEXT
        assert response.headers.get("vary") == "Accept"
        assert response.headers.get("cache-control") == "no-store"
        assert b'http_requests_total{method="GET",route="/",status="200"} 1.0\n' in body
    assert counted() == {("GET", "/", "200"): 1}


def test_head_and_other_methods(run: Callable[..., Any], registry: CollectorRegistry) -> None:
    app = app_with(registry)
    assert get(run, app, "/metrics", "HEAD")[0].status == 200
    assert get(run, app, "/metrics", "POST")[0].status == 404
    assert get(run, app, "/metrics/", "GET")[0].status == 404


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", TEXT),
        ("*/*", TEXT),
        ("text/html", TEXT),
        ("text/plain", TEXT),
        (OF_PROMETHEUS, OPENMETRICS),
        ("application/openmetrics-text", OPENMETRICS),
        ("Application/OpenMetrics-Text; version=0.0.1", OPENMETRICS),
        ("application/openmetrics-text; version=1.0.0; q=0.2, text/plain; q=0.9", TEXT),
        ("application/openmetrics-text; q=0", TEXT),
        ("application/openmetrics-text; version=9.0.0\x7f", TEXT),
        ("application/openmetrics-text; version=many", TEXT),
    ],
)
def test_the_format_is_what_the_client_prefers(
    run: Callable[..., Any], registry: CollectorRegistry, accept: str, kind: str
) -> None:
    app = app_with(registry)
    get(run, app, "/")
    response, body = get(run, app, "/metrics", accept=accept.replace("\x7f", ""))
    assert response.headers.get("content-type") == kind
    parse = parse_openmetrics if kind == OPENMETRICS else parse_text
    names = {family.name for family in parse(body.decode())}
    assert {"http_request_duration_seconds", "http_requests_in_progress"} <= names


def test_samples_are_selected_by_name(run: Callable[..., Any], registry: CollectorRegistry) -> None:
    app = app_with(registry)
    get(run, app, "/")
    _, body = get(run, app, "/metrics?name[]=http_requests_total&name[]=http_requests_in_progress")
    names = {sample.name for family in parse_text(body.decode()) for sample in family.samples}
    assert names == {"http_requests_total", "http_requests_in_progress"}


def test_without_a_registry_the_global_one_is_shown_too_each_metric_once(
    run: Callable[..., Any],
) -> None:
    sold = Counter("books_sold", "Books that were sold.")
    same = Counter("http_requests", "Of something else.")
    try:
        sold.inc(3)
        app = Kit()
        app.use(metrics())
        app.get("/", lambda c: c.text("Hello"))
        get(run, app, "/")
        body = get(run, app, "/metrics")[1].decode()
    finally:
        REGISTRY.unregister(sold)
        REGISTRY.unregister(same)
    assert "books_sold_total 3.0\n" in body
    assert "python_info{" in body
    assert body.count("# TYPE http_requests_total ") == 1
    assert "Of something else" not in body


def test_the_metrics_behind_a_guard(run: Callable[..., Any], registry: CollectorRegistry) -> None:
    app = app_with(registry, path=None)
    app.get("/internal", bearer_auth(token="s3cret"), expose(registry))
    assert get(run, app, "/metrics")[0].status == 404
    assert get(run, app, "/internal")[0].status == 401
    response, body = get(run, app, "/internal", authorization="Bearer s3cret")
    assert response.status == 200
    assert b'http_requests_total{method="GET",route="/internal",status="401"} 1.0\n' in body


def test_the_metrics_on_another_app(run: Callable[..., Any], registry: CollectorRegistry) -> None:
    app = app_with(registry, path=None)
    internal = Kit()
    internal.get("/metrics", expose(registry))
    get(run, app, "/")
    assert b'route="/",status="200"} 1.0\n' in get(run, internal, "/metrics")[1]


def test_expose_without_a_registry_shows_the_global_one(run: Callable[..., Any]) -> None:
    app = Kit()
    app.get("/metrics", expose())
    assert b"python_info{" in get(run, app, "/metrics")[1]


def test_the_documents_of_an_api_leave_it_out() -> None:
    assert get_facts(expose()).describes == {"hidden": True}


# Two apps in a process that ends while a streamed response is in progress.
# Each of their requests passes two middleware, which share the metrics.
PROCESS = """
import asyncio, os
from kit import Kit
from kit.metrics import metrics

async def main():
    for _ in range(2):
        sub = Kit()
        sub.use(metrics())
        sub.get("/", lambda c: c.text("Hello"))
        sub.get("/stream", lambda c: c.body(iter([b"a"])))
        app = Kit()
        app.use(metrics())
        app.route("/", sub)
        for _ in range(3):
            await app.request("/")
    return await app.request("/stream")

response = asyncio.run(main())
print(os.getpid())
"""


# Its files can't grow any more, as on a full disk, or its folder is gone.
FAILING = """
import asyncio, os, shutil, sys
from kit import Kit
from kit.metrics import metrics

app = Kit().use(metrics())
paths = [f"/{number}" for number in range(600)]
for path in paths:
    app.get(path, lambda c: c.text("x"))

async def main():
    if sys.argv[1] == "full":
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    else:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    statuses = {(await app.request(path)).status for path in paths}
    found = await (await app.request("/metrics?name[]=http_requests_in_progress")).text()
    values = {line.rpartition(" ")[2] for line in found.splitlines() if line.startswith("http")}
    print(statuses, values)

asyncio.run(main())
"""


@pytest.mark.once
@pytest.mark.skipif(os.name != "posix", reason="needs resource limits")
@pytest.mark.parametrize(("failure", "values"), [("full", "{'0.0'}"), ("gone", "set()")])
def test_no_request_fails_because_it_can_not_be_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str, values: str
) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder))
    ran = subprocess.run(
        [sys.executable, "-c", FAILING, failure],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    assert ran.stdout == f"{{200}} {values}\n"
    assert ran.stderr.count("Some requests aren't counted; they were not affected") == 1


@pytest.mark.once
def test_the_sums_of_processes_that_have_ended_without_what_was_in_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    pids = [
        subprocess.run(
            [sys.executable, "-c", PROCESS], capture_output=True, check=True, text=True, timeout=60
        ).stdout.strip()
        for _ in range(2)
    ]
    # As if one of them, with the id of this one, still ran.
    left = tmp_path / f"gauge_livesum_{pids[0]}.db"
    left.rename(tmp_path / f"gauge_livesum_{os.getpid()}.db")
    app = Kit()
    app.get("/metrics", expose())
    body = get(anyio.run, app, "/metrics")[1].decode()
    assert 'http_requests_total{method="GET",route="/",status="200"} 12.0\n' in body
    assert 'http_requests_in_progress{method="GET",route="/stream"} 1.0\n' in body
    assert not (tmp_path / f"gauge_livesum_{pids[1]}.db").exists()
    body = get(anyio.run, app, "/metrics?name[]=http_requests_total&name[]=none")[1].decode()
    samples = [sample for family in parse_text(body) for sample in family.samples]
    assert {sample.name for sample in samples} == {"http_requests_total"}
    assert {sample.labels["route"]: sample.value for sample in samples} == {"/": 12}
    assert body.count("# TYPE ") == 1


def test_scrapes_take_no_threads_from_handlers(
    run: Callable[..., Any], registry: CollectorRegistry
) -> None:
    began, go_on = threading.Event(), threading.Event()

    class Slow:
        def collect(self) -> list[Any]:
            began.set()
            go_on.wait(30)
            return []

    app = app_with(registry)

    async def ask() -> None:
        limiter = anyio.to_thread.current_default_thread_limiter()
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(app.request, "/metrics")
            try:
                await anyio.to_thread.run_sync(began.wait, 30)
                assert limiter.borrowed_tokens == 0
            finally:
                go_on.set()

    go_on.set()  # a registry collects when something is registered
    registry.register(Slow())
    go_on.clear()
    began.clear()
    run(ask)
    assert began.is_set()


@pytest.mark.parametrize("accept", ["text/plain", OF_PROMETHEUS])
def test_kit_compress_compresses_both_formats(
    run: Callable[..., Any], registry: CollectorRegistry, accept: str
) -> None:
    app = Kit()
    app.use(compress(), metrics(registry=registry))
    app.get("/", lambda c: c.text("Hello"))
    get(run, app, "/")
    response, _ = get(run, app, "/metrics", accept=accept, accept_encoding="gzip")
    assert response.headers.get("content-encoding") == "gzip"
    assert response.headers.get("vary") == "Accept, Accept-Encoding"


@pytest.mark.once
@pytest.mark.skipif(which("promtool") is None, reason="promtool isn't installed")
def test_promtool_finds_nothing_to_complain_about(
    run: Callable[..., Any], registry: CollectorRegistry
) -> None:
    app = app_with(registry, labels={"tenant": lambda c: 'a "quoted"\n\\ name'})
    for path in ("/", "/absent"):
        get(run, app, path)
    _, body = get(run, app, "/metrics")
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=body, capture_output=True, timeout=60, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
