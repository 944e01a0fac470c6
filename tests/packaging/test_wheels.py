# SPDX-License-Identifier: MIT
"""The built wheels in fresh virtual environments: what users can install, and what they get."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import documents
import httpx
import pytest
import workspace
from commands import run
from environments import (
    install,
    install_pinned,
    metadata,
    new_environment,
    versions,
    with_needed,
)
from workspace import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.once]

PACKAGES = workspace.packages()
ALL = {*PACKAGES}
CORE = workspace.needed(["kit-core"], PACKAGES)
# Those that can be used without the core: the interface, the routers, nearly all middleware.
APART = {name for name in ALL if "kit-core" not in workspace.needed([name], PACKAGES)}
GROUPS = ("kit.routers", "kit.middleware", "kit.commands", "kit.servers")
# What is installed; that, and what it needs, is to be there then.
COMBINATIONS = {
    "core": ["kit-core"],
    "core and a middleware": ["kit-core", "kit-logger"],
    "all": [*PACKAGES],
}
# Uses middleware of three distributions where they are installed.
APP = """
from kit import Kit
from kit.interface import plugins

names = {plugin.name for plugin in plugins.installed("kit.middleware")}
app = Kit(router="smart")
if "logger" in names:
    app.use(plugins.load("kit.middleware", "logger")(lambda line: print(line, flush=True)))
if "bearer-auth" in names:
    app.use("/secret", plugins.load("kit.middleware", "bearer-auth")(token="s3cret"))
if "trim-trailing-slash" in names:
    app.use(plugins.load("kit.middleware", "trim-trailing-slash")())
app.get("/secret", lambda c: c.text("secret"))
app.get("/hello/:name", lambda c: c.json({"hello": c.req.param("name")}))


@app.post("/upload")
async def upload(c):
    form = await c.req.parse_body()
    return c.json({name: len(await file.bytes()) for name, file in form.items()})
"""
INSTALLED = """
import json
from importlib.metadata import distributions
from importlib.util import find_spec
from kit.interface import plugins

found = [plugin for group in GROUPS for plugin in plugins.installed(group)]
for plugin in found:
    plugins.load(plugin.group, plugin.name)
print(json.dumps({
    "distributions": [d.name for d in distributions() if d.name.startswith("kit-")],
    "plugins": [f"{plugin.name} of {plugin.distribution}" for plugin in found],
    "modules": [name for name in MODULES if find_spec(name)],
}))
"""
EVERYTHING_LAZY = """
import sys
import kit
kit.Kit().get("/", lambda c: c.text("x"))
late = {"anyio", "multipart", "can_ada", "importlib.metadata", "asyncio", "uvicorn"}
print(sorted(late & set(sys.modules)))
"""
IN_PROCESS = """
import asyncio
from kit import Kit

app = Kit()
app.get("/hello/:name", lambda c: c.json({"hello": c.req.param("name")}))
response = asyncio.run(app.request("/hello/wheel"))
print(response.status, asyncio.run(response.text()))
"""
# Uses what was part of kit-core, by the distribution that has it now. Two of them are called as an
# app would do it: there is no app where kit-core isn't installed.
ALONE = {
    "kit-cookie": """
from types import SimpleNamespace
from kit.cookie import get_cookie, set_cookie

sent = []
c = SimpleNamespace(
    req=SimpleNamespace(header=lambda name: "theme=dark%21"),
    header=lambda name, value, append: sent.append(value),
    get=lambda name: None,
    set=lambda name, value: None,
)
set_cookie(c, "lang", "it", max_age=60)
print(get_cookie(c, "theme"), *sent)
""",
    "kit-validator": """
import asyncio
from dataclasses import dataclass
from types import SimpleNamespace
from kit.validator import RequestValidationError, validator

@dataclass
class Page:
    page: int

async def validate(query):
    found = {}
    req = SimpleNamespace(query=lambda: query, add_validated_data=found.__setitem__)
    async def next(): print(found)
    try:
        await validator("query", Page)(SimpleNamespace(req=req), next)
    except RequestValidationError as error:
        print(error.status, [each["path"] for each in error.errors])

asyncio.run(validate({"page": "3"}))
asyncio.run(validate({"page": "x"}))
""",
    "kit-testing": """
from kit import Kit
from kit.testing import sync_test_client

with sync_test_client(Kit().get("/:name", lambda c: c.text(c.req.param("name")))) as client:
    print(client[":name"].get(param={"name": "Ada"}).text())
""",
    "kit-asgi": """
import asyncio
from kit import Kit
from kit.asgi import from_asgi, from_wsgi

async def foreign(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["root_path"].encode()})

async def ask():
    app = Kit().mount("/old", from_asgi(foreign))
    print(await (await app.request("/old/x")).text())

asyncio.run(ask())
try:
    from_wsgi(lambda environ, start: [])
except ImportError as error:
    print(error)
""",
}
# What the extras of kit-core bring, beside kit-core and what it needs.
EXTRAS = {
    "html": {"markupsafe"},
    "standard": {
        "kit-dev",
        "kit-logger",
        "kit-openapi",
        "kit-openapi-ui",
        "kit-testing",
        "kit-typed",
        "kit-validator",
        "markupsafe",
        "uvicorn",
        "watchfiles",
    },
    "api": {
        "kit-body-limit",
        "kit-cors",
        "kit-dev",
        "kit-health",
        "kit-jwt",
        "kit-logger",
        "kit-oidc",
        "kit-openapi",
        "kit-openapi-ui",
        "kit-problem-details",
        "kit-rate-limit",
        "kit-request-id",
        "kit-secure-headers",
        "kit-session",
        "kit-timeout",
        "kit-trusted-hosts",
        "kit-typed",
        "uvicorn",
    },
    "web": {
        "jinja2",
        "kit-body-limit",
        "kit-compress",
        "kit-csrf",
        "kit-dev",
        "kit-etag",
        "kit-health",
        "kit-language",
        "kit-logger",
        "kit-oidc",
        "kit-rate-limit",
        "kit-request-id",
        "kit-secure-headers",
        "kit-serve-static",
        "kit-session",
        "kit-templates",
        "kit-trusted-hosts",
        "kit-validator",
        "markupsafe",
        "uvicorn",
    },
    "all": {*ALL, "a2wsgi", "brotli", "cryptography", "limits", "redis", "sqlalchemy", "uvicorn"},
    "rsgi": {"kit-rsgi"},
    "wsgi": {"kit-asgi", "a2wsgi"},
}
# Log in, CORS, limits and typed endpoints, with what kit-core[api] brings alone.
API = """
from msgspec import Struct

from kit import Context, Kit, Response
from kit.body_limit import body_limit
from kit.cors import cors
from kit.openapi import openapi
from kit.problem_details import problem_details
from kit.rate_limit import rate_limit
from kit.request_id import request_id
from kit.secure_headers import secure_headers
from kit.session import get_session, require_user, session
from kit.session.stores import MemoryStore
from kit.typed import typed


class Book(Struct):
    title: str
    pages: int


app = Kit(method_not_allowed=True)
problem_details(app)
app.use(request_id())
app.use(secure_headers())
app.use(cors(origin=["https://shop.example"], credentials=True))
app.use(session(store=MemoryStore(), secure=False))
app.use(body_limit(1_000))
app.use("/login", rate_limit("2/hour"))
app.use("/books", require_user())


class Login(Struct):
    name: str


@app.post("/login")
@typed(status=204)
async def log_in(c: Context, login: Login) -> None:
    (await get_session(c)).rotate(user=login.name)


@app.post("/books")
@typed(status=201)
async def add_book(book: Book) -> Book:
    return book


openapi(app, info={"title": "Books", "version": "1.0.0"})
"""
# Pages, files, forms and a login, with what kit-core[web] brings alone.
SITE = """
from pathlib import Path

from kit import Context, Kit, Response
from kit.compress import compress
from kit.csrf import csrf
from kit.etag import etag
from kit.serve_static import serve_static
from kit.session import get_session, require_user, session
from kit.session.stores import MemoryStore
from kit.templates import templates

HERE = Path(__file__).parent

app = Kit()
app.use(compress())
app.use(etag())
app.use(csrf())
app.use(session(store=MemoryStore(), secure=False))
app.use(templates(HERE / "pages"))
app.use("/static/*", serve_static(root=HERE))
app.use("/home", require_user(on_missing=lambda c: c.redirect("/login", 303)))


@app.post("/login")
async def log_in(c: Context) -> Response:
    form = await c.req.parse_body()
    (await get_session(c)).rotate(user=str(form["name"]))
    return c.redirect("/home", 303)


@app.get("/home")
async def home(c: Context) -> Response:
    return c.render("home.html", name=(await get_session(c)).user)
"""
SIZE = """
from importlib.metadata import distributions

tools = ("pip", "setuptools", "wheel", "packaging")  # that were there before
installed = [d for d in distributions() if d.name not in tools]
files = [file for d in installed for file in d.files if file.suffix != ".pyc"]
print(sum(file.locate().stat().st_size for file in files))
"""
# What kit-core and all that it needs may take.
MAX_SIZE_BYTES = 3_400_000
DISTRIBUTIONS = "from importlib import metadata; print(*[d.name for d in metadata.distributions()])"
PRINTED = {
    "kit-cookie": "dark! lang=it; Max-Age=60; Path=/\n",
    "kit-validator": "{'query': Page(page=3)}\n400 ['page']\n",
    "kit-testing": "Ada\n",
    "kit-asgi": '/old\nfrom_wsgi() needs the package a2wsgi: pip install "kit-asgi[wsgi]"\n',
}
# More than is kept in memory, so that it goes through a temporary file.
UPLOAD = b"x" * 3_000_000


def plugins_of(names: set[str]) -> list[str]:
    """The plugins that distributions register in their pyproject.toml."""
    return sorted(
        f"{plugin} of {name}"
        for name in names
        for group in GROUPS
        for plugin in PACKAGES[name].project.get("entry-points", {}).get(group, {})
    )


@pytest.fixture(params=[pytest.param(value, id=key) for key, value in COMBINATIONS.items()])
def combination(
    request: pytest.FixtureRequest, wheels: dict[str, Path], tmp_path: Path
) -> tuple[Path, set[str]]:
    """An interpreter, and the distributions of Kit that it should have."""
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *with_needed(wheels, *request.param), "uvicorn")
    return python, workspace.needed(request.param, PACKAGES)


def test_what_is_installed_is_all_there_is(
    combination: tuple[Path, set[str]], serve_command: Callable[..., Any], tmp_path: Path
) -> None:
    python, distributions = combination
    modules = json.dumps([leaf for package in PACKAGES.values() for leaf in package.leaves])
    program = INSTALLED.replace("MODULES", modules).replace("GROUPS", repr(GROUPS))
    found = json.loads(run(python, "-c", program))
    assert sorted(found["distributions"]) == sorted(distributions)
    assert sorted(found["plugins"]) == plugins_of(distributions)
    assert sorted(found["modules"]) == leaves_of(distributions)
    asked = ask_over_uvicorn(python, serve_command, tmp_path)
    assert ("<-- GET /hello/wheel 200" in asked["printed"]) is ("kit-logger" in distributions)
    assert asked["secret"] == (401 if "kit-bearer-auth" in distributions else 200)
    assert asked["slash"] == (301 if "kit-trailing-slash" in distributions else 404)


def test_the_core_brings_what_it_needs_and_no_more() -> None:
    assert {"kit-core", "kit-interface", "kit-routers"} <= CORE
    assert not [name for name in CORE if PACKAGES[name].is_middleware]
    assert {"kit-interface", "kit-routers", "kit-logger", "kit-dev"} <= APART


def leaves_of(names: set[str]) -> list[str]:
    """The import names that distributions own."""
    return sorted(leaf for name in names for leaf in PACKAGES[name].leaves)


def ask_over_uvicorn(
    python: Path, serve_command: Callable[..., Any], folder: Path
) -> dict[str, Any]:
    """Serves `APP` with the uvicorn beside an interpreter; gives what differs by middleware."""
    (folder / "smoke.py").write_text(APP)
    options = ("--app-dir", str(folder), "--lifespan", "on", "smoke:app")
    served = serve_command(
        lambda port: [str(python), "-m", "uvicorn", "--port", str(port), *options]
    )
    with httpx.Client(base_url=served.url, timeout=30) as client:
        assert client.get("/hello/wheel").json() == {"hello": "wheel"}
        answer = client.post("/upload", files={"large": ("a.bin", UPLOAD)})
        assert answer.json() == {"large": len(UPLOAD)}
        asked = {
            "secret": client.get("/secret").status_code,
            "slash": client.get("/hello/wheel/").status_code,
        }
    assert served.stop() == 0
    return {**asked, "printed": served.printed()}


def test_oldest_versions_that_the_ranges_allow(
    wheels: dict[str, Path], serve_command: Callable[..., Any], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    needed = [
        re.sub(r"\s*;\s*extra == .*", "", line)
        for wheel in wheels.values()
        for line in metadata(wheel).get("Requires-Dist", [])
        if not line.startswith("kit-") and not line.startswith("pytest")
    ]
    # Asked for by name, which makes them direct; what they need in turn may be the newest.
    # Nothing is compiled.
    oldest = ("--resolution", "lowest-direct", "--only-binary", ":all:")
    install(python, *wheels.values(), *needed, options=oldest)
    asked = ask_over_uvicorn(python, serve_command, tmp_path)
    assert (asked["secret"], asked["slash"]) == (401, 301)
    mount = (
        "from kit import Kit; from kit.asgi import from_wsgi\n"
        "def wsgi(environ, start):\n"
        "    start('200 OK', [('content-type', 'text/plain')])\n"
        "    return [b'old']\n"
        "app = Kit().mount('/old', from_wsgi(wsgi))\n"
    )
    (tmp_path / "mounted.py").write_text(mount)
    kit = python.parent / "kit"
    assert run(kit, "request", "mounted.py", "/old", "--body-only", cwd=tmp_path) == "old"


def test_core_is_installed_by_pip(wheels: dict[str, Path], tmp_path: Path) -> None:
    run("uv", "venv", "--quiet", "--seed", "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", *with_needed(wheels, "kit-core"))
    assert run(python, "-c", IN_PROCESS) == '200 {"hello":"wheel"}\n'
    assert run(python, "-c", EVERYTHING_LAZY) == "[]\n"
    assert int(run(python, "-c", SIZE)) < MAX_SIZE_BYTES
    missing = run(python, "-c", "import kit.logger", code=1)
    assert missing.rstrip().endswith("ModuleNotFoundError: No module named 'kit.logger'")


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_works_with_what_it_declares(
    name: str, wheels: dict[str, Path], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *with_needed(wheels, name))
    needed = workspace.needed([name], PACKAGES)
    installed = {*run(python, "-c", DISTRIBUTIONS).split()}
    assert installed & ALL == needed
    assert run(python, "-c", f"import {', '.join(PACKAGES[name].leaves)}") == ""
    if name in ALONE:
        assert run(python, "-c", ALONE[name]) == PRINTED[name]


@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_of_the_core(extra: str, wheels: dict[str, Path], tmp_path: Path) -> None:
    python = new_environment(tmp_path / "venv")
    install(python, f"kit-core[{extra}]", options=("--constraint", versions(tmp_path, wheels)))
    installed = {*run(python, "-c", DISTRIBUTIONS).lower().split()}
    assert installed >= EXTRAS[extra]
    named = EXTRAS[extra] & ALL
    assert installed & ALL == workspace.needed(["kit-core", *named], PACKAGES)


def serve_with(
    extra: str,
    app: str,
    wheels: dict[str, Path],
    serve_command: Callable[..., Any],
    folder: Path,
) -> Any:
    """Serves an app by the uvicorn of an environment that has one extra of kit-core alone."""
    python = new_environment(folder / "venv")
    install(python, f"kit-core[{extra}]", options=("--constraint", versions(folder, wheels)))
    (folder / "shop.py").write_text(app)
    options = ("--app-dir", str(folder), "--lifespan", "on", "shop:app")
    return serve_command(lambda port: [str(python), "-m", "uvicorn", "--port", str(port), *options])


def test_an_api_runs_with_its_extra(
    wheels: dict[str, Path], serve_command: Callable[..., Any], tmp_path: Path
) -> None:
    served = serve_with("api", API, wheels, serve_command, tmp_path)
    book = {"title": "Momo", "pages": 300}
    origin = {"origin": "https://shop.example"}
    with httpx.Client(base_url=served.url, timeout=30) as client:
        refused = client.post("/books", json=book)
        assert refused.status_code == 401
        assert refused.headers["content-type"] == "application/problem+json"
        assert client.post("/login", json={"name": "ada"}).status_code == 204
        added = client.post("/books", json=book, headers=origin)
        assert (added.status_code, added.json()) == (201, book)
        assert added.headers["access-control-allow-origin"] == "https://shop.example"
        assert added.headers["x-content-type-options"] == "nosniff"
        assert added.headers["x-request-id"]
        assert client.post("/books", json={"title": "Momo"}).status_code == 400
        assert client.post("/books", json={**book, "title": "x" * 2_000}).status_code == 413
        other = client.post("/books", json=book, headers={"origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers
        assert [client.post("/login", json={}).status_code for _ in range(2)] == [400, 429]
        assert "/books" in client.get("/openapi.json").json()["paths"]
        assert client.get("/docs").status_code == 200
    assert served.stop() == 0


def test_a_site_runs_with_its_extra(
    wheels: dict[str, Path], serve_command: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "home.html").write_text("<p>Hello {{ name }}</p>" + "x" * 2_000)
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "site.css").write_text("p { color: red }")
    served = serve_with("web", SITE, wheels, serve_command, tmp_path)
    with httpx.Client(base_url=served.url, timeout=30) as client:
        assert client.get("/home").headers["location"] == "/login"
        elsewhere = {"origin": "https://other.example"}
        assert client.post("/login", data={"name": "eve"}, headers=elsewhere).status_code == 403
        own = {"origin": served.url}
        page = client.post("/login", data={"name": "<ada>"}, headers=own, follow_redirects=True)
        assert page.text.startswith("<p>Hello &lt;ada&gt;</p>")
        assert page.headers["content-encoding"] in ("gzip", "br", "zstd")
        unchanged = {"if-none-match": page.headers["etag"]}
        assert client.get("/home", headers=unchanged).status_code == 304
        assert client.get("/static/site.css").text == "p { color: red }"
    assert served.stop() == 0


def test_extras_of_the_core_are_tested() -> None:
    assert {*EXTRAS} == {*PACKAGES["kit-core"].project["optional-dependencies"]}


def test_what_left_the_core_and_needs_no_app_needs_no_core() -> None:
    assert {"kit-cookie", "kit-validator"} <= APART
    assert not CORE & {*ALONE}


def test_packages_work_without_the_core(wheels: dict[str, Path], tmp_path: Path) -> None:
    """Those that don't ask for it: what they import, and their types."""
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *(wheels[name] for name in sorted(APART)))
    modules = leaves_of(APART)
    for name in sorted(APART):
        beside = {*leaves_of(workspace.needed([name], PACKAGES))}
        for module in PACKAGES[name].leaves:
            loaded = f"import sys, {module}; print(*[n for n in sys.modules if n in {modules}])"
            assert module in (found := {*run(python, "-c", loaded).split()})
            assert found - beside == set(), module
    # Their types hold without kit-core, those inside the packages and those of their use. Some have
    # modules for one extra alone, and kit-dev one for granian.
    extras = {name: [*PACKAGES[name].project.get("optional-dependencies", {})] for name in APART}
    needed = [f"{n}[{','.join(e)}] @ {wheels[n].as_uri()}" for n, e in extras.items() if e]
    install_pinned(python, *needed, "granian")
    tests = sorted(path for path in ROOT.glob("packages/*/tests/typing/*.py"))
    # Those that use the core as well are for check_wheels.py.
    core = re.compile(r"^(?:import kit$|from kit import)", re.MULTILINE)
    uses = [
        path
        for path in tests
        if path.relative_to(ROOT).parts[1] in APART and not core.search(path.read_text())
    ]
    assert {path.relative_to(ROOT).parts[1] for path in uses} >= {
        name for name in APART if PACKAGES[name].is_middleware
    }
    for path in uses:
        (tmp_path / path.name).write_text(path.read_text())
    mypy = ("-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", tmp_path)
    packages = [part for module in modules for part in ("-p", module)]
    for what in (packages, [path.name for path in uses]):
        said = run(sys.executable, *mypy, *what, cwd=tmp_path)
        assert said.startswith("Success: no issues found"), said


def test_command_without_its_extra_names_the_pip_command(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *with_needed(wheels, "kit-core", "kit-dev"))
    (tmp_path / "app.py").write_text("from kit import Kit\napp = Kit()\n")
    said = run(python.parent / "kit", "serve", tmp_path / "app.py", code=1)
    assert "pip install 'kit-dev[serve]'" in said
    assert run(python.parent / "kit", "--version").startswith("kit")


@pytest.mark.parametrize("page", ["docs/kit-command.md", "packages/kit-dev/README.md"])
def test_pages_show_what_kit_plugins_lists(
    page: str, wheels: dict[str, Path], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    named = ("kit-core", "kit-dev", "kit-logger")
    install_pinned(python, *with_needed(wheels, *named), "granian", "uvicorn", "watchfiles")
    command = "$ kit plugins\n"
    blocks = documents.read(page).blocks
    [shown] = [block.text for block in blocks if block.text.startswith(command)]
    listed = run(python.parent / "kit", "plugins")
    for package in PACKAGES.values():
        # The pages show the versions of their first release.
        listed = re.sub(rf"({package.name} +)[\d.]+", r"\g<1>0.1.0", listed)
    assert shown == command + re.sub(r" +$", "", listed, flags=re.MULTILINE)


def test_source_distributions_give_the_same_wheels(wheels: dict[str, Path], tmp_path: Path) -> None:
    """Those of the fixture were built from the source distributions, these are from the tree."""
    build = ("build", "--quiet", "--all-packages", "--no-sources", "--wheel", "-o", tmp_path)
    run("uv", "--directory", ROOT, *build)
    assert sorted(path.name for path in tmp_path.glob("*.whl")) == sorted(
        wheel.name for wheel in wheels.values()
    )
    for wheel in wheels.values():
        assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes(), wheel.name
