# SPDX-License-Identifier: MIT
"""JSON of messages."""

from __future__ import annotations

from typing import Any

import msgspec

from kit.authoring.models import find_model, summary
from kit.authoring.text_values import decode_hook
from kit.interface import Codecs

from ._errors import InvalidMessageError


def decode(message: str | bytes, type: Any, codecs: Codecs) -> Any:
    """Decodes a message into a value of a type; None for plain values.

    Raises:
        InvalidMessageError: If it isn't valid JSON, or doesn't match the type.
    """
    model = None if type is None else find_model(type)
    try:
        data = message.encode() if isinstance(message, str) else message
        if model is not None:
            return model.validate_json(data)
        if type is None:
            return msgspec.json.decode(data)
        hook = decode_hook(type, is_text=False, codecs=codecs)
        return msgspec.json.decode(data, type=type, dec_hook=hook)
    except RecursionError as error:
        raise InvalidMessageError("Malformed JSON in the message: nested too deeply") from error
    except ValueError as error:
        is_typed = model is not None or isinstance(error, msgspec.ValidationError)
        what = "Unexpected" if is_typed else "Malformed"
        problem = summary(error, model) if model is not None else error
        raise InvalidMessageError(f"{what} JSON in the message: {problem}") from error
