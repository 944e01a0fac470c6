# SPDX-License-Identifier: MIT
"""Finds the operations that refuse a body that is too large: 413 (RFC 9110, section 15.5.14).

The default limits protect a server, and no client reaches them in normal use. Limits that were set
are part of the API.
"""

from __future__ import annotations

from ._handler_source import HandlerSource
from ._operations import Operation
from ._source import UNKNOWN

TOO_LARGE = 413
# SPEC: RFC 9110, section 9.3: a body in requests of other methods has no defined meaning.
_WITH_BODY = ("POST", "PUT", "PATCH", "QUERY")
_OF_FORMS = {"max_fields", "max_files", "max_field_size_bytes"}
_OF_BODIES = {"max_body_size_bytes", "max_memory_size_bytes"}


def may_have_body(operation: Operation, reading: HandlerSource) -> bool:
    """Returns whether requests of an operation may have a body.

    Args:
        operation: The operation.
        reading: Information from its source.
    """
    return operation.method in _WITH_BODY or _reads_body(operation, reading)


def may_exceed_limits(operation: Operation, reading: HandlerSource) -> bool:
    """Returns whether an operation reads a body for which the app or its handler has set a limit.

    Args:
        operation: The operation.
        reading: Information from its source.
    """
    if not _reads_body(operation, reading):
        return False
    limits = _OF_BODIES | (_OF_FORMS if _reads_form(operation, reading) else set())
    return not (operation.body_limits | reading.limits).isdisjoint(limits)


def _reads_body(operation: Operation, reading: HandlerSource) -> bool:
    return (
        reading.raw
        or reading.json is not UNKNOWN
        or _reads_form(operation, reading)
        or "request_body" in operation.described
        or any("json" in facts.validates for facts in operation.facts)
    )


def _reads_form(operation: Operation, reading: HandlerSource) -> bool:
    return reading.form or any("form" in facts.validates for facts in operation.facts)
