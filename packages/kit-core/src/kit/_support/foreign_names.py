# SPDX-License-Identifier: MIT
"""Names that other frameworks have, and what to write in Kit instead.

Reading one of them is an AttributeError that says so. They are descriptors in place of a
`__getattr__`, which would make CPython look up every attribute of a class in a slower way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONTEXT = {
    "args": "c.req.query('name')",
    "abort": "`raise HTTPException(404)`",
    "cookies": "get_cookie(c, 'name') of kit.cookie",
    "delete_cookie": "delete_cookie(c, 'name') of kit.cookie",
    "form": "await c.req.parse_body()",
    "headers": "c.req.header('name'), or c.header('name', 'value') for the response",
    "method": "c.req.method",
    "params": "c.req.param('name')",
    "path": "c.req.path",
    "path_params": "c.req.param('name')",
    "query": "c.req.query('name')",
    "query_params": "c.req.query('name')",
    "render_template": "c.render(...), with templates() of kit.templates",
    "request": "c.req",
    "response": "c.res",
    "send": "return c.text(...) or c.json(...)",
    "session": "get_session(c) of kit.session",
    "set_cookie": "set_cookie(c, 'name', 'value') of kit.cookie",
    "state": "c.set('name', value) and c.get('name'), or c.env for the values of the lifespan",
    "url": "c.req.url",
    "user": "c.get('user'), which middleware sets by c.set('user', ...)",
}

REQUEST = {
    "args": "c.req.query('name')",
    "body": "await c.req.bytes()",
    "client": "get_conn_info(c) of kit.conninfo",
    "cookies": "get_cookie(c, 'name') of kit.cookie",
    "data": "await c.req.bytes()",
    "files": "await c.req.parse_body()",
    "form": "await c.req.parse_body()",
    "get_json": "await c.req.json()",
    "headers": "c.req.header('name')",
    "params": "c.req.param('name') for the path, c.req.query('name') for the query",
    "path_params": "c.req.param('name')",
    "query_params": "c.req.query('name')",
    "remote_addr": "get_conn_info(c) of kit.conninfo",
    "session": "get_session(c) of kit.session",
    "state": "c.get('name')",
    "stream": "c.req.raw.body",
    "user": "c.get('user')",
    "values": "c.req.query('name') or await c.req.parse_body()",
    "view_args": "c.req.param()",
}

RESPONSE = {
    "content": "await response.bytes()",
    "data": "await response.bytes()",
    "get_json": "await response.json()",
    "set_cookie": "set_cookie(c, 'name', 'value') of kit.cookie",
    "status_code": "response.status",
}


class ForeignName:
    """An attribute that can't be read.

    Args:
        owner: What to call the object in the error, e.g. `The context`.
        name: The name of the attribute.
        advice: What to write instead.
    """

    __slots__ = ("_advice", "_name", "_owner")

    def __init__(self, owner: str, name: str, advice: str) -> None:
        self._owner = owner
        self._name = name
        self._advice = advice

    def __get__(self, instance: object, owner: type | None = None) -> ForeignName:
        if instance is None:  # what looks through the members of a class
            return self
        raise self._error()

    def _error(self) -> AttributeError:
        text = f"{self._owner} has no attribute {self._name!r}: use {self._advice}"
        # Without `obj`, Python would append its own suggestion, which may be a private name.
        return AttributeError(text, name=self._name, obj=None)


class UnsettableName(ForeignName):
    """An attribute that can't be set either. Instances of subclasses can't have it."""

    __slots__ = ()

    def __set__(self, instance: object, value: object) -> None:
        raise self._error()


def refuse_foreign_names(
    cls: Any, owner: str, names: Mapping[str, str], kind: type[ForeignName] = ForeignName
) -> None:
    """Makes names that a class doesn't have raise an error that says what to write instead.

    Args:
        cls: The class.
        owner: What to call its objects.
        names: The names, and what to write instead.
        kind: UnsettableName for a class that users don't derive from.
    """
    for name, advice in names.items():
        setattr(cls, name, kind(owner, name, advice))

    def members(self: object) -> list[str]:
        return [name for name in object.__dir__(self) if name not in names]

    cls.__dir__ = members  # completion in a REPL should not offer them
