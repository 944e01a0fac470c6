# SPDX-License-Identifier: MIT
"""What OpenAPI 3.2 has and 3.1 doesn't: documents are built as 3.2, and may be written as 3.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from kit.authoring.options import OptionChecks

from ._methods import ADDITIONAL, iterate_operations, move_additional

Version: TypeAlias = Literal["3.1", "3.2"]
"""The versions of OpenAPI that documents can have."""

NUMBERS: Mapping[Version, str] = {"3.1": "3.1.1", "3.2": "3.2.0"}
"""The text of the field `openapi` (OpenAPI 3.2.0, section 4.1.1)."""

# SPEC: OpenAPI 3.2.0 sections 4.6, 4.9, 4.14, 4.17, 4.22, 4.27 and 4.29.
_OF_ROOT = ("$self",)
_OF_SERVERS = ("name",)
_OF_TAGS = ("summary", "parent", "kind")
_OF_SCHEMES = ("deprecated", "oauth2MetadataUrl")
_OF_FLOWS = ("deviceAuthorization",)
_OF_PATH_ITEMS = ("query", ADDITIONAL)
_OF_RESPONSES = ("summary",)
_OF_MEDIA_TYPES = ("itemSchema", "prefixEncoding", "itemEncoding")


def check_fields(
    check: OptionChecks,
    version: Version,
    *,
    servers: Sequence[Mapping[str, Any]],
    tags: Sequence[Mapping[str, Any]],
    schemes: Mapping[str, Any],
) -> None:
    """Checks the given objects for fields that a version doesn't have.

    Args:
        check: The checks of the called function.
        version: The version of the document.
        servers: Server Objects.
        tags: Tag Objects.
        schemes: Security Scheme Objects by name.

    Raises:
        ValueError: If there is such a field, or a tag is below itself.
    """
    if version == "3.1":
        given: list[tuple[str, Mapping[str, Any], Sequence[str]]]
        given = [(f"servers[{n}]", each, _OF_SERVERS) for n, each in enumerate(servers)]
        given += [(f"tags[{n}]", each, _OF_TAGS) for n, each in enumerate(tags)]
        for name, scheme in schemes.items():
            if isinstance(scheme, Mapping):
                option = f"security_schemes[{name!r:.100}]"
                given.append((option, scheme, _OF_SCHEMES))
                flows = scheme.get("flows")
                if isinstance(flows, Mapping):
                    given.append((f"{option}['flows']", flows, _OF_FLOWS))
        for option, each, added in given:
            for field in added:
                if field in each:
                    check.unusable(
                        option, dict(each), f"no field {field!r}, or version='3.2', which has it"
                    )
    _check_parents(check, tags)


def _check_parents(check: OptionChecks, tags: Sequence[Mapping[str, Any]]) -> None:
    """Checks that no tag is below itself (section 4.22)."""
    parents = {each["name"]: each.get("parent") for each in tags}
    for n, each in enumerate(tags):
        above: list[Any] = [each["name"]]
        while (parent := parents.get(above[-1])) is not None:
            if parent in above:
                check.unusable(f"tags[{n}]", dict(each), "a parent that isn't below the tag")
            above.append(parent)


def write_as(version: Version, document: dict[str, Any], notes: list[str]) -> None:
    """Writes a document as one of a version.

    In 3.1, each field of 3.2 becomes an extension: `itemSchema` is `x-itemSchema`. An operation of
    the method QUERY is `x-query`; other tools than Kit's ignore it.

    Args:
        version: The version.
        document: The document of OpenAPI 3.2, except that its paths have the operations of all
            methods by their names in lower case.
        notes: Receives the operations that most tools don't see.
    """
    document["openapi"] = NUMBERS[version]
    for item in document["paths"].values():
        move_additional(item)
    _add_parents(document.get("tags", []))
    if version != "3.1":
        return
    for path, item in document["paths"].items():
        _note_unseen(path, item, notes)
    _extend(document, _OF_ROOT)
    for tag in document.get("tags", ()):
        _extend(tag, _OF_TAGS)
    _extend_components(document.get("components", {}))
    for item in (document, *_path_items(document)):
        for server in item.get("servers", ()):
            _extend(server, _OF_SERVERS)
        _extend(item, _OF_PATH_ITEMS)


def _add_parents(tags: list[dict[str, Any]]) -> None:
    """Adds the tags that others name as their parents, which must be there (section 4.22)."""
    names = {each["name"] for each in tags}
    parents = dict.fromkeys(each["parent"] for each in tags if "parent" in each)
    tags += [{"name": each} for each in parents if each not in names]


def _path_items(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields all Path Item Objects, and changes what is in their operations."""
    pending = [*document["paths"].values(), *document.get("webhooks", {}).values()]
    pending += document.get("components", {}).get("pathItems", {}).values()
    for item in pending:  # grows by the callbacks
        for _, operation in iterate_operations(item):
            _extend_operation(operation)
            for callback in operation.get("callbacks", {}).values():
                pending += [each for each in callback.values() if isinstance(each, dict)]
        yield item


def _note_unseen(path: str, item: Mapping[str, Any], notes: list[str]) -> None:
    unseen = [("QUERY", "x-query")] if "query" in item else []
    unseen += [(method, f"x-{ADDITIONAL}") for method in item.get(ADDITIONAL, ())]
    notes += [
        f"{method} {path} is written as {field}, which most tools ignore: OpenAPI 3.1 has no "
        f'method {method}; write openapi(version="3.2")'
        for method, field in unseen
    ]


def _extend_components(components: Mapping[str, Any]) -> None:
    for scheme in components.get("securitySchemes", {}).values():
        _extend(scheme, _OF_SCHEMES)
        _extend(scheme.get("flows", {}), _OF_FLOWS)
    for response in components.get("responses", {}).values():
        _extend_response(response)
    for body in components.get("requestBodies", {}).values():
        _extend_content(body)


def _extend_operation(operation: Mapping[str, Any]) -> None:
    for server in operation.get("servers", ()):
        _extend(server, _OF_SERVERS)
    for parameter in operation.get("parameters", ()):
        _extend_content(parameter)
    _extend_content(operation.get("requestBody", {}))
    for response in operation.get("responses", {}).values():
        _extend_response(response)


def _extend_response(response: dict[str, Any]) -> None:
    if "$ref" not in response:  # beside which 3.1 has `summary`, too
        _extend(response, _OF_RESPONSES)
        _extend_content(response)
        for header in response.get("headers", {}).values():
            _extend_content(header)


def _extend_content(described: Mapping[str, Any]) -> None:
    for media in described.get("content", {}).values():
        if "itemSchema" in media:  # the whole body is a text for 3.1
            media.setdefault("schema", {"type": "string"})
        _extend(media, _OF_MEDIA_TYPES)


def _extend(described: dict[str, Any], fields: Iterable[str]) -> None:
    """Makes fields extensions (section 4.30); the order of the other fields stays."""
    for field in fields:
        if field in described:
            described[f"x-{field.lstrip('$')}"] = described.pop(field)
