# SPDX-License-Identifier: MIT
"""The signature of a function: its parameters, with resolved annotations and markers."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections import ChainMap
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from importlib import import_module
from typing import (
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from kit.authoring.recursive_types import without_recursion
from kit.authoring.signatures import describe, is_async, is_generator

from .markers import PROVIDERS, Dependency, Env, Marker, Scope, Var
from .pydantic_types import needs_pydantic, read_by_pydantic
from .socket import Socket
from .types import (
    RuleError,
    aliased,
    classify,
    constrained,
    for_pydantic,
    inner_metadata,
    of_pydantic,
    split,
)

REQUIRED: Any = inspect.Parameter.empty

_MARKERS = (Marker, Env, Var)
_WITH_CODE = (types.FunctionType, types.MethodType)

Mode: TypeAlias = Literal[
    "plain", "async", "manager", "async manager", "unclear", "unclear manager"
]
"""The result of a call: the value, an awaitable of it, or a context manager.

It is `unclear` if only a call can show it, as with a lambda, a decorator or a mock. A function that
wraps a generator function is expected to return a context manager.
"""


class Made(NamedTuple):
    """A default that is created for each request, as for fields of classes.

    Attributes:
        factory: The function that creates it.
    """

    factory: Callable[[], Any]


class Parameter(NamedTuple):
    """A parameter of a function.

    Attributes:
        name: Its name.
        annotation: Its type, with constraints in the form of msgspec.
        default: Its default, a `Made` one, or `REQUIRED`.
        marker: The source of its value, if the annotation has one.
        dependency: The dependency that provides its value.
        by_keyword: Whether it is passed by keyword.
    """

    name: str
    annotation: Any
    default: Any
    marker: Marker | Env | Var | None
    dependency: Provider | None
    by_keyword: bool

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED


class StreamType(NamedTuple):
    """What an endpoint streams.

    Attributes:
        item: The type of the items, without the fields of `ServerSentEvent`; Any if unknown.
        is_text: Whether text in events is sent as it is, not as JSON.
        media_types: The media types to choose from by Accept, the default first.
        keep_alive_s: Seconds without an event after which a comment is sent; None: never.
    """

    item: Any
    is_text: bool
    media_types: tuple[str, ...]
    keep_alive_s: float | None


class Signature(NamedTuple):
    """A function and its parameters.

    Attributes:
        function: The function as given.
        call: The callable to use; for a generator function, a factory of context managers.
        mode: The kind of return value.
        parameters: Its parameters, in order.
        returns: The return annotation; `REQUIRED` if there is none.
        stream: What it streams, if it is an endpoint that does.
    """

    function: Callable[..., Any]
    call: Callable[..., Any]
    mode: Mode
    parameters: tuple[Parameter, ...]
    returns: Any
    stream: StreamType | None = None

    @property
    def connections(self) -> tuple[str, ...]:
        """The names of the parameters that take a WebSocket."""
        return tuple(each.name for each in self.parameters if is_connection(each))

    def refuse(self, problem: str) -> NoReturn:
        """Raises the TypeError for a mistake in the function."""
        raise TypeError(f"@typed {describe(self.function)}: {problem}")


class Provider(NamedTuple):
    """A dependency with the signature of its function.

    Attributes:
        signature: The function.
        use_cache: Whether it is called once per request.
        scope: When its exit runs.
    """

    signature: Signature
    use_cache: bool
    scope: Scope


def read_signature(
    function: Callable[..., Any], names: Mapping[str, Any], within: tuple[Any, ...] = ()
) -> Signature:
    """Reads the parameters of a function, and recursively the parameters of its dependencies.

    Args:
        function: A function, a class, or another callable.
        names: Names that annotations may use besides the globals of the function.
        within: The functions that depend on this one.

    Raises:
        TypeError: If a parameter can't be provided; the text names the function and the parameter.
    """
    if find_mock(function) is not None:
        # The mock takes any arguments, so it needs no values of a request.
        return Signature(function, function, "unclear", (), REQUIRED)
    call, mode = _find_mode(function)
    empty = Signature(function, call, mode, (), REQUIRED)
    if identity(function) in within:
        empty.refuse("it depends on itself")
    if is_async(function) and _is_plain_generator(_wrapped(_called(function))):
        empty.refuse(
            "it is an async function around a generator, such as that of @in_thread, so its value "
            "would be the generator: write an async generator, and call in_thread(function)() in "
            "it for what blocks"
        )
    try:
        signature = inspect.signature(function)
    except ValueError:
        empty.refuse("its signature can't be read: wrap it in a function")
    except NameError as error:  # annotations that are evaluated late
        empty.refuse(f"an annotation names {error.name!r}, which is not defined{_LATER}")
    scope = _Names(function, names)
    following = signature.parameters.get("next")
    if following is not None and _is_next(following.annotation):
        empty.refuse(
            "it takes next, so it is middleware (c, next): register it as it is, without @typed "
            "and Depends(); for typed parameters, write a function without next, and register "
            "Depends(function)"
        )
    # APPSEC: a keyword argument of a partial looks like a default, but no client may change it.
    bound = function.keywords if isinstance(function, functools.partial) else {}
    parameters = tuple(
        _parameter(empty, each, scope, (*within, identity(function)))
        for each in signature.parameters.values()
        if each.name not in bound
    )
    returns = signature.return_annotation
    if returns is not REQUIRED:
        returns = scope.resolve(empty, "the return annotation", returns)
    if mode == "unclear" and _is_plain(_called(function)) and _is_value(returns):
        mode = "plain"
    return Signature(function, call, mode, parameters, returns)


def find_mock(function: Any) -> Any:
    """Returns the mock of unittest that a call goes to; None for other functions."""
    mocks = sys.modules.get("unittest.mock")
    if mocks is None:
        return None
    for each in (function, getattr(function, "__dict__", {}).get("mock")):  # create_autospec()
        if isinstance(each, mocks.NonCallableMock):
            return each
    return None


def has_spec(function: Any) -> bool:
    """Returns whether a function is a mock with the spec of another function."""
    mock = find_mock(function)
    return mock is not None and (mock is not function or mock.__class__ is not type(mock))


def _is_plain(function: Any) -> bool:
    """Returns whether the return annotation of a function is its own, not another function's."""
    return type(function) in _WITH_CODE and not hasattr(function, "__wrapped__")


def _is_value(returns: Any) -> bool:
    """Returns whether values of a type are neither awaited nor closed."""
    origin = get_origin(returns)
    if origin in (Union, types.UnionType):
        return all(map(_is_value, get_args(returns)))
    if hasattr(returns, "__metadata__"):
        return _is_value(returns.__origin__)
    kind = origin or returns
    if kind in (None, Literal):
        return True
    if not isinstance(kind, type) or kind in (REQUIRED, Any, object, Iterable, AsyncIterable):
        return False
    # As in kit.typed._running.Opened.
    is_later = hasattr(kind, "__await__") and not hasattr(kind, "__aenter__")
    return not (is_later or issubclass(kind, (Iterator, AsyncIterator)))


_LATER = (
    ": define it above the function, import it at run time rather than under TYPE_CHECKING, and "
    "define it at the top of the module if the function is nested"
)


class _Names:
    """Returns the values of the names in the annotations of a function."""

    def __init__(self, function: Callable[..., Any], names: Mapping[str, Any]) -> None:
        inner = _innermost(function)
        if isinstance(inner, type):
            self.globals: dict[str, Any] = vars(import_module(inner.__module__))
        else:
            self.globals = getattr(inner, "__globals__", {})
        self.locals = dict(names)
        if isinstance(inner, types.FunctionType):
            with suppress(ValueError):  # a name isn't defined yet
                self.locals |= inspect.getclosurevars(inner).nonlocals

    def resolve(self, signature: Signature, what: str, annotation: Any) -> Any:
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        try:
            hints = get_type_hints(holder, self.globals, self.locals, include_extras=True)
            return without_recursion(hints["it"], ChainMap(self.locals, self.globals))
        except NameError as error:
            signature.refuse(f"{what} names {error.name!r}, which is not defined{_LATER}")
        except Exception as error:
            signature.refuse(f"{what}, {annotation!r:.100}, can't be read: {error}")


def _innermost(function: Any) -> Any:
    """Returns the function whose module defines the names in the annotations."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, type):
            init: Any = function.__init__  # type: ignore[misc]  # includes a base class's
            return init if isinstance(init, types.FunctionType) else function
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, (types.FunctionType, types.BuiltinFunctionType)):
            return function
        else:
            function = type(function).__call__


def _parameter(
    signature: Signature, given: inspect.Parameter, scope: _Names, within: tuple[Any, ...]
) -> Parameter:
    name = given.name
    if given.kind in (given.VAR_POSITIONAL, given.VAR_KEYWORD):
        signature.refuse(f"it takes {given}, which nothing can provide: name each parameter")
    default = _find_default(signature, given)
    by_keyword = given.kind is given.KEYWORD_ONLY
    annotation = given.annotation
    _check_default(signature, name, default)
    if annotation is REQUIRED and not isinstance(default, Dependency):
        _refuse_unannotated(signature, name)
    if annotation is REQUIRED:
        annotation = Any
    else:
        annotation = scope.resolve(signature, f"the annotation of {name!r}", annotation)
    try:
        kind, metadata = split(annotation)
        inner = [*inner_metadata(kind)]
    except NameError as error:  # aliases are evaluated lazily
        signature.refuse(
            f"the annotation of {name!r} names {error.name!r}, which is not defined{_LATER}"
        )
    marker = _marker(signature, name, metadata, default)
    _check_inner(signature, name, inner)
    if type(marker) in PROVIDERS:
        marker = Dependency(PROVIDERS[type(marker)](marker, kind), True, "request")
    if isinstance(marker, Dependency):
        if isinstance(default, Dependency):
            default = REQUIRED
        return Parameter(
            name, kind, default, None, _provider(marker, kind, signature, scope, within), by_keyword
        )
    if isinstance(marker, type):
        signature.refuse(
            f"the annotation of {name!r} has the class {marker.__name__}: call it, "
            f"{marker.__name__}()"
        )
    annotation = _constrained(signature, name, kind, metadata, marker)
    return Parameter(name, annotation, default, marker, None, by_keyword)


def _is_next(annotation: Any) -> bool:
    """Returns whether a parameter with the name `next` is that of a middleware."""
    if isinstance(annotation, str):  # perhaps imported for type checkers only
        return annotation.partition("[")[0].rpartition(".")[2] in ("Next", "Callable")
    return annotation is REQUIRED or get_origin(annotation) is Callable


def _constrained(
    signature: Signature, name: str, kind: Any, metadata: list[Any], marker: Any
) -> Any:
    """Returns the type of a parameter with its constraints."""
    if get_origin(kind) is Socket:
        return kind  # the types of its messages aren't those of a value of the request
    try:
        if not isinstance(marker, (Env, Var)) and needs_pydantic(kind, metadata):
            meta = marker.meta if isinstance(marker, Marker) else None
            return read_by_pydantic(of_pydantic(for_pydantic(kind), metadata, meta))
        return constrained(kind, metadata, marker.meta if isinstance(marker, Marker) else None)
    except RuleError as rule:
        signature.refuse(f"the annotation of {name!r} has {rule}")
    except Exception as error:
        line = str(error).partition("\n")[0]
        if type(error).__module__.partition(".")[0] == "pydantic":
            line = (
                "a pydantic model is in it, so pydantic has to know all its types: "
                f"{line.partition('. ')[0]}"
            )
        signature.refuse(f"the parameter {name!r} can't be read: {line}")


def _find_default(signature: Signature, given: inspect.Parameter) -> Any:
    """Returns the default; in signatures, it is a placeholder for fields with a factory."""
    default: Any = given.default
    owner: Any = signature.function
    if type(default).__module__.partition(".")[0] == "msgspec" and hasattr(default, "factory"):
        return Made(default.factory)
    if type(default).__name__ != "_HAS_DEFAULT_FACTORY_CLASS":
        return default
    while isinstance(owner, functools.partial):
        owner = owner.func
    fields = getattr(owner, "__pydantic_fields__", None) or owner.__dataclass_fields__
    for name, field in fields.items():
        names = (name, getattr(field, "alias", None), getattr(field, "validation_alias", None))
        if given.name in names and not getattr(field, "default_factory_takes_validated_data", None):
            return Made(field.default_factory)
    return signature.refuse(
        f"the default of {given.name!r} is made from other fields: read all fields of the class, "
        f"such as Annotated[{owner.__name__}, Query()]"
    )


def _check_default(signature: Signature, name: str, default: Any) -> None:
    if isinstance(default, _MARKERS):
        signature.refuse(
            f"the default of {name!r} is {default!r}: markers belong in the annotation, "
            f"{name}: Annotated[..., {default!r}], and a default after it"
        )
    if _is_depends(default) or (isinstance(default, type) and issubclass(default, _MARKERS)):
        signature.refuse(f"the default of {name!r} is {default.__name__}, which has to be called")
    if _is_foreign(default):
        signature.refuse(
            f"the default of {name!r} is a {type(default).__name__} of "
            f"{type(default).__module__.partition('.')[0]}: write {name}: Annotated[..., marker] = "
            "default, with a marker of kit.typed, such as Query(ge=1), or Depends(function)"
        )


def _is_depends(value: Any) -> bool:
    """Returns whether a value is the function `Depends`, which wasn't called."""
    return isinstance(value, types.FunctionType) and value.__name__ == "Depends"


def _is_foreign(default: Any) -> bool:
    """Returns whether a default is a FastAPI marker, or pydantic's `Field(...)`."""
    kind = type(default)
    root = kind.__module__.partition(".")[0]
    return root == "fastapi" or (root == "pydantic" and kind.__name__ == "FieldInfo")


def _refuse_unannotated(signature: Signature, name: str) -> NoReturn:
    if name in ("self", "cls"):
        signature.refuse(
            f"the parameter {name!r} stands for an instance, which @typed in a class doesn't have: "
            "write typed(instance.method) where it is registered"
        )
    signature.refuse(
        f"the parameter {name!r} has no annotation: write its type, such as {name}: str, or "
        f"{name}: Context for the context"
    )


def _marker(signature: Signature, name: str, metadata: list[Any], default: Any) -> Any:
    kinds = (*_MARKERS, Dependency, *PROVIDERS)
    found = [
        each
        for each in metadata
        if isinstance(each, kinds) or (isinstance(each, type) and issubclass(each, kinds))
    ]
    for each in metadata:
        if isinstance(each, types.FunctionType):
            what = "Depends()" if _is_depends(each) else f"Depends({each.__name__})"
            signature.refuse(
                f"the annotation of {name!r} has the function {each.__name__}: write {what}"
            )
        if type(each).__module__.partition(".")[0] == "fastapi":
            signature.refuse(
                f"the annotation of {name!r} has FastAPI's {type(each).__name__}: import it from "
                "kit.typed"
            )
    if isinstance(default, Dependency):
        found.append(default)
    if len(found) > 1:
        signature.refuse(
            f"the parameter {name!r} has {found[0]!r:.100} and {found[1]!r:.100}: keep one"
        )
    return found[0] if found else None


def _check_inner(signature: Signature, name: str, metadata: list[Any]) -> None:
    """Rejects markers in types within the type, where they would have no effect."""
    for each in metadata:
        if isinstance(each, (*_MARKERS, Dependency, *PROVIDERS)):
            signature.refuse(
                f"the annotation of {name!r} has {each!r:.100} within the type, where it has no "
                f"effect: write {name}: Annotated[..., {each!r:.100}] around the whole type; for "
                "the constraints of an item, use msgspec.Meta(...)"
            )


def _provider(
    marker: Dependency, kind: Any, signature: Signature, scope: _Names, within: tuple[Any, ...]
) -> Provider:
    function = marker.function
    if function is None:
        value = aliased(kind)
        while value is not None:
            kind, value = value, aliased(value)
        function = get_origin(kind) or kind
        if not isinstance(function, type) or function in (Any, types.UnionType):
            signature.refuse(
                "Depends() without a function calls the annotation, which has to be a class, not "
                f"{kind!r:.100}"
            )
    elif isinstance(get_origin(function), type):  # a generic class with its arguments
        function = get_origin(function)
    inner = read_signature(unwrapped(function), scope.locals, within)
    return Provider(inner, marker.use_cache, marker.scope)


def is_connection(parameter: Parameter) -> bool:
    """Returns whether a parameter takes the WebSocket."""
    is_free = parameter.marker is None and parameter.dependency is None
    return is_free and classify(parameter.annotation) == "websocket"


def unwrapped(function: Any) -> Any:
    """Returns the function behind `@typed`."""
    return getattr(type(function), "__kit_function__", lambda each: each)(function)


def identity(function: Any) -> Any:
    """Returns the identity of a dependency, even if the object isn't hashable."""
    try:
        hash(function)
    except TypeError:
        return (id, id(function))
    return function


def _find_mode(function: Any) -> tuple[Callable[..., Any], Mode]:
    own = _called(function)
    if isinstance(own, type):
        if hasattr(own, "__aenter__"):
            return function, "async manager"
        return function, "manager" if hasattr(own, "__enter__") else "plain"
    if _is_async_generator(own):
        return asynccontextmanager(function), "async manager"
    if _is_plain_generator(own):
        return contextmanager(function), "manager"
    if is_generator(_wrapped(own)):
        return function, "unclear manager"
    if is_async(function):
        return function, "async"
    return function, _mode_of_result(own)


def _is_async_generator(function: Any) -> bool:
    return type(function) in _WITH_CODE and inspect.isasyncgenfunction(function)


def _is_plain_generator(function: Any) -> bool:
    return type(function) in _WITH_CODE and inspect.isgeneratorfunction(function)


def _called(function: Any) -> Any:
    """Returns the class, function or method that a call runs."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type) or inspect.isroutine(function):
        return function
    return getattr(function, "__call__", function)  # noqa: B004 - an instance of such a class


def _wrapped(function: Any) -> Any:
    """Returns the innermost function below decorators."""
    seen: set[int] = set()
    while hasattr(function, "__wrapped__") and id(function) not in seen:
        seen.add(id(function))
        function = function.__wrapped__
    return function


def _mode_of_result(function: Any) -> Mode:
    """Returns the mode of a plain function from its return annotation."""
    returns = getattr(function, "__annotations__", {}).get("return")
    if isinstance(returns, str):
        name = returns.partition("[")[0].rpartition(".")[2]
        returns = {
            "AbstractAsyncContextManager": AbstractAsyncContextManager,
            "AsyncContextManager": AbstractAsyncContextManager,
            "AbstractContextManager": AbstractContextManager,
            "ContextManager": AbstractContextManager,
        }.get(name)
    kind = get_origin(returns) or returns
    if kind is AbstractAsyncContextManager:
        return "async manager"
    return "manager" if kind is AbstractContextManager else "unclear"


def is_marker_as_type(annotation: Any) -> bool:
    """Returns whether an annotation is a marker class, such as `kit.typed.File` for a file."""
    return isinstance(annotation, type) and issubclass(annotation, _MARKERS)
