# SPDX-License-Identifier: MIT
"""Folders whose file system takes other spellings of a name for the same one, as on macOS."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from kit import Context, Kit, Next, Response, send_file
from kit.serve_static import serve_static


def folded(name: str) -> str:
    """What a file system such as HFS+ compares."""
    return normalize("NFD", name).casefold().replace("\u200c", "")


class Folding:
    """Lets the functions of `os` that open and look up names find other spellings of them.

    Args:
        monkeypatch: The fixture.
        only: The folder that does so, instead of all: ext4 can ignore case in a single one.
        fold: What the file system compares.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        only: Path | None = None,
        fold: Callable[[str], str] = folded,
    ) -> None:
        self.asked = 0
        self._only = only
        self._fold = fold
        self._real_open, self._real_lstat = os.open, os.lstat
        self._listdir = os.listdir
        monkeypatch.setattr(os, "open", self._open)
        monkeypatch.setattr(os, "lstat", self._lstat)

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is None:
            return self._real_open(self._found(path), flags, mode)
        return self._real_open(self._name(dir_fd, path), flags, mode, dir_fd=dir_fd)

    def _lstat(self, path: Any) -> os.stat_result:
        self.asked += 1
        return self._real_lstat(self._found(path))

    def _found(self, path: Any) -> str:
        found = "/"
        for name in str(path).split("/")[1:]:
            found = os.path.join(found, self._name(found, name))
        return found

    def _name(self, folder: Any, name: str) -> str:
        if self._only is not None and not os.path.samestat(os.stat(folder), os.stat(self._only)):
            return name
        names = self._listdir(folder)
        same = (each for each in names if self._fold(each) == self._fold(name))
        return name if name in names else next(same, name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("private", "privé", "12"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.txt").write_text("secret")
        (tmp_path / name / "index.html").write_text("page")
    (tmp_path / "open.txt").write_text("open")
    return tmp_path


def make_app(folder: Path) -> Kit:
    def deny(c: Context, next: Next) -> Response:
        return c.text("denied", 403)

    app = Kit()
    for name in ("private", "privé", "12"):
        app.use(f"/{name}/*", deny)
        app.use(f"/sent/{name}/*", deny)

    @app.get("/sent/:path{.+}")
    async def sent(c: Context) -> Response:
        return await send_file(c, c.req.param("path") or "", root=folder)

    return app.use("/*", serve_static(folder))


OTHERS = (
    "/Private/s.txt",
    "/PRIVATE/s.txt",
    "/private/S.TXT",
    "/Private/",
    "/Private",
    "/prive%CC%81/s.txt",
    "/PRIV%C3%89/s.txt",
    "/priv%E2%80%8Cate/s.txt",
    "/1%E2%80%8C2/s.txt",
    "/%E2%84%AA/s.txt",
)


@pytest.mark.parametrize("path", OTHERS)
async def test_only_the_spelling_on_disk_is_a_file(
    folder: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "k").mkdir()
    (folder / "k" / "s.txt").write_text("secret")
    Folding(monkeypatch)
    app = make_app(folder)
    with open(os.path.join(folder, "PRIVATE", "s.txt"), opener=os.open) as file:
        assert file.read() == "secret"  # or the test would show nothing
    for prefix in ("", "/sent"):
        response = await app.request(prefix + path)
        assert (response.status, await response.text()) in [
            (404, "404 Not Found"),
            (403, "denied"),
        ], prefix


@pytest.mark.parametrize("path", ["/open.txt", "/private/s.txt", "/priv%C3%A9/s.txt", "/12/s.txt"])
@pytest.mark.parametrize("is_folding", [False, True])
async def test_the_spelling_on_disk_is_a_file(
    folder: Path, path: str, monkeypatch: pytest.MonkeyPatch, *, is_folding: bool
) -> None:
    if is_folding:
        Folding(monkeypatch)
    app = Kit().use("/*", serve_static(folder))
    for _ in range(2):
        assert (await app.request(path)).status == 200


async def test_a_folder_that_tells_spellings_apart_is_asked_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Kit().use("/*", serve_static(folder))
    asked = []
    real = os.lstat

    def counting(path: Any) -> os.stat_result:
        asked.append(path)
        return real(path)

    monkeypatch.setattr(os, "lstat", counting)
    assert (await app.request("/private/s.txt")).status == 200
    assert asked
    asked.clear()
    assert (await app.request("/private/s.txt")).status == 200
    assert (await app.request("/private/index.html")).status == 200
    assert not asked


async def test_each_folder_is_asked_whether_it_tells_spellings_apart(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Folding(monkeypatch, only=folder / "private")
    app = Kit().use("/*", serve_static(folder))
    for path, status in [
        ("/open.txt", 200),
        ("/OPEN.txt", 404),
        ("/private/S.TXT", 404),
        ("/private/s.txt", 200),
        ("/private/S.TXT", 404),
    ]:
        assert (await app.request(path)).status == status, path


async def test_a_name_with_one_spelling_does_not_answer_for_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "private" / "12").write_text("number")
    Folding(monkeypatch)
    app = Kit().use("/*", serve_static(folder))
    for path, status in [("/private/12", 200), ("/private/S.TXT", 404)]:
        assert (await app.request(path)).status == status, path


@pytest.mark.parametrize("first", ["/open.txt", "/12/s.txt", "/"])
async def test_file_system_that_ignores_unicode_forms_but_not_case(
    folder: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    (folder / "index.html").write_text("page")
    Folding(monkeypatch, fold=lambda name: normalize("NFD", name))
    app = Kit().use("/*", serve_static(folder))
    for path, status in [
        (first, 200),
        ("/prive%CC%81/s.txt", 404),
        ("/priv%C3%A9/s.txt", 200),
        ("/prive%CC%81/s.txt", 404),
    ]:
        assert (await app.request(path)).status == status, path


async def test_folder_that_can_not_be_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def listdir(path: Any) -> list[str]:
        raise PermissionError

    Folding(monkeypatch)
    monkeypatch.setattr(os, "listdir", listdir)
    app = Kit().use("/*", serve_static(folder))
    assert (await app.request("/PRIVATE/s.txt")).status == 404


async def test_a_hard_link_under_another_spelling_is_a_file_too(folder: Path) -> None:
    os.link(folder / "open.txt", folder / "OPEN.TXT")
    app = Kit().use("/*", serve_static(folder))
    for path in ("/open.txt", "/OPEN.TXT", "/open.txt"):
        assert (await app.request(path)).status == 200
    assert (await app.request("/Open.txt")).status == 404
