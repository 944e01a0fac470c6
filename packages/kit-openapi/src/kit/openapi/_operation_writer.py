# SPDX-License-Identifier: MIT
"""Writes operations with all that `describe` adds, and those of other servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from kit.interface import Codecs

from ._additions import Additions, apply_additions, plan_additions
from ._operations import Operation
from ._path_item_checks import METHODS
from ._path_items import read_path_item
from ._rendering import PendingOperation, plan, render
from ._responses import Errors, ResponseDescription, phrase
from ._schemas import RESPONSE, Mode, Schemas
from ._security import Security
from ._slots import ask_types, fill_slots

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")


@dataclass
class PlannedPathItem:
    """The operations of one address of another server.

    Attributes:
        operations: Its operations by method.
        others: The other members of the Path Item Object, with slots.
    """

    operations: dict[str, PlannedOperation]
    others: dict[str, Any]


@dataclass
class PlannedOperation:
    """An operation whose schemas have been requested.

    Attributes:
        pending: What was found out.
        additions: What `describe` adds.
        callbacks: The requests that it causes, by name and by URL.
        numbers: The numbers of all its schemas.
    """

    pending: PendingOperation
    additions: Additions
    callbacks: dict[str, dict[str, PlannedPathItem]] = field(default_factory=dict)
    numbers: range = range(0)


class OperationWriter:
    """Plans operations, and writes them once all schemas are known.

    Args:
        schemas: The schemas of the document.
        errors: The form of the app's error responses.
        security: The security schemes of the document.
        codecs: The encoders and decoders of the app.

    Attributes:
        sent: The written Operation Objects of other servers.
    """

    def __init__(
        self, schemas: Schemas, errors: Errors, security: Security, codecs: Codecs
    ) -> None:
        self._schemas = schemas
        self._errors = errors
        self._security = security
        self._codecs = codecs
        self.sent: list[dict[str, Any]] = []

    def plan(self, operation: Operation) -> PlannedOperation:
        """Requests the schemas of an operation of the app."""
        first = len(self._schemas)
        pending = plan(operation, self._schemas, self._errors, self._security)
        additions = plan_additions(operation, self._schemas, self._codecs)
        callbacks = self._plan_callbacks(operation)
        numbers = range(first, len(self._schemas))
        return PlannedOperation(pending, additions, callbacks, numbers)

    def plan_webhooks(
        self, webhooks: Mapping[str, Any], taken: set[str]
    ) -> dict[str, PlannedPathItem]:
        """Requests the schemas of webhooks.

        Args:
            webhooks: The checked webhooks by name.
            taken: The ids of the other operations; receives those of the webhooks.

        Raises:
            ValueError: If another operation has the `operation_id` of a webhook.
        """
        return {name: self._plan_path_item(name, webhooks[name], taken) for name in webhooks}

    def write(self, planned: PlannedOperation) -> dict[str, Any]:
        """Returns the Operation Object."""
        written = render(planned.pending, self._schemas)
        apply_additions(planned.additions, written, self._schemas)
        if planned.callbacks:
            written["callbacks"] = {
                name: {url: self.write_path_item(each) for url, each in urls.items()}
                for name, urls in planned.callbacks.items()
            }
        return written

    def write_path_item(self, planned: PlannedPathItem) -> dict[str, Any]:
        """Returns the Path Item Object."""
        item: dict[str, Any] = fill_slots(planned.others, self._schemas)
        for method in METHODS:
            for status, response in item.get(method, {}).get("responses", {}).items():
                if "$ref" not in response:
                    response.setdefault("description", phrase(str(status)))
        item |= {method: self.write(each) for method, each in planned.operations.items()}
        self.sent += [item[method] for method in METHODS if method in item]
        return item

    def _plan_callbacks(self, operation: Operation) -> dict[str, dict[str, PlannedPathItem]]:
        return {
            name: {url: self._plan_path_item(name, urls[url], None) for url in urls}
            for name, urls in operation.described.get("callbacks", {}).items()
        }

    def _plan_path_item(self, name: str, value: Any, taken: set[str] | None) -> PlannedPathItem:
        """Requests the schemas of a webhook or callback; a callback has no ids unless given."""
        item = read_path_item(value, name, self._codecs)
        sent = _SentSchemas(self._schemas)
        operations = {}
        for method, operation in item.operations.items():
            _name(operation, name, taken)
            pending = plan(operation, cast(Schemas, sent), self._errors, self._security)
            pending.answers = _of_receiver(operation, pending.answers)
            additions = plan_additions(operation, sent, self._codecs)
            callbacks = self._plan_callbacks(operation)
            operations[method] = PlannedOperation(pending, additions, callbacks)
        return PlannedPathItem(operations, ask_types(item.others, sent, RESPONSE))


class _SentSchemas:
    """Requests schemas for requests that the app sends, and responses that it receives.

    Args:
        schemas: The schemas of the document.
    """

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def __len__(self) -> int:
        return len(self._schemas)

    def ask(self, kind: Any, mode: Mode) -> int:
        """Requests a schema for the opposite direction."""
        return self._schemas.ask(kind, mode._replace(is_sent=not mode.is_sent))


def _name(operation: Operation, name: str, taken: set[str] | None) -> None:
    """Sets the name of a webhook or callback, and the id of a webhook."""
    given = operation.described.get("operation_id")
    if taken is not None and given in taken:
        raise ValueError(
            f"The webhook {name!r:.100} has the operation_id {given!r}, which another operation has"
        )
    function = getattr(operation.function, "__name__", "")
    own = function if function.isidentifier() and not function.startswith("_") else ""
    base = given or own or _NOT_IN_NAMES.sub("_", name).strip("_") or "webhook"
    operation.name = base
    if taken is None:
        return
    words = f"{operation.method.lower()}_{base}_webhook"
    choices = [base, f"{base}_webhook", words, *(f"{words}_{n}" for n in range(2, len(taken) + 3))]
    operation.id = next(each for each in choices if each not in taken)
    taken.add(operation.id)


def _of_receiver(
    operation: Operation, answers: dict[str, ResponseDescription]
) -> dict[str, ResponseDescription]:
    """Returns the responses of a server that isn't this app, whose errors it doesn't send."""
    described = {str(status) for status in operation.described.get("responses", {})}
    kept = {
        status: answer
        for status, answer in answers.items()
        if status in described or status.startswith("2")
    }
    return kept or {"2XX": ResponseDescription("The request was accepted")}
