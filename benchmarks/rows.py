# SPDX-License-Identifier: MIT
"""What every app is asked: the requests of each row, and the answers that are right."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from urllib.parse import unquote

CHUNK = b"0123456789abcdef" * 16
CHUNKS = 100
UPLOAD_BYTES = 1 << 20
SMALL_UPLOAD_BYTES = 1000
EVENT_BYTES = 64 << 10
TABLE_ROUTES = 180
LARGE_ITEMS = 1200
AT_ONCE = 50
PAUSES = 5
"""How often a slow handler gives way to others."""

Lines: TypeAlias = list[tuple[bytes, bytes]]
Message: TypeAlias = dict[str, Any]
AppKey: TypeAlias = tuple[str, int]
"""Which app of a peer answers: the name of the function that makes it, and its argument."""

SCOPE: Message = {
    "type": "http",
    "asgi": {"version": "3.0", "spec_version": "2.3"},
    "http_version": "1.1",
    "server": ("127.0.0.1", 8000),
    "client": ("127.0.0.1", 50000),
    "scheme": "http",
    "root_path": "",
}
"""What is the same in all requests, as uvicorn gives it."""

COMMON_LINES: Lines = [
    (b"host", b"127.0.0.1:8000"),
    (b"user-agent", b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"),
    (b"accept", b"*/*"),
    (b"accept-encoding", b"gzip, deflate, br"),
    (b"connection", b"keep-alive"),
]
NO_BODY: tuple[Message, ...] = ({"type": "http.request", "body": b"", "more_body": False},)

_new_values = itertools.count(10_000_000)


class WrongAnswerError(Exception):
    """An app answered something else than its peers."""


@dataclass(frozen=True)
class Answer:
    """What has to come back; `text` and `json` are compared with the body where they are given.

    Attributes:
        headers: Lines that must be there, besides a content type that fits the body.
        cookie: A cookie that must be set, for all paths and HTTP only, as `name=value`.
        allow: A method that `Allow` must list, where there is one.
    """

    status: int = 200
    text: bytes | None = None
    json: Any = None
    headers: dict[bytes, bytes] = field(default_factory=dict)
    cookie: bytes = b""
    allow: bytes = b""


@dataclass(frozen=True)
class Request:
    """One request, without what is the same in all."""

    path: bytes
    answer: Answer
    method: str = "GET"
    query: bytes = b""
    lines: Lines = field(default_factory=list)
    events: tuple[Message, ...] = NO_BODY

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join([event["body"] for event in self.events])

    @property
    def on_the_wire(self) -> bytes:
        """The request as a client sends it over HTTP/1.1."""
        target = self.path + b"?" * bool(self.query) + self.query
        head = [b"%b %b HTTP/1.1" % (self.method.encode(), target)]
        head += [b"%b: %b" % line for line in self.lines]
        return b"\r\n".join([*head, b"", self.body])

    def scope(self) -> Message:
        """What its scope has besides `SCOPE`; the path is a new string, as a server makes it."""
        return {
            "method": self.method,
            "path": unquote(self.path.decode()),
            "raw_path": self.path,
            "query_string": self.query,
            "headers": self.lines,
            "state": {},
        }


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        make: Makes the request with a given value in it.
        has_new_values: Whether every request has a value that never came before.
        is_streamed: Whether an app may wait for the client to leave until it has sent everything.
        app: Which app of a peer answers it.
        at_once: How many requests are under way at the same time.
    """

    name: str
    make: Callable[[int], Request]
    has_new_values: bool = False
    is_streamed: bool = False
    app: AppKey = ("rows_app", 0)
    at_once: int = 1

    def requests(self) -> Iterator[Request]:
        """Requests without end."""
        if not self.has_new_values:
            return itertools.repeat(self.make(42))
        return map(self.make, _new_values)


def lines(*own: tuple[bytes, bytes]) -> Lines:
    """The header lines of a request."""
    return [*COMMON_LINES, *own]


def posted(content_type: bytes, body: bytes) -> dict[str, Any]:
    """Method, header lines and events of a request with a body, in events of 64 KiB."""
    pieces = [body[at : at + EVENT_BYTES] for at in range(0, len(body), EVENT_BYTES)] or [b""]
    return {
        "method": "POST",
        "lines": lines((b"content-type", content_type), (b"content-length", b"%d" % len(body))),
        "events": tuple(
            {"type": "http.request", "body": piece, "more_body": number < len(pieces)}
            for number, piece in enumerate(pieces, 1)
        ),
    }


def text(value: int) -> Request:
    return Request(b"/", Answer(text=b"Hello, World!"), lines=lines())


def as_json(value: int) -> Request:
    return Request(b"/json", Answer(json={"id": 1, "name": "kit"}), lines=lines())


def param(value: int) -> Request:
    return Request(b"/users/%d" % value, Answer(text=b"%d" % value), lines=lines())


def escaped_param(value: int) -> Request:
    path = b"/users/caf%%C3%%A9%%20%d" % value
    return Request(path, Answer(text=f"café {value}".encode()), lines=lines())


def query(value: int) -> Request:
    query = b"q=hello+w%d&page=%d&sort=name" % (value, value)
    return Request(
        b"/search", Answer(text=b"hello w%d %d" % (value, value)), query=query, lines=lines()
    )


def headers(value: int) -> Request:
    key, number = b"x-request-id", b"id-%d" % value
    answer = Answer(text=b"ok", headers={key: number, b"cache-control": b"no-store"})
    return Request(b"/headers", answer, lines=lines((key, number)))


def item(value: int) -> dict[str, Any]:
    return {"id": value, "name": "kit", "tags": ["fast", "small"], "price": 9.5, "active": True}


def json_back(path: bytes, data: Any) -> Request:
    """JSON that comes back as it is."""
    body = json.dumps(data, separators=(",", ":")).encode()
    return Request(path, Answer(json=data), **posted(b"application/json", body))


def echo(value: int) -> Request:
    return json_back(b"/echo", item(value))


def echo_and_end(value: int) -> Request:
    """The same as some servers deliver it, granian among them: with an empty event at its end."""
    request = echo(value)
    (event,) = request.events
    end = {**event, "body": b""}
    return replace(request, events=({**event, "more_body": True}, end))


def large_echo(value: int) -> Request:
    return json_back(b"/echo", {"items": [item(value + n) for n in range(LARGE_ITEMS)]})


def validated(value: int) -> Request:
    return json_back(b"/validated", item(value))


def cookies(value: int) -> Request:
    own = (b"cookie", b"theme=dark; session=id-%d; consent=yes" % value)
    answer = Answer(text=b"id-%d" % value, cookie=b"visited=id-%d" % value)
    return Request(b"/cookies", answer, lines=lines(own))


def nested(value: int) -> Request:
    return Request(b"/api/v1/users/%d" % value, Answer(text=b"%d" % value), lines=lines())


def other_method(value: int) -> Request:
    return Request(b"/users/%d" % value, Answer(405, allow=b"GET"), "DELETE", lines=lines())


def in_thread(value: int) -> Request:
    return Request(b"/thread", Answer(text=b"Hello, World!"), lines=lines())


def slow(value: int) -> Request:
    return Request(b"/slow", Answer(text=b"Hello, World!"), lines=lines())


def form(value: int) -> Request:
    body = b"name=Ada+%d&email=ada.%d%%40example.org&note=&subscribe=on" % (value, value)
    answer = Answer(text=b"Ada %d ada.%d@example.org" % (value, value))
    return Request(b"/form", answer, **posted(b"application/x-www-form-urlencoded", body))


def upload_of(size: int) -> Request:
    """A multipart form with a field and a file of so many bytes."""
    boundary = b"----WebKitFormBoundary7MA4YWxkTrZu0gW"
    head = (
        b'--%b\r\nContent-Disposition: form-data; name="title"\r\n\r\nHoliday\r\n'
        b'--%b\r\nContent-Disposition: form-data; name="file"; filename="photo.bin"\r\n'
        b"Content-Type: application/octet-stream\r\n\r\n" % (boundary, boundary)
    )
    body = head + binary(size) + b"\r\n--%b--\r\n" % boundary
    answer = Answer(text=b"Holiday photo.bin %d" % size)
    content_type = b"multipart/form-data; boundary=" + boundary
    return Request(b"/upload", answer, **posted(content_type, body))


def binary(size: int) -> bytes:
    """So many bytes, of all values, line ends among them."""
    return (bytes(range(256)) * (size // 256 + 1))[:size]


def upload(value: int) -> Request:
    return upload_of(UPLOAD_BYTES)


def small_upload(value: int) -> Request:
    return upload_of(SMALL_UPLOAD_BYTES)


def body_of(size: int) -> Request:
    """A body of so many bytes, which is read whole."""
    answer = Answer(text=b"%d" % size)
    return Request(b"/bytes", answer, **posted(b"application/octet-stream", binary(size)))


def stream(value: int) -> Request:
    return Request(b"/stream", Answer(text=CHUNK * CHUNKS), lines=lines())


def not_found(value: int) -> Request:
    return Request(b"/nothing/%d" % value, Answer(status=404), lines=lines())


def table_paths(count: int) -> list[str]:
    """The paths of a table of REST resources: static, with a parameter, and something below."""
    patterns = ("/things{}", "/things{}/:id", "/things{}/:id/parts")
    return [patterns[number % 3].format(number // 3) for number in range(count)]


def in_table(path: str, value: int) -> Request:
    """A request for a path of a table; the answer is the parameter, or `list`."""
    answer = b"%d" % value if ":id" in path else b"list"
    return Request(path.replace(":id", str(value)).encode(), Answer(text=answer), lines=lines())


def last_of_table(value: int) -> Request:
    return in_table(table_paths(TABLE_ROUTES)[-1], value)


_MORE_APP: AppKey = ("more_app", 0)
_TABLE_APP: AppKey = ("table_app", TABLE_ROUTES)

ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        Row("text", text),
        Row("json", as_json),
        Row("param", param),
        Row("param, new values", param, has_new_values=True),
        Row("escaped param, new values", escaped_param, has_new_values=True),
        Row("query", query),
        Row("query, new values", query, has_new_values=True),
        Row("headers", headers),
        Row("headers, new values", headers, has_new_values=True),
        Row("five middleware", text, app=("middleware_app", 5)),
        Row("ten middleware", text, app=("middleware_app", 10)),
        Row("twenty middleware", text, app=("middleware_app", 20)),
        Row("fifty middleware", text, app=("middleware_app", 50)),
        Row("echo", echo),
        Row("echo in two events", echo_and_end),
        Row("echo of 100 kB", large_echo),
        Row("validated JSON, new values", validated, has_new_values=True, app=("validated_app", 0)),
        Row("form", form),
        Row("form, new values", form, has_new_values=True),
        Row("body of 1 KiB", lambda _: body_of(1 << 10)),
        Row("body of 64 KiB", lambda _: body_of(64 << 10)),
        Row("upload", upload),
        Row("small upload", small_upload),
        Row("stream", stream, is_streamed=True),
        Row("cookies, new values", cookies, has_new_values=True, app=_MORE_APP),
        Row("50 at once", slow, app=_MORE_APP, at_once=AT_ONCE),
        Row("thread", in_thread, app=_MORE_APP),
        Row("405, new values", other_method, has_new_values=True, app=_MORE_APP),
        Row("404", not_found),
        Row("404, new values", not_found, has_new_values=True),
        Row("table", last_of_table, app=_TABLE_APP),
        Row("table, new values", last_of_table, has_new_values=True, app=_TABLE_APP),
        Row("nested, new values", nested, has_new_values=True, app=("nested_app", 0)),
    )
}


def check(request: Request, messages: list[Message]) -> None:
    """Checks what an app sent.

    Raises:
        WrongAnswerError: If it is not the answer to the request.
    """
    answer = request.answer
    where = f"{request.method} {request.path.decode()}"
    if not messages or messages[0]["type"] != "http.response.start":
        raise WrongAnswerError(f"{where}: no response, but {messages!r:.200}")
    body = b"".join([message.get("body", b"") for message in messages[1:]])
    if messages[-1].get("more_body", False):
        raise WrongAnswerError(f"{where}: the response has no end")
    got = {bytes(name).lower(): bytes(value) for name, value in messages[0]["headers"]}
    if messages[0]["status"] != answer.status:
        raise WrongAnswerError(
            f"{where}: status {messages[0]['status']} {body!r:.200}, expected {answer.status}"
        )
    check_body(where, answer, got.get(b"content-type", b""), body)
    for name, value in answer.headers.items():
        if got.get(name) != value:
            raise WrongAnswerError(f"{where}: {name!r} is {got.get(name)!r}, expected {value!r}")
    set_cookie = got.get(b"set-cookie", b"")
    attributes = {part.strip().lower() for part in set_cookie.split(b";")[1:]}
    if answer.cookie and not (
        set_cookie.startswith(answer.cookie + b";") and {b"path=/", b"httponly"} <= attributes
    ):
        raise WrongAnswerError(f"{where}: cookie {set_cookie!r}, expected {answer.cookie!r}")
    if answer.allow not in got.get(b"allow", answer.allow):
        raise WrongAnswerError(f"{where}: {got[b'allow']!r} is allowed, but not {answer.allow!r}")
    if int(got.get(b"content-length", len(body))) != len(body):
        raise WrongAnswerError(f"{where}: content-length is not that of the body")


def check_body(where: str, answer: Answer, content_type: bytes, body: bytes) -> None:
    """Checks a body, and that its content type is the right one."""
    if answer.text is not None:
        if body != answer.text:
            raise WrongAnswerError(f"{where}: {body!r:.200}, expected {answer.text!r:.200}")
        expected = b"text/plain"
    elif answer.json is not None:
        if json.loads(body) != answer.json:
            raise WrongAnswerError(f"{where}: {body!r:.200}, expected {answer.json!r:.200}")
        expected = b"application/json"
    else:
        return
    if not content_type.startswith(expected):
        raise WrongAnswerError(f"{where}: content type {content_type!r}, expected {expected!r}")
