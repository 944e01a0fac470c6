# SPDX-License-Identifier: MIT
"""What the clients in `tests/clients/consumers` are told, and what they must have read."""

from __future__ import annotations

import secrets
from typing import Any

from every_feature_app import BASIC, JWT, KEY, PASSWORD, TOKEN, USER

SHELF_TOKEN = "t0ken"
# The same for all clients.
EXPECTED: dict[str, Any] = {
    "every_feature": {
        "path": {"number": "7", "name": "ada", "day": "2026-01-02"},
        "search": {
            "words": ["a", "b"],
            "color": "red",
            "after": "2026-01-02",
            "pages": {"low": 1, "high": 9},
            "limit": 10,
            "trace": "abc",
            "theme": None,
        },
        "thing": ["Lamp", "1.50", "blue", [1, 2.5]],
        "changed": "oak",
        "shape": {
            "type": "group",
            "shapes": [{"type": "circle", "radius": 3}, {"type": "square", "side": 2}],
        },
        "owner": {"kind": "dog", "tricks": ["sit"]},
        "box": 3,
        "pair": ["a", 1],
        "login": {"username": "ada", "remember": "True"},
        "album": {
            "title": "Spring",
            "cover_bytes": 5,
            "cover_type": "image/png",
            "names": ["a.txt", "b.txt"],
            "years": [1815, 1817],
        },
        "page": [25, 24],
        "next": [23, 22],
        "union": {"id": 1, "title": "Volume 1", "year": 1901},
        "file": "%PDF-1.7",
        "deleted": 204,
        "missing": "There is no such book",
        "events": [0, 1],
        "job": {"id": 1, "state": "queued"},
        "fault": "It is negative",
        "guarded": ["you", "you", "you", "you", "ada"],
        "anonymous": 401,
        "invalid": ["q"],
    },
    "bookshelf": {"title": True, "found": ["Ada"], "cover": 204, "gone": 204},
    "conduit": {
        "user": True,
        "tags": ["a"],
        "liked": 1,
        "count": 1,
        "refused": 401,
    },
}


def environment(urls: dict[str, str]) -> dict[str, str]:
    """Returns the variables of a client: the URLs of the apps, and credentials."""
    return {
        **{name.upper(): url for name, url in urls.items()},
        "BASIC": BASIC,
        "EVERY_USER": USER,
        "JWT": JWT,
        "KEY": KEY,
        "NAME": f"ada{secrets.token_hex(4)}",
        "PASSWORD": PASSWORD,
        "SHELF_TOKEN": SHELF_TOKEN,
        "TITLE": f"Book {secrets.token_hex(4)}",
        "TOKEN": TOKEN,
    }


def check_read(read: dict[str, Any], **instead: Any) -> None:
    """Checks what a client has read, value by value.

    Args:
        read: What it has read, by app and name.
        **instead: What it reads instead of an expected value, by name, as it can't send the same.
    """
    assert read.keys() == EXPECTED.keys()
    for app, expected in EXPECTED.items():
        wanted = {name: instead.get(name, value) for name, value in expected.items()}
        differing = {
            name: (read[app].get(name), value)
            for name, value in wanted.items()
            if read[app].get(name) != value
        }
        assert not differing, f"of {app}, as read and as expected: {differing}"
