# SPDX-License-Identifier: MIT
"""The document of an app, built on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from kit.interface import App

__all__ = ("AppOperation", "AppOperations", "Documentation")

VERSION = "3.1.1"


class AppOperation(NamedTuple):
    """One operation of an app: a method of a path.

    Attributes:
        method: The method, in upper case.
        path: The path template, e.g. `/books/{id}`.
        handler: The handler of the route, as registered.
        operation: The Operation Object (OpenAPI 3.1.1, section 4.8.10).
        undeclared_headers: Header parameters that the handler reads by name and nothing validates,
            in lower case. A proxy may set them.
        undescribed: The types of its request that can't be described, which have the schema `{}`:
            a text for each, with the reason.
    """

    method: str
    path: str
    handler: Any
    operation: Mapping[str, Any]
    undeclared_headers: frozenset[str] = frozenset()
    undescribed: tuple[str, ...] = ()


class AppOperations(NamedTuple):
    """The operations of an app, and the document that describes them.

    Attributes:
        document: The OpenAPI document, to which the references in operations refer.
        operations: The operations, in order of registration.
        notes: The omitted routes, and the types that can't be described, with the reasons: a text
            for each.
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
        separate_input_output: Whether a type that is sent and received has two schemas if these
            differ in which fields are required.

    Attributes:
        notes: What the document lacks, with the reasons, once it is built.
        undescribed: Of the notes, those on types that can't be described.
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
        separate_input_output: bool = False,
    ) -> None:
        self.app = app
        self.info = dict(info)
        self.servers = [dict(each) for each in servers]
        self.tags = [dict(each) for each in tags]
        self.errors = errors
        self.security_schemes = security_schemes or {}
        self.separate_input_output = separate_input_output
        self.base_path = "/"
        self.notes: list[str] = []
        self.undescribed: list[str] = []
        self._document: dict[str, Any] | None = None
        self._found: list[AppOperation] = []

    def document(self) -> dict[str, Any]:
        """Returns the document, which is built once; `notes` then lists what it lacks."""
        if self._document is None:
            self._document = self._build()
        return self._document

    def operations(self) -> AppOperations:
        """Returns the operations of the document, each with the handler of its route."""
        document = self.document()
        found = [
            each._replace(operation=document["paths"][each.path][each.method.lower()])
            for each in self._found
        ]
        return AppOperations(document, found, self.notes)

    def _build(self) -> dict[str, Any]:
        # Imported here: not needed at startup.
        import msgspec

        from ._operations import find_operations
        from ._rendering import plan, render, undeclared_headers
        from ._responses import Errors
        from ._schemas import Schemas
        from ._security import Security
        from ._source import forget

        self.notes.clear()
        self.undescribed.clear()
        self._found.clear()
        operations = find_operations(self.app, self.base_path, self.notes)
        codecs = self.app.codecs
        schemas = Schemas(codecs, separate=self.separate_input_output)
        errors = Errors(self.errors, schemas)
        shared = len(schemas)
        security = Security(self.security_schemes, self.notes)
        pending = [plan(each, schemas, errors, security) for each in operations]
        forget()
        planned = len(schemas)
        schemas.resolve()
        paths: dict[str, dict[str, Any]] = {}
        for each in pending:
            operation = each.operation
            methods = paths.setdefault(operation.shown.path, {})
            methods[operation.method.lower()] = render(each, schemas)
            problems = schemas.problems_in(each.numbers)
            shown = f"{operation.method} {operation.shown.path}"
            self.undescribed += [f"{shown} has a type without a schema: {p}" for p in problems]
            self._found.append(
                AppOperation(
                    operation.method,
                    operation.shown.path,
                    operation.handler,
                    methods[operation.method.lower()],
                    undeclared_headers(each, schemas),
                    schemas.problems_in(each.numbers, is_sent=False),
                )
            )
        of_all = [range(shared), range(planned, len(schemas))]  # of errors, and of encoders
        for problem in chain.from_iterable(map(schemas.problems_in, of_all)):
            self.undescribed.append(f"A type has no schema: {problem}")
        self.notes += self.undescribed
        components = {
            "schemas": schemas.keep(paths),
            "securitySchemes": dict(sorted(security.schemes.items())),
        }
        document: dict[str, Any] = {"openapi": VERSION, "info": self.info}
        if self.servers:
            document["servers"] = self.servers
        if self.tags:
            document["tags"] = self.tags
        document["paths"] = paths
        used = {name: value for name, value in components.items() if value}
        if used:
            document["components"] = used
        # Tuples, dates etc. in defaults and examples become JSON values.
        built: dict[str, Any] = msgspec.json.decode(codecs.encode_json(document))
        return built
