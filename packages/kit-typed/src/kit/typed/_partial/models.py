# SPDX-License-Identifier: MIT
"""Builds the classes of `Partial[...]`, one for each model.

msgspec reads the changes to Structs, dataclasses, attrs classes and TypedDicts, pydantic those to
its models and to types that contain them, as `find_model` decides. A field of a generated Struct
has a name such as `field_0`, so it can't hide a method of `Partial`.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections import abc
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from threading import RLock
from types import GenericAlias, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    NewType,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
from msgspec import UNSET, UnsetType

from kit.authoring.models import find_model

from .._signature.types import aliased, allows_none, find_hints, is_object, is_typed_dict, split

_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
# The name of the attribute of a model that keeps its classes, so that both are dropped together.
_KEPT = "__kit_partials__"
_building = RLock()
# The settings of a pydantic model that concern whole objects, or that its fields already have.
_OF_WHOLE = (
    "alias_generator",
    "frozen",
    "json_schema_extra",
    "model_title_generator",
    "title",
    "validate_assignment",
    "validate_default",
)


class PatchField(NamedTuple):
    """A field of a model.

    Attributes:
        key: Its name in JSON.
        hint: Its type.
        is_required: Whether a new object needs it.
        removed: What null stands for if the field doesn't hold None: `REMOVED` for a key of a
            dict, UNSET for a field that may be UNSET; otherwise None.
        is_checked: Whether the constraints of `hint` apply only to the merged value, as the
            length of a dict.
    """

    key: str
    hint: Any
    is_required: bool
    removed: Any = None
    is_checked: bool = False


class PatchModel(NamedTuple):
    """The model of a `Partial`.

    Attributes:
        kind: The class of the model, or a generic class with its arguments.
        origin: The class itself.
        fields: Its fields by name.
        is_validated: Whether pydantic has to validate the whole object after a change.
        rules: The model validators that a changed object has to pass; with `is_validated`, pydantic
            calls them.
    """

    kind: Any
    origin: Any
    fields: Mapping[str, PatchField]
    is_validated: bool = False
    rules: tuple[Callable[[Any], Any], ...] = ()

    @property
    def is_dict(self) -> bool:
        """Whether it is a TypedDict."""
        return is_typed_dict(self.origin)


REMOVED: Any = object()
"""Stands for a key that is removed."""


class Bases(NamedTuple):
    """The base classes of generated classes.

    Attributes:
        all: The base class of all of them.
        of_msgspec: The base class of those that msgspec reads, a Struct.
        of_pydantic: The base class of those that pydantic reads.
    """

    all: type
    of_msgspec: type
    of_pydantic: type


def find_partial(kind: Any, bases: Bases) -> Any:
    """Returns the class of the changes to a model; the same one each time.

    Args:
        kind: The model.
        bases: The base classes.

    Raises:
        TypeError: If it isn't a class with fields whose values are objects in JSON.
        NameError: If the type of a field isn't defined.
    """
    if isinstance(kind, TypeVar) or kind is Any:  # a class or function that is generic itself
        return GenericAlias(bases.all, (kind,))
    if isinstance(kind, str):
        raise TypeError(f"Partial[{kind!r:.100}] is a str: write the class, and define it above")
    model = kind
    while (behind := aliased(model)) is not None:
        model = behind
    _check_model(kind, model, bases)
    with _building:
        of = _MsgspecClasses if find_model(model) is None else _PydanticClasses
        classes = of(bases)
        return _Builder(classes).build_all(model)


def _check_model(given: Any, kind: Any, bases: Bases) -> None:
    if not is_object(kind) or _is_array(kind):
        raise TypeError(
            "Partial[...] takes a Struct, dataclass, TypedDict, attrs class or pydantic model that "
            f"is an object in JSON, not {given!r:.100}"
        )
    if issubclass(get_origin(kind) or kind, bases.all):
        raise TypeError(f"Partial[{given!r:.100}] is already a Partial: write the model")


def _is_array(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    config = getattr(origin, "__struct_config__", None)
    is_root = getattr(origin, "__pydantic_root_model__", False)
    return bool(is_root or hasattr(origin, "_fields") or (config is not None and config.array_like))


class _Builder:
    """Builds the class of a model, and those of the models in it, which may contain each other."""

    def __init__(self, classes: _MsgspecClasses | _PydanticClasses) -> None:
        self._classes = classes
        self._added: list[tuple[dict[Any, Any], Any]] = []

    def build_all(self, kind: Any) -> Any:
        """Returns the class of a model. After an error, no class is kept."""
        try:
            partial = self.build(kind)
            self._classes.complete()
        except BaseException:
            for kept, key in self._added:
                kept.pop(key, None)
            raise
        return partial

    def build(self, kind: Any) -> Any:
        origin = get_origin(kind) or kind
        kept = vars(origin).get(_KEPT)
        if kept is None:
            kept = {}
            setattr(origin, _KEPT, kept)
        key = (type(self._classes), get_args(kind))
        if key in kept:
            return kept[key]
        fields = self._classes.read_fields(kind)
        if not fields:
            raise TypeError(f"Partial[{origin.__name__}] has nothing to change: it has no fields")
        kept[key] = partial = self._classes.declare(_name(kind), kind, fields)
        self._added.append((kept, key))
        hints = {name: self._patched(field.hint) for name, field in fields.items()}
        for name, field in fields.items():
            if field.removed is not None and not allows_none(hints[name]):
                hints[name] = hints[name] | None
        self._classes.finish(partial, kind, hints)
        return partial

    def _patched(self, hint: Any) -> Any:
        """Returns the type of the changes to a value."""
        if get_origin(hint) is Annotated:
            inner, *metadata = get_args(hint)
            patched = self._patched(inner)
            # The constraints of a dict concern the merged one.
            return patched if _is_mapping(inner) else Annotated[(patched, *metadata)]
        behind = hint.__supertype__ if isinstance(hint, NewType) else aliased(hint)
        if behind is not None:
            held = [*_aliases(behind, set())]
            return hint if hint in held else self._patched(behind)
        if get_origin(hint) in (Union, UnionType):
            members = get_args(hint)
            objects = [each for each in members if self._is_merged(each)]
            if len(objects) > 1 and not self._classes.distinguishes:
                return hint
            return Union[tuple(map(self._patched, members))]  # noqa: UP007 - of a tuple
        if _is_mapping(hint) and len(get_args(hint)) == 2:
            key, value = get_args(hint)
            patched = value if value is Any or value is object else self._patched(value) | None
            return dict[key, patched]  # type: ignore[valid-type]
        return self.build(hint) if self._is_merged(hint) else hint

    def _is_merged(self, kind: Any) -> bool:
        kind, _ = split(kind)
        return is_object(kind) and not _is_array(kind) and self._classes.takes(kind)


class _MsgspecClasses:
    """The classes that msgspec reads."""

    distinguishes = True  # since all Structs of a union have tags

    def __init__(self, bases: Bases) -> None:
        self._bases = bases

    def takes(self, kind: Any) -> bool:
        return not issubclass(get_origin(kind) or kind, self._bases.all)

    def read_fields(self, kind: Any) -> dict[str, PatchField]:
        hints = find_hints(kind)
        origin = get_origin(kind) or kind
        left_out: set[str] = set()
        if dataclasses.is_dataclass(origin):
            left_out = {each.name for each in dataclasses.fields(origin) if not each.init}
        found: dict[str, PatchField] = {}
        for field in msgspec.inspect.type_info(kind).fields:  # type: ignore[attr-defined]
            if field.name in left_out:
                continue
            hint = hints[field.name]
            removed = None
            if is_typed_dict(origin) and not field.required:
                removed = REMOVED
            elif not allows_none(hint) and _may_be_unset(hint):
                removed = UNSET
            is_checked = _has_rules_of_dict(hint)
            found[field.name] = PatchField(
                field.encode_name, hint, field.required, removed, is_checked
            )
        return found

    def declare(self, name: str, kind: Any, fields: dict[str, PatchField]) -> Any:
        origin = get_origin(kind) or kind
        config = getattr(origin, "__struct_config__", None)
        options: dict[str, Any] = {}
        if config is not None:
            options = {
                "forbid_unknown_fields": config.forbid_unknown_fields,
                "tag_field": config.tag_field,
                "tag": config.tag,
            }
        attributes = {each: f"field_{number}" for number, each in enumerate(fields)}
        partial: Any = msgspec.defstruct(
            name,
            [
                (attributes[each], Any, msgspec.field(name=field.key, default=UNSET))
                for each, field in fields.items()
            ],
            bases=(self._bases.of_msgspec,),
            kw_only=True,
            module=origin.__module__,
            namespace={
                "__doc__": origin.__doc__,
                "_attributes": attributes,
                "_model": PatchModel(kind, origin, fields),
            },
            **options,
        )
        return partial

    def finish(self, partial: Any, kind: Any, hints: dict[str, Any]) -> None:
        # msgspec reads the annotations at the first use, so the class may contain itself.
        partial.__annotations__ = {
            f"field_{number}": hint | UnsetType for number, hint in enumerate(hints.values())
        }

    def complete(self) -> None:
        """Finishes the classes: nothing is left to do."""


class _PydanticClasses:
    """The classes that pydantic reads."""

    distinguishes = False

    def __init__(self, bases: Bases) -> None:
        self._bases = bases
        self._forms: list[Any] = []

    def takes(self, kind: Any) -> bool:
        origin = get_origin(kind) or kind
        is_read = hasattr(origin, "__pydantic_fields__") or dataclasses.is_dataclass(origin)
        return is_typed_dict(origin) or is_read

    def read_fields(self, kind: Any) -> dict[str, PatchField]:
        origin = get_origin(kind) or kind
        infos = getattr(origin, "__pydantic_fields__", None)
        if infos is not None:
            if not getattr(origin, "__pydantic_complete__", True):
                origin.model_rebuild()
                infos = origin.__pydantic_fields__
            return {
                name: PatchField(
                    _key(info) or name, info.annotation, info.is_required(), None, False
                )
                for name, info in infos.items()
                if getattr(info, "init", None) is not False
            }
        required = getattr(origin, "__required_keys__", ())
        if not is_typed_dict(origin):
            required = [each.name for each in dataclasses.fields(origin) if _has_no_default(each)]
        return {
            name: PatchField(
                name,
                hint,
                name in required,
                REMOVED if is_typed_dict(origin) and name not in required else None,
            )
            for name, hint in find_hints(kind).items()
        }

    def declare(self, name: str, kind: Any, fields: dict[str, PatchField]) -> Any:
        origin = get_origin(kind) or kind
        rules, is_validated = _read_rules(origin)
        namespace = {
            "__slots__": (),
            "__module__": origin.__module__,
            "__doc__": origin.__doc__,
            "_model": PatchModel(kind, origin, fields, is_validated, rules),
        }
        return type(name, (self._bases.of_pydantic,), namespace)

    def finish(self, partial: Any, kind: Any, hints: dict[str, Any]) -> None:
        # Already imported, since the model comes from it; type checkers may not have it.
        pydantic: Any = import_module("pydantic")

        origin = get_origin(kind) or kind
        infos = getattr(origin, "__pydantic_fields__", {})
        entries: dict[str, Any] = {}
        for name, hint in hints.items():
            info = infos.get(name)
            metadata = [] if info is None or _is_mapping(info.annotation) else info.metadata
            options = {} if info is None else _field_options(info)
            annotation = Annotated[(hint, *metadata)] if metadata else hint
            entries[name] = (annotation, pydantic.Field(default_factory=_absent, **options))
        config = getattr(origin, "model_config", None) or {}
        config = {name: value for name, value in config.items() if name not in _OF_WHOLE}
        form = pydantic.create_model(
            partial.__name__,
            __config__={**config, "defer_build": True},
            __module__=origin.__module__,
            __doc__=origin.__doc__,
            __validators__=_validators(origin, pydantic),
            **entries,
        )
        partial.form_class = form
        partial.__pydantic_fields__ = form.__pydantic_fields__
        partial.model_config = form.model_config
        self._forms.append(form)

    def complete(self) -> None:
        """Finishes the classes, now that all are known to each other."""
        for form in self._forms:
            form.model_rebuild()


def _read_rules(origin: Any) -> tuple[tuple[Callable[[Any], Any], ...], bool]:
    """Returns the validators of whole objects, and whether only pydantic can call all of them.

    It calls those of fields again, which may not take a value that they have changed before.
    """
    decorators = getattr(origin, "__pydantic_decorators__", None)
    if decorators is None:
        return (), False
    rules = [*decorators.model_validators.values()]
    is_validated = bool(
        decorators.root_validators
        or any(each.info.mode != "after" or _takes_info(each) for each in rules)
        or any(_takes_info(each) for each in decorators.field_validators.values())
        or any(map(_has_rules_of_dict, _hints(origin)))
    )
    return tuple(each.func for each in rules), is_validated


def _hints(origin: Any) -> Iterator[Any]:
    """Yields the types of the fields of a pydantic model, with their constraints."""
    for info in getattr(origin, "__pydantic_fields__", {}).values():
        kind = info.annotation
        yield Annotated[(kind, *info.metadata)] if info.metadata else kind


def _absent() -> Any:
    return UNSET


def _key(info: Any) -> str | None:
    alias = info.validation_alias or info.alias
    choices = getattr(alias, "choices", [alias])
    return next((each for each in choices if isinstance(each, str)), None)


def _field_options(info: Any) -> dict[str, Any]:
    names = (
        "alias",
        "validation_alias",
        "serialization_alias",
        "title",
        "description",
        "examples",
        "discriminator",
        "deprecated",
        "json_schema_extra",
    )
    return {name: value for name in names if (value := getattr(info, name, None)) is not None}


def _validators(origin: Any, pydantic: Any) -> dict[str, Any]:
    decorators = getattr(origin, "__pydantic_decorators__", None)
    if decorators is None:
        return {}
    if decorators.validators:
        name = next(iter(decorators.validators))
        raise TypeError(
            f"Partial[{origin.__name__}] can't run {name}(), a @validator of pydantic 1: write "
            "@field_validator"
        )
    return {
        name: pydantic.field_validator(*each.info.fields, mode=each.info.mode, check_fields=False)(
            staticmethod(_without_absent(each) if _takes_info(each) else each.func)
        )
        for name, each in decorators.field_validators.items()
    }


def _takes_info(decorator: Any) -> bool:
    """Returns whether a validator of a field sees the values of others."""
    parameters = inspect.signature(decorator.func).parameters.values()
    needed = [each for each in parameters if each.default is each.empty]
    return len(needed) > (2 if decorator.info.mode == "wrap" else 1)


def _without_absent(decorator: Any) -> Callable[..., Any]:
    """Lets a validator see only fields with a change: as after an error, others are missing."""

    def seen(info: Any) -> Any:
        data = {name: value for name, value in info.data.items() if value is not UNSET}
        return SimpleNamespace(
            context=info.context,
            config=info.config,
            mode=info.mode,
            field_name=info.field_name,
            data=data,
        )

    if decorator.info.mode == "wrap":
        return lambda value, handler, info: decorator.func(value, handler, seen(info))
    return lambda value, info: decorator.func(value, seen(info))


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _is_mapping(hint: Any) -> bool:
    return (get_origin(hint) or hint) in _MAPPINGS


def _has_rules_of_dict(hint: Any) -> bool:
    """Returns whether a type has constraints that concern a dict as a whole."""
    inner, metadata = split(hint)
    if metadata and _is_mapping(inner):
        return True
    is_union = get_origin(inner) in (Union, UnionType)
    return (is_union or _is_mapping(inner)) and any(map(_has_rules_of_dict, get_args(inner)))


def _may_be_unset(hint: Any) -> bool:
    hint, _ = split(hint)
    return hint is UnsetType or any(map(_may_be_unset, get_args(hint)))


def _aliases(hint: Any, seen: set[int]) -> Iterator[Any]:
    """Yields the aliases within a type."""
    if id(hint) in seen:
        return
    seen.add(id(hint))
    behind = aliased(hint)
    if behind is not None:
        yield hint
        yield from _aliases(behind, seen)
    for each in get_args(hint):
        yield from _aliases(each, seen)


def _name(kind: Any) -> str:
    """Returns a name such as `BookPatch`, or `BoxIntPatch` for `Box[int]`."""
    names = [(get_origin(kind) or kind).__name__]
    names += [getattr(each, "__name__", str(each)) for each in get_args(kind)]
    words = [word for name in names for word in re.findall(r"\w+", name)]
    return "".join(word[:1].upper() + word[1:] for word in words) + "Patch"
