# SPDX-License-Identifier: MIT
"""kit-serve-static beside nginx on the same folder, request by request.

Each difference that is meant is a function of `DIFFERENCES`, with its reason.
"""

from __future__ import annotations

import http.client
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

import nginx
import pytest
from serving import ServedApp
from workspace import ROOT

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(nginx.missing() is not None, reason=str(nginx.missing())),
]

SUPPORT = ROOT / "tests" / "support"
MODIFIED_S = 1_700_000_000
BEFORE, SAME, AFTER = (f"Tue, 14 Nov 2023 22:13:{second} GMT" for second in (19, 20, 21))
COMPARED = (
    "accept-ranges",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "last-modified",
    "location",
    "vary",
)


class Asked(NamedTuple):
    """A request."""

    path: str
    method: str
    headers: dict[str, str]


class Answer(NamedTuple):
    """A response: what is compared of it."""

    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """A connection to one of the two."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self._tags: dict[str, str] = {}

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _tag(self, path: str) -> str:
        if path not in self._tags:
            self._connection.request("GET", path)
            response = self._connection.getresponse()
            response.read()
            self._tags[path] = response.headers["ETag"] or '"none"'
        return self._tags[path]

    def ask(self, asked: Asked) -> Answer:
        """Sends a request, in which `{etag}` is the entity tag that this server gives the file."""
        headers = {
            name: value.replace("{etag}", self._tag(asked.path)) if "{etag}" in value else value
            for name, value in asked.headers.items()
        }
        try:
            self._connection.request(asked.method, asked.path, headers=headers)
            response = self._connection.getresponse()
        except ConnectionError:  # nginx closes it after a 412
            self._connection.close()
            self._connection.request(asked.method, asked.path, headers=headers)
            response = self._connection.getresponse()
        body = response.read()
        lines = {name.lower(): value for name, value in response.getheaders()}
        shown = {name: lines[name] for name in COMPARED if name in lines}
        found = re.fullmatch("multipart/byteranges; boundary=(.+)", shown.get("content-type", ""))
        if found:
            body = body.replace(found[1].encode(), b"BOUNDARY").strip()
            shown["content-type"] = "multipart/byteranges"
            del shown["content-length"]
        return Answer(response.status, shown, body)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Client]]:
    """Clients of the two servers."""
    with (
        tempfile.TemporaryDirectory() as parent,
        pytest.MonkeyPatch.context() as patch,
    ):
        os.chmod(parent, 0o755)
        folder, own = Path(parent, "www"), Path(parent, "own")
        own.mkdir()
        write_files(folder)
        patch.setenv("KIT_STATIC_FOLDER", str(folder))
        patch.setenv("KIT_STATIC_GZIP", "1")
        log = tmp_path_factory.mktemp("log") / "uvicorn.log"
        with (
            nginx.Nginx(folder, own) as peer,
            ServedApp("uvicorn", "static_app:app", log) as served,
            closing(Client(served.port)) as own_client,
            closing(Client(peer.port)) as peer_client,
        ):
            yield own_client, peer_client


def write_files(folder: Path) -> None:
    """Writes the folder that both serve."""
    files = {
        "digits.txt": b"0123456789",
        "empty.txt": b"",
        "large.txt": bytes(ord("a") + n % 23 for n in range(300_000)),
        "index.html": b"<h1>Home</h1>",
        "docs/index.html": b"<h1>Docs</h1>",
        "docs/a b.txt": b"blank",
        "bare/x.txt": b"no index here",
        "app.js": b"let plain = 1;" * 20,
        "app.js.gz": b"pretends to be compressed",
        "pic.png": b"png",
        "caf\u00e9.txt": "caf\u00e9".encode(),
        ".env": b"SECRET",
        ".well-known/security.txt": b"Contact",
        "noext": b"octets",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (MODIFIED_S, MODIFIED_S))
    (folder / "link.txt").symlink_to("digits.txt")
    (folder / "out.txt").symlink_to("../../etc/hostname")


def paths() -> Iterator[Asked]:
    """Each kind of path."""
    for path, method in itertools.product(
        (
            "/",
            "/digits.txt",
            "/digits.txt?v=1",
            "/empty.txt",
            "/large.txt",
            "/docs",
            "/docs?x=1",
            "/docs/",
            "/docs/a%20b.txt",
            "/bare",
            "/bare/",
            "/caf%C3%A9.txt",
            "/noext",
            "/pic.png",
            "/gone.txt",
            "/digits.txt/",
            "/.env",
            "/.well-known/security.txt",
            "/link.txt",
            "/out.txt",
            "/docs/../digits.txt",
            "/docs/%2e%2e/digits.txt",
            "/./digits.txt",
            "//digits.txt",
            "/docs%2findex.html",
            "/docs%5cindex.html",
            "/../digits.txt",
            "/..%2f..%2fetc/passwd",
            "/%00",
        ),
        ("GET", "HEAD"),
    ):
        yield Asked(path, method, {})


def encodings() -> Iterator[Asked]:
    """A file with a precompressed one beside it."""
    for accept in ("gzip", "identity", "gzip;q=0", "gzip;q=0.5", "br", "deflate, gzip", "*"):
        for more in ({}, {"Range": "bytes=0-3"}, {"If-None-Match": "{etag}"}):
            yield Asked("/app.js", "GET", {"Accept-Encoding": accept, **more})
    yield Asked("/app.js", "GET", {})
    yield Asked("/digits.txt", "GET", {"Accept-Encoding": "gzip"})


def preconditions() -> Iterator[Asked]:
    """Every combination that RFC 9110, section 13.2.2, orders."""
    tags = (None, "*", "{etag}", "W/{etag}", '"other"', '"other", {etag}')
    dates = (None, BEFORE, SAME, AFTER, "nonsense")
    names = ("If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since")
    for values in itertools.product(tags, dates, tags, dates):
        headers = {name: each for name, each in zip(names, values, strict=True) if each}
        for method in ("GET", "HEAD"):
            yield Asked("/digits.txt", method, headers)


def ranges() -> Iterator[Asked]:
    """Ranges, with and without If-Range and other preconditions."""
    wanted = (
        "bytes=0-",
        "bytes=0-0",
        "bytes=2-5",
        "bytes=-3",
        "bytes=-30",
        "bytes=9-",
        "bytes=5-500",
        "bytes=10-",
        "bytes=-0",
        "bytes=5-2",
        "bytes=x",
        "bytes=",
        "bytes",
        "lines=0-1",
        "bytes=0-1,4-5",
        "bytes=4-5,0-1",
        "bytes=0-5,2-7",
        "bytes=0-1,20-30",
        "bytes=20-30,40-",
        "bytes=0-1, ,3-4",
    )
    conditions: tuple[dict[str, str], ...] = (
        {},
        {"If-Range": "{etag}"},
        {"If-Range": '"other"'},
        {"If-Range": SAME},
        {"If-Range": BEFORE},
        {"If-None-Match": "{etag}"},
        {"If-Match": '"other"'},
    )
    for path, each, more in itertools.product(("/digits.txt", "/empty.txt"), wanted, conditions):
        for method in ("GET", "HEAD"):
            yield Asked(path, method, {"Range": each, **more})
    for each in ("bytes=0-9,1000-1009", "bytes=-10,0-9", "bytes=100000-299999", "bytes=0-,0-,0-"):
        yield Asked("/large.txt", "GET", {"Range": each})


# ---- what is meant to differ --------------------------------------------------------------------


def without(answer: Answer, *names: str) -> Answer:
    headers = {name: value for name, value in answer.headers.items() if name not in names}
    return answer._replace(headers=headers)


def pages(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx sends a page of its own with redirects and errors; what Kit sends is up to the app."""
    if want.status >= 400 or want.status == 301:
        want = without(want, "content-type", "content-length")._replace(body=b"")
    if have.status >= 400 or have.status == 301:
        have = without(have, "content-type", "content-length")._replace(body=b"")
    return have, want


def relative_locations(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """A relative redirect leads to the same place, also where a proxy has removed a prefix."""
    location = have.headers.get("location")
    if location is not None:
        have.headers["location"] = urljoin(asked.path, location)
    return have, want


def vary(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx names Accept-Encoding where there is a precompressed file, Kit where there may be one.

    When one is put there later, caches know already.
    """
    return have, want if "vary" in want.headers else want._replace(
        headers=want.headers | {k: v for k, v in have.headers.items() if k == "vary"}
    )


def accept_ranges(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx leaves Accept-Ranges out of a 206 and a 416; RFC 9110, section 14.3, has it in any."""
    if have.status in (206, 416):
        have = without(have, "accept-ranges")
    return have, want


def folders_without_index(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx tells that there is a folder, by a redirect and a 403; for Kit nothing is there."""
    if asked.path.startswith("/bare") and (have.status, want.status) in ((404, 301), (404, 403)):
        return have, have
    return have, want


def links(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx tells that there is a symbolic link, by a 403; for Kit nothing is there."""
    if asked.path in ("/link.txt", "/out.txt") and (have.status, want.status) == (404, 403):
        return have, have
    return have, want


def ambiguous_paths(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx resolves dot segments, empty segments and encoded slashes; Kit has no file for them.

    In nginx the same resolved path chooses the location; in Kit guards have seen the other one.
    """
    if re.search(r"/\.|//|%2e|%2f|%5c|%00", asked.path) and have.status == 404:
        return have, have
    return have, want


def ranges_of_encodings(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx has no ranges of a precompressed file; its bytes are as good as others for that."""
    if want.headers.get("content-encoding") == "gzip" and want.status == 200:
        have = without(have, "accept-ranges")
        if have.status == 206 and want.body.startswith(have.body):
            return have, have
    return have, want


def any_encoding(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx takes `*` for no coding at all (RFC 9110, section 12.5.3: for any)."""
    if asked.headers.get("Accept-Encoding") == "*" and "content-encoding" in have.headers:
        return have, have
    return have, want


def ignored_dates(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx has If-Modified-Since and If-Unmodified-Since count beside entity tags.

    RFC 9110, section 13.2.2: they are for requests without entity tags.
    """
    headers = asked.headers
    has_both = "If-None-Match" in headers and "If-Modified-Since" in headers
    if has_both and (have.status, want.status) == (304, 200):
        return have, have
    if "If-Match" in headers and "If-Unmodified-Since" in headers and want.status == 412:
        return have, have
    return have, want


def not_modified(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx sends Last-Modified with a 304; RFC 9110, section 15.4.5: the ETag stands for it."""
    if have.status == want.status == 304:
        assert "last-modified" not in have.headers
        want = without(want, "last-modified")
    return have, want


def ranges_by_date(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx lets a date in If-Range match; RFC 9110, section 13.1.5, only where it is strong.

    The date of a file is not: the file may change twice within its second.
    """
    if asked.headers.get("If-Range") == SAME and have.status == 200 and want.status in (206, 416):
        return have, have
    return have, want


def ranges_of_head(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx has ranges of HEAD; RFC 9110, section 14.2, has servers ignore Range there."""
    if asked.method == "HEAD" and "Range" in asked.headers and want.status in (206, 416):
        return have, have
    return have, want


def malformed_dates(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx fails an If-Unmodified-Since that is no date; RFC 9110, section 13.1.4, ignores it."""
    if asked.headers.get("If-Unmodified-Since") == "nonsense" and want.status == 412:
        return have, have
    return have, want


def malformed_ranges(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx answers 416 to a malformed Range; Kit ignores it (RFC 9110, section 14.2, allows both).

    An empty member of a list is not malformed (section 5.6.1).
    """
    wanted = asked.headers.get("Range", "")
    is_malformed = wanted in ("bytes=5-2", "bytes=x", "bytes=", "bytes=-0")
    has_empty_member = wanted == "bytes=0-1, ,3-4" and have.status == 206
    if want.status == 416 and (has_empty_member or (is_malformed and have.status == 200)):
        return have, have
    return have, want


def joined_ranges(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx sends each range as a part, whether they overlap or touch; Kit joins such ranges.

    RFC 9110, section 15.3.7.2. If that leaves one, it is not sent as a multipart.
    """
    parts = re.findall(rb"\r\n\r\n(.+?)\r\n--BOUNDARY", want.body)
    if parts and have.status == 206 and all(part in have.body for part in parts):
        return have, have
    # Where they would be more than the file together, nginx sends that.
    if asked.headers.get("Range") in ("bytes=0-5,2-7", "bytes=0-,0-,0-") and want.status == 200:
        return have, have
    return have, want


def empty_files(asked: Asked, have: Answer, want: Answer) -> tuple[Answer, Answer]:
    """Nginx answers 416 to a range behind the start of an empty file, 200 to one from it.

    Kit ignores any: clients that add a Range to all requests are better served by a 200.
    """
    if asked.path == "/empty.txt" and (have.status, want.status) == (200, 416):
        return have, have
    return have, want


DIFFERENCES: tuple[Callable[[Asked, Answer, Answer], tuple[Answer, Answer]], ...] = (
    pages,
    relative_locations,
    vary,
    accept_ranges,
    folders_without_index,
    links,
    ambiguous_paths,
    ranges_of_encodings,
    any_encoding,
    ignored_dates,
    not_modified,
    ranges_by_date,
    ranges_of_head,
    malformed_dates,
    malformed_ranges,
    joined_ranges,
    empty_files,
)


@pytest.mark.parametrize("make", [paths, encodings, preconditions, ranges])
def test_answers_are_the_same(both: Any, make: Callable[[], Iterator[Asked]]) -> None:
    own, peer = both
    wrong = []
    count = 0
    for asked in make():
        have, want = own.ask(asked), peer.ask(asked)
        count += 1
        for difference in DIFFERENCES:
            have, want = difference(asked, have, want)
        if have != want:
            wrong.append((asked, have, want))
    assert not wrong, (len(wrong), count, *wrong[:3])
