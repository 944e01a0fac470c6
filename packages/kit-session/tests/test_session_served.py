# SPDX-License-Identifier: MIT
"""Sessions as users have them: real servers, and a client that keeps cookies."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from serving import ServedApp

pytestmark = pytest.mark.once


@pytest.fixture(
    params=[("uvicorn", "in_cookies"), ("uvicorn", "in_memory"), ("hypercorn-trio", "in_memory")],
    ids="-".join,
    scope="module",
)
def shop(request, tmp_path_factory):
    server, name = request.param
    # uvicorn calls factories when it is told to, hypercorn takes apps alone.
    options = ("--factory",) if server == "uvicorn" else ()
    target = f"session_app:{name}" if options else "session_served_app:app"
    log = tmp_path_factory.mktemp("served") / "log"
    with ServedApp(server, target, log, *options) as running:
        yield f"http://127.0.0.1:{running.port}"


@pytest.fixture
async def browser(shop):
    async with httpx.AsyncClient(
        base_url=shop, follow_redirects=True, timeout=30, verify=False
    ) as client:
        yield client


async def test_a_visit(browser):
    response = await browser.get("/cart")
    assert (response.json(), "set-cookie" in response.headers) == (
        {"cart": [], "user": None},
        False,
    )
    assert (await browser.post("/cart/momo")).json() == ["momo"]
    assert (await browser.post("/cart/krabat")).json() == ["momo", "krabat"]
    anonymous = browser.cookies["session"]
    assert (await browser.get("/account")).status_code == 401
    assert (await browser.post("/login/ada")).json() == ["ada", ["Welcome"]]
    assert browser.cookies["session"] != anonymous
    assert (await browser.get("/account")).json() == ["ada", []]
    assert (await browser.get("/cart")).json() == {"cart": ["momo", "krabat"], "user": "ada"}
    assert (await browser.post("/logout")).json() == {"cart": [], "user": None}
    assert "session" not in browser.cookies
    assert (await browser.get("/account")).status_code == 401


async def test_the_cookie_comes_before_a_stream(browser):
    for expected in ("1;1;1;", "2;2;2;"):
        async with browser.stream("GET", "/stream") as response:
            assert response.headers["vary"] == "Cookie"
            assert (await response.aread()).decode() == expected


async def test_pages_without_a_session(browser):
    await browser.post("/cart/momo")
    response = await browser.get("/static")
    assert {"set-cookie", "vary", "cache-control"} & set(response.headers) == set()


async def test_requests_at_once(browser, shop, request):
    await browser.post("/cart/first")
    cookie = browser.cookies["session"]
    items = [f"item{number}" for number in range(60)]
    async with asyncio.TaskGroup() as tasks:
        added = [tasks.create_task(browser.post(f"/cart/{item}")) for item in items]
    assert {task.result().status_code for task in added} == {200}
    if "in_cookies" in request.node.name:
        return  # the last answer wins there
    found = (await browser.get("/cart")).json()["cart"]
    assert sorted(found) == sorted(["first", *items])
    assert browser.cookies["session"] == cookie
    assert not any("set-cookie" in task.result().headers for task in added)
