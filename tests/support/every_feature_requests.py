# SPDX-License-Identifier: MIT
"""A valid request for each operation of `every_feature_app`, with the status of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from every_feature_app import JWT, KEY, PASSWORD, TOKEN, USER

SERIAL = "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22"
THING = {
    "displayName": "Lamp",
    "serial": SERIAL,
    "price": "1.50",
    "madeOn": "2026-01-02",
    "soldAt": "2026-01-02T03:04:05Z",
    "size": None,
    "color": "blue",
    "rank": 2,
    "counts": {"a": 1},
    "place": [1, 2.5],
    "path": [1, 2, 3],
    "picture": "AAEC",
}
SHAPE = {
    "type": "group",
    "shapes": [{"type": "circle", "radius": 3}, {"type": "square", "side": 2}],
}
BEARER = {"headers": {"authorization": f"Bearer {TOKEN}"}}


class Asked(NamedTuple):
    """A request.

    Attributes:
        method: The method.
        path: The path, with the query.
        status: The status of the answer.
        options: Further arguments for `httpx.Client.request`.
    """

    method: str
    path: str
    status: int = 200
    options: Mapping[str, Any] = MappingProxyType({})


def _post(name: str, body: Any, status: int = 200) -> Asked:
    return Asked("POST", f"/bodies/{name}", status, {"json": body})


def _put(name: str, body: bytes, media_type: str) -> Asked:
    options = {"content": body, "headers": {"content-type": media_type}}
    return Asked("PUT", f"/bodies/{name}", 200, options)


PARAMETERS = [
    Asked("GET", "/parameters/path/7/ada/2026-01-02"),
    Asked("GET", "/parameters/optional"),
    Asked("GET", "/parameters/optional/end"),
    Asked(
        "GET",
        "/parameters/search?words=a&words=b&color=red&after=2026-01-02&pages[low]=1&pages[high]=9",
        200,
        {"headers": {"x-trace": "abc", "cookie": "theme=dark"}},
    ),
    Asked(
        "GET",
        f"/parameters/simple?q=dune&ids={SERIAL}&is_new=true&at=2026-01-02T03:04:05Z&rank=2",
    ),
    Asked("GET", "/parameters/headers", 200, {"headers": {"x-trace": "abc"}}),
    Asked("GET", "/parameters/cookies", 200, {"headers": {"cookie": "theme=dark"}}),
    Asked("GET", "/parameters/limits?limit=5&order=desc"),
    Asked("GET", "/parameters/by-name/3?factor=2&word=a&word=b"),
    Asked("GET", "/parameters/by-name/42", 409),
]
BODIES = [
    _post("thing", THING, 201),
    Asked("PATCH", "/bodies/thing/3", 200, {"json": {"name": "oak"}}),
    _post("tree", {"name": "a", "children": [{"name": "b", "children": []}]}),
    _post("person", {"name": "Ada", "friends": [{"name": "Bob", "age": 7}]}),
    _post("address", {"street": "Main Street"}),
    _post("point", {"x": 1}),
    _post("item", {"name": "a", "parts": [{"name": "b", "count": 2}]}),
    _post("account", {"email": "ada@example.com", "balance": "1.50"}),
    _post("sparse", {"name": "a", "note": "b"}),
    _post("shape", SHAPE),
    _post("owner", {"name": "Ada", "pet": {"kind": "dog", "tricks": ["sit"]}}),
    _post("boxes", [{"content": {"x": 1}, "label": "first"}]),
    _post("box", {"content": 3}),
    _post("pair", ["a", 1]),
    _post("embedded", {"name": "a", "point": {"x": 1}}),
    _post("optional", {"x": 1}),
    _post("mapping", {"a": 1}),
    Asked("POST", "/bodies/login", 200, {"data": {"username": USER, "password": PASSWORD}}),
    Asked(
        "POST",
        "/bodies/album",
        201,
        {"data": {"title": "Spring"}, "files": {"cover": ("a.png", b"\x89PNG", "image/png")}},
    ),
    _put("raw", b"\x00\x01\x02", "application/octet-stream"),
    _put("image", b"\x89PNG", "image/png"),
    Asked(
        "POST",
        "/bodies/text",
        200,
        {"content": "hello", "headers": {"content-type": "text/plain"}},
    ),
    _post("validated", {"name": "a"}, 201),
    _post("read", {"x": 1}, 202),
    _post("limited", ["a", "b"]),
]
RESULTS = [
    Asked("GET", "/results/filtered/1"),
    Asked("GET", "/results/filtered/99", 404),
    Asked("GET", "/results/list"),
    Asked("GET", "/results/pages?limit=2&since=1905&sort=-year"),
    Asked("GET", "/results/numbered?page=2"),
    Asked("GET", "/results/union/book"),
    Asked("GET", "/results/union/text"),
    Asked("GET", "/results/union/none", 204),
    Asked("GET", "/results/holder"),
    Asked("GET", "/results/mixed/cat"),
    Asked("GET", "/results/mixed/circle"),
    Asked("GET", "/results/shapes"),
    Asked("DELETE", "/results/nothing/1", 204),
    Asked("GET", "/results/pair"),
    Asked("GET", "/results/response/1"),
    Asked("GET", "/results/file"),
    Asked("GET", "/results/cached"),
    Asked("GET", "/results/cached", 304, {"headers": {"if-none-match": '"one"'}}),
    Asked("GET", "/results/page"),
    Asked("GET", "/results/moved", 302),
    Asked("GET", "/results/events?count=2"),
    Asked("GET", "/results/events?count=2", 200, {"headers": {"accept": "text/event-stream"}}),
    Asked("POST", "/results/jobs", 202, {"json": {"x": 1}}),
    Asked("POST", "/results/jobs", 409, {"json": {"x": -1}}),
    Asked("PUT", "/results/both", 200, {"json": {"text": "a"}}),
    Asked("PATCH", "/results/both", 200, {"json": {"text": "a"}}),
]
GUARDED = [
    Asked("GET", "/guarded/bearer", 200, BEARER),
    Asked("GET", "/guarded/basic", 200, {"auth": (USER, PASSWORD)}),
    Asked("GET", "/guarded/key", 200, {"headers": {"x-key": KEY}}),
    Asked("GET", "/guarded/jwt", 200, {"headers": {"authorization": f"Bearer {JWT}"}}),
    Asked("GET", "/guarded/depends", 200, BEARER),
    Asked("GET", "/guarded/either", 200, {"headers": {"x-key": KEY}}),
    Asked("GET", "/guarded/either", 200, BEARER),
    Asked("GET", "/guarded/oauth", 200, BEARER),
    Asked(
        "POST",
        "/guarded/token",
        200,
        {"data": {"grant_type": "password", "username": USER, "password": PASSWORD}},
    ),
]
REQUESTS = [*PARAMETERS, *BODIES, *RESULTS, *GUARDED]
