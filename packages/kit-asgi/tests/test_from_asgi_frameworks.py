# SPDX-License-Identifier: MIT
"""Applications of real frameworks in process; tests/servers/test_foreign_apps.py serves them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from kit import Context, FormData, Kit, Next
from kit.asgi import from_asgi, from_wsgi
from kit.testing import test_client
from kit.web import File


def form() -> FormData:
    form = FormData()
    form.append("title", "tïtle")
    form.append("file", File([b"x" * 100_000], "näme.bin"))
    return form


async def numbered() -> AsyncIterator[str]:
    for number in range(5):
        await anyio.sleep(0)
        yield f"{number};"


def plain_numbered() -> Iterator[str]:
    yield from (f"{number};" for number in range(5))


async def check(app: Kit) -> None:
    """Uses what each of the applications here has at /m."""
    async with test_client(app):
        answer = await app.request("/m/items/caf%C3%A9%20au%20lait?q=1")
        assert await answer.json() == {"name": "café au lait", "q": "1"}
        assert answer.headers.get_set_cookie()[0].startswith("a=1")
        assert await (await app.request("/m/numbers")).text() == "0;1;2;3;4;"
        uploaded = await app.request("/m/upload", {"method": "POST", "body": form()})
        assert await uploaded.text() == "näme.bin 100000 tïtle"
        head = await app.request("/m/items/a?q=", {"method": "HEAD"})
        assert (head.status, await head.text()) == (200, "")
        assert (await app.request("/m/missing")).status == 404


def test_starlette(backend: str) -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("python_multipart")
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
    from starlette.routing import Route

    async def items(request: Any) -> Any:
        content = {"name": request.path_params["name"], "q": request.query_params["q"]}
        response = JSONResponse(content)
        response.set_cookie("a", request.state.made)
        return response

    async def upload(request: Any) -> Any:
        async with request.form() as form:
            file = form["file"]
            return PlainTextResponse(f"{file.filename} {file.size} {form['title']}")

    async def numbers(request: Any) -> Any:
        return StreamingResponse(numbered())

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[dict[str, str]]:
        yield {"made": "1"}

    starlette = Starlette(
        lifespan=lifespan,
        routes=[
            Route("/items/{name}", items),
            Route("/upload", upload, methods=["POST"]),
            Route("/numbers", numbers),
        ],
    )
    anyio.run(check, Kit().mount("/m", from_asgi(starlette)), backend=backend)


async def test_fastapi() -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("python_multipart")
    import fastapi
    from fastapi.responses import PlainTextResponse, StreamingResponse

    api = fastapi.FastAPI()

    async def items(name: str, q: str, response: Any) -> dict[str, str]:
        response.set_cookie("a", "1")
        return {"name": name, "q": q}

    async def upload(file: Any, title: str = fastapi.Form()) -> str:
        return f"{file.filename} {file.size} {title}"

    items.__annotations__.update(name=str, q=str, response=fastapi.Response)
    upload.__annotations__.update(file=fastapi.UploadFile, title=str)
    api.api_route("/items/{name}", methods=["GET", "HEAD"])(items)
    api.post("/upload", response_class=PlainTextResponse)(upload)
    api.get("/numbers")(lambda: StreamingResponse(numbered()))
    await check(Kit().mount("/m", from_asgi(api)))


async def test_flask() -> None:
    flask: Any = pytest.importorskip("flask")
    pytest.importorskip("a2wsgi")
    app = flask.Flask(__name__)

    @app.get("/items/<name>")
    def items(name: str) -> Any:
        response = flask.jsonify(name=name, q=flask.request.args["q"])
        response.set_cookie("a", "1")
        return response

    @app.post("/upload")
    def upload() -> str:
        file = flask.request.files["file"]
        return f"{file.filename} {len(file.read())} {flask.request.form['title']}"

    @app.get("/numbers")
    def numbers() -> Any:
        return flask.Response(plain_numbered())

    await check(Kit().mount("/m", from_wsgi(app)))


@pytest.fixture
def django_urls() -> Any:
    """Configures Django, once for a process; what is here stands for its settings and urls."""
    pytest.importorskip("django")
    from types import ModuleType

    import django
    from django.conf import settings
    from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
    from django.urls import path

    def items(request: Any, name: str) -> Any:
        response = JsonResponse({"name": name, "q": request.GET["q"]})
        response.set_cookie("a", "1")
        return response

    def upload(request: Any) -> Any:
        file = request.FILES["file"]
        return HttpResponse(f"{file.name} {file.size} {request.POST['title']}")

    def numbers(request: Any) -> Any:
        is_asgi = hasattr(request, "scope")
        return StreamingHttpResponse(numbered() if is_asgi else plain_numbered())

    urls: Any = ModuleType("urls")
    urls.urlpatterns = [
        path("items/<name>", items),
        path("upload", upload),
        path("numbers", numbers),
    ]
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=urls, MIDDLEWARE=[])
        django.setup()
    return urls


async def test_django(django_urls: Any) -> None:
    from django.core.asgi import get_asgi_application

    await check(Kit().mount("/m", from_asgi(get_asgi_application())))


async def test_django_by_wsgi(django_urls: Any) -> None:
    pytest.importorskip("a2wsgi")
    from django.core.wsgi import get_wsgi_application

    await check(Kit().mount("/m", from_wsgi(get_wsgi_application())))


# --- variables -----------------------------------------------------------------------------------


async def show_state(request: Request) -> JSONResponse:
    return JSONResponse(dict(request.scope["state"]))


async def test_variables_are_in_the_state() -> None:
    async def identify(c: Context, next: Next) -> None:
        c.set("request_id", "r-1")
        c.set("secret", "s")
        await next()

    app = Kit()
    app.use("*", identify)
    inner = Starlette(routes=[Route("/", show_state)])
    app.mount("/m", from_asgi(inner, variables=["request_id", "user"]))
    app.mount("/n", from_asgi(inner))
    assert await (await app.request("/m/")).json() == {"request_id": "r-1"}
    assert await (await app.request("/n/")).json() == {}


def test_variables_that_are_no_names() -> None:
    inner = Starlette()
    with pytest.raises(TypeError, match="a list with 7"):
        from_asgi(inner, variables=["request_id", 7])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="takes no option_handler"):
        Kit().mount("/m", from_asgi(inner, variables=["a"]), option_handler=lambda c: [])
