# SPDX-License-Identifier: MIT
"""The server over sockets, with the client of the library mcp."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import httpx2
import pytest
from mcp import MCPError, types
from mcp_peer import ACCEPT, connected, message
from serving import ServedApp

OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("mcp") / "log"
    with ServedApp("uvicorn", "mcp_app:app", log) as server:
        yield f"http://127.0.0.1:{server.port}"


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Asks again and again, until the answer is yes."""
    with anyio.fail_after(20):
        while not await condition():
            await anyio.sleep(0.01)


async def waits(served: str) -> Any:
    async with httpx2.AsyncClient(verify=False) as client:
        return (await client.get(f"{served}/waits")).json()


@pytest.mark.parametrize("path", ["/mcp", "/sessions"])
async def test_the_client_of_the_library_lists_and_calls_tools(served: str, path: str):
    async with connected(served + path) as session:
        opened = await session.initialize()
        assert opened.protocol_version == "2025-11-25"
        tools = {each.name: each for each in (await session.list_tools()).tools}
        assert sorted(tools) == ["add_book", "read_book", "wait", "who_am_i"]
        result = await session.call_tool("read_book", {"id": "7"})
        assert result.structured_content == {"title": "Emma", "year": 1815}
        result = await session.call_tool("add_book", {"title": "Emma"})
        assert result.structured_content == {"title": "Emma", "year": None}
        missing = await session.call_tool("read_book", {"id": "8"})
        assert missing.is_error
        assert missing.content == [types.TextContent(text="404 Not Found: There is no such book")]
        invalid = await session.call_tool("add_book", {"title": 7})
        assert invalid.is_error
        assert '"path":"title"' in invalid.content[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="Unknown tool: 'waits'"):
            await session.call_tool("waits", {})


@pytest.mark.parametrize("path", ["/mcp", "/sessions"])
async def test_each_user_calls_with_their_own_credentials(served: str, path: str):
    async def ask(token: str) -> Any:
        headers = {"authorization": f"Bearer {token}", "x-request-id": f"id-{token}"}
        async with connected(served + path, headers) as session:
            await session.initialize()
            results: list[Any] = []

            async def call() -> None:
                results.append(await session.call_tool("who_am_i", {}))

            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(call)
            for result in results:
                found = result.structured_content
                assert found["headers"]["authorization"] == f"Bearer {token}"
                assert found["headers"]["x-request-id"] == f"id-{token}"
                assert found["address"] == "127.0.0.1"
            assert len(results) == 8

    async with anyio.create_task_group() as group:
        group.start_soon(ask, "of-ada")
        group.start_soon(ask, "of-bob")
    async with connected(served + path, {"authorization": "Bearer of-eve"}) as session:
        await session.initialize()
        refused = await session.call_tool("who_am_i", {})
        assert refused.is_error
        assert refused.content[0].text.startswith("401 ")  # type: ignore[union-attr]


async def test_a_session_of_one_user_is_unknown_to_another(served: str):
    async with httpx2.AsyncClient(headers={"accept": ACCEPT}, verify=False) as client:
        ada = {"authorization": "Bearer of-ada"}
        url = f"{served}/sessions"
        opened = await client.post(url, json=message("initialize", OPENING), headers=ada)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        for method in ("POST", "GET", "DELETE"):
            stolen = await client.request(
                method, url, json=message("ping"), headers={**session, "authorization": "b"}
            )
            assert stolen.status_code == 404
        mine = await client.post(url, json=message("ping"), headers={**session, **ada})
        assert mine.status_code == 200


@pytest.mark.parametrize("path", ["/mcp", "/sessions"])
async def test_a_call_ends_when_the_client_cancels_it(served: str, path: str):
    before = await waits(served)

    async def has_begun() -> bool:
        return bool((await waits(served))["begun"] == before["begun"] + 1)

    async def has_ended() -> bool:
        return bool((await waits(served))["ended"] == before["ended"] + 1)

    async with connected(served + path) as session:
        await session.initialize()
        async with anyio.create_task_group() as group:
            group.start_soon(session.call_tool, "wait", {})
            await until(has_begun)
            group.cancel_scope.cancel()
        if path == "/sessions":
            await until(has_ended)
    # Without a session there is nothing that could be told of it: the connection is closed.
    await until(has_ended)


async def test_a_guard_of_the_server_answers_as_it_does_elsewhere(served: str):
    async with httpx2.AsyncClient(headers={"accept": ACCEPT}, verify=False) as client:
        refused = await client.post(f"{served}/guarded", json=message("tools/list"))
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        headers = {"authorization": "Bearer of-ada"}
        url = f"{served}/guarded"
        allowed = await client.post(url, json=message("tools/list"), headers=headers)
        assert allowed.status_code == 200


async def test_pages_of_an_allowed_origin_can_use_it_with_kit_cors(served: str):
    origin = {"origin": "https://inspector.example"}
    async with httpx2.AsyncClient(headers={"accept": ACCEPT, **origin}, verify=False) as client:
        asked = {
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type, mcp-session-id",
        }
        preflight = await client.options(f"{served}/sessions", headers=asked)
        assert preflight.headers["access-control-allow-origin"] == origin["origin"]
        allowed = preflight.headers["access-control-allow-headers"].lower()
        assert "mcp-session-id" in allowed
        opened = await client.post(f"{served}/sessions", json=message("initialize", OPENING))
        assert opened.status_code == 200
        assert "mcp-session-id" in opened.headers
        exposed = opened.headers["access-control-expose-headers"].lower()
        assert "mcp-session-id" in exposed


async def test_cve_2025_66416_a_rebound_name_is_refused_over_sockets(served: str):
    async with httpx2.AsyncClient(
        headers={"accept": ACCEPT, "host": "evil.example"}, verify=False
    ) as client:
        for path in ("/mcp", "/sessions"):
            refused = await client.post(served + path, json=message("tools/list"))
            assert refused.status_code == 421


@pytest.mark.parametrize("path", ["/mcp", "/sessions"])
async def test_an_origin_with_another_port_is_another_one(served: str, path: str):
    port = served.rpartition(":")[2]
    origins = {
        f"http://localhost:{port}": 200,
        f"http://localhost.:{port}": 403,
        f"http://127.0.0.1:{port}": 403,
        "http://localhost": 403,
        "http://localhost:1": 403,
        "null": 403,
    }
    async with httpx2.AsyncClient(
        headers={"accept": ACCEPT, "host": f"localhost:{port}"}, verify=False
    ) as c:
        for origin, status in origins.items():
            headers = {"origin": origin}
            sent = await c.post(served + path, json=message("initialize", OPENING), headers=headers)
            assert sent.status_code == status, origin


async def test_a_request_without_a_host_or_with_two_is_refused(served: str):
    port = int(served.rpartition(":")[2])
    for head in (b"POST /mcp HTTP/1.0", b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nHost: evil"):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(head + b"\r\nContent-Length: 0\r\n\r\n")
            assert (await stream.receive()).split()[1] in (b"421", b"400")


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("server", ["granian", "hypercorn"])
async def test_other_servers_run_the_lifespan_of_sessions(server: str, tmp_path: Any):
    with ServedApp(server, "mcp_app:app", tmp_path / "log") as served:
        async with connected(f"http://127.0.0.1:{served.port}/sessions") as session:
            await session.initialize()
            result = await session.call_tool("read_book", {"id": "7"})
            assert result.structured_content == {"title": "Emma", "year": 1815}
