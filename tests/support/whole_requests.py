# SPDX-License-Identifier: MIT
"""Hypothesis strategies for whole requests to the app of `everything`: what a client can send."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from asgi_peer import Course, http_scope
from everything import TOKEN
from everything_bodies import READERS
from hypothesis import strategies as st

BOUNDARY = b"B0undary"
FORM = b"application/x-www-form-urlencoded"
MULTIPART = b"multipart/form-data; boundary=" + BOUNDARY


@dataclass(frozen=True)
class WholeRequest:
    """A request as it comes off the wire.

    Attributes:
        method: The method.
        path: The path, encoded as the client wrote it.
        query: What stands behind the question mark.
        headers: The lines, names in lower case.
        body: The body.
        more: Entries of the ASGI scope that differ from the usual.
    """

    method: str
    path: bytes
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""
    more: tuple[tuple[str, Any], ...] = ()

    def scope(self) -> dict[str, Any]:
        """The ASGI scope that a server makes of it."""
        own = {
            "path": unquote_to_bytes(self.path).decode("utf-8", "replace"),
            "raw_path": self.path,
            "query_string": self.query,
            "headers": list(self.headers),
        }
        scope = http_scope("", self.method, **{**own, **dict(self.more)})
        return {key: value for key, value in scope.items() if value != LEFT_OUT}


LEFT_OUT = "left out"

# Requests that reach a handler, by method; what stands for `{}` is drawn.
_GET = """
/ /users/me /users/{} /users/12 /optional /optional/{} /text/{} /text/abc.txt /files /files/{}/{}
/directory /directory/ /copied /in-thread/{} /thread-not-found /cookies /cookies /status/{}
/status/204 /status/304 /validated/{} /validated/7 /rendered /gone /no-content /unchanged /large
/raise/fault /raise/on-error /raise/refused /raise/204 /raise/response /raise/group /raise/two
/misuse/redirect /misuse/redirect /misuse/reflected /misuse/reflected /misuse/nothing
/misuse/dict /misuse/next-twice /misuse/without-next /misuse/newline /misuse/body-of-204
/misuse/json /misuse/chunk /misuse/used /broken/generator /broken/callback /broken/aborted
/broken/later /api/secret/{} /api/asked/{} /api/boom /api/teapot /tenants/{}/api/boom
/tenants/{}/api/secret/{} /v1/things/{} /kit/{}/teapot /kit/{}/asked/{} /lenient /lenient/about
/lenient/about/ /lenient/{} /wsgi/{} /{} /{}/{} //{} /{}/ /stream/counted /stream/plainly
/stream/endless /stream/written /stream/endlessly-written /stream/closed-early /stream/events
/loud/stream/counted /loud/stream/plainly /loud/stream/endless /loud/stream/written
/loud/stream/endlessly-written /loud/stream/closed-early /loud/stream/events /lenient/shared
/lenient/group
"""
_POST = """
/together /json /json /checked/json /checked/form /ignored /api/json /v1/json /kit/{}/json /wsgi
/read/{readers} /read/{readers} /read/{readers} /read/{readers} /stream/both-ways
/loud/stream/both-ways /{}/{}
"""
_ANY = """
/all/{}/{} /options /later /raise/any /fetch /fetch/{}/{} /fetch/next /fetch/boom /as-it-is/{}
/options-of/{} /asgi /asgi/{} /asgi/boom /asgi/endless /asgi/broken /asgi/empty /asgi/later
/asgi/sized /loud/asgi /loud/asgi/sized /cache /cache/{} /users/{} /read/{readers}
"""
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "REPORT"]
_ROUTES = (
    [("GET", path) for path in _GET.split()]
    + [("POST", path) for path in _POST.split() * 2]
    + [("", path) for path in _ANY.split()]
)
any_method = st.sampled_from(_METHODS) | st.from_regex(
    r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,12}", fullmatch=True
)

_NASTY = """
. .. %2e%2e %2F %5c \\ % %zz %25 %2541 %C3%A9 %C3%28 %00 %0d%0a %F0%9F%98%80 %ED%A0%80 a+b ;x=1 *
:id {x} [] @other.example 0 7 404 12345678901234567890 me a.txt api __proto__ %3F %23
"""
_UNSENDABLE = bytes.maketrans(b" ?#\r\n\t", b"______")
segments = (
    st.sampled_from([b"", *_NASTY.encode().split()])
    | st.text(max_size=6).map(lambda text: text.encode("utf-8", "replace"))
    | st.binary(max_size=6)
).map(lambda segment: segment.translate(_UNSENDABLE))


_readers = st.lists(st.sampled_from(sorted(READERS)), min_size=1, max_size=3).map("+".join)
_random_paths = st.lists(segments, max_size=5).map(lambda parts: b"/" + b"/".join(parts))


@st.composite
def _lines_of_requests(draw: st.DrawFn) -> tuple[str, bytes]:
    """Method and path; three in four fit a route."""
    method, template = draw(st.sampled_from(_ROUTES))
    if not method or not draw(st.integers(0, 5)):
        method = draw(any_method)
    elif method == "GET" and not draw(st.integers(0, 7)):
        method = "HEAD"
    if not draw(st.integers(0, 9)):
        return method, draw(_random_paths)
    parts = template.replace("{readers}", draw(_readers)).encode().split(b"{}")
    path = parts[0]
    for part in parts[1:]:
        path += draw(segments) + part
    return method, path


_names = st.sampled_from([b"to", b"a", b"n", b"tags", b"flag", b"text", b"value", b""]) | segments
_values = (
    st.sampled_from([b"1", b"/next", b"true", b"%01", b"%7F", b"%0D%0Ax:%20y", b"%E2%82%AC"])
    | segments
    | st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace").translate(_UNSENDABLE))
)
queries = st.lists(st.tuples(_names, _values).map(b"=".join) | segments, max_size=4).map(b"&".join)

_header_values = st.binary(max_size=20).map(
    lambda value: value.replace(b"\r", b"").replace(b"\n", b"").replace(b"\0", b"").strip()
)
_hosts = st.sampled_from(
    [
        b"example.com",
        b"tenant.example:8080",
        b"",
        b"[::1]:1",
        b"a b",
        b"x/y",
        b"1.2.3.999",
        b"h:99999",
    ]
)
_cookies = st.lists(
    st.sampled_from(
        [b"a=1", b"a=%22", b"=x", b"__Host-a=2", b"a=v.c2ln", b'b="q"', b"\xff=1", b"n=%FF"]
    )
    | _header_values,
    max_size=3,
).map(b"; ".join)
_lines = st.one_of(
    st.tuples(st.just(b"host"), _hosts),
    st.tuples(st.just(b"cookie"), _cookies),
    st.tuples(
        st.just(b"authorization"),
        st.sampled_from([b"Bearer " + TOKEN.encode(), b"bearer other", b"Bearer", b"Basic x"])
        | _header_values,
    ),
    st.tuples(st.just(b"last-event-id"), _header_values),
    st.tuples(st.from_regex(rb"[a-z_\-]{1,10}", fullmatch=True), _header_values),
)

_json_texts = st.one_of(
    st.builds(
        lambda title, year, authors: json.dumps(
            {"title": title, "year": year, "authors": authors}
        ).encode(),
        st.text(max_size=10),
        st.integers() | st.none(),
        st.lists(st.text(max_size=3), max_size=2),
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
    st.sampled_from(
        [
            b"",
            b"{",
            b"[" * 3000,
            b'"\\ud800"',
            b"\xef\xbb\xbf{}",
            b"1e999",
            b"NaN",
            b'"\xff"',
            b"9" * 400,
        ]
    ),
)
_urlencoded = st.lists(
    st.tuples(_names, _values).map(b"=".join) | segments | st.just(b"a.b.c=1") | st.just(b"t[]=1"),
    max_size=25,
).map(b"&".join)


@st.composite
def _multipart(draw: st.DrawFn) -> bytes:
    body = b""
    for _ in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from([b"a", b"a.b", b"t[]", b"\xff", b"%22", b""]))
        line = b'content-disposition: form-data; name="' + name + b'"'
        if draw(st.booleans()):
            file = draw(st.sampled_from([b"f.txt", b"", b"\xc3\xa9", b"../x"]))
            line += b'; filename="' + file + b'"\r\ncontent-type: text/x'
        content = draw(st.binary(max_size=20)) * draw(st.sampled_from([1, 1, 1, 40, 100]))
        content = draw(st.sampled_from([content, b"--" + BOUNDARY, b"\r\n", b"-" + content]))
        body += b"--" + BOUNDARY + b"\r\n" + line + b"\r\n\r\n" + content + b"\r\n"
    return body + b"--" + BOUNDARY + b"--\r\n"


@st.composite
def _damaged(draw: st.DrawFn, bodies: st.SearchStrategy[bytes]) -> bytes:
    body = draw(bodies)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(body)))
        body = body[:at] + draw(st.binary(max_size=3)) + body[at + draw(st.integers(0, 3)) :]
    return body


_typed_bodies = st.one_of(
    st.tuples(st.just(b"application/json"), _json_texts),
    st.tuples(st.just(FORM), _urlencoded),
    st.tuples(st.just(MULTIPART), _multipart()),
    st.tuples(st.just(MULTIPART), _damaged(_multipart())),
    st.tuples(
        st.sampled_from(
            [b"multipart/form-data", b"text/plain", b"a/b;" * 9, FORM, MULTIPART, b"\xff"]
        ),
        st.binary(max_size=60),
    ),
    st.tuples(st.sampled_from([FORM, b"x/y"]), st.integers(15_000, 25_000).map(lambda n: b"x" * n)),
)


@st.composite
def _scope_entries(draw: st.DrawFn) -> tuple[tuple[str, Any], ...]:
    choices = {
        "raw_path": [LEFT_OUT, None],
        "root_path": [LEFT_OUT, "/users", "/api/"],
        "client": [None, ("/tmp/socket", None)],
        "server": [None, ("/run/socket", None), ("::1", 80)],
        "http_version": ["1.0", "2", "3"],
        "extensions": [None, {}, {"http.response.trailers": {}}],
        "state": [{}, {"a": 1}],
        "scheme": ["https"],
    }
    names = draw(st.lists(st.sampled_from(sorted(choices)), max_size=2, unique=True))
    return tuple((name, draw(st.sampled_from(choices[name]))) for name in names)


@st.composite
def whole_requests(draw: st.DrawFn) -> WholeRequest:
    """Requests of every kind: most reach a handler, many are broken in some way."""
    method, path = draw(_lines_of_requests())
    headers = [(b"host", b"example.com")] if draw(st.integers(0, 5)) else []
    headers += draw(st.lists(_lines, max_size=3))
    body = b""
    if method not in ("GET", "HEAD") or not draw(st.integers(0, 9)):
        kind, body = draw(_typed_bodies)
        headers.append((b"content-type", kind))
        if draw(st.booleans()):
            headers.append((b"content-length", b"%d" % len(body)))
    more = draw(_scope_entries())
    return WholeRequest(method, path, draw(queries), tuple(headers), body, more)


sizes = st.lists(st.integers(0, 9) | st.integers(0, 5000), max_size=4).map(tuple)
smooth_courses = st.builds(Course, sizes=sizes, bare=st.booleans(), waits=st.booleans())
courses = st.builds(
    Course,
    sizes=sizes,
    bare=st.booleans(),
    leaves_after_receives=st.none() | st.integers(0, 4),
    leaves_after_sends=st.just(60) | st.integers(0, 4),
    send_raises_when_gone=st.booleans(),
    send_fails_at=st.none() | st.none() | st.integers(0, 4),
    cancelled_at=st.none() | st.none() | st.integers(0, 6),
    waits=st.booleans(),
)
