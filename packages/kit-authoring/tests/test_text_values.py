# SPDX-License-Identifier: MIT
"""Values that are read from text."""

from __future__ import annotations

from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest
from msgspec import Meta

from kit.authoring.codecs import TypeCodecs
from kit.authoring.text_values import (
    decode_hook,
    describe_scalar,
    has_no_comma,
    is_scalar,
    text_loader,
    with_choices,
)

ID = "b9b21c6e-1a02-4c31-8ae3-8a3d4c2a3c2a"


@pytest.mark.parametrize(
    "kind",
    [
        int,
        int | str,
        int | None,
        UUID | None,
        list[UUID],
        IPv4Address,
        IPv4Address | None,
        Annotated[int | str, Meta(description="x")],
        # These are read in one way alone, so others report them.
        bytes | UUID,
        Literal[True] | UUID,
        list[int] | dict[str, int],
        Annotated[str, Meta(pattern="x")] | list[int],
    ],
)
def test_what_needs_no_choice_stays_as_it_is(kind: Any) -> None:
    assert with_choices(kind) is kind


@pytest.mark.parametrize(
    ("kind", "data", "value"),
    [
        (UUID | str, ID, UUID(ID)),
        (str | UUID | None, "x", "x"),
        (list[UUID | int], [ID, "1"], [UUID(ID), 1]),
        (tuple[UUID | str, int], [ID, "1"], (UUID(ID), 1)),
        (tuple[date | datetime, ...], ["2026-11-28"], (date(2026, 11, 28),)),
        (Annotated[UUID | str, Meta(description="x")], "x", "x"),
        (UUID | Annotated[str, Meta(max_length=3)], "abc", "abc"),
        (UUID | Annotated[int, Meta(examples=[1])], "1", 1),
        (dict[str, bool], {"a": "on"}, {"a": True}),
        (tuple[bool, time], ["on", "10:00"], (True, time(10))),
        (list[bool] | None, ["on", "0"], [True, False]),
    ],
)
def test_choices(kind: Any, data: Any, value: Any) -> None:
    assert text_loader(with_choices(kind))(data) == value


def test_a_constraint_of_a_member_is_one_of_the_choice() -> None:
    load = text_loader(with_choices(UUID | Annotated[str, Meta(max_length=3)]))
    with pytest.raises(msgspec.ValidationError, match=r"^Expected `UUID \| str`$"):
        load("abcd")


def test_the_same_union_is_the_same_type() -> None:
    assert with_choices(UUID | str) is with_choices(UUID | str)
    assert with_choices(UUID | int | str) is not with_choices(UUID | str)


def test_json_is_read_strictly() -> None:
    kind = with_choices(UUID | IPv4Address | int)
    decoder = msgspec.json.Decoder(kind, dec_hook=decode_hook(kind, is_text=False))
    assert decoder.decode(b'"10.0.0.1"') == IPv4Address("10.0.0.1")
    assert decoder.decode(b"1") == 1
    for wrong in (b'"1"', b"1.5", b"null", b"[]"):
        with pytest.raises(msgspec.ValidationError):
            decoder.decode(wrong)


def test_hooks_are_only_for_types_that_need_them() -> None:
    assert decode_hook(dict[str, list[int]], is_text=True) is None
    assert decode_hook(dict[str, list[IPv4Address]], is_text=True) is not None


def test_scalars() -> None:
    assert is_scalar(IPv4Address)
    assert is_scalar(with_choices(UUID | str))
    assert not is_scalar(int)
    assert has_no_comma(IPv6Address)
    assert not has_no_comma(PurePosixPath)
    assert not has_no_comma(int)
    assert describe_scalar(int) is None
    assert describe_scalar(with_choices(IPv4Address | time)) == {
        "anyOf": [{"type": "string", "format": "ipv4"}, {"type": "string", "format": "time"}]
    }


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (time, "10:00:61"),
        (time, "1:00"),
        (time, "10:0\u0660"),
        (datetime, "2026-11-28T"),
        (datetime, "10:00"),
        (bool, "ON"),
        (int, "on"),
        (date, "2026-11-28T10:00"),
    ],
)
def test_other_spellings_are_errors(kind: Any, text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        text_loader(kind)(text)


class Size:
    def __init__(self, text: str) -> None:
        if not text.endswith("cm"):
            raise ValueError("it has no unit")
        self.text = text


CODECS = TypeCodecs(decoders={Size: Size, IPv4Address: lambda text: IPv4Address(text or "::")})


@pytest.mark.parametrize("is_text", [True, False])
def test_decoders_of_an_app_count_first(is_text: bool) -> None:
    assert decode_hook(dict[str, int], is_text=is_text, codecs=CODECS) is None
    assert decode_hook(list[IPv6Address], is_text=is_text, codecs=TypeCodecs()) is not None
    hook = decode_hook(tuple[Size, IPv6Address, IPv4Address], is_text=is_text, codecs=CODECS)
    assert hook is not None
    assert hook(Size, "5cm").text == "5cm"
    assert hook(IPv6Address, "::1") == IPv6Address("::1")
    with pytest.raises(ValueError, match="Invalid Size: it has no unit"):
        hook(Size, "5")
    with pytest.raises(ValueError, match="Invalid IPv4Address"):
        hook(IPv4Address, "")


def test_unions_with_decoders_of_an_app() -> None:
    kind = with_choices(list[Size | int | None], CODECS)
    load = text_loader(kind, CODECS)
    size, number = load(["5cm", "5"])
    assert (size.text, number) == ("5cm", 5)
    with pytest.raises(msgspec.ValidationError, match=r"Expected `Size \| int`"):
        load([""])
    assert with_choices(Size | int) == Size | int
    (choice,) = {*with_choices(Size | int, CODECS).members} - {int}
    assert choice is Size
    assert describe_scalar(with_choices(Size | int, CODECS)) == {
        "anyOf": [{"type": "string"}, {"type": "integer"}]
    }
