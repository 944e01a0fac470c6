# SPDX-License-Identifier: MIT
"""Applications of other frameworks in Kit, and Kit in them, under real servers."""

from __future__ import annotations

import os
import signal
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import servers

pytestmark = pytest.mark.once

PATIENCE_S = 15  # how long anything may take before the test gives up
MIB = 1024 * 1024

# Each mounts an application of the same routes at /m:
#   /where/<name>   its URL by the framework, the path and query it sees; two cookies
#   /upload         a form with a file;  /count: the size of a body that is read as it comes
#   /numbers, /endless/<name>, /broken   streams;  /boom   an error

STARLETTE = """
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route


async def where(request):
    response = JSONResponse({
        "url": str(request.url_for("where", name="b")),
        "path": request.url.path,
        "name": request.path_params["name"],
        "query": request.url.query,
        "state": getattr(request.state, "made_by", None),
    })
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response


async def upload(request):
    async with request.form() as form:
        return PlainTextResponse(f"{form['file'].filename} {form['file'].size} {form['title']}")


async def count(request):
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
    return PlainTextResponse(str(size))


async def background(request):
    async def work():
        await anyio.sleep(0.01)
        trace("worked")

    return PlainTextResponse("ok", background=BackgroundTask(work))


async def waiting(request):
    trace("asked")
    while not await request.is_disconnected():
        await anyio.sleep(0.01)
    trace("left")
    return PlainTextResponse("never")


async def numbers(request):
    return StreamingResponse(numbered())


async def endless(request):
    return StreamingResponse(ticking(request.path_params["name"]))


async def broken(request):
    return StreamingResponse(breaking())


async def boom(request):
    raise ValueError("boom")


@asynccontextmanager
async def made(app):
    trace("starlette startup")
    yield {"made_by": "lifespan"}
    trace("starlette shutdown")


starlette_app = Starlette(
    lifespan=made,
    routes=[
        Route("/where/{name}", where),
        Route("/upload", upload, methods=["POST"]),
        Route("/count", count, methods=["POST"]),
        Route("/background", background),
        Route("/waiting", waiting),
        Route("/numbers", numbers),
        Route("/endless/{name}", endless),
        Route("/broken", broken),
        Route("/boom", boom),
    ],
)
mounted = from_asgi(starlette_app)
"""

FASTAPI = """
from fastapi import Cookie, Depends, FastAPI, Form, Request, Response, UploadFile
from fastapi.responses import PlainTextResponse, StreamingResponse

api = FastAPI()


@api.get("/where/{name}", name="where")
async def where(name: str, request: Request, response: Response):
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return {
        "url": str(request.url_for("where", name="b")),
        "path": request.url.path,
        "name": name,
        "query": request.url.query,
    }


@api.post("/upload", response_class=PlainTextResponse)
async def upload(file: UploadFile, title: str = Form()):
    return f"{file.filename} {file.size} {title}"


@api.post("/count", response_class=PlainTextResponse)
async def count(request: Request):
    return str(sum([len(chunk) async for chunk in request.stream()]))


@api.get("/numbers")
def numbers():
    return StreamingResponse(numbered())


@api.get("/endless/{name}")
def endless(name: str):
    return StreamingResponse(ticking(name))


@api.get("/broken")
def broken():
    return StreamingResponse(breaking())


@api.get("/boom")
def boom():
    raise ValueError("boom")


mounted = from_asgi(api)
"""

DJANGO = """
from django.conf import settings

settings.configure(
    SECRET_KEY="x",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    FILE_UPLOAD_MAX_MEMORY_SIZE=100_000,
    LOGGING={
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"console": {"class": "logging.StreamHandler"}},
        "loggers": {"django": {"handlers": ["console"]}},
    },
)

import django

django.setup()

from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path, reverse
from django.views.decorators.csrf import csrf_exempt


def where(request, name):
    response = JsonResponse({
        "url": request.build_absolute_uri(reverse("where", args=["b"])),
        "path": request.path,
        "name": name,
        "query": request.META["QUERY_STRING"],
    })
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response


@csrf_exempt
def upload(request):
    file = request.FILES["file"]
    return HttpResponse(f"{file.name} {file.size} {request.POST['title']}")


@csrf_exempt
def count(request):
    size = 0
    while chunk := request.read(65536):
        size += len(chunk)
    return HttpResponse(str(size))


def boom(request):
    raise ValueError("boom")


def urls(numbered, ticking, breaking):
    return [
        path("where/<name>", where, name="where"),
        path("upload", upload),
        path("count", count),
        path("numbers", lambda request: StreamingHttpResponse(numbered())),
        path("endless/<name>", lambda request, name: StreamingHttpResponse(ticking(name))),
        path("broken", lambda request: StreamingHttpResponse(breaking())),
        path("boom", boom),
    ]
"""

DJANGO_ASGI = f"""{DJANGO}

urlpatterns = urls(numbered, ticking, breaking)
mounted = from_asgi(get_asgi_application())
"""

DJANGO_WSGI = f"""{DJANGO}

urlpatterns = urls(plain_numbered, plain_ticking, plain_breaking)
mounted = from_wsgi(get_wsgi_application())
"""

FLASK = """
from flask import Flask, Response, jsonify, request, url_for

flask_app = Flask(__name__)


@flask_app.get("/where/<name>")
def where(name):
    response = jsonify(
        url=url_for("where", name="b", _external=True),
        path=request.script_root + request.path,
        name=name,
        query=request.query_string.decode(),
    )
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    return response


@flask_app.post("/upload")
def upload():
    file = request.files["file"]
    return f"{file.filename} {len(file.read())} {request.form['title']}"


@flask_app.post("/count")
def count():
    size = 0
    while chunk := request.stream.read(65536):
        size += len(chunk)
    return str(size)


@flask_app.get("/numbers")
def numbers():
    return Response(plain_numbered())


@flask_app.get("/endless/<name>")
def endless(name):
    return Response(plain_ticking(name))


@flask_app.get("/broken")
def broken():
    return Response(plain_breaking())


@flask_app.get("/boom")
def boom():
    raise ValueError("boom")


mounted = from_wsgi(flask_app, workers=2)
"""

HEAD = """
import gc
import os
import time
from contextlib import asynccontextmanager

import anyio

from kit import Kit
from kit.asgi import from_asgi, from_wsgi


def trace(text):
    with open(os.environ["KIT_TRACE"], "a") as file:
        file.write(text + "\\n")


async def numbered():
    for number in range(5):
        await anyio.sleep(0)
        yield f"{number};"


async def ticking(name):
    try:
        while True:
            yield "tick"
            await anyio.sleep(0.01)
    finally:
        trace(f"closed {name}")


async def breaking():
    yield "a"
    await anyio.sleep(0.05)
    raise ValueError("broken stream")


def plain_numbered():
    for number in range(5):
        yield f"{number};"


def plain_ticking(name):
    try:
        while True:
            yield "tick"
            time.sleep(0.01)
    finally:
        trace(f"closed {name}")


def plain_breaking():
    yield "a"
    time.sleep(0.05)
    raise ValueError("broken stream")


"""

TAIL = """

@asynccontextmanager
async def lifespan(app):
    trace("kit startup")
    yield {}
    trace("kit shutdown")


def collected(c):
    gc.collect()
    return c.text("collected")


app = Kit(lifespan=lifespan)
app.get("/", lambda c: c.text("alive"))
app.get("/collected", collected)
app.mount("/m", mounted)
"""

FRAMEWORKS = {
    "starlette": (STARLETTE, ["starlette", "python_multipart"]),
    "fastapi": (FASTAPI, ["fastapi", "python_multipart"]),
    "django": (DJANGO_ASGI, ["django"]),
    "django-wsgi": (DJANGO_WSGI, ["django", "a2wsgi"]),
    "flask": (FLASK, ["flask", "a2wsgi"]),
}


def until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S} s for {what}"
        time.sleep(0.01)


def until_closed(app: App, name: str) -> None:
    def is_closed() -> bool:
        # Starlette leaves a generator to the garbage collector if the client left while it sent.
        app.client.get("/collected").raise_for_status()
        return f"closed {name}" in app.trace

    until(is_closed, "the generator to be closed")


class App:
    """A served app: its client, what it wrote down, and its server."""

    framework = ""

    def __init__(self, served: Any, trace: Path) -> None:
        self.served = served
        self._trace = trace
        self.client = httpx.Client(
            base_url=served.url, timeout=PATIENCE_S, trust_env=False, verify=False
        )

    @property
    def trace(self) -> list[str]:
        return self._trace.read_text().splitlines()


@pytest.fixture
def start(serve_command: Any, tmp_path: Path) -> Iterator[Callable[..., App]]:
    """Serves a program: `start(program, "uvicorn", "--root-path", "/api")`."""
    apps: list[App] = []

    def start(program: str, server: str = "uvicorn", *options: str) -> App:
        folder = tmp_path / f"app-{len(apps)}"
        folder.mkdir()
        (folder / "app.py").write_text(program)
        trace = folder / "trace"
        trace.touch()
        # Its own modules are found first.
        path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        served = serve_command(
            lambda port: [*servers.command(server, "app:app", port), *options],
            KIT_TRACE=str(trace),
            PYTHONPATH=path.rstrip(os.pathsep),
        )
        apps.append(App(served, trace))
        return apps[-1]

    yield start
    for app in apps:
        app.client.close()
        app.served.stop(signal.SIGINT)  # a worker of granian would outlive its parent otherwise


def program_of(framework: str) -> str:
    program, modules = FRAMEWORKS[framework]
    for module in modules:
        pytest.importorskip(module)
    return HEAD + program + TAIL


@pytest.fixture(params=FRAMEWORKS)
def app(request: pytest.FixtureRequest, start: Callable[..., App]) -> App:
    app = start(program_of(request.param))
    app.framework = request.param
    return app


def test_urls_headers_and_errors(app: App) -> None:
    answer = app.client.get("/m/where/x%20%C3%A9?q=%20")
    told = answer.json()
    told.pop("state", None)
    assert told == {
        "url": f"{app.served.url}/m/where/b",
        "path": "/m/where/x é",
        "name": "x é",
        "query": "q=%20",
    }
    assert [c.split(";")[0] for c in answer.headers.get_list("set-cookie")] == ["a=1", "b=2"]
    boom = app.client.get("/m/boom")
    assert boom.status_code == 500
    until(lambda: "ValueError: boom" in app.served.printed(), "the traceback")
    assert app.client.get("/m/missing").status_code == 404
    head = app.client.head("/m/where/a")
    assert head.content == b""
    assert head.status_code in (200, 405)  # FastAPI has no HEAD for GET
    assert app.client.get("/").text == "alive"


def test_uploads(app: App) -> None:
    content = b"x" * (3 * MIB)
    files = {"file": ("näme.bin", content)}
    answer = app.client.post("/m/upload", files=files, data={"title": "tïtle"})
    assert answer.text == f"näme.bin {len(content)} tïtle"
    # By Content-Length, and in chunks; WSGI itself knows the first alone, and Django keeps to it.
    assert app.client.post("/m/count", content=content).text == str(len(content))
    chunks = (b"x" * 65536 for _ in range(48))
    answer = app.client.post("/m/count", content=chunks)
    assert answer.text == ("0" if app.framework == "django-wsgi" else str(len(content)))


def test_streams(app: App) -> None:
    assert app.client.get("/m/numbers").text == "0;1;2;3;4;"
    for name in ("one", "two", "three"):  # more than the threads of Flask here
        with app.client.stream("GET", f"/m/endless/{name}") as answer:
            assert next(answer.iter_text()).startswith("tick")
        until_closed(app, name)
    with pytest.raises(httpx.RemoteProtocolError):
        app.client.get("/m/broken")
    until(lambda: "ValueError: broken stream" in app.served.printed(), "the traceback")
    assert app.client.get("/").text == "alive"


@pytest.mark.parametrize("server", servers.SERVERS)
def test_starlette_under_every_server(start: Callable[..., App], server: str) -> None:
    app = start(program_of("starlette"), server)
    answer = app.client.get("/m/where/a")
    assert (answer.json()["url"], answer.json()["state"]) == (
        f"{app.served.url}/m/where/b",
        "lifespan",
    )
    assert app.client.post("/m/count", content=(b"x" * 65536 for _ in range(48))).text == str(
        3 * MIB
    )
    with app.client.stream("GET", "/m/endless/one") as answer:
        assert next(answer.iter_text()).startswith("tick")
    until_closed(app, "one")
    assert app.client.head("/m/endless/head").status_code == 200
    assert app.client.get("/m/background").text == "ok"
    until(lambda: "worked" in app.trace, "the background task")
    # Over RSGI, which can't abort a response, it never ends.
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadTimeout)):
        app.client.get("/m/broken", timeout=2)
    with pytest.raises(httpx.ReadTimeout):
        app.client.get("/m/waiting", timeout=0.5)
    until(lambda: "left" in app.trace, "the client to be found gone")
    app.client.close()
    app.served.stop(signal.SIGINT)
    trace = [line for line in app.trace if line.endswith(("startup", "shutdown"))]
    assert trace == [
        *("kit startup", "starlette startup"),
        *("starlette shutdown", "kit shutdown"),
    ]


@pytest.mark.parametrize("framework", ["starlette", "flask"])
def test_a_server_that_is_told_to_end_within_a_stream(
    start: Callable[..., App], framework: str
) -> None:
    app = start(program_of(framework), "uvicorn", "--timeout-graceful-shutdown", "1")
    with app.client.stream("GET", "/m/endless/one") as answer:
        assert next(answer.iter_text()).startswith("tick")
        app.served.stop(signal.SIGINT)
    # It may be closed after the shutdown: uvicorn doesn't wait for the requests that it cancels.
    trace = app.trace
    trace.remove("closed one")
    assert "closed one" not in trace
    assert trace[-1] == "kit shutdown"


# --- prefixes ----------------------------------------------------------------------------------

KIT = """
from kit import Kit

kit = Kit()
kit.get("/", lambda c: c.text("root"))
kit.get("/users/:id", lambda c: c.json([c.req.path, c.req.url, c.req.param("id")]))
"""

AROUND = textwrap.dedent(
    """
    kit.mount("/m", mounted)
    app = Starlette(routes=[
        Mount("/around/{tenant}", app=kit),
        Route("/where/{name}", lambda request: None, name="where"),
    ])
    """
)


@pytest.mark.parametrize("server", ["uvicorn", "hypercorn", "granian"])
def test_kit_within_starlette(start: Callable[..., App], server: str) -> None:
    pytest.importorskip("python_multipart")
    app = start(HEAD + STARLETTE + KIT + AROUND, server)
    base = f"{app.served.url}/around/acme"
    answer = app.client.get("/around/acme/users/a%2Fb?q=1")
    assert answer.json() == ["/users/a%2Fb", f"{base}/users/a%2Fb?q=1", "a/b"]
    assert app.client.get("/around/acme/").text == "root"
    assert app.client.get("/around/acme/missing").status_code == 404
    # Starlette in Kit in Starlette: the inner one goes by routes of its own.
    told = app.client.get("/around/acme/m/where/a").json()
    assert (told["url"], told["path"]) == (f"{base}/m/where/b", "/around/acme/m/where/a")


@pytest.mark.parametrize("server", ["uvicorn", "hypercorn"])
def test_behind_a_root_path(start: Callable[..., App], server: str) -> None:
    pytest.importorskip("python_multipart")
    program = HEAD + STARLETTE + KIT + 'kit.mount("/m", mounted)\napp = kit\n'
    app = start(program, server, "--root-path", "/api")
    path, url, name = app.client.get("/users/7").json()
    assert (path, name) == ("/users/7", "7")
    if server == "uvicorn":  # hypercorn keeps the root path out of the path
        assert url == f"{app.served.url}/api/users/7"
    told = app.client.get("/m/where/a").json()
    assert (told["url"], told["path"]) == (f"{app.served.url}/api/m/where/b", "/api/m/where/a")
    assert app.client.get("/").text == "root"
