# SPDX-License-Identifier: MIT
"""The document of an app, built on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple, Self

from kit.interface import App
from kit.interface.metadata import get_facts

from ._methods import get_operation
from ._selection import Selection
from ._versions import Version, write_as

__all__ = ("AppOperation", "AppOperations", "Documentation")

# What descriptions may say that has to fit the routes, or that `attach` doesn't check.
_CHECKED = {
    "tags",
    "parameters",
    "headers",
    "callbacks",
    "extensions",
    "external_docs",
    "security",
}


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
        undescribed: The types of its request that can't be described, which have the schema `{}`:
            a text for each, with the reason.
    """

    method: str
    path: str
    handler: Any
    operation: Mapping[str, Any]
    undeclared_headers: frozenset[str] = frozenset()
    name: str = ""
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
        version: The version of OpenAPI.
        security: Security Scheme Objects, or requirements, of operations without their own.
        webhooks: The webhooks by name, see `_path_items`.
        external_docs: An External Documentation Object.
        extensions: Other members.
        selection: The operations to include; None for all.
        transform: Returns another document; None to leave it as it is.
        factory: Name of the called function, for errors.
        separate_input_output: Whether a type that is sent and received has two schemas if these
            differ in which fields are required.

    Attributes:
        base_path: The prefix of its routes.
        docs_path: The path of its page; None if there is none.
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
        security: Sequence[Mapping[str, Any]] | None = None,
        webhooks: Mapping[str, Any] | None = None,
        external_docs: Mapping[str, Any] | None = None,
        extensions: Mapping[str, Any] | None = None,
        selection: Selection | None = None,
        transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
        factory: str = "openapi",
        version: Version = "3.1",
        separate_input_output: bool = False,
    ) -> None:
        self.app = app
        self.info = dict(info)
        self.servers = [dict(each) for each in servers]
        self.tags = [dict(each) for each in tags]
        self.errors = errors
        self.security_schemes = security_schemes or {}
        self.version: Version = version
        self.security = security
        self.webhooks = webhooks or {}
        self.external_docs = external_docs
        self.extensions = dict(extensions or {})
        self.selection = selection
        self.transform = transform
        self.factory = factory
        self.separate_input_output = separate_input_output
        self.base_path = "/"
        self.docs_path: str | None = None
        self.notes: list[str] = []
        self.undescribed: list[str] = []
        self._document: dict[str, Any] | None = None
        self._lock = Lock()
        self._found: list[AppOperation] = []

    def in_version(self, version: Version) -> Self:
        """Returns the same in a version of OpenAPI."""
        found = copy(self)
        found.version = version
        found.notes, found.undescribed, found._found, found._document = [], [], [], None
        found._lock = Lock()
        return found

    def document(self) -> dict[str, Any]:
        """Returns the document, which is built once; `notes` then lists what it lacks."""
        with self._lock:  # two threads may ask at once
            if self._document is None:
                self._document = self._build()
            return self._document

    def check(self) -> None:
        """Checks what can be checked without a look at types, when the app starts.

        Raises:
            TypeError: If a description has a value of the wrong type.
            ValueError: If a description or an option doesn't fit the routes.
        """
        described = (get_facts(route.handler).describes for route in self.app.routes)
        if self.selection is None and not any(each.keys() & _CHECKED for each in described):
            return
        # Imported here: most apps have nothing to check.
        from ._operations import list_operations
        from ._startup_checks import check_descriptions, check_security
        from ._tags import collect_tags

        operations = list_operations(self.app, self.base_path, [])
        check_descriptions(operations)
        if self.selection is not None:
            operations = self.selection.choose(operations)
        check_security(operations, self.security_schemes, self.factory)
        collect_tags(self.tags, operations)

    def operations(self) -> AppOperations:
        """Returns the operations of the document, each with the handler of its route."""
        document = self.document()
        found = [
            each._replace(operation=get_operation(document["paths"][each.path], each.method))
            for each in self._found
        ]
        return AppOperations(document, found, self.notes)

    def _build(self) -> dict[str, Any]:
        # Imported here: not needed at startup.
        import msgspec

        from ._operation_ids import name_operations
        from ._operation_writer import OperationWriter
        from ._operations import find_operations
        from ._rendering import undeclared_headers
        from ._responses import Errors
        from ._schemas import Schemas
        from ._security import Security, mark_open_operations
        from ._source import forget
        from ._startup_checks import check_descriptions
        from ._tags import collect_tags

        self.notes.clear()
        self.undescribed.clear()
        self._found.clear()
        operations = find_operations(self.app, self.base_path, self.notes)
        check_descriptions(operations)
        if self.selection is not None:
            operations = self.selection.choose(operations)
        name_operations(operations, self.notes)
        codecs = self.app.codecs
        schemas = Schemas(codecs, separate=self.separate_input_output)
        errors = Errors(self.errors, schemas)
        shared = len(schemas)
        security = Security(self.security_schemes, self.notes)
        writer = OperationWriter(schemas, errors, security, codecs)
        planned = [writer.plan(each) for each in operations]
        of_operations = len(schemas)
        webhooks = writer.plan_webhooks(self.webhooks, {each.id for each in operations})
        forget()
        schemas.resolve()
        paths: dict[str, dict[str, Any]] = {}
        for each in planned:
            operation = each.pending.operation
            methods = paths.setdefault(operation.shown.path, {})
            methods[operation.method.lower()] = writer.write(each)
            problems = schemas.problems_in(each.numbers)
            shown = f"{operation.method} {operation.shown.path}"
            self.undescribed += [f"{shown} has a type without a schema: {p}" for p in problems]
            self._found.append(
                AppOperation(
                    operation.method,
                    operation.shown.path,
                    operation.handler,
                    methods[operation.method.lower()],
                    undeclared_headers(each.pending, schemas),
                    operation.name,
                    schemas.problems_in(each.numbers, is_sent=False),
                )
            )
        called = {name: writer.write_path_item(each) for name, each in webhooks.items()}
        required = None if self.security is None else security.require(self.security)
        # Of errors, and of webhooks and encoders.
        of_all = [range(shared), range(of_operations, len(schemas))]
        for problem in chain.from_iterable(map(schemas.problems_in, of_all)):
            self.undescribed.append(f"A type has no schema: {problem}")
        self.notes += self.undescribed
        components = {
            "schemas": schemas.keep([paths, called]),
            "securitySchemes": dict(sorted(security.schemes.items())),
        }
        mark_open_operations(paths, writer.sent, has_default=required is not None)
        document: dict[str, Any] = {"openapi": "", "info": self.info}
        # SPEC: OpenAPI 3.1.1 section 4.8.1: the default, which linters require to be written.
        document["servers"] = self.servers or [{"url": "/"}]
        sent = [each for item in webhooks.values() for each in item.operations.values()]
        tags = collect_tags(self.tags, [*operations, *(each.pending.operation for each in sent)])
        if tags:
            document["tags"] = tags
        if self.external_docs is not None:
            document["externalDocs"] = self.external_docs
        if required is not None:
            document["security"] = required
        document["paths"] = paths
        if called:
            document["webhooks"] = called
        used = {name: value for name, value in components.items() if value}
        if used:
            document["components"] = used
        document |= self.extensions
        # Tuples, dates etc. in defaults and examples become JSON values.
        built: dict[str, Any] = msgspec.json.decode(codecs.encode_json(document))
        write_as(self.version, built, self.notes)
        if self.transform is None:
            return built
        from ._transform import transform_document

        return transform_document(self.transform, built, codecs, self.factory)
