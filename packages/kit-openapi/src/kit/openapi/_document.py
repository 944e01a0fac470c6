# SPDX-License-Identifier: MIT
"""The document of an app, built when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kit.interface import App

__all__ = ("Documentation",)

VERSION = "3.1.1"


class Documentation:
    """What `openapi` was told of an app, and the document made of it.

    Args:
        app: The app.
        info: The Info Object (OpenAPI 3.1.1, section 4.8.2).
        servers: Server Objects.
        tags: Tag Objects.
        errors: The types of the bodies of errors, by media type; None for those of Kit.
        security_schemes: Security Scheme Objects by name.
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
    ) -> None:
        self.app = app
        self.info = dict(info)
        self.servers = [dict(each) for each in servers]
        self.tags = [dict(each) for each in tags]
        self.errors = errors
        self.security_schemes = security_schemes or {}
        self.base_path = "/"
        self.notes: list[str] = []
        self._document: dict[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """Returns the document; it is built once. What was left out is in `notes` then."""
        if self._document is None:
            self._document = self._build()
        return self._document

    def _build(self) -> dict[str, Any]:
        # Imported here: an app that starts needs none of it.
        from ._answers import Errors
        from ._operations import find_operations
        from ._rendering import plan, render
        from ._schemas import Schemas
        from ._security import Security
        from ._source import forget

        self.notes.clear()
        operations = find_operations(self.app, self.base_path, self.notes)
        schemas = Schemas()
        errors = Errors(self.errors, schemas)
        security = Security(self.security_schemes)
        planned = [plan(each, schemas, errors, security) for each in operations]
        forget()
        schemas.resolve()
        paths: dict[str, dict[str, Any]] = {}
        for each in planned:
            operation = each.operation
            methods = paths.setdefault(operation.shown.path, {})
            methods[operation.method.lower()] = render(each, schemas)
        self.notes += schemas.notes
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
        # Tuples, dates and the like of defaults and examples become what JSON has.
        built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
        return built
