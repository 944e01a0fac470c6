# SPDX-License-Identifier: MIT
"""`send_file`: one file as the response of a handler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.serve_static import send_file


def app_with(path: Any, **options: Any) -> Kit:
    app = Kit()

    @app.get("/file")
    async def file(c: Context) -> Response:
        return await send_file(c, path, **options)

    return app


def test_a_file(folder: Path, ask: Callable[..., Any]) -> None:
    app = app_with(folder / "digits.txt")
    found = ask(app, "/file")
    assert (found.status, found.body) == (200, b"0123456789")
    assert found.headers == {
        "accept-ranges": "bytes",
        "content-type": "text/plain; charset=utf-8",
        "etag": found.headers["etag"],
        "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
    }
    assert ask(app, "/file", if_none_match=found.headers["etag"]).status == 304
    assert ask(app, "/file", range="bytes=1-2").body == b"12"
    assert ask(app, "/file", "HEAD").headers["content-length"] == "10"


def test_a_link_that_the_app_names_is_followed(folder: Path, ask: Callable[..., Any]) -> None:
    (folder / "link.txt").symlink_to("a.txt")
    assert ask(app_with(str(folder / "link.txt")), "/file").body == b"text of a"


@pytest.mark.parametrize(
    ("options", "disposition"),
    [
        ({"download": True}, 'attachment; filename="digits.txt"'),
        ({"filename": "my file.txt"}, 'inline; filename="my file.txt"'),
        ({"download": True, "filename": "a;b,c.txt"}, 'attachment; filename="a;b,c.txt"'),
        (
            {"download": True, "filename": 'a"b%41.txt'},
            "attachment; filename=\"a_b_41.txt\"; filename*=UTF-8''a%22b%2541.txt",
        ),
        (
            {"download": True, "filename": "café € 日本.txt"},
            "attachment; filename=\"caf_ _ __.txt\"; filename*=UTF-8''caf%C3%A9%20%E2%82%AC%20"
            "%E6%97%A5%E6%9C%AC.txt",
        ),
        (
            {"download": True, "filename": "x\ud800.txt"},
            "attachment; filename=\"x_.txt\"; filename*=UTF-8''x%3F.txt",
        ),
    ],
)
def test_content_disposition(
    folder: Path, ask: Callable[..., Any], options: dict[str, Any], disposition: str
) -> None:
    found = ask(app_with(folder / "digits.txt", **options), "/file")
    assert found.headers["content-disposition"] == disposition


def test_content_type_and_cache_control(folder: Path, ask: Callable[..., Any]) -> None:
    found = ask(
        app_with(folder / "noext", content_type="text/x-own", cache_control="private"), "/file"
    )
    assert found.headers["content-type"] == "text/x-own"
    assert found.headers["cache-control"] == "private"
    app = app_with(folder / "noext", filename="report.csv")
    assert ask(app, "/file").headers["content-type"] == "text/csv; charset=utf-8"
    app = app_with(folder / "noext", filename="report")
    assert ask(app, "/file").headers["content-type"] == "application/octet-stream"
    app = app_with(folder / "noext", cache_control="private")
    assert "cache-control" not in ask(app, "/file", if_match='"x"').headers
    assert "cache-control" not in ask(app, "/file", range="bytes=99-").headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_ranges_and_preconditions_are_about_a_resource_that_is_read(
    folder: Path, ask: Callable[..., Any], method: str
) -> None:
    """The handler has had its effect: that must not become a 412, nor a part of its result."""
    app = Kit()
    app.on(method, "/export", lambda c: send_file(c, folder / "digits.txt"))
    found = ask(app, "/export", method, range="bytes=0-1", if_match='"x"', if_none_match="*")
    assert (found.status, found.body) == (200, b"0123456789")


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_missing_file_is_a_fault(folder: Path, run: Callable[..., Any], is_folder: bool) -> None:
    path = folder / ("docs" if is_folder else "gone.txt")
    errors: list[Exception] = []
    app = app_with(path)
    app.on_error(lambda error, c: errors.append(error) or c.text("failed", 500))
    assert run(app.request, "/file").status == 500
    assert [str(each) for each in errors] == [
        f"send_file() can't open {str(path)!r}: there is no such file"
    ]
    assert isinstance(errors[0], FileNotFoundError)


@pytest.mark.parametrize(
    "path",
    [
        "a\\b",
        "a\r\nb",
        "a\0b",
        "../secret.txt",
        "gone.txt",
        "",
        "/",
        "docs",
        ".env",
        "..\\secret.txt",
        "/etc/passwd",
    ],
)
@pytest.mark.parametrize("download", [False, True])
def test_below_a_root_nothing_else_is_found(
    folder: Path, ask: Callable[..., Any], path: str, download: bool
) -> None:
    found = ask(app_with(path, root=folder, download=download), "/file")
    assert (found.status, found.body) == (404, b"404 Not Found")


def test_a_name_on_disk_that_no_header_takes(folder: Path, ask: Callable[..., Any]) -> None:
    (folder / "a\r\nSet-Cookie: b\\c.txt").write_text("text")
    found = ask(app_with(folder / "a\r\nSet-Cookie: b\\c.txt", download=True), "/file")
    assert found.headers["content-disposition"] == ('attachment; filename="a__Set-Cookie: b_c.txt"')


def test_below_a_root(folder: Path, ask: Callable[..., Any]) -> None:
    assert ask(app_with("css/site.css", root=folder), "/file").body == b"body{color:red}"
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    assert ask(app_with("out.txt", root=str(folder)), "/file").status == 404


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"filename": "a/b"},
            "send_file(filename='a/b') can't be used: expected a name without slashes, "
            "backslashes and control characters",
        ),
        (
            {"filename": "a\r\nb"},
            "send_file(filename='a\\r\\nb') can't be used: expected a name without slashes, "
            "backslashes and control characters",
        ),
        (
            {"filename": ""},
            "send_file(filename='') can't be used: expected a name without slashes, "
            "backslashes and control characters",
        ),
        ({"filename": 7}, "send_file(filename=...) takes a str, not 7"),
        (
            {"content_type": "a\nb"},
            "send_file(content_type='a\\nb') can't be used: expected latin-1 text without control "
            "characters or surrounding spaces",
        ),
        ({"cache_control": 7}, "send_file(cache_control=...) takes a str, not 7"),
        (
            {"root": "/no/such/folder"},
            "send_file(root='/no/such/folder') can't be used: '/no/such/folder' is not a "
            "folder; relative paths are resolved against the working directory",
        ),
    ],
)
def test_wrong_arguments(
    folder: Path, run: Callable[..., Any], options: dict[str, Any], text: str
) -> None:
    errors: list[str] = []
    app = app_with("a.txt" if "root" in options else str(folder / "a.txt"), **options)
    app.on_error(lambda error, c: errors.append(str(error)) or c.text("failed", 500))
    run(app.request, "/file")
    assert errors == [text]
