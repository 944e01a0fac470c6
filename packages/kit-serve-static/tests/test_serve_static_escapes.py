# SPDX-License-Identifier: MIT
"""No path leads out of the folder: dot segments, encodings, links, what Windows reads its way."""

from __future__ import annotations

import asyncio
import itertools
import ntpath
import os
import random
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit
from kit.serve_static import safe_segments, serve_static

SECRET = b"TOP SECRET"
SEED = 20_261_122
ATTEMPTS = 10_000

UP = (
    "..",
    "%2e%2e",
    ".%2e",
    "%2E.",
    "%252e%252e",
    "%c0%ae%c0%ae",
    "\uff0e\uff0e",
    "....",
    "..;",
    "..%00",
)
SEPARATORS = (
    "/",
    "//",
    "%2f",
    "%2F",
    "\\",
    "%5c",
    "%252f",
    "%255c",
    "/./",
    "%c0%af",
    "\u2215",
    "%u2215",
)
STARTS = (
    "/",
    "//",
    "/css/",
    "/docs/deep/",
    "/%2f",
    "/\\",
    "/C:",
    "/css%2f",
    "/./",
    "/.well-known/",
)
TARGETS = ("secret.txt", "www-private/secret.txt", "www-private%2fsecret.txt", "..%2fsecret.txt")


def attempts(secret: Path) -> list[str]:
    """Paths that mean the secret to a careless reader, the same ones each time."""
    chosen = random.Random(SEED)
    paths = [
        str(secret),
        "/" + str(secret),
        str(secret).replace("/", "%2f"),
        f"/../www{secret}",
        "/../www-private/secret.txt",
        "/..%2fwww-private%2fsecret.txt",
        "file://" + str(secret),
    ]
    while len(paths) < ATTEMPTS:
        path = chosen.choice(STARTS)
        for _ in range(chosen.randint(1, 7)):
            path += chosen.choice(UP) + chosen.choice(SEPARATORS)
            if chosen.random() < 0.2:
                path += chosen.choice(("css", "docs", "a.txt", "www")) + chosen.choice(SEPARATORS)
        path += chosen.choice(TARGETS)
        if chosen.random() < 0.1:
            path = "".join(
                f"%{ord(each):02x}" if each.isascii() and chosen.random() < 0.3 else each
                for each in path
            )
        paths.append(path)
    return paths


def scope_of(path: str) -> dict[str, Any]:
    """The scope that a server makes of a request target, without resolving anything in it."""
    return {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path, errors="replace"),
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [],
    }


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dotfiles": True, "allow_percent_in_path": True, "precompressed": True},
        {"follow_symlinks": True, "dotfiles": True, "fallback": "index.html"},
    ],
)
def test_ten_thousand_attempts_reach_nothing(
    folder: Path, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit()
    app.use("/*", serve_static(folder, **options))
    got: list[bytes] = []

    async def send(message: dict[str, Any]) -> None:
        got.append(message.get("body", b""))
        assert message.get("status", 404) < 500

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def try_all() -> None:
        for path in attempts(folder.parent / "secret.txt"):
            await app(scope_of(path), receive, send)

    asyncio.run(try_all())
    assert len(got) >= 2 * ATTEMPTS
    assert not [body for body in got if SECRET in body]


def test_the_attempts_could_succeed(folder: Path) -> None:
    """Against a server that decodes and joins, several of them do."""
    reached = 0
    for path in attempts(folder.parent / "secret.txt"):
        target = os.path.normpath(str(folder) + "/" + unquote(path).replace("\\", "/"))
        if "\0" not in target and os.path.isfile(target):
            reached += Path(target).read_bytes() == SECRET
    assert reached > 100


@given(st.text(st.sampled_from("./\\%25cC:a\x00 ~"), max_size=24))
def test_segments_never_lead_out(path: str) -> None:
    segments = safe_segments(path, dotfiles=True)
    if segments is not None:
        joined = os.path.normpath("/srv/www/" + "/".join(segments))
        assert joined == "/srv/www" + "".join(f"/{each}" for each in segments)


@given(st.text(max_size=40))
def test_segments_of_any_text_can_be_opened(path: str) -> None:
    for segment in safe_segments(path) or ():
        assert segment.encode()
        assert segment not in ("", ".", "..")
        assert "/" not in segment
        assert "\\" not in segment
        assert "\0" not in segment


@given(st.text(max_size=30) | st.text(st.sampled_from("CONULAX.1 :\\/.txtcon"), max_size=12))
def test_segments_for_windows_stay_in_the_folder(path: str) -> None:
    """By the rules of the module that knows them, on any system."""
    segments = safe_segments(path, dotfiles=True, windows=True)
    if segments:
        joined = ntpath.normpath(ntpath.join("D:\\www", *segments))
        assert joined == "D:\\www\\" + "\\".join(segments)
        assert not any(each.endswith((".", " ")) for each in segments)


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("", ()),
        ("/", ()),
        ("a", ("a",)),
        ("/a/b.txt", ("a", "b.txt")),
        ("/a/", ("a",)),
        ("a b/c~d", ("a b", "c~d")),
        ("...", None),
        ("/..", None),
        ("/a/..", None),
        ("/a/../b", None),
        ("/a/./b", None),
        ("/a//b", None),
        ("//a", None),
        ("a//", None),
        ("/a\\b", None),
        ("/a\0", None),
        ("/a\x7f", None),
        ("/a\r\nb", None),
        ("/\udc80", None),
        ("/.env", None),
        ("/.well-known/x", (".well-known", "x")),
        ("/a/.well-known/x", None),
    ],
)
def test_segments(path: str, segments: tuple[str, ...] | None) -> None:
    assert safe_segments(path) == segments


def test_segments_with_dotfiles() -> None:
    assert safe_segments("/.env", dotfiles=True) == (".env",)
    assert safe_segments("/...", dotfiles=True) == ("...",)
    assert safe_segments("/..", dotfiles=True) is None


@pytest.mark.parametrize(
    "name",
    ["CON", "con", "NUL.txt", "aux.tar.gz", "COM1", "lpt9.log", "COM¹.txt", "PRN .js", "CONIN$"],
)
def test_cve_2026_21860_and_cve_2026_27199_device_names(name: str) -> None:
    assert safe_segments(f"/{name}", windows=True) is None
    assert safe_segments(f"/js/{name}/x", windows=True) is None
    assert safe_segments(f"/{name}") == (name,)


@pytest.mark.parametrize("name", ["GIT~1", "git~1", "PRIVAT~2", "PAGE~1.HTM", "A1B2~12.js", "x~1."])
def test_short_names_of_windows(name: str) -> None:
    """By them, `.git` needs no dot, and a guard of `/private/*` sees another path."""
    assert safe_segments(f"/{name}", windows=True) is None
    assert safe_segments(f"/{name}/config", windows=True) is None


@pytest.mark.parametrize("name", ["~1", "a~b.js", "backup~", "page.tar~1", "chapter-two~1.html"])
def test_names_that_only_look_like_short_ones(name: str) -> None:
    assert safe_segments(f"/{name}", windows=True) == (name,)


@pytest.mark.parametrize(
    "path", ["\\\\host\\share\\x", "//host/share/x", "/\\host/share", "/%5c%5chost/x"]
)
def test_cve_2026_48818_unc_paths(folder: Path, ask: Callable[..., Any], path: str) -> None:
    assert "%" in path or safe_segments(path, windows=True) is None
    app = Kit()
    app.use("*", serve_static(folder, allow_percent_in_path=True))
    assert ask(app, "http://localhost/" + path.lstrip("/")).status == 404


@pytest.mark.parametrize(
    "name",
    [
        "C:",
        "C:secret.txt",
        "a.txt::$DATA",
        "a.txt:stream",
        "a.txt.",
        "a.txt ",
        "a<b",
        'a"b',
        "a|b",
        "a?b",
        "a*b",
    ],
)
def test_drives_streams_and_names_that_windows_changes(name: str) -> None:
    assert safe_segments(f"/{name}", windows=True) is None
    assert safe_segments(f"/{name}/x", windows=True) is None


@pytest.mark.parametrize(
    "name", ["console.js", "nullable.txt", "com10.txt", "auxiliary", "a.con", "lpt"]
)
def test_names_that_only_look_like_devices(name: str) -> None:
    assert safe_segments(f"/{name}", windows=True) == (name,)


def test_cve_2023_29159_a_folder_whose_name_begins_alike(
    folder: Path, ask: Callable[..., Any]
) -> None:
    app = Kit()
    app.use("*", serve_static(folder, rewrite_request_path=lambda path: f"..{path}"))
    assert (folder.parent / "www-private" / "secret.txt").exists()
    assert ask(app, "/www-private/secret.txt").status == 404
    assert ask(app, "/-private/secret.txt").status == 404


@pytest.mark.parametrize(
    "path", ["/docs%2Findex.html", "/docs%2findex.html", "/docs%252Findex.html"]
)
def test_cve_2026_29045_an_encoded_slash_is_what_the_router_takes_it_for(
    folder: Path, ask: Callable[..., Any], path: str
) -> None:
    """A guard of `/docs/*` doesn't see such a path, so neither does the folder."""
    app = Kit()
    app.get("/docs/*", lambda c: c.text("guarded", 401))
    app.use("*", serve_static(folder, allow_percent_in_path=True))
    assert ask(app, "/docs/index.html").status == 401
    assert ask(app, path).status == 404


SPELLINGS = [
    "".join(parts)
    for parts in itertools.product(
        ("/", "//", "/below/", "/./", "/below//", "/%62elow/"),
        (
            "private",
            "%70rivate",
            "PRIVATE",
            "private.",
            "private%20",
            "private%00",
            "private%3f",
            "private%5c",
            "private;a",
            "%2e/private",
            "%2570rivate",
            "%%370rivate",
            "%7%30rivate",
            "x/../private",
        ),
        ("/", "//", "%2f", "\\", "%5c", "/./", "/x/../", "%252f", "/%2e/"),
        ("secret.txt", "", "%73ecret.txt", "secret.txt/", "secret%2etxt", "index.html"),
    )
]


def guarded(root: Path, options: dict[str, Any], *guards: Any) -> Kit:
    """An app that serves a folder, and again below a prefix, with guards of `/private/*`."""

    def serve(app: Kit, prefix: str) -> Kit:
        for guard in guards:
            app.use("/private/*", guard)
        return app.use(
            "/*",
            serve_static(
                root, rewrite_request_path=lambda path: path.removeprefix(prefix), **options
            ),
        )

    app = Kit().route("/below", serve(Kit(), "/below"))
    return serve(app, "")


def answers_of(app: Kit, paths: list[str]) -> list[tuple[str, int, bytes]]:
    """The paths, each with the status and the body of the answer."""
    answers: list[tuple[str, int, bytes]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def ask_all() -> None:
        for path in paths:
            got: list[dict[str, Any]] = []

            async def send(message: dict[str, Any], got: list[Any] = got) -> None:
                got.append(message)

            await app(scope_of(path), receive, send)
            answers.append((path, got[0]["status"], got[-1].get("body", b"")))

    asyncio.run(ask_all())
    return answers


@pytest.mark.parametrize(
    "options",
    [{}, {"allow_percent_in_path": True, "dotfiles": True}, {"fallback": "public.txt"}],
)
def test_a_guard_before_the_folder_is_passed_by_no_spelling(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    async def refuse(c: Any, next: Any) -> Any:
        return c.text("refused", 401)

    root = tmp_path / "www"
    (root / "private").mkdir(parents=True)
    (root / "public.txt").write_text("public")
    for name in ("index.html", "secret.txt"):
        (root / "private" / name).write_bytes(SECRET)
    answers = answers_of(guarded(root, options, refuse), SPELLINGS)
    assert not [each for each in answers if each[1] >= 500 or each[2] == SECRET]
    assert [each for each in answers if each[1] == 401]
    # Without the guard, many of them lead there.
    answers = answers_of(guarded(root, options), SPELLINGS)
    assert len([each for each in answers if each[2] == SECRET]) >= 20


@pytest.fixture(params=["beneath", "checked"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How files are opened: name by name, or by the path, as where the system can't do that."""
    if request.param == "checked":
        monkeypatch.setattr(os, "supports_dir_fd", set())
    return str(request.param)


@pytest.fixture
def linked(folder: Path) -> Path:
    """The folder with links that lead out of it, and within it."""
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "out").symlink_to(folder.parent)
    (folder / "in.txt").symlink_to("a.txt")
    (folder / "docs" / "up.txt").symlink_to("../../secret.txt")
    (folder / "loop").symlink_to("loop")
    return folder


LINKS = (
    "/out.txt",
    "/out/secret.txt",
    "/out/www-private/secret.txt",
    "/docs/up.txt",
    "/loop",
    "/out",
)


def test_links_are_not_followed(way: str, linked: Path, ask: Callable[..., Any]) -> None:
    app = Kit()
    app.use("*", serve_static(linked, index="secret.txt"))
    for path in (*LINKS, "/in.txt", "/out/"):
        assert ask(app, path).status == 404
    assert ask(app, "/a.txt").body == b"text of a"
    assert ask(app, "/docs/deep/er/page.html").body == b"deep"
    assert ask(app, "/docs/deep/er/absent").status == 404


def test_precompressed_files_that_are_links_are_not_followed(
    way: str, linked: Path, ask: Callable[..., Any]
) -> None:
    (linked / "a.txt.br").symlink_to(linked.parent / "secret.txt")
    app = Kit()
    app.use("*", serve_static(linked, precompressed=True))
    found = ask(app, "/a.txt", accept_encoding="br")
    assert found.body == b"text of a"
    assert "content-encoding" not in found.headers


def test_links_are_followed_if_wanted(linked: Path, ask: Callable[..., Any]) -> None:
    app = Kit()
    app.use("*", serve_static(linked, follow_symlinks=True))
    assert ask(app, "/out.txt").body == SECRET
    assert ask(app, "/out/secret.txt").body == SECRET
    assert ask(app, "/in.txt").body == b"text of a"
    assert ask(app, "/loop").status == 404


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(
    way: str, folder: Path, tmp_path: Path
) -> None:
    """One thread swaps a folder for a link to another one, while files in it are asked for."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "page.txt").write_bytes(SECRET)
    inside = folder / "swapped"
    inside.mkdir()
    (inside / "page.txt").write_bytes(b"public")
    link = tmp_path / "link"
    aside = tmp_path / "aside"
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            link.symlink_to(outside)
            inside.rename(aside)
            link.rename(inside)
            inside.unlink()
            aside.rename(inside)

    app = Kit()
    app.use("/*", serve_static(folder))
    bodies: list[bytes] = []

    async def ask_often() -> None:
        bodies.extend([await (await app.request("/swapped/page.txt")).bytes() for _ in range(400)])

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        asyncio.run(ask_often())
    finally:
        is_over.set()
        swapping.join()
    assert SECRET not in bodies
    assert len(bodies) == 400


def test_a_root_that_is_a_link_is_followed(way: str, folder: Path, ask: Callable[..., Any]) -> None:
    (folder.parent / "current").symlink_to(folder)
    app = Kit()
    app.use("*", serve_static(folder.parent / "current"))
    assert ask(app, "/a.txt").body == b"text of a"
    assert ask(app, "/css/site.css").status == 200


def test_a_folder_that_can_not_be_opened_has_an_index(
    way: str, folder: Path, ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, which opens no folder as a file."""
    open_it = os.open

    def refuse(path: Any, flags: int, *args: Any, dir_fd: int | None = None) -> int:
        fd = open_it(path, flags, *args, dir_fd=dir_fd)
        if not flags & os.O_DIRECTORY and stat.S_ISDIR(os.fstat(fd).st_mode):
            os.close(fd)
            raise PermissionError(13, "Permission denied")
        return fd

    app = Kit()
    app.use("*", serve_static(folder))
    monkeypatch.setattr(os, "open", refuse)
    assert ask(app, "/docs/").body == b"<h1>Docs</h1>"
    assert ask(app, "/docs").status == 301
    assert ask(app, "/bare/").status == 404
