# SPDX-License-Identifier: MIT
"""`kit routes`: the table, its filters, JSON, and what explains a URL."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev import load_app
from kit.dev.cli import main

SHOP = """
from kit import Kit

print("imported")

async def log(c, next):
    await next()

def auth(c, next):
    return next()

def show(c): return c.text("item")
def every(c): return c.text("all")
def legacy(request, *rest): return None

app = Kit()
app.use(log)
app.post("/items", auth, lambda c: c.text("made"))
app.get("/items/:id{[0-9]+}", show)
app.get("/files/*", every).get("/files/:name", show)
app.mount("/old", legacy)
app.all("/ping", show)
"""


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "app.py").write_text(SHOP)
    return folder


def kit(line: str, **environment: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["routes", *shlex.split(line)], env=environment)
    return result.exit_code, result.stdout + (result.stderr if result.exit_code else "")


def test_table(shop: Path) -> None:
    expected = (
        "METHOD  PATH                HANDLER\n"
        "POST    /items              [handler]\n"
        "GET     /items/:id{[0-9]+}  show\n"
        "GET     /files/*            every\n"
        "GET     /files/:name        show       "
        "never runs: GET /files/* (every) answers before it\n"
        "ALL     /old/*              legacy     mounted\n"
        "ALL     /ping               show\n"
    )
    for target in ("", ".", "app", "app.py", str(shop), "app:app"):
        assert kit(target) == (0, expected)


def test_verbose(shop: Path) -> None:
    lines = SHOP.splitlines()
    place = {
        name: f"app.py:{next(i for i, line in enumerate(lines, 1) if f'def {name}(' in line)}"
        for name in ("log", "auth", "show", "every", "legacy")
    }
    made = f"app.py:{next(i for i, line in enumerate(lines, 1) if 'lambda' in line)}"
    assert kit("-v") == (
        0,
        "METHOD  PATH                HANDLER    DEFINED AT\n"
        f"ALL     /*                  [log]      {place['log']}\n"
        f"POST    /items              [auth]     {place['auth']}\n"
        f"POST    /items              [handler]  {made}\n"
        "          after [log] [auth]\n"
        f"GET     /items/:id{{[0-9]+}}  show       {place['show']}\n"
        "          after [log]\n"
        f"GET     /files/*            every      {place['every']}\n"
        "          after [log]\n"
        f"GET     /files/:name        show       {place['show']:<10}  "
        "never runs: GET /files/* (every) answers before it\n"
        "          after [log]\n"
        f"ALL     /old/*              legacy     {place['legacy']:<10}  mounted\n"
        f"ALL     /ping               show       {place['show']}\n"
        "          after [log]\n",
    )


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ("--path items", ["/items", "/items/:id{[0-9]+}"]),
        ("--path /files/:", ["/files/:name"]),
        ("-X post", ["/items", "/old/*", "/ping"]),
        ("--method GET --path i", ["/items/:id{[0-9]+}", "/files/*", "/files/:name", "/ping"]),
        ("--path nothing", []),
    ],
)
def test_filters(options: str, paths: list[str], shop: Path) -> None:
    code, said = kit(options)
    assert code == 0
    if not paths:
        assert said == "There are no such routes.\n"
    else:
        assert [line.split()[1] for line in said.splitlines()[1:]] == paths
    assert [each["path"] for each in json.loads(kit(f"{options} --json")[1])] == paths


def test_json(shop: Path) -> None:
    found = json.loads(kit("--json")[1])
    assert [each["name"] for each in found] == [
        "[handler]",
        "show",
        "every",
        "show",
        "legacy",
        "show",
    ]
    assert found[3] == {
        "path": "/files/:name",
        "method": "GET",
        "name": "show",
        "is_middleware": False,
        "middleware": ["log"],
        "is_mounted": False,
        "file": str(shop / "app.py"),
        "line": SHOP.splitlines().index('def show(c): return c.text("item")') + 1,
        "shadowed_by": {"path": "/files/*", "method": "GET", "name": "every"},
        "uncovered": [],
    }
    every = json.loads(kit("--json --verbose")[1])
    assert [each["name"] for each in every if each["is_middleware"]] == ["log", "auth", "legacy"]


def test_colors(shop: Path) -> None:
    _, said = kit("--path files", FORCE_COLOR="1")
    assert said.splitlines()[1:] == [
        "\x1b[32mGET\x1b[0m     /files/*      every",
        "\x1b[32mGET\x1b[0m     /files/:name  show     "
        "\x1b[33mnever runs: GET /files/* (every) answers before it\x1b[0m",
    ]
    assert re.sub(r"\x1b\[\d+m", "", said) == kit("--path files")[1]
    assert "\x1b[32mGET\x1b[0m /ping\n" in kit("--explain /ping", FORCE_COLOR="1")[1]


# --explain ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        pytest.param(
            "--explain /items/42?x=1",
            [
                "GET /items/42",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL  /*                  [log]",
                "  2  GET  /items/:id{[0-9]+}  show   id='42'",
            ],
            id="parameters",
        ),
        pytest.param(
            "--explain http://x.example/items -X post",
            [
                "POST /items",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL   /*      [log]",
                "  2  POST  /items  [auth]",
                "  3  POST  /items  [handler]",
            ],
            id="method and URL",
        ),
        pytest.param(
            "--explain /files/a%2Fb%20c",
            [
                "GET /files/a%2Fb c",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL  /*            [log]",
                "  2  GET  /files/*      every",
                "  3  GET  /files/:name  show   not reached: every answers before it",
            ],
            id="not reached",
        ),
        pytest.param(
            "--explain /files/%40me/http://x.example?y=http://z",
            [
                "GET /files/@me/http://x.example",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL  /*        [log]",
                "  2  GET  /files/*  every",
            ],
            id="a URL within the path",
        ),
        pytest.param(
            "--explain old/page",
            [
                "GET /old/page",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL  /*      [log]",
                "  2  ALL  /old/*  legacy  mounted",
            ],
            id="mounted",
        ),
        pytest.param(
            "--explain /items",
            [
                "GET /items",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL  /*  [log]",
                "",
                "No handler answers GET; there are some for POST.",
            ],
            id="another method",
        ),
        pytest.param(
            "--explain /item",
            [
                "GET /item",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL  /*  [log]",
                "",
                "No handler answers this path. Near it: /items.",
            ],
            id="no path",
        ),
        pytest.param(
            "--explain /ping -X HEAD",
            [
                "HEAD /ping",
                "",
                "Router: SmartRouter, which uses RegExpRouter",
                "",
                "  1  ALL  /*     [log]",
                "  2  ALL  /ping  show",
            ],
            id="HEAD",
        ),
    ],
)
def test_explain(options: str, lines: list[str], shop: Path) -> None:
    assert kit(options) == (0, "\n".join(lines) + "\n")


def test_explain_tells_which_router_refused_what(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\napp = Kit()\napp.get('/users/:id{(a|b)c}', lambda c: c.text('x'))\n"
    )
    assert kit("--explain /users/ac") == (
        0,
        "GET /users/ac\n"
        "\n"
        "Router: SmartRouter, which uses TrieRouter\n"
        "  RegExpRouter refused GET '/users/:id{(a|b)c}' at position 11: "
        + refusal("/users/:id{(a|b)c}")
        + "\n\n  1  GET  /users/:id{(a|b)c}  [handler]  id='ac'\n",
    )


def refusal(path: str) -> str:
    from kit.interface import UnsupportedPathError
    from kit.router.reg_exp_router import RegExpRouter

    router: RegExpRouter[Any] = RegExpRouter()
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, None)
    return caught.value.reason


def test_explain_in_json(shop: Path) -> None:
    found = json.loads(kit("--explain /files/x --json")[1])
    assert (found["method"], found["path"]) == ("GET", "/files/x")
    assert (found["router"], found["active_router"]) == ("SmartRouter", "RegExpRouter")
    assert found["refusals"] == found["other_methods"] == found["near"] == []
    assert found["steps"][2] == {
        "method": "GET",
        "path": "/files/:name",
        "name": "show",
        "is_middleware": False,
        "is_mounted": False,
        "params": {"name": "x"},
        "runs": False,
        "source": "",
    }


def test_explain_shows_where_arguments_come_from(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\n"
        "from kit.interface.metadata import attach\n"
        "def show(c): return c.text('')\n"
        "attach(show, source='id: int = path[\\'id\\']\\nshow(id)')\n"
        "app = Kit().get('/users/:id', show)\n"
    )
    code, said = kit("--explain /users/1")
    assert code == 0
    assert said.endswith(
        "  1  GET  /users/:id  show  id='1'\n\nWhere the arguments of show come from:\n\n"
        "  id: int = path['id']\n  show(id)\n"
    )
    found = json.loads(kit("--explain /users/1 --json")[1])
    assert found["steps"][0]["source"] == "id: int = path['id']\nshow(id)"


@pytest.mark.parametrize("router", ["trie", "linear", "pattern", "reg-exp"])
def test_explain_with_any_router(router: str, folder: Path) -> None:
    (folder / "app.py").write_text(
        f"from kit import Kit\napp = Kit(router={router!r})\n"
        "app.get('/users/:id', lambda c: c.text('x'))\n"
    )
    code, said = kit("--explain /users/%E3%81%82%25")
    assert code == 0
    assert said.endswith("  1  GET  /users/:id  [handler]  id='あ%'\n")
    names = {"trie": "Trie", "linear": "Linear", "pattern": "Pattern", "reg-exp": "RegExp"}
    assert f"\nRouter: {names[router]}Router\n" in said
    found = json.loads(kit("--explain /users/7 --json")[1])
    assert (found["router"], found["active_router"]) == (f"{names[router]}Router", None)


def test_explain_names_the_innermost_router(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\n"
        "from kit.router import SmartRouter, TrieRouter, default_router\n"
        "app = Kit(router=SmartRouter(routers=[default_router(), TrieRouter()]))\n"
    )
    assert "\nRouter: SmartRouter, which uses RegExpRouter\n" in kit("--explain /")[1]


def test_handler_that_says_it_hands_over_to_another_application(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\n"
        "from kit.interface.metadata import attach\n"
        "async def other(c, next):\n"
        "    return c.text('other')\n"
        "app = Kit()\n"
        "app.use('/other/*', attach(other, mounted=True))\n"
    )
    assert kit("") == (
        0,
        "METHOD  PATH      HANDLER\nALL     /other/*  other    mounted\n",
    )
    assert kit("--explain /other/x")[1].endswith("  1  ALL  /other/*  other  mounted\n")


def test_explain_as_the_app_routes(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\n"
        "loose = Kit(strict=False).get('/a', lambda c: c.text('x'))\n"
        "app = Kit(get_path=lambda r: '/host' + r.url).get('/host/x', lambda c: c.text('x'))\n"
    )
    assert "  1  GET  /a  [handler]\n" in kit("app.py:loose --explain /a/")[1]
    said = kit("--explain /host/x")[1]
    assert "The app has a get_path of its own: this is taken for what that gives." in said
    assert said.endswith("  1  GET  /host/x  [handler]\n")


@pytest.mark.parametrize("path", ["/a/b", "/a%2Fb", "/%41%25x", "/%E3%81", "/a%20b?q", "/x/"])
async def test_explain_finds_what_the_app_runs(path: str, folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\napp = Kit()\n"
        "app.get('/:x', lambda c: c.json(c.req.param()))\n"
        "app.get('/:x/:y', lambda c: c.json(c.req.param()))\n"
    )
    app: Any = load_app("app.py")
    response = await app.request(path)
    steps = json.loads(kit(f"--explain {path} --json")[1])["steps"]
    assert (response.status, [step["params"] for step in steps]) == (
        (404, []) if not steps else (200, [await response.json()])
    )


def test_mistakes(shop: Path) -> None:
    assert kit("--explain /x --verbose")[1].endswith(
        "Error: --explain shows all that runs for one path: leave out --verbose\n"
    )
    code, said = kit("nothing")
    assert code == 1
    assert said.startswith("Error: There is no app at 'nothing': looked for")
    assert kit("--nonsense")[0] == 2


def test_no_routes(folder: Path) -> None:
    (folder / "app.py").write_text("from kit import Kit\napp = Kit()\n")
    assert kit("") == (0, "There are no routes.\n")
    assert kit("--json") == (0, "[]\n")
    assert kit("--explain /")[1].endswith("\n\nNo handler answers this path.\n")


def test_explain_where_the_routers_refuse_the_routes_only_at_the_first_match(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\nfrom kit.interface import UnsupportedPathError\n"
        "from kit.router import TrieRouter\n"
        "class Late(TrieRouter):\n"
        "    def match(self, method, path):\n"
        "        raise UnsupportedPathError('/a', 'not beside /:x', 'GET')\n"
        "app = Kit(router=Late()).get('/a', lambda c: c.text('a'))\n"
    )
    result = CliRunner().invoke(main, ["routes", "--explain", "/a"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: Unsupported route GET '/a': not beside /:x\n",
    )


def test_middleware_that_comes_after_what_it_should_cover(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\n"
        "async def auth(c, next): await next()\n"
        "async def one(c, next): await next()\n"
        "def show(c): return c.text('')\n"
        "inner, pages, app = Kit(), Kit(), Kit()\n"
        "inner.get('/in', show)\n"
        "pages.use(one)\n"
        "pages.get('/page', show)\n"
        "app.get('/health', show)\n"
        "app.route('/inner', inner)\n"
        "app.use('/other/*', auth)\n"  # covers nothing of before
        "app.use(auth)\n"
        "app.get('/files/:name', one, show)\n"
        "app.get('/files/*', one, show)\n"  # for this handler alone
        "app.route('/', pages)\n"  # whose middleware is for its own handlers
    )
    lines = kit("")[1].splitlines()
    remarks = [line for line in lines if "doesn't run" in line]
    assert remarks == [
        "ALL     /*            [auth]   doesn't run for GET /health (show), GET /inner/in (show): "
        "register it before what it should cover"
    ]
    assert lines.index(remarks[0]) == 3
    found = json.loads(kit("--json")[1])
    assert [route["name"] for route in found if route["uncovered"]] == ["auth"]
    assert found[2]["uncovered"] == [
        {"path": "/health", "method": "GET", "name": "show"},
        {"path": "/inner/in", "method": "GET", "name": "show"},
    ]


def test_of_many_handlers_that_middleware_misses_three_are_named(folder: Path) -> None:
    (folder / "app.py").write_text(
        "from kit import Kit\napp = Kit()\n"
        "for name in 'abcde':\n    app.get(f'/{name}', lambda c: c.text(''))\n"
        "@app.use()\nasync def late(c, next): await next()\n"
    )
    assert (
        "doesn't run for GET /a ([handler]), GET /b ([handler]), GET /c ([handler]) and 2 more: r"
        in (kit("")[1])
    )
