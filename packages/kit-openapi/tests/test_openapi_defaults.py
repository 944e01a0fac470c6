# SPDX-License-Identifier: MIT
"""Defaults of the parameters of typed endpoints, which each request gets a copy of."""

from __future__ import annotations

import enum
import uuid
from typing import Annotated, Any

import pydantic
from msgspec import Struct, field
from openapi_spec_validator import validate

from kit import Kit
from kit.openapi import build_document
from kit.typed import Depends, Header, typed


class Kind(enum.Enum):
    FLAT = "flat"
    ROUND = "round"


class Paging(Struct):
    cursor: uuid.UUID = field(default_factory=uuid.uuid4)
    names: list[str] = field(default_factory=list)


def find_defaults(endpoint: Any) -> dict[str, Any]:
    """The defaults of the parameters of an endpoint by name, if there are any."""
    app = Kit()
    app.get("/", typed(endpoint))
    document = build_document(app)
    validate(document)
    parameters = document["paths"]["/"]["get"]["parameters"]
    return {each["name"]: each["schema"].get("default", "none") for each in parameters}


def test_lists_are_shown() -> None:
    def read(
        numbers: list[int] = [1, 2],  # noqa: B006
        kinds: list[Kind] = [Kind.ROUND],  # noqa: B006
        words: set[str] = {"x"},  # noqa: B006
        none: list[str] = [],  # noqa: B006
        tags: Annotated[list[str], Header()] = ["new"],  # noqa: B006
    ) -> None: ...

    defaults = {"numbers": [1, 2], "kinds": ["round"], "words": ["x"], "none": []}
    assert find_defaults(read) == {**defaults, "tags": ["new"]}


def test_lists_beside_types_of_pydantic_are_shown() -> None:
    def read(
        mail: pydantic.NaiveDatetime,
        kinds: list[Kind] = [Kind.ROUND],  # noqa: B006
    ) -> None: ...

    assert find_defaults(read) == {"mail": "none", "kinds": ["round"]}


def test_those_of_classes_are_shown_unless_each_request_gets_another() -> None:
    def read(paging: Annotated[Paging, Depends(Paging)]) -> None: ...

    assert find_defaults(read) == {"cursor": "none", "names": []}
