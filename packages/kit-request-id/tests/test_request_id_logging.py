# SPDX-License-Identifier: MIT
"""Ids in log records."""

from __future__ import annotations

import io
import logging
import logging.config
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.request_id import RequestIdFilter, request_id


@pytest.fixture
def lines() -> Iterator[Callable[[], list[str]]]:
    """The lines that the logger `shop` wrote, configured as an app does it."""
    written = io.StringIO()
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "filters": {"request_id": {"()": "kit.request_id.RequestIdFilter"}},
            "formatters": {"plain": {"format": "[%(request_id)s] %(message)s"}},
            "handlers": {
                "out": {
                    "class": "logging.StreamHandler",
                    "stream": written,
                    "filters": ["request_id"],
                    "formatter": "plain",
                }
            },
            "loggers": {"shop": {"handlers": ["out"], "level": "INFO", "propagate": False}},
        }
    )
    yield lambda: written.getvalue().splitlines()
    logging.getLogger("shop").handlers.clear()


def test_records_have_the_id_of_their_request(
    run: Callable[..., Any], lines: Callable[[], list[str]]
) -> None:
    logger = logging.getLogger("shop.orders")
    app = Kit().use(request_id())

    @app.get("/")
    def handler(c: Context) -> Response:
        logger.info("ordered")
        logger.info("elsewhere", extra={"request_id": "own"})
        return c.text("x")

    async def main() -> None:
        logger.info("before")
        await app.request("/", headers={"x-request-id": "abc"})
        await app.request("/", headers={"x-request-id": "a\x1b[31m"})
        logger.info("after")

    run(main)
    found = lines()
    assert found[:3] == ["[-] before", "[abc] ordered", "[own] elsewhere"]
    assert "\x1b" not in found[3]
    assert found[-1] == "[-] after"


def test_it_is_a_filter_like_any_other() -> None:
    record = logging.makeLogRecord({"name": "shop.orders"})
    assert RequestIdFilter("shop", default="none").filter(record) is True
    assert record.__dict__["request_id"] == "none"
    assert RequestIdFilter("other").filter(record) is False


def test_a_wrong_default() -> None:
    with pytest.raises(TypeError) as caught:
        RequestIdFilter(default=None)  # type: ignore[arg-type]
    assert str(caught.value) == "RequestIdFilter(default=...) takes a str, not None"
