# SPDX-License-Identifier: MIT
"""Where a server differs from the rest: what is seen there, and why."""

from __future__ import annotations

from typing import NamedTuple

from behaviours import BEHAVIOURS, ENDINGS, Behaviour


class Difference(NamedTuple):
    """What some modes do instead.

    Attributes:
        group: The group of the behaviour.
        name: Its name.
        modes: The modes.
        seen: What is seen.
        why: Why.
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
GRANIAN = ("granian", "granian-rsgi")

_RSGI_PATH = "RSGI has the decoded path alone"
_RSGI_CLOSE = "RSGI sends no code and no reason with a close"
_DECODED = "mangum decodes the path, and keeps nothing of how it was encoded"
_VALIDATE = "wsgiref.validate insists on a Content-Type"
_LAX = "it reads heads as e-mail: for development, never open to others"
_FAILED = "500 A server error occurred.  Please contact the administrator."
_JOINED = "a WSGI server joins lines of one name with a comma"
_JSON = "mangum adds one where there is none: give `c.body` a Content-Type"
_HTTPS = "AWS ends TLS"
_LOOPBACK = "it trusts a proxy on the same machine unless told otherwise"
_H11 = "h11 passes the target on as it is"
_SMUGGLING = (
    "it goes by the chunks, as RFC 9112 allows: put no proxy that goes by the length before it"
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
    Difference(
        G,
        "encoded slash stays in its segment",
        ("wsgiref", *LAMBDA),
        "404 404 Not Found",
        f"{_DECODED}; wsgiref does so too. gunicorn keeps it in `RAW_URI`",
    ),
    Difference(G, "path that isn't UTF-8", LAMBDA, "200 /path/\ufffd", _DECODED),
    Difference(
        G,
        "query with repeated and empty values",
        ("lambda-alb",),
        '200 {"a":["2"],"b":[" +"],"c":[""]}',
        "the event has the last value alone: turn on multi-value headers at the target group",
    ),
    Difference(
        G,
        "query that isn't UTF-8",
        PARSED,
        '200 {"a":["\ufffd"]}',
        "the event has it decoded",
    ),
]

G = "Request headers"
_HEADERS = [
    Difference(
        G, "Latin-1", ("granian-rsgi",), "200 null", "RSGI leaves out values that aren't ASCII"
    ),
    Difference(G, "repeated", (*WSGI, *VERSION_2), '200 "1,2"', "they are joined without a space"),
    Difference(
        G,
        "repeated",
        ("lambda-alb",),
        '200 "2"',
        "the event has the last one alone: turn on multi-value headers at the target group",
    ),
    Difference(G, "Latin-1", LAMBDA, '200 "cafÃ©"', "mangum encodes values as UTF-8"),
    Difference(
        G,
        "two Cookie lines",
        WSGI,
        '200 ["1,b=2",null]',
        f"{_JOINED}; only a proxy that gets them by HTTP/2 sends two",
    ),
    Difference(
        G,
        "two Cookie lines",
        ("lambda-rest",),
        '200 ["1, b=2",null]',
        "mangum joins lines of one name with a comma",
    ),
    Difference(
        G,
        "two Cookie lines",
        ("lambda-alb",),
        '200 [null,"2"]',
        "the event has the last one alone: turn on multi-value headers at the target group",
    ),
    Difference(
        G,
        "underscore in a name",
        ("gunicorn",),
        "200 [null,null]",
        "it drops the line, since `x-under` is the same variable; see `--header-map`",
    ),
    Difference(
        G,
        "underscore in a name",
        ("wsgiref",),
        '200 [null,"v"]',
        "`x-under` is the same variable: no guard may rely on such a header",
    ),
    Difference(G, "no Content-Type", ("wsgiref",), '200 "text/plain"', "it adds one"),
]

G = "Bodies"
_NO_CHUNKS = "the server doesn't decode chunks, so `to_wsgi` refuses the body"
_BODIES = [
    Difference(G, "chunked", ("wsgiref",), "411 Length Required", _NO_CHUNKS),
    Difference(G, "10 MB streamed and chunked", ("wsgiref",), "411 Length Required", _NO_CHUNKS),
    Difference(G, "too large without a length", ("wsgiref",), "411 Length Required", _NO_CHUNKS),
    Difference(
        G,
        "Expect: 100-continue, body not read",
        (*HYPERCORN, "gunicorn"),
        "100",
        "it asks for the body before the app is called",
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
        "what a function returns has one line for each name; cookies are apart",
    ),
    Difference(
        G,
        "Latin-1 in a header",
        LAMBDA,
        "502 UnicodeDecodeError; x-value: none",
        "mangum decodes values as UTF-8, and fails: send ASCII",
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
        "stream that fails on the way is cut off",
        ("wsgiref",),
        "200, whole",
        "HTTP/1.0 has no chunks: the end of the connection is the end of the body",
    ),
]

G = "Connection and lifespan"
_CONNECTION = [
    Difference(G, "address of the client", LAMBDA, '200 "192.0.2.7"', "the event names it"),
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
        ("uvicorn", "uvicorn-h11", "gunicorn"),
        "200 https://example.com/url",
        _LOOPBACK,
    ),
    Difference(
        G,
        "startup that fails",
        HYPERCORN,
        "exit code 0, says why",
        "it ends in order: let a service manager restart it always, not on failure alone",
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

G = "Connections kept open"
_KEPT = [
    Difference(
        G,
        "target with scheme and host",
        ("uvicorn-h11", *HYPERCORN),
        "404 404 Not Found, closed",
        f"{_H11}; only clients of a proxy send such a target",
    ),
    Difference(
        G,
        "target with scheme and host",
        ("wsgiref",),
        f"{_FAILED}, closed",
        "wsgiref.validate insists on a slash at the start",
    ),
]

G = "Malformed requests"
_NO_HOST = "it leaves that to the app: use kit-trusted-hosts"
_MALFORMED = [
    Difference(G, "no request line", ("wsgiref",), "answered with HTML>", _LAX),
    Difference(
        G, "no Host", ("uvicorn", *GRANIAN, "gunicorn", "wsgiref"), "answered with 200", _NO_HOST
    ),
    Difference(G, "two Hosts", ("uvicorn", *GRANIAN, "wsgiref"), "answered with 200", _NO_HOST),
    Difference(
        G,
        "head of 4 MB",
        ("uvicorn",),
        "answered with 200",
        "it has no bound below that: a proxy has one",
    ),
    Difference(
        G,
        "length and chunks",
        ("uvicorn-h11", *HYPERCORN, *GRANIAN),
        "answered with 200",
        _SMUGGLING,
    ),
    *(
        Difference(G, name, ("wsgiref",), "answered with 200", _LAX)
        for name in ("space before a colon", "no colon", "NUL in a value", "two lengths")
    ),
    *(
        Difference(G, name, ("wsgiref",), "answered with 500", _LAX)
        for name in ("length that is no number", "negative length")
    ),
]

G = "WebSocket"
_WEBSOCKET = [
    Difference(
        G,
        "subprotocol",
        ("granian-rsgi",),
        "InvalidStatus: server rejected WebSocket connection: HTTP 500",
        "RSGI can't accept with a subprotocol, so Kit refuses: serve such routes by ASGI",
    ),
    Difference(G, "closed by the app", ("granian-rsgi",), "1005", _RSGI_CLOSE),
    Difference(G, "handler that fails", ("granian-rsgi",), "1005", _RSGI_CLOSE),
]

G = "The end, by SIGTERM"
_END = [
    Difference(
        G,
        "its `wait_until` is done, then the lifespan ends",
        GRANIAN,
        "shutdown",
        "it waits for the response alone: work that must not be lost is a job in a queue",
    ),
    Difference(
        G,
        "how the process ends",
        ("uvicorn", "uvicorn-h11"),
        "exit code -15",
        "it raises the signal again once all is done",
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
    """What a mode does instead of a behaviour; None if it does not differ."""
    found = [
        each
        for each in DIFFERENCES
        if (each.group, each.name) == (behaviour.group, behaviour.name) and mode in each.modes
    ]
    assert len(found) < 2, found
    return found[0] if found else None


def unknown() -> list[str]:
    """Differences of behaviours that there are not."""
    known = {(each.group, each.name) for each in (*BEHAVIOURS, *ENDINGS)}
    return [f"{each.group}: {each.name}" for each in DIFFERENCES if each[:2] not in known]
