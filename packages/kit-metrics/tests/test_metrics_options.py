# SPDX-License-Identifier: MIT
"""Options that can't be used, and registries that are shared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, Counter

from kit import Kit
from kit.metrics import expose, metrics

LABELS = "expected a name such as 'tenant', other than le, method, quantile, route, status"
BUCKETS = "can't be used: expected seconds above 0, in ascending order"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"path": 7}, TypeError, "metrics(path=...) takes a str, not 7"),
        ({"path": "metrics"}, ValueError, "expected a path such as '/metrics', or None"),
        ({"path": "/m?all"}, ValueError, "expected a path such as '/metrics', or None"),
        ({"registry": 7}, TypeError, "takes a prometheus_client.CollectorRegistry, not 7"),
        ({"prefix": "my-app"}, ValueError, "expected a name such as 'http'"),
        ({"buckets": "1"}, TypeError, "metrics(buckets=...) takes a list of numbers, not '1'"),
        ({"buckets": 5}, TypeError, "metrics(buckets=...) takes a list of numbers, not 5"),
        ({"buckets": ["1"]}, TypeError, "metrics(buckets=...) takes a number, not '1'"),
        ({"buckets": []}, ValueError, f"metrics(buckets=[]) {BUCKETS}"),
        ({"buckets": [0, 1]}, ValueError, f"metrics(buckets=[0, 1]) {BUCKETS}"),
        ({"buckets": [2, 1]}, ValueError, f"metrics(buckets=[2, 1]) {BUCKETS}"),
        ({"buckets": [1, 1]}, ValueError, f"metrics(buckets=[1, 1]) {BUCKETS}"),
        ({"labels": ["a"]}, TypeError, "takes a mapping of names to str or functions (c), not"),
        ({"labels": {"route": str}}, ValueError, "metrics(labels=...) has the label 'route'"),
        ({"labels": {"__a": str}}, ValueError, "metrics(labels=...) has the label '__a'"),
        ({"labels": {7: str}}, ValueError, f"metrics(labels=...) has the label 7: {LABELS}"),
        ({"labels": {"a": lambda: "x"}}, TypeError, "takes a function (c): got the signature"),
        ({"max_label_values": 0}, ValueError, "expected at least 1"),
        ({"exclude": 7}, TypeError, "takes a path pattern, a function (c), or a list of them"),
        ({"exemplars": "yes"}, TypeError, "takes a bool or a function (c), not 'yes'"),
    ],
)
def test_options_that_cant_be_used(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        metrics(**options)
    assert text in str(raised.value)


def test_expose_takes_a_registry() -> None:
    wrong: Any = {}
    with pytest.raises(TypeError) as raised:
        expose(wrong)
    assert str(raised.value) == (
        "expose(registry=...) takes a prometheus_client.CollectorRegistry, not {}"
    )


def app_with(**options: Any) -> Kit:
    app = Kit()
    app.use(metrics(**options))
    app.get("/", lambda c: c.text("Hello"))
    return app


def test_two_apps_share_a_registry(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Callable[..., Any]
) -> None:
    for app in (app_with(registry=registry), app_with(registry=registry)):
        run(app.request, "/")
    assert counted() == {("GET", "/", "200"): 2}


def test_two_apps_without_one_have_each_its_own(run: Callable[..., Any]) -> None:
    first, second = app_with(), app_with()

    async def ask() -> None:
        for app in (first, first, second):
            await app.request("/")
        sample = 'http_requests_total{method="GET",route="/",status="200"} '
        assert f"{sample}2.0" in await (await first.request("/metrics")).text()
        assert f"{sample}1.0" in await (await second.request("/metrics")).text()

    run(ask)
    assert REGISTRY.get_sample_value("http_requests_total") is None


@pytest.mark.parametrize("options", [{"buckets": [1, 2]}, {"labels": {"a": lambda c: "x"}}])
def test_one_registry_with_other_options(
    registry: CollectorRegistry, options: dict[str, Any]
) -> None:
    metrics(registry=registry)
    with pytest.raises(ValueError, match="was called before") as raised:
        metrics(registry=registry, **options)
    assert str(raised.value).startswith("metrics(prefix='http') was called before for the same")
    metrics(registry=registry, prefix="other", **options)


def test_a_registry_that_has_such_a_metric(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Callable[..., Any]
) -> None:
    other = Counter("http_response_size_bytes", "Of something else.", registry=registry)
    with pytest.raises(ValueError, match="which something else registered") as raised:
        metrics(registry=registry)
    assert str(raised.value).startswith("metrics(registry=..., prefix='http') can't be used")
    registry.unregister(other)
    run(app_with(registry=registry).request, "/")
    assert counted() == {("GET", "/", "200"): 1}


def test_a_folder_of_several_processes_that_doesnt_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "absent")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", folder)
    with pytest.raises(ValueError, match="PROMETHEUS_MULTIPROC_DIR") as raised:
        metrics()
    assert str(raised.value) == (
        f"PROMETHEUS_MULTIPROC_DIR={folder!r} isn't a folder: create it before the server starts"
    )
