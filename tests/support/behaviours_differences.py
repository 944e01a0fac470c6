# SPDX-License-Identifier: MIT
"""Where a server differs from the others: what is observed there, and why."""

from __future__ import annotations

from typing import NamedTuple

from behaviours import BEHAVIOURS, ENDINGS, Behaviour


class Difference(NamedTuple):
    """A difference of some modes.

    Attributes:
        group: The group of the behaviour.
        name: Its name.
        modes: The names of the modes that differ.
        seen: What is observed there.
        why: The reason, and what to do about it.
    """

    group: str
    name: str
    modes: tuple[str, ...]
    seen: str
    why: str


WSGI = ("gunicorn", "wsgiref")
ALB = ("lambda-alb", "lambda-alb-multi")
PARSED = ("lambda-rest", *ALB)
VERSION_2 = ("lambda-http", "lambda-url")
LAMBDA = (*PARSED, *VERSION_2)
HYPERCORN = ("hypercorn", "hypercorn-trio")
ANYCORN = ("anycorn", "anycorn-trio")
UVICORN = ("uvicorn", "uvicorn-h11", "uvicorn-zttp")
GRANIAN = ("granian", "granian-rsgi")

_RSGI_PATH = "RSGI passes only the decoded path"
_RSGI_CLOSE = "RSGI can't send a close code or a reason"
_DECODED = "mangum passes only the decoded path"
_VALIDATE = "wsgiref.validate requires a Content-Type"
_LAX = "it parses headers like e-mail: use it for development only"
_FAILED = "500 A server error occurred.  Please contact the administrator."
_JOINED = "WSGI servers join repeated headers with a comma"
_JSON = "mangum adds a missing Content-Type: set one with `c.body`"
_HTTPS = "AWS terminates TLS"
_LOOPBACK = "it trusts a proxy on the same machine by default"
_UNPARSED = "the target reaches the app unparsed"
_SMUGGLING = (
    "it uses the chunks, as RFC 9112 allows: don't put it behind a proxy that uses the length"
)

G = "Methods and routing"
_ROUTING = [
    Difference(
        G,
        "encoded slash stays in its segment",
        ("granian-rsgi",),
        "404 404 Not Found",
        _RSGI_PATH,
    ),
    Difference(G, "path that isn't UTF-8", ("granian-rsgi",), "200 /path/\ufffd", _RSGI_PATH),
    Difference(G, "path that isn't UTF-8", ANYCORN, "400", "it refuses such a path itself"),
    Difference(
        G,
        "encoded slash stays in its segment",
        ("wsgiref", *LAMBDA),
        "404 404 Not Found",
        "mangum and wsgiref pass only the decoded path; gunicorn adds `RAW_URI`",
    ),
    Difference(G, "path that isn't UTF-8", LAMBDA, "200 /path/\ufffd", _DECODED),
    Difference(
        G,
        "query with repeated and empty values",
        ("lambda-alb",),
        '200 {"a":["2"],"b":[" +"],"c":[""]}',
        "the event has only the last value: turn on multi-value headers for the target group",
    ),
    Difference(
        G,
        "query that isn't UTF-8",
        PARSED,
        '200 {"a":["\ufffd"]}',
        "the query in the event is decoded",
    ),
]

G = "Request headers"
_HEADERS = [
    Difference(G, "Latin-1", ("granian-rsgi",), "200 null", "RSGI omits values that aren't ASCII"),
    Difference(
        G, "repeated", (*WSGI, *VERSION_2), '200 "1,2"', "the values are joined without a space"
    ),
    Difference(
        G,
        "repeated",
        ("lambda-alb",),
        '200 "2"',
        "the event has only the last one: turn on multi-value headers for the target group",
    ),
    Difference(G, "Latin-1", LAMBDA, '200 "cafÃ©"', "mangum encodes values as UTF-8"),
    Difference(
        G,
        "two Cookie lines",
        WSGI,
        '200 ["1,b=2",null]',
        f"{_JOINED}; only proxies that speak HTTP/2 to clients send two",
    ),
    Difference(
        G,
        "two Cookie lines",
        ("lambda-rest",),
        '200 ["1, b=2",null]',
        "mangum joins repeated headers with a comma",
    ),
    Difference(
        G,
        "two Cookie lines",
        ("lambda-alb",),
        '200 [null,"2"]',
        "the event has only the last one: turn on multi-value headers for the target group",
    ),
    Difference(
        G,
        "underscore in a name",
        ("gunicorn-asgi", "gunicorn"),
        "200 [null,null]",
        "it drops the header, since `x-under` is the same variable in WSGI; see `--header-map`",
    ),
    Difference(
        G,
        "underscore in a name",
        ("wsgiref",),
        '200 [null,"v"]',
        "`x-under` is the same variable: don't use such a header for access control",
    ),
    Difference(G, "no Content-Type", ("wsgiref",), '200 "text/plain"', "it adds a Content-Type"),
]

G = "Bodies"
_NO_CHUNKS = "the server doesn't decode chunks, so `to_wsgi` refuses the body"
_BODIES = [
    Difference(G, "chunked", ("wsgiref",), "411 Length Required", _NO_CHUNKS),
    Difference(G, "10 MB streamed and chunked", ("wsgiref",), "411 Length Required", _NO_CHUNKS),
    Difference(G, "too large, chunked", ("wsgiref",), "411 Length Required", _NO_CHUNKS),
    Difference(
        G,
        "Expect: 100-continue, body not read",
        (*HYPERCORN, *ANYCORN, "gunicorn"),
        "100",
        "it requests the body before it calls the app",
    ),
]

G = "Responses"
_RESPONSES = [
    Difference(
        G,
        "Latin-1 in a header",
        ("granian-rsgi",),
        "200 latin; x-value: cafÃ©",
        "RSGI encodes values as UTF-8: send ASCII",
    ),
    Difference(
        G,
        "repeated header",
        VERSION_2,
        "200 two; link: </a>,</b>",
        "a returned response has one value per header name, except cookies",
    ),
    Difference(
        G,
        "Latin-1 in a header",
        LAMBDA,
        "502 UnicodeDecodeError; x-value: none",
        "mangum decodes values as UTF-8 and fails: send ASCII",
    ),
    Difference(
        G,
        "no Content-Type",
        VERSION_2,
        "200 untyped; content-type: application/json",
        _JSON,
    ),
    Difference(
        G,
        "no Content-Type",
        ("wsgiref",),
        f"{_FAILED}; content-type: text/plain",
        _VALIDATE,
    ),
    Difference(G, "redirect", ("wsgiref",), f"{_FAILED}; location: none", _VALIDATE),
    Difference(
        G,
        "stream that fails is cut off",
        ("granian-rsgi",),
        "200, left open",
        "RSGI can't abort a response, so Kit withholds its end until the client leaves",
    ),
    Difference(
        G,
        "stream that fails is cut off",
        ("wsgiref",),
        "200, whole",
        "HTTP/1.0 has no chunks, so closing the connection ends the body",
    ),
]

G = "Connection and lifespan"
_CONNECTION = [
    Difference(
        G, "address of the client", LAMBDA, '200 "192.0.2.7"', "the event contains the address"
    ),
    Difference(G, "URL", LAMBDA, "200 https://example.com/url?a=1", _HTTPS),
    Difference(
        G,
        "mounted app",
        LAMBDA,
        '200 ["/a b","https://example.com/mounted/a%20b"]',
        _HTTPS,
    ),
    Difference(
        G,
        "X-Forwarded-Proto and -For",
        (*UVICORN, "gunicorn-asgi", "gunicorn"),
        "200 https://example.com/url",
        _LOOPBACK,
    ),
    Difference(
        G,
        "startup that fails",
        HYPERCORN,
        "exit code 0, says why",
        "it exits normally: use `Restart=always`, not `Restart=on-failure`",
    ),
]

G = "Files"
_FILES = [
    Difference(
        G,
        "range beyond the end",
        ("wsgiref",),
        f"{_FAILED}; content-range: none",
        _VALIDATE,
    ),
]

G = "Keep-alive"
_KEPT = [
    Difference(
        G,
        "target with scheme and host",
        ("uvicorn-h11", "uvicorn-zttp", "gunicorn-asgi", *HYPERCORN, *ANYCORN),
        "400 400 Bad Request: the target must begin with a slash, and have no fragment, closed",
        f"{_UNPARSED}; clients send such a target only to a proxy",
    ),
    Difference(
        G,
        "target with scheme and host",
        ("wsgiref",),
        f"{_FAILED}, closed",
        "wsgiref.validate requires a path that starts with a slash",
    ),
]

G = "Malformed requests"
_NO_HOST = "it leaves the check to the app: use kit-trusted-hosts"
_MALFORMED = [
    Difference(G, "no request line", ("wsgiref",), "answered with HTML>", _LAX),
    Difference(
        G,
        "no Host",
        ("uvicorn", *GRANIAN, "gunicorn-asgi", "gunicorn", "wsgiref"),
        "answered with 200",
        _NO_HOST,
    ),
    Difference(G, "two Hosts", ("uvicorn", *GRANIAN, "wsgiref"), "answered with 200", _NO_HOST),
    Difference(
        G,
        "head of 4 MB",
        ("uvicorn",),
        "answered with 200",
        "it has no limit of 4 MB or less: set one in a proxy",
    ),
    Difference(
        G,
        "length and chunks",
        ("uvicorn-h11", *HYPERCORN, *GRANIAN, *ANYCORN),
        "answered with 200",
        _SMUGGLING,
    ),
    *(
        Difference(G, name, ("wsgiref",), "answered with 200", _LAX)
        for name in ("space before a colon", "no colon", "NUL in a value", "two lengths")
    ),
    *(
        Difference(G, name, ("wsgiref",), "answered with 500", _LAX)
        for name in ("length that isn't a number", "negative length")
    ),
]

G = "WebSocket"
_WEBSOCKET = [
    Difference(
        G,
        "subprotocol",
        ("granian-rsgi",),
        "InvalidStatus: server rejected WebSocket connection: HTTP 500",
        "RSGI can't accept with a subprotocol, so Kit refuses: use ASGI for such routes",
    ),
    Difference(
        G,
        "handshake refused by middleware",
        ("gunicorn-asgi",),
        "403",
        "it lacks the ASGI extension `websocket.http.response`, so each refusal is a plain 403",
    ),
    Difference(G, "closed by the app", ("granian-rsgi",), "1005", _RSGI_CLOSE),
    Difference(G, "handler that fails", ("granian-rsgi",), "1005", _RSGI_CLOSE),
]

G = "Shutdown on SIGTERM"
_END = [
    Difference(
        G,
        "its `wait_until` task finishes, then the lifespan",
        GRANIAN,
        "shutdown",
        "it waits only for the response: put work that must not be lost into a job queue",
    ),
    Difference(
        G,
        "exit code of the process",
        UVICORN,
        "exit code -15",
        "it raises the signal again after the shutdown",
    ),
]

DIFFERENCES = [
    *_ROUTING,
    *_HEADERS,
    *_BODIES,
    *_RESPONSES,
    *_CONNECTION,
    *_FILES,
    *_KEPT,
    *_MALFORMED,
    *_WEBSOCKET,
    *_END,
]


def difference(behaviour: Behaviour, mode: str) -> Difference | None:
    """Returns how a mode differs in a behaviour; None if it doesn't."""
    found = [
        each
        for each in DIFFERENCES
        if (each.group, each.name) == (behaviour.group, behaviour.name) and mode in each.modes
    ]
    assert len(found) < 2, found
    return found[0] if found else None


def unknown() -> list[str]:
    """Lists differences whose behaviour doesn't exist."""
    known = {(each.group, each.name) for each in (*BEHAVIOURS, *ENDINGS)}
    return [f"{each.group}: {each.name}" for each in DIFFERENCES if each[:2] not in known]
