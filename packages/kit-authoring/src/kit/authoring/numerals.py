# SPDX-License-Identifier: MIT
"""Checks what msgspec lets through: texts that are no plain numbers, and keys made to collide.

msgspec builds a Decimal from whatever Python's own constructor takes: `NaN`, `1_000`, blanks, the
digits of other scripts, and an exponent with which `int()` takes hours. From text, it takes `nan`
and `inf` for a float, and NaN passes every constraint. And it builds sets and dicts of whatever a
client sends: thousands of integers with the same hash take a second, of UUIDs a minute.

msgspec isn't imported here until a function is called, since this package doesn't depend on it.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from math import isfinite
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

from ._type_nodes import walk_nodes

__all__ = (
    "RULES",
    "DecimalRules",
    "checked",
    "decimal_rules",
    "is_of_collisions",
    "refuse_collisions",
    "refuse_collisions_in_json",
)

_T = TypeVar("_T")
_Check: TypeAlias = Callable[[Any, Any, str], None]

RULES = "kit.decimal"
"""The key of `DecimalRules` in the `extra` of a `msgspec.Meta`."""

# SPEC: RFC 8259, section 6, for text too.
_NUMERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
# APPSEC: as many as Python allows for an int. `int(Decimal("1e1000000000"))` takes hours.
_MOST_DIGITS = 4300
# APPSEC: a list of no more takes no time, whatever is in it. Of more, so many may collide.
_FEW = 16
_COLLISIONS = "Too many values have the same hash"
_UUID = re.compile(r"(?:urn:uuid:|\{)?([0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12})\}?")
# Python's and pydantic's constructors of numbers take more spellings than `_NUMERAL`.
_LIKE_A_NUMBER = re.compile(r"[\s_+-]*\.?\d")


class DecimalRules(NamedTuple):
    """Constraints of a Decimal, with the names of pydantic.

    Attributes:
        ge: The least value.
        gt: The value that it is above.
        le: The greatest value.
        lt: The value that it is below.
        max_digits: The maximum number of digits, without leading zeros before the point.
        decimal_places: The maximum number of digits after the point.
    """

    ge: Any = None
    gt: Any = None
    le: Any = None
    lt: Any = None
    max_digits: int | None = None
    decimal_places: int | None = None

    def problem(self, value: Decimal) -> str | None:
        """Returns what is wrong with a finite value, in msgspec's words; None if nothing is."""
        if self.ge is not None and value < self.ge:
            return f"Expected `decimal` >= {self.ge}"
        if self.gt is not None and value <= self.gt:
            return f"Expected `decimal` > {self.gt}"
        if self.le is not None and value > self.le:
            return f"Expected `decimal` <= {self.le}"
        if self.lt is not None and value >= self.lt:
            return f"Expected `decimal` < {self.lt}"
        _, digits, exponent = value.as_tuple()
        places = max(-int(exponent), 0)
        if self.decimal_places is not None and places > self.decimal_places:
            return f"Expected `decimal` of at most {self.decimal_places} decimal places"
        count = max(len(digits) + max(int(exponent), 0), places)
        if self.max_digits is not None and count > self.max_digits:
            return f"Expected `decimal` of at most {self.max_digits} digits"
        return None

    def schema(self) -> dict[str, Any]:
        """Returns keywords of JSON Schema for the rules.

        A Decimal is sent as a string or a number. The bounds hold for numbers; the pattern, which
        limits the digits, for strings.
        """
        names = {
            "ge": "minimum",
            "gt": "exclusiveMinimum",
            "le": "maximum",
            "lt": "exclusiveMaximum",
        }
        bounds = {
            keyword: int(bound) if bound == int(bound) else float(bound)
            for name, keyword in names.items()
            if (bound := getattr(self, name)) is not None
        }
        return bounds | ({"pattern": pattern} if (pattern := self._pattern()) else {})

    def _pattern(self) -> str | None:
        if self.max_digits is None and self.decimal_places is None:
            return None
        least = [each for each in (self.ge, self.gt) if each is not None]
        sign = "" if any(each >= 0 for each in least) else "-?"
        places = self.decimal_places
        whole = "(0|[1-9][0-9]*)"
        if self.max_digits is not None:
            whole = f"(0|[1-9][0-9]{{0,{max(self.max_digits - (places or 0), 1) - 1}}})"
        fraction = f"(\\.[0-9]{{1,{places}}})?" if places else ""  # fewer than are accepted
        return f"^{sign}{whole}{fraction}$"


def decimal_rules(**rules: Any) -> Any:
    """Creates a `msgspec.Meta` with the constraints of a Decimal.

        price: Annotated[Decimal, decimal_rules(ge=0, max_digits=8, decimal_places=2)]

    `msgspec.Meta(ge=0)` is for int and float alone. This one is applied wherever Kit reads a value:
    bodies, queries, forms, parameters. It is part of the OpenAPI document.

    Args:
        **rules: See `DecimalRules`.

    Raises:
        TypeError: If a rule is unknown, or isn't a number.
        ValueError: If a number of digits is invalid.
    """
    import msgspec

    for name, value in rules.items():
        if name not in DecimalRules._fields:
            known = ", ".join(DecimalRules._fields)
            raise TypeError(f"decimal_rules() has no rule {name!r}: expected {known}")
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            raise TypeError(f"decimal_rules({name}={value!r:.100}) takes a number")
        if not isfinite(value):
            raise ValueError(f"decimal_rules({name}={value!r}) takes a finite number")
        if name in ("max_digits", "decimal_places"):
            least = 1 if name == "max_digits" else 0
            if not isinstance(value, int) or value < least:
                raise ValueError(
                    f"decimal_rules({name}={value!r}) takes an int of at least {least}"
                )
    given = DecimalRules(**rules)
    return msgspec.Meta(extra={RULES: given}, extra_json_schema=given.schema())


def checked(load: Callable[[Any], _T], kind: Any, *, is_json: bool) -> Callable[[Any], _T]:
    """Returns a decoder that refuses the values of a type that msgspec should not have taken.

    Call this once for a type, not for each value.

    Args:
        load: Builds values of the type by msgspec.
        kind: The type, which msgspec supports.
        is_json: Whether `load` takes JSON as bytes; or else text, and lists and dicts of it.

    Returns:
        `load` itself if no value of the type contains, at any depth, such a value.
    """
    from msgspec import inspect

    node = inspect.type_info(kind)
    has_numbers, has_keys = _what_is_in(node, is_text=not is_json)
    if not (has_numbers or has_keys):
        return load
    check = _Reader(is_text=not is_json).read(node) if has_numbers else None
    decode = _decoder_of_raw() if is_json else None

    def load_checked(data: Any) -> _T:
        raw = data
        if decode is not None:
            try:
                raw = decode(data)
            except ValueError:
                load(data)  # raises the error with its place, if it is of this type
                raise
        if has_keys:
            refuse_collisions(raw)
        try:
            value = load(data)
        except TypeError as error:  # of a Decimal in a set or dict
            if "signaling NaN" in str(error):
                _refuse("Invalid decimal string", "$")
            raise
        if check is not None:
            check(value, raw, "$")
        return value

    return load_checked


def refuse_collisions(raw: Any) -> None:
    """Refuses data in which many different keys have the same hash.

    Python's hashes of numbers and UUIDs can be computed by anyone, so a client can choose them to
    make a set or dict take quadratic time. In other data, no two of them are the same.

    Args:
        raw: Decoded JSON, or text in lists and dicts.

    Raises:
        msgspec.ValidationError: If there are more than 16 collisions in a list or an object.
    """
    pending: list[tuple[Any, str]] = [(raw, "$")]
    while pending:
        value, path = pending.pop()
        if isinstance(value, dict):
            items: Any = value
            pending += [(each, f"{path}.{key}") for key, each in value.items() if _holds(each)]
        elif isinstance(value, (list, tuple)):
            items = value
            pending += [(each, f"{path}[{i}]") for i, each in enumerate(value) if _holds(each)]
        else:
            continue
        if len(items) <= _FEW:
            continue
        keys = [_build_key(each) for each in items]
        different = len({text for text, _ in keys})
        if different - len({number for _, number in keys}) > _FEW:
            _refuse(_COLLISIONS, path)


def is_of_collisions(error: Exception) -> bool:
    """Returns whether an error is one of `refuse_collisions`, and so not of a single value."""
    return str(error).startswith(_COLLISIONS)


def refuse_collisions_in_json(data: bytes) -> None:
    """Does what `refuse_collisions` does, for JSON; what is malformed is left to others."""
    try:
        raw = _decoder_of_raw()(data)
    except ValueError:
        return
    refuse_collisions(raw)


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list, tuple))


def _build_key(value: Any) -> tuple[str, int]:
    """Returns a text that equal values share, and the hash of the value as a key.

    The hash of a text is random for each process, so a client can't choose it.
    """
    if isinstance(value, str):
        return _key_of_text(value)
    if isinstance(value, (list, tuple)):
        keys = [_build_key(each) for each in value]
        return repr([text for text, _ in keys]), hash(tuple(number for _, number in keys))
    if isinstance(value, dict):
        return _build_key([*value.values()])
    return str(value), hash(value) if value.__hash__ is not None else id(value)


# Of the hashes of numbers; those of UUIDs are the hashes of their numbers.
_MODULUS = sys.hash_info.modulus


def _key_of_text(text: str) -> tuple[str, int]:
    # APPSEC: whatever a constructor takes. A number with a blank, which is refused only after the
    # set was built, and the UUIDs in braces that pydantic takes have the same hashes.
    uuid = _UUID.fullmatch(text)
    if uuid is not None:
        number = int(uuid[1].replace("-", ""), 16)
        return f"{number:032x}", number % _MODULUS
    if _LIKE_A_NUMBER.match(text):
        try:
            decimal = Decimal(text)
        except InvalidOperation:
            return text, hash(text)
        if decimal.is_finite():
            return _plain(decimal), hash(decimal)
    return text, hash(text)


def _plain(number: Decimal) -> str:
    """Returns the same text for equal numbers, without calculating: 1.0, 10e-1 and 1."""
    sign, digits, exponent = number.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    stripped = text.rstrip("0")
    return f"{sign and '-'}{stripped}e{int(exponent) + len(text) - len(stripped) if text else 0}"


class _Numeral(str):
    """A number of JSON with a point or an exponent, as it was written."""

    __slots__ = ()


@cache
def _decoder_of_raw() -> Callable[[Any], Any]:
    import msgspec

    return msgspec.json.Decoder(float_hook=_Numeral).decode


def _refuse(problem: str, path: str) -> NoReturn:
    import msgspec

    raise msgspec.ValidationError(problem if path == "$" else f"{problem} - at `{path}`")


def _check_decimal(rules: DecimalRules | None) -> _Check:
    def check(value: Any, raw: Any, path: str) -> None:
        if not isinstance(value, Decimal):
            return
        # What isn't text, or a number that was written, is a default.
        if isinstance(raw, str) and not _NUMERAL.fullmatch(raw):
            _refuse("Invalid decimal string", path)
        if not value.is_finite():
            _refuse("Invalid decimal string", path)
        _, digits, exponent = value.as_tuple()
        if len(digits) + abs(int(exponent)) > _MOST_DIGITS:
            _refuse(f"Expected `decimal` of at most {_MOST_DIGITS} digits, written out", path)
        problem = None if rules is None else rules.problem(value)
        if problem is not None:
            _refuse(problem, path)

    return check


def _check_float(value: Any, raw: Any, path: str) -> None:
    if isinstance(value, float) and not isfinite(value):
        _refuse("Expected `float`, got `str`", path)


def _what_is_in(node: Any, *, is_text: bool) -> tuple[bool, bool]:
    """Returns whether values of a type contain numbers to check, and keys that may collide."""
    from msgspec import inspect

    numbers = (inspect.DecimalType, inspect.FloatType) if is_text else inspect.DecimalType
    has_numbers = has_keys = False
    for each in walk_nodes(node):
        has_numbers = has_numbers or isinstance(each, numbers)
        if isinstance(each, (inspect.SetType, inspect.FrozenSetType)):
            has_keys = has_keys or _may_collide(each.item_type)
        elif isinstance(each, inspect.DictType):
            has_keys = has_keys or _may_collide(each.key_type)
    return has_numbers, has_keys


def _may_collide(node: Any) -> bool:
    """Returns whether a client can choose keys of a type by their hashes."""
    from msgspec import inspect

    while isinstance(node, inspect.Metadata):
        node = node.type
    # Those of text are random, and of the others there are few.
    safe = (inspect.StrType, inspect.BytesType, inspect.BoolType, inspect.LiteralType)
    return not isinstance(node, (*safe, inspect.EnumType, inspect.NoneType))


class _Reader:
    """Builds the check for a type.

    Args:
        is_text: Whether values are read from text, in which numbers aren't JSON.
    """

    def __init__(self, *, is_text: bool) -> None:
        self._is_text = is_text
        self._known: dict[int, list[_Check | None]] = {}

    def read(self, node: Any, rules: DecimalRules | None = None) -> _Check | None:
        from msgspec import inspect

        match node:
            case inspect.Metadata():
                extra = node.extra or {}
                return self.read(node.type, extra.get(RULES, rules))
            case inspect.DecimalType():
                return _check_decimal(rules)
            case inspect.FloatType():
                return _check_float if self._is_text else None
            case inspect.UnionType():
                return _combine_checks([self.read(each, rules) for each in node.types])
            case inspect.SetType() | inspect.FrozenSetType():
                check = self.read(node.item_type)
                return None if check is None else _check_set(check)
            case inspect.ListType() | inspect.VarTupleType() | inspect.CollectionType():
                check = self.read(node.item_type)
                return None if check is None else _check_items(check)
            case inspect.TupleType():
                checks = [self.read(each) for each in node.item_types]
                return _check_places(checks) if any(checks) else None
            case inspect.DictType():
                key, value = self.read(node.key_type), self.read(node.value_type)
                return None if key is value is None else _check_dict(key, value)
            case _ if hasattr(node, "fields"):
                return self._read_fields(node)
        return None

    def _read_fields(self, node: Any) -> _Check | None:
        # A class within itself is described by the same object.
        known = self._known.get(id(node))
        if known is not None:
            return lambda value, raw, path: _call(known[0], value, raw, path)
        found: list[_Check | None] = [None]
        self._known[id(node)] = found
        fields = [(each.name, each.encode_name, self.read(each.type)) for each in node.fields]
        if not any(check for _, _, check in fields):
            return None
        found[0] = _check_fields(
            node.cls, fields, offset=int(getattr(node, "tag", None) is not None)
        )
        return found[0]


def _call(check: _Check | None, value: Any, raw: Any, path: str) -> None:
    if check is not None:
        check(value, raw, path)


def _combine_checks(checks: list[_Check | None]) -> _Check | None:
    real = [each for each in checks if each is not None]
    if len(real) < 2:
        return real[0] if real else None

    def check(value: Any, raw: Any, path: str) -> None:
        for each in real:
            each(value, raw, path)

    return check


def _check_items(check_item: _Check) -> _Check:
    def check(value: Any, raw: Any, path: str) -> None:
        if isinstance(value, (list, tuple, deque)) and isinstance(raw, (list, tuple)):
            for index, (each, sent) in enumerate(zip(value, raw, strict=False)):
                check_item(each, sent, f"{path}[{index}]")

    return check


def _check_set(check_item: _Check) -> _Check:
    def check(value: Any, raw: Any, path: str) -> None:
        if not isinstance(value, (set, frozenset)):
            return
        if isinstance(raw, (list, tuple)) and any(isinstance(each, Decimal) for each in value):
            for index, sent in enumerate(raw):
                if isinstance(sent, str) and not _NUMERAL.fullmatch(sent):
                    _refuse("Invalid decimal string", f"{path}[{index}]")
        for each in value:
            check_item(each, None, f"{path}[...]")

    return check


def _check_places(checks: list[_Check | None]) -> _Check:
    def check(value: Any, raw: Any, path: str) -> None:
        if isinstance(value, tuple) and isinstance(raw, (list, tuple)):
            parts = zip(checks, value, raw, strict=False)
            for index, (each, part, sent) in enumerate(parts):
                _call(each, part, sent, f"{path}[{index}]")

    return check


def _check_dict(check_key: _Check | None, check_value: _Check | None) -> _Check:
    def check(value: Any, raw: Any, path: str) -> None:
        if not isinstance(value, Mapping) or not isinstance(raw, Mapping):
            return
        if check_key is not None and any(isinstance(key, Decimal) for key in value):
            for sent in raw:
                if isinstance(sent, str) and not _NUMERAL.fullmatch(sent):
                    _refuse("Invalid decimal string", f"key` in `{path}")
            for key in value:
                check_key(key, None, f"key` in `{path}")
        if check_value is None:
            return
        is_same = len(value) == len(raw)
        for each, sent in zip(value.values(), raw.values() if is_same else (), strict=False):
            check_value(each, sent, f"{path}[...]")
        if not is_same:  # keys that were written differently became one
            _refuse("Two keys are the same number", path)

    return check


def _check_fields(
    kind: Any, fields: list[tuple[str, str, _Check | None]], *, offset: int
) -> _Check:
    from typing import is_typeddict

    is_dict = is_typeddict(kind)
    cls = kind if isinstance(kind, type) else object

    def check(value: Any, raw: Any, path: str) -> None:
        if not (isinstance(value, dict) if is_dict else isinstance(value, cls)):
            return
        for index, (name, key, each) in enumerate(fields):
            if each is None:
                continue
            if isinstance(raw, Mapping):
                if key not in raw:
                    continue
                sent, place = raw[key], f"{path}.{key}"
            elif isinstance(raw, (list, tuple)):
                at = index + offset
                if at >= len(raw):
                    break
                sent, place = raw[at], f"{path}[{at}]"
            else:
                return
            part = value.get(name) if is_dict else getattr(value, name, None)
            each(part, sent, place)

    return check
