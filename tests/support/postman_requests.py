# SPDX-License-Identifier: MIT
"""Sends the requests of a Postman collection, without Postman."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx


class PostmanRequest(NamedTuple):
    """A request of a collection.

    Attributes:
        name: The method and the path, whose parameters begin with `:`.
        request: The arguments for `httpx.Client.request`.
    """

    name: str
    request: dict[str, Any]


def read_requests(items: list[dict[str, Any]]) -> Iterator[PostmanRequest]:
    """Yields the requests of a collection, folder by folder."""
    for item in items:
        if "item" in item:
            yield from read_requests(item["item"])
        else:
            yield _read(item["request"])


def _read(request: dict[str, Any]) -> PostmanRequest:
    url, body = request["url"], request.get("body") or {}
    values = {each["key"]: str(each["value"]) for each in url.get("variable", ())}
    path = "/" + "/".join(values.get(part[1:], part) for part in url["path"])
    query = [(each["key"], each["value"]) for each in url.get("query", ()) if _is_sent(each)]
    headers = {each["key"].lower(): each["value"] for each in request.get("header", ())}
    arguments = {
        "method": request["method"],
        "url": path,
        "params": query,
        "headers": headers,
        **_read_body(body),
    }
    if "files" in arguments:
        del headers["content-type"]  # the client adds the boundary
    return PostmanRequest(f"{request['method']} /{'/'.join(url['path'])}", arguments)


def _read_body(body: dict[str, Any]) -> dict[str, Any]:
    mode = body.get("mode")
    if mode == "raw":
        return {"content": body["raw"].encode()}
    if mode == "file":
        return {"content": b"\x00"}
    if mode == "urlencoded":
        fields = [(each["key"], each["value"]) for each in body[mode] if _is_sent(each)]
        return {"content": str(httpx.QueryParams(fields)).encode()}
    if mode == "formdata":
        # A person chooses the files in Postman.
        files = [
            (each["key"], ("a.png", b"\x89PNG", "image/png") if is_file else (None, each["value"]))
            for each in body[mode]
            for is_file in [each["type"] == "file"]
            if _is_sent(each)
        ]
        return {"files": files}
    return {}


def _is_sent(entry: dict[str, Any]) -> bool:
    return not entry.get("disabled", False)
