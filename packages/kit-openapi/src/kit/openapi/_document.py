# SPDX-License-Identifier: MIT
"""The document of an app, built on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

from kit.interface import App

from ._methods import get_operation
from ._versions import Version, write_as

__all__ = ("AppOperation", "AppOperations", "Documentation")


class AppOperation(NamedTuple):
    """One operation of an app: a method of a path.

    Attributes:
        method: The method, in upper case.
        path: The path template, e.g. `/books/{id}`.
        handler: The handler of the route, as registered.
        operation: The Operation Object (OpenAPI 3.2.0, section 4.10).
        undeclared_headers: Header parameters that the handler reads by name and nothing validates,
            in lower case. A proxy may set them.
        name: The name of its function, or the id from `describe`; several operations may have the
            same, and then different ids.
    """

    method: str
    path: str
    handler: Any
    operation: Mapping[str, Any]
    undeclared_headers: frozenset[str] = frozenset()
    name: str = ""


class AppOperations(NamedTuple):
    """The operations of an app, and the document that describes them.

    Attributes:
        document: The OpenAPI document, to which the references in operations refer.
        operations: The operations, in order of registration.
        notes: The omitted routes with the reasons: a text for each.
    """

    document: dict[str, Any]
    operations: list[AppOperation]
    notes: list[str]


class Documentation:
    """The options of a document, and the document built from them.

    Args:
        app: The app.
        info: The Info Object (OpenAPI 3.1.1, section 4.8.2).
        servers: Server Objects.
        tags: Tag Objects.
        errors: The types of error bodies, by media type; None for the built-in ones.
        security_schemes: Security Scheme Objects by name.
        version: The version of OpenAPI.
    """

    def __init__(
        self,
        app: App,
        *,
        info: Mapping[str, Any],
        servers: Sequence[Mapping[str, Any]] = (),
        tags: Sequence[Mapping[str, Any]] = (),
        errors: Mapping[str, Any] | None = None,
        security_schemes: Mapping[str, Mapping[str, Any]] | None = None,
        version: Version = "3.1",
    ) -> None:
        self.app = app
        self.info = dict(info)
        self.servers = [dict(each) for each in servers]
        self.tags = [dict(each) for each in tags]
        self.errors = errors
        self.security_schemes = security_schemes or {}
        self.version: Version = version
        self.base_path = "/"
        self.notes: list[str] = []
        self._document: dict[str, Any] | None = None
        self._found: list[tuple[str, str, Any, tuple[frozenset[str], str]]] = []

    def in_version(self, version: Version) -> Self:
        """Returns the same in a version of OpenAPI."""
        found = copy(self)
        found.version = version
        found.notes, found._found, found._document = [], [], None
        return found

    def document(self) -> dict[str, Any]:
        """Returns the document, which is built once; `notes` then lists the omitted routes."""
        if self._document is None:
            self._document = self._build()
        return self._document

    def operations(self) -> AppOperations:
        """Returns the operations of the document, each with the handler of its route."""
        document = self.document()
        found = [
            AppOperation(
                method, path, handler, get_operation(document["paths"][path], method), *known
            )
            for method, path, handler, known in self._found
        ]
        return AppOperations(document, found, self.notes)

    def _build(self) -> dict[str, Any]:
        # Imported here: not needed at startup.
        import msgspec

        from ._operation_ids import name_operations
        from ._operations import find_operations
        from ._rendering import plan, render, undeclared_headers
        from ._responses import Errors
        from ._schemas import Schemas
        from ._security import Security, mark_open_operations
        from ._source import forget
        from ._tags import declare_tags

        self.notes.clear()
        self._found.clear()
        operations = find_operations(self.app, self.base_path, self.notes)
        name_operations(operations, self.notes)
        codecs = self.app.codecs
        schemas = Schemas(codecs)
        errors = Errors(self.errors, schemas)
        security = Security(self.security_schemes, self.notes)
        pending = [plan(each, schemas, errors, security) for each in operations]
        forget()
        schemas.resolve()
        paths: dict[str, dict[str, Any]] = {}
        for each in pending:
            operation = each.operation
            methods = paths.setdefault(operation.shown.path, {})
            methods[operation.method.lower()] = render(each, schemas)
            headers = undeclared_headers(each, schemas)
            found = (operation.method, operation.shown.path, operation.handler)
            self._found.append((*found, (headers, operation.name)))
        self.notes += schemas.notes
        components = {
            "schemas": schemas.keep(paths),
            "securitySchemes": dict(sorted(security.schemes.items())),
        }
        mark_open_operations(paths)
        document: dict[str, Any] = {"openapi": "", "info": self.info}
        # SPEC: OpenAPI 3.1.1 section 4.8.1: the default, which linters require to be written.
        document["servers"] = self.servers or [{"url": "/"}]
        tags = declare_tags(self.tags, paths)
        if tags:
            document["tags"] = tags
        document["paths"] = paths
        used = {name: value for name, value in components.items() if value}
        if used:
            document["components"] = used
        # Tuples, dates etc. in defaults and examples become JSON values.
        built: dict[str, Any] = msgspec.json.decode(codecs.encode_json(document))
        write_as(self.version, built, self.notes)
        return built
