# SPDX-License-Identifier: MIT
"""Options are checked when the middleware is made."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit import Kit
from kit.serve_static import serve_static

VALUE = "latin-1 text without control characters or surrounding spaces"


def content(path: str, c: Any) -> bytes:
    return b""


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"root": 7}, TypeError, "serve_static(root=...) takes the path of a folder, not 7"),
        ({"root": b"x"}, TypeError, "takes the path of a folder, not b'x'"),
        ({"path": 7}, TypeError, "serve_static(path=...) takes a str, not 7"),
        ({"path": "../x"}, ValueError, "expected the path of a file below the root, such as"),
        ({"fallback": "/"}, ValueError, "expected the path of a file below the root, such as"),
        ({"index": "a/b.html"}, ValueError, "expected the name of a file, such as"),
        ({"dotfiles": "yes"}, TypeError, "serve_static(dotfiles=...) takes a bool, not 'yes'"),
        ({"pathsend": 1}, TypeError, "serve_static(pathsend=...) takes a bool, not 1"),
        ({"follow_symlinks": None}, TypeError, "takes a bool, not None"),
        ({"allow_percent_in_path": 0}, TypeError, "takes a bool, not 0"),
        ({"mimes": [("a", "b")]}, TypeError, "takes a mapping from extensions to types, e.g."),
        ({"mimes": {"foo": "text"}}, ValueError, "expected an extension and a content type"),
        (
            {"mimes": {"foo": "text/x\r\ny: z"}},
            ValueError,
            f"serve_static(mimes='text/x\\r\\ny: z') can't be used: expected {VALUE}",
        ),
        ({"precompressed": "deflate"}, ValueError, "expected True, or some of 'br', 'zstd'"),
        ({"precompressed": 7}, TypeError, "takes a str or a list of them, not 7"),
        ({"cache_control": 60}, TypeError, "takes a value such as 'no-cache', or a function"),
        (
            {"cache_control": "a\nb"},
            ValueError,
            f"serve_static(cache_control='a\\nb') can't be used: expected {VALUE}",
        ),
        ({"on_found": "x"}, TypeError, "takes a function (path, c), not 'x'"),
        ({"rewrite_request_path": "x"}, TypeError, "takes a function (path), not 'x'"),
        ({"get_content": "x"}, TypeError, "takes a function (path, c), not 'x'"),
        ({"is_dir": len}, TypeError, "can't be used with files on disk: it applies only to"),
        ({"package": "kit"}, TypeError, "takes root=... or package=..., not both"),
        ({"directory": "static"}, TypeError, "needs package=...: write root=... for a folder"),
        (
            {"root": "x", "get_content": content, "fallback": "index.html"},
            TypeError,
            "can't be used with get_content: it applies only to files on disk",
        ),
        ({"root": 7, "get_content": content}, TypeError, "takes a str, not 7"),
        (
            {"root": "x", "get_content": content, "path": 7},
            TypeError,
            "serve_static(path=...) takes a str, not 7",
        ),
    ],
)
def test_wrong_options_are_refused(
    folder: Path, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        serve_static(**{"root": folder, **options})
    assert text in str(raised.value)


def test_a_folder_is_needed() -> None:
    serve: Any = serve_static
    with pytest.raises(TypeError) as raised:
        serve()
    assert str(raised.value) == "serve_static() needs a folder: root=..., or package=..."


class BytesPath:
    def __fspath__(self) -> bytes:
        return b"x"


def test_a_root_of_bytes_is_refused() -> None:
    root: Any = BytesPath()
    with pytest.raises(TypeError, match="takes the path of a folder as a str, not "):
        serve_static(root)


def test_the_root_has_to_be_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for root, what in (("gone", "is not a folder"), ("a.txt", "is a file")):
        with pytest.raises(ValueError, match=f"can't be used: .* {what}"):
            serve_static(root)


def test_a_relative_root_counts_from_where_it_was_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., Any]
) -> None:
    monkeypatch.chdir(folder.parent)
    app = Kit()
    app.use("*", serve_static("./www"))
    monkeypatch.chdir("/")
    assert ask(app, "/a.txt").body == b"text of a"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an importable package `shopfront` with static files."""
    path = tmp_path / "lib" / "shopfront"
    (path / "static" / "css").mkdir(parents=True)
    (path / "__init__.py").write_text("")
    (path / "static" / "a.txt").write_text("from the package")
    (path / "static" / "css" / "b.css").write_text("b{}")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    monkeypatch.delitem(sys.modules, "shopfront", raising=False)
    return path


def test_the_folder_of_a_package(package: Path, ask: Callable[..., Any]) -> None:
    app = Kit()
    app.use("/css/*", serve_static(package="shopfront"))
    app.use("/*", serve_static(package="shopfront", directory="static"))
    app.get("/only", serve_static(package="shopfront", directory="static/css", path="b.css"))
    assert ask(app, "/a.txt").body == b"from the package"
    assert ask(app, "/css/b.css").body == b"b{}"
    assert ask(app, "/only").body == b"b{}"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"package": "shopfront", "directory": "gone"},
            "serve_static(directory='gone') can't be used: the package 'shopfront' has no such "
            "folder; expected one at {gone!r}",
        ),
        (
            {"package": "shopfront", "directory": "../other"},
            "serve_static(directory='../other') can't be used: expected a path within the "
            "package, such as 'static'",
        ),
        (
            {"package": "no_such_package_here"},
            "serve_static(package='no_such_package_here') can't be used: No module named "
            "'no_such_package_here'",
        ),
    ],
)
def test_packages_without_the_folder(package: Path, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match="can't be used") as raised:
        serve_static(**options)
    assert str(raised.value) == text.format(gone=str(package / "gone"))


def test_a_package_in_an_archive_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "lib.zip", "w") as archive:
        archive.writestr("zippedfront/__init__.py", "")
        archive.writestr("zippedfront/static/a.txt", "zipped")
    monkeypatch.syspath_prepend(tmp_path / "lib.zip")
    with pytest.raises(ValueError, match="can't be used") as raised:
        serve_static(package="zippedfront")
    assert str(raised.value).startswith("serve_static(package='zippedfront') can't be used: the")
    sys.modules.pop("zippedfront", None)
