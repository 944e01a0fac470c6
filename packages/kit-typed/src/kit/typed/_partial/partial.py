# SPDX-License-Identifier: MIT
"""The type of a PATCH body: the changes to an object, as in JSON Merge Patch (RFC 7396)."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from importlib import import_module
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NoReturn,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
from msgspec import UNSET, Struct

from kit.authoring.models import validation_errors
from kit.http.media_types import JSON
from kit.interface import Codecs, FieldError, RequestValidationError
from kit.validator.schemas import Schema, get_schema

from .._signature.types import split
from .models import REMOVED, Bases, PatchModel, find_partial

T = TypeVar("T")

MERGE_PATCH = "application/merge-patch+json"
"""JSON Merge Patch (RFC 7396, section 4)."""

MEDIA_TYPES = (MERGE_PATCH, JSON)
"""The media types of a body with changes."""


class Partial(Generic[T]):
    """The changes to an object of a model, as the body of a PATCH request.

    `Partial[Book]` takes a Struct, dataclass, TypedDict, attrs class or pydantic model, and has the
    same fields with the same constraints, but none is required. A field is only in the changes if
    the request has it, so a field that is absent differs from one that is null:

        @app.patch("/books/:id")
        @typed
        async def change_book(id: int, changes: Partial[Book]) -> Book:
            books[id] = changes.apply(books[id])
            return books[id]

    The changes are a mapping from the names of fields to values, except that `[]` and `get` return
    `msgspec.UNSET` for a field without a change. The value for a nested model is again a
    `Partial`, since objects are merged recursively. All other values, e.g. lists, replace the old
    ones. None is a value only of fields that allow it. For keys of a TypedDict that aren't
    required, keys of a dict, and fields that may be UNSET, null removes the value (RFC 7396,
    section 2).

    A request body has the media type `application/merge-patch+json` or `application/json`. Any
    other type is a 415.

    Raises:
        TypeError: At `Partial[...]`, if the type isn't such a class, or has no fields.
    """

    __slots__ = ()

    # msgspec would evaluate annotations of the class in the module that it is imported from.
    if TYPE_CHECKING:
        _model: ClassVar[PatchModel]
        _schema: ClassVar[Schema]
    else:

        def __class_getitem__(cls, kind: Any) -> Any:
            # A base class with its argument is the class itself.
            return cls if kind is T else find_partial(kind, _BASES)

    def _read_changes(self) -> dict[str, Any]:
        raise TypeError("Partial has no fields of its own: write Partial[Model]")

    @classmethod
    def parse(cls, body: bytes | Mapping[str, Any], *, codecs: Codecs | None = None) -> Self:
        """Reads changes from a JSON document, like those in the body of a request.

        Args:
            body: The document as bytes, or a mapping from the names in JSON to JSON values.
            codecs: `app.codecs`, for fields of classes that the app has decoders for.

        Returns:
            The validated changes.

        Raises:
            RequestValidationError: If the document doesn't fit the model.
        """
        if "_model" not in cls.__dict__:
            raise TypeError("Partial has no fields of its own: write Partial[Model].parse()")
        schema = cls.__dict__.get("_schema") if codecs is None else None
        if schema is None:
            schema = get_schema(cls, is_json=True, codecs=codecs)
            if codecs is None:
                cls._schema = schema
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        try:
            changes: Self = schema.load(content)
        except ValueError as error:
            try:
                data = msgspec.json.decode(content)
            except ValueError:
                wrong = FieldError(path="", message=str(error), type="json_invalid")
                raise RequestValidationError("json", [wrong]) from error
            raise RequestValidationError("json", schema.errors(data, error)) from error
        return changes

    @property
    def changes(self) -> dict[str, Any]:
        """The new values of the changed fields, by the names of the fields, as a new dict."""
        return self._read_changes()

    def keys(self) -> KeysView[str]:
        """Returns the names of the changed fields."""
        return self._read_changes().keys()

    def values(self) -> ValuesView[Any]:
        """Returns the new values of the changed fields."""
        return self._read_changes().values()

    def items(self) -> ItemsView[str, Any]:
        """Returns the names and new values of the changed fields."""
        return self._read_changes().items()

    def get(self, name: str, default: Any = UNSET) -> Any:
        """Returns the new value of a field.

        Args:
            name: The name of the field.
            default: What is returned if the field isn't changed. Default: UNSET, since None is a
                value.

        Raises:
            KeyError: If the model has no such field.
        """
        value = self[name]
        return default if value is UNSET else value

    def __getitem__(self, name: str) -> Any:
        """Returns the new value of a field, or UNSET.

        Raises:
            KeyError: If the model has no such field.
        """
        value = self._read_changes().get(name, UNSET)
        if value is UNSET and name not in self._model.fields:
            fields = ", ".join(self._model.fields)
            raise KeyError(f"{type(self).__name__} has no field {name!r}, but {fields}")
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._read_changes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._read_changes())

    def __len__(self) -> int:
        return len(self._read_changes())

    def __repr__(self) -> str:
        changes = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({changes})"

    def apply(self, target: T) -> T:
        """Returns a new object with the changes. The target isn't changed.

        Rules that need the whole object, such as `__post_init__` or a model validator of pydantic,
        apply to the new one.

        Args:
            target: An object of the model. For a row of an ORM, use `assign_to`.

        Raises:
            RequestValidationError: If the new object is invalid, e.g. if a new nested object lacks
                required fields. It becomes a 400.
            TypeError: If the target isn't an object of the model.
        """
        model = self._model
        if not _is_of(model, target):
            raise TypeError(
                f"{type(self).__name__}.apply() takes a {model.origin.__name__}, not "
                f"{target!r:.100}: for other objects, such as rows of an ORM, use assign_to()"
            )
        values = self._merge(lambda name: _get(target, name))
        changed: T = _checked(lambda: _replace(model, target, values))
        return changed

    def assign_to(self, target: object) -> None:
        """Assigns the new values to the attributes of an object, e.g. of a row of an ORM.

        A nested model is merged into the value of the attribute: an object that isn't of the
        nested model, such as a related row, gets the nested values as attributes. Values that
        aren't of a field, which `extra="allow"` of pydantic keeps, aren't assigned.

        Args:
            target: An object with an attribute for each changed field.

        Raises:
            AttributeError: If an attribute is missing. Then nothing is assigned.
            RequestValidationError: If a nested object is invalid.
        """
        for name in self._read_changes():
            if name in self._model.fields and not hasattr(target, name):
                raise AttributeError(
                    f"{type(target).__name__} has no attribute {name!r}, which "
                    f"{type(self).__name__} changes"
                )
        rows: list[tuple[Partial[Any], Any]] = []

        def read(name: str) -> Any:
            if name not in self._model.fields:
                return UNSET
            old, change = getattr(target, name), self[name]
            if isinstance(change, Partial) and _is_row(change, old):
                rows.append((change, old))
                return _ASSIGNED
            return old

        values = self._merge(read)
        for change, row in rows:
            change.assign_to(row)
        # APPSEC: a client chooses the other names, which may be any attributes of the row.
        for name, value in values.items():
            if name not in self._model.fields:
                continue
            setattr(target, name, None if value is REMOVED else value)

    def _merge(self, read: Any) -> dict[str, Any]:
        """Returns the values of the changed fields, merged with the old ones.

        Args:
            read: Returns the old value of a field, UNSET if there is none, and `_ASSIGNED` if the
                field is changed otherwise.
        """
        values: dict[str, Any] = {}
        for name, change in self._read_changes().items():
            old = read(name)
            if old is _ASSIGNED:
                continue
            field = self._model.fields.get(name)  # pydantic may allow others
            if field is None:
                values[name] = merge(old, change)
                continue
            if change is None and field.removed is not None:
                values[name] = field.removed
                continue
            try:
                values[name] = merge(old, change)
                if field.is_checked and isinstance(change, Mapping):
                    _check(field.hint, values[name])
            except RequestValidationError as error:
                _raise_within(field.key, error)
        return values

    def _create(self) -> Any:
        """Returns a new object, for a value that doesn't exist yet.

        Raises:
            RequestValidationError: If a required field is missing.
        """
        model = self._model
        values = self._merge(lambda name: UNSET)
        missing = [
            FieldError(path=field.key, message="Missing required field", type="missing")
            for name, field in model.fields.items()
            if field.is_required and name not in values
        ]
        if missing:
            raise RequestValidationError("json", missing)
        return _checked(lambda: _build(model, values))


class _StructPatch(Partial[T], Struct):
    """The base class of changes that msgspec reads."""

    _attributes: ClassVar[dict[str, str]]

    def _read_changes(self) -> dict[str, Any]:
        found = {name: getattr(self, attr) for name, attr in self._attributes.items()}
        return {name: value for name, value in found.items() if value is not UNSET}


class _ModelPatch(Partial[T]):
    """The base class of changes that pydantic reads; they are in an object of a hidden model."""

    __slots__ = ("_form",)

    form_class: ClassVar[Any]
    # It marks a type that pydantic validates, for `find_model`.
    __pydantic_validator__: ClassVar[Any] = None

    def __init__(self, form: Any) -> None:
        self._form = form

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.changes == other.changes

    __hash__ = None  # type: ignore[assignment]

    def _read_changes(self) -> dict[str, Any]:
        form, fields = self._form, self._model.fields
        # A set name may also be one that isn't read, since the field has an alias.
        found = {name: getattr(form, name) for name in fields if name in form.model_fields_set}
        changes = {name: value for name, value in found.items() if value is not UNSET}
        # APPSEC: a client chooses the other names, which may be those of any attributes.
        others = (form.model_extra or {}).items()
        return changes | {name: value for name, value in others if name not in fields}

    @classmethod
    def model_validate(cls, value: Any) -> Any:
        """Returns the changes in Python values."""
        return cls(cls.form_class.model_validate(value))

    @classmethod
    def model_validate_json(cls, data: bytes) -> Any:
        """Returns the changes in JSON."""
        return cls(cls.form_class.model_validate_json(data))

    def model_dump(self, *, mode: str = "python", **options: Any) -> Any:
        """Returns the changes with the names in JSON."""
        return self._form.model_dump(mode=mode, exclude_unset=True, by_alias=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        core_schema: Any = import_module("pydantic_core").core_schema
        return core_schema.no_info_after_validator_function(
            cls,
            handler.generate_schema(cls.form_class),
            serialization=core_schema.plain_serializer_function_ser_schema(_dump),
        )


def _dump(changes: Any) -> Any:
    return changes.model_dump(mode="json")


_BASES = Bases(Partial, _StructPatch, _ModelPatch)


def is_partial(kind: Any) -> bool:
    """Returns whether a type is a `Partial`, possibly one that may be None."""
    inner, _ = split(kind)
    if get_origin(inner) in (Union, UnionType):
        return any(is_partial(each) for each in get_args(inner))
    return isinstance(inner, type) and issubclass(inner, Partial)


_ASSIGNED = object()


def merge(old: Any, change: Any) -> Any:
    """Merges a change into a value, as `MergePatch` of RFC 7396, section 2.

    Args:
        old: The old value; anything if there is none.
        change: JSON, or a `Partial`.
    """
    if isinstance(change, Partial):
        if _is_of(change._model, old):
            return change.apply(old)
        # A column of an ORM may have JSON for a model.
        return merge(old, _as_json(change)) if isinstance(old, Mapping) else change._create()
    if not isinstance(change, Mapping):
        return change
    merged = dict(old) if isinstance(old, Mapping) else {}
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
        else:
            try:
                merged[key] = merge(merged.get(key), value)
            except RequestValidationError as error:
                _raise_within(str(key), error)
    return merged


def _as_json(change: Any) -> Any:
    if hasattr(change, "model_dump"):
        return change.model_dump(mode="json")
    return msgspec.to_builtins(change)


def _is_of(model: PatchModel, value: Any) -> bool:
    if model.is_dict:
        return isinstance(value, Mapping)
    # A row of an ORM may be of the class, but assigning to it is what stores the changes.
    return isinstance(value, model.origin) and not hasattr(value, "_sa_instance_state")


def _is_row(change: Partial[Any], value: Any) -> bool:
    """Returns whether a value is an object with attributes that isn't of the nested model."""
    is_plain = value is None or value is UNSET or isinstance(value, (Mapping, str, int, float))
    return not is_plain and not _is_of(change._model, value)


def _get(target: Any, name: str) -> Any:
    if isinstance(target, Mapping):
        return target.get(name, UNSET)
    return getattr(target, name, UNSET)


def _replace(model: PatchModel, target: Any, values: dict[str, Any]) -> Any:
    if isinstance(target, Mapping):
        merged = {**target, **values}
        return {name: value for name, value in merged.items() if value is not REMOVED}
    if hasattr(target, "model_copy"):
        return _copy_model(model, target, values)
    if isinstance(target, msgspec.Struct):
        return msgspec.structs.replace(target, **values)
    if hasattr(target, "__attrs_attrs__"):
        return import_module("attr").evolve(target, **_by_argument(model, values))
    return import_module("dataclasses").replace(target, **values)


def _copy_model(model: PatchModel, target: Any, values: dict[str, Any]) -> Any:
    if not model.is_validated:
        copied = target.model_copy(update=values)
        for rule in model.rules:
            copied = rule(copied)
        return copied
    kind = type(target)
    data = {name: getattr(target, name) for name in kind.__pydantic_fields__}
    options: dict[str, Any] = {}
    if any(each.alias or each.validation_alias for each in kind.__pydantic_fields__.values()):
        options = {"by_alias": False, "by_name": True}
    whole = kind.model_validate({**data, **(target.model_extra or {}), **values}, **options)
    new = {name: getattr(whole, name) for name in data}
    others = {name: value for name, value in values.items() if name not in data}
    # A copy keeps private attributes, and which fields were set.
    copied = target.model_copy(update={**new, **others})
    copied.model_fields_set.intersection_update(target.model_fields_set | values.keys())
    return copied


def _build(model: PatchModel, values: dict[str, Any]) -> Any:
    if model.is_dict:
        return {name: value for name, value in values.items() if value is not REMOVED}
    if hasattr(model.origin, "__pydantic_validator__"):
        named = {model.fields[n].key if n in model.fields else n: v for n, v in values.items()}
        return model.origin(**named)
    return model.origin(**_by_argument(model, values))


def _by_argument(model: PatchModel, values: dict[str, Any]) -> dict[str, Any]:
    """Returns values by the names of arguments, which differ for private fields of attrs."""
    names = {each.name: each.alias for each in getattr(model.origin, "__attrs_attrs__", ())}
    return {names.get(name, name): value for name, value in values.items()}


def _check(hint: Any, value: Any) -> None:
    """Checks the constraints of a merged dict."""
    # Values of classes that msgspec doesn't know are kept, and have their places as data.
    kept: list[Any] = []

    def keep(part: Any) -> int:
        kept.append(part)
        return len(kept) - 1

    try:
        data = msgspec.to_builtins(value, enc_hook=keep)
        msgspec.convert(data, hint, dec_hook=lambda _, place: kept[place])
    except msgspec.ValidationError as error:
        wrong = FieldError(path="", message=str(error), type="value_error")
        raise RequestValidationError("json", [wrong]) from error


def _checked(build: Any) -> Any:
    """Calls a function that builds an object; reports its errors as errors of the data."""
    try:
        return build()
    except RequestValidationError:
        raise
    except (ValueError, TypeError, AssertionError) as error:
        raise RequestValidationError("json", validation_errors(error)) from error


def _raise_within(key: str, error: RequestValidationError) -> NoReturn:
    """Raises the errors of a nested value with their whole paths."""
    for each in error.errors:
        path = each["path"]
        each["path"] = f"{key}{'' if path.startswith('[') or not path else '.'}{path}"
    raise RequestValidationError("json", error.errors) from error
