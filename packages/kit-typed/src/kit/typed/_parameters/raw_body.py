# SPDX-License-Identifier: MIT
"""The bytes of a body as they were sent, for `Annotated[bytes, Body()]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from kit.authoring.field_errors import field_error, read_message
from kit.authoring.models import find_model, validation_errors
from kit.http.media_types import media_type
from kit.interface import Context, FieldError
from kit.validator.media_types import refuse_other_body

from .._signature.markers import Body
from .._signature.signature import REQUIRED, Parameter
from .._signature.types import split, without_none
from .sources import Field

_ANY = "application/octet-stream"


class MissingBodyError(ValueError):
    """There is no body, but an endpoint needs its bytes."""


def is_raw(parameter: Parameter) -> bool:
    """Returns whether a parameter takes the bytes of the body.

    A `bytes` value of a JSON object, with `embed`, is base64 in a string.
    """
    marker = parameter.marker
    return (
        isinstance(marker, Body)
        and not marker.embed
        and without_none(split(parameter.annotation)[0]) is bytes
    )


class RawBody:
    """A parameter that takes the bytes of the body; a JSON body or a form may be read beside it.

    Args:
        field: The parameter.
        media_types: The media types that it takes, such as `image/png` or `image/*`; none for all.
    """

    def __init__(self, field: Field, media_types: tuple[str, ...]) -> None:
        self.field = field
        self.media_types = media_types
        self._check = _find_check(field.annotation)

    @property
    def is_required(self) -> bool:
        """Whether there must be a body."""
        return self.field.default is REQUIRED

    @property
    def description(self) -> Mapping[str, Any]:
        """The Request Body Object (OpenAPI 3.1.1, section 4.8.13)."""
        schema = {"type": "string", "format": "binary"}
        content = {each: {"schema": schema} for each in self.media_types or (_ANY,)}
        return {"content": content, **({"required": True} if self.is_required else {})}

    async def load_into(self, c: Context[Any, Any], values: dict[str, Any]) -> None:
        """Adds the bytes to the endpoint's values.

        Raises:
            ValueError: If there is no body, or it doesn't fit.
            HTTPException: 413 if it is too large.
            ProblemError: 415 if it has another media type; 400 if a QUERY names none.
        """
        content = await c.req.bytes()
        kind = c.req.header("content-type")
        if kind is None and c.req.method == "QUERY":
            await refuse_other_body(c, self.media_types or ("*/*",))
        if content:
            if not self._takes(kind):
                await refuse_other_body(c, self.media_types)
            values[self.field.local] = content if self._check is None else self._check(content)
        elif self.is_required:
            raise MissingBodyError
        else:
            values[self.field.local] = self.field.create_default()

    def _takes(self, content_type: str | None) -> bool:
        given = media_type(content_type) or _ANY
        kinds = (given, f"{given.partition('/')[0]}/*", "*/*")
        return not self.media_types or any(each in kinds for each in self.media_types)

    async def list_errors(self, c: Context[Any, Any]) -> Iterator[FieldError]:
        """Returns all errors of the body."""
        try:
            await self.load_into(c, {})
        except MissingBodyError:
            wrong = FieldError(path="", message="Missing required body", type="missing")
            return iter([wrong])
        except msgspec.ValidationError as error:
            text = str(error)
            return iter([field_error("", text, *read_message(text))])
        except ValueError as error:
            return validation_errors(error)
        return iter(())


def _find_check(annotation: Any) -> Callable[[bytes], Any] | None:
    """Returns what applies the constraints of a type; None if it has none."""
    model = find_model(annotation)
    if model is not None:
        return model.validate
    if split(annotation)[0] is annotation:
        return None
    return partial(msgspec.convert, type=annotation)
