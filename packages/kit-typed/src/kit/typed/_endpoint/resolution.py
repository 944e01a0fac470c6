# SPDX-License-Identifier: MIT
"""The source of each value of an endpoint, once its method and pattern are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from kit.authoring.text_values import with_choices
from kit.interface import Codecs, ValidationTarget
from kit.router.patterns import parse_parameter, split_pattern

from .._parameters.raw_body import RawBody, is_raw
from .._parameters.sources import Field, JsonBody, Source
from .._signature.markers import Body, Dependency, Env, Marker, Path, Scope, Var
from .._signature.signature import (
    Parameter,
    Provider,
    Signature,
    has_spec,
    identity,
    is_connection,
    is_marker_as_type,
    read_signature,
    unwrapped,
)
from .._signature.types import classify, has_literal_bool, show, takes_many
from .calls import MANAGED, Arguments, ContextValue, DependencyCall

# SPEC: RFC 9110 sections 9.3.1, 9.3.2 and 9.3.5: content has no defined meaning in these.
_WITHOUT_BODY = ("GET", "HEAD", "DELETE")
# Types that other frameworks pass to endpoints.
_INSTEAD = {
    "BackgroundTasks": "c: Context, and call c.after_success(function, ...)",
    "KitRequest": "c: Context, and read c.req",
    "Request": "c: Context, and read c.req",
    "Response": "c: Context, and call c.header() or c.status()",
    "WebSocket": "ws: WebSocket, imported from kit.websocket",
    "UploadFile": "kit.File as its type",
}


class Resolution:
    """The source of each value of an endpoint at one route.

    Each value has a local name, by which calls refer to it: the name of the first parameter that
    needs it, and `c` for the context.

    Args:
        signature: The endpoint.
        method: Upper-case method of the route, or `ALL`.
        pattern: Its whole pattern.
        overrides: Functions that replace dependencies.
        codecs: The encoders and decoders of the app.

    Attributes:
        sources: The parts that are read from the request, except a JSON body.
        body: The JSON body, or None.
        raw_bodies: The parameters that take the bytes of the body.
        context_values: The values read from the context.
        calls: The dependencies, in call order.
        arguments: The arguments of the endpoint.
        connection: The local name of the WebSocket; empty if the endpoint takes none.
        functions: The functions given to `Depends`, replaced or not; see `identity`.
        absent: Parameters with `Path()` that the pattern lacks: function and name.
        takes_context: Whether a function gets the context.

    Raises:
        TypeError: If a parameter can't be provided.
    """

    def __init__(
        self,
        signature: Signature,
        method: str,
        pattern: str,
        overrides: Mapping[Any, Signature],
        codecs: Codecs,
    ) -> None:
        self.signature = signature
        self.method = method
        self.pattern = pattern
        self.sources: list[Source] = []
        self.body: JsonBody | None = None
        self.raw_bodies: list[RawBody] = []
        self.context_values: list[ContextValue] = []
        self.calls: list[DependencyCall] = []
        self.absent: list[tuple[Signature, str]] = []
        self.connection = ""
        self.takes_context = False
        self.functions: set[Any] = set()
        self._overrides = overrides
        self.codecs = codecs
        self._in_path = dict(read_parameters(pattern))
        self._locals = {"c"}
        self._provided: dict[Any, DependencyCall] = {}
        self._within: list[Any] = []
        self.arguments, _ = self._arguments(signature, "function")
        if self.body is not None:
            self._check_bodies(self.body)
            self.body.finish(codecs)
        for source in self.sources:
            source.finish(codecs)
        for source in self.sources:
            if source.is_model:
                same = [each.names for each in self.sources if each.target == source.target]
                source.others = frozenset().union(*same) - source.names

    @property
    def path_names(self) -> frozenset[str] | None:
        """The names of the path that the functions read; None if they may read any."""
        models = [source for source in self.sources if source.target == "param" and source.is_model]
        if self.takes_context or any(not source.names for source in models):
            return None
        names = [source.names for source in self.sources if source.target == "param"]
        return frozenset().union(*names)

    def _check_bodies(self, body: JsonBody) -> None:
        form = next((source for source in self.sources if source.target == "form"), None)
        if form is not None:
            body.signature.refuse(
                f"the parameter {body.fields[0].name!r} is the JSON body, but "
                f"{form.fields[0].name!r} is read from a form: a request has one body"
            )

    def _arguments(self, signature: Signature, scope: Scope) -> tuple[Arguments, bool]:
        """Returns the arguments of a call, and whether the value of one of them ends early."""
        positional: list[str] = []
        by_keyword: dict[str, str] = {}
        ends_early = False
        for parameter in signature.parameters:
            if parameter.dependency is None:
                local = self._argument(signature, parameter)
            else:
                call = self._provide(signature, parameter.dependency, parameter.name, scope)
                local = call.local
                ends_early = ends_early or call.ends_early
            if parameter.by_keyword:
                by_keyword[parameter.name] = local
            else:
                positional.append(local)
        return Arguments(tuple(positional), by_keyword), ends_early

    def _argument(self, signature: Signature, parameter: Parameter) -> str:
        if isinstance(parameter.marker, (Env, Var)):
            return self._value(signature, parameter, parameter.marker)
        if is_connection(parameter):
            return self._connection(signature, parameter)
        kind = classify(parameter.annotation, self.codecs.decoders)
        if kind == "context" and parameter.marker is None:
            self.takes_context = True
            return "c"
        target = self._target(signature, parameter, kind)
        if target == "json":
            if is_raw(parameter):
                return self._add_raw_body(signature, parameter)
            return self._add_to_body(signature, parameter)
        return self._add_to_source(signature, parameter, target, is_model=kind == "object")

    def _connection(self, signature: Signature, parameter: Parameter) -> str:
        if signature is not self.signature:
            signature.refuse(
                f"the parameter {parameter.name!r} is the WebSocket, but dependencies run during "
                "the handshake, before the connection is accepted: write c: Context for the "
                "handshake, and use the WebSocket in the endpoint"
            )
        self.connection = self._local(parameter.name)
        return self.connection

    def _provide(
        self, signature: Signature, provider: Provider, name: str, scope: Scope
    ) -> DependencyCall:
        function = identity(provider.signature.function)
        self.functions.add(function)
        used = self._overrides.get(function, provider.signature)
        if has_spec(used.function):  # the mock is called like the function it replaces
            used = used._replace(parameters=provider.signature.parameters)
        is_managed = used.mode in MANAGED
        # Without its own exit, it ends with the dependencies that it uses, in any scope.
        own_scope = provider.scope if is_managed else None
        key = (function, own_scope) if provider.use_cache else object()
        call = self._provided.get(key)
        if call is None:
            replacing = identity(used.function)
            if replacing in self._within:
                used.refuse("it replaces a dependency in override(), but depends on it itself")
            self._within.append(replacing)
            arguments, ends_early = self._arguments(used, own_scope or scope)
            self._within.pop()
            if is_managed:
                ends_early = own_scope == "function"
            local = self._local(name)
            call = DependencyCall(
                local,
                used,
                provider.scope,
                arguments,
                ends_early=ends_early,
                cache_key=key if provider.use_cache else None,
            )
            self.calls.append(call)
            self._provided[key] = call
        if scope == "request" and call.ends_early:
            signature.refuse(
                f"the dependency {name!r} has the scope 'function', so it ends before this one, "
                "which has the scope 'request': give both the same scope"
            )
        return call

    def _value(self, signature: Signature, parameter: Parameter, marker: Env | Var) -> str:
        name = marker.name or parameter.name
        local = self._local(parameter.name)
        self.context_values.append(
            ContextValue(local, isinstance(marker, Env), name, parameter, signature)
        )
        return local

    def _target(self, signature: Signature, parameter: Parameter, kind: str) -> ValidationTarget:
        if isinstance(parameter.marker, Marker):
            target = parameter.marker.target
            if target != "json":
                self._check_text(signature, parameter, kind, target)
        elif parameter.name in self._in_path:
            target = "param"
            self._check_text(signature, parameter, kind, target)
        elif kind == "file":
            target = "form"
        elif kind == "object":
            target = "json"
            self._check_implicit_body(signature, parameter)
        elif kind in ("single", "many"):
            target = "query"
            self._check_text(signature, parameter, kind, target)
        else:
            self._refuse_unknown(signature, parameter)
        if target in ("json", "form") and self.method in ("GET", "HEAD"):
            signature.refuse(
                f"the parameter {parameter.name!r} is read from the body, which a {self.method} "
                f"request doesn't have ({self.method} {self.pattern!r})"
            )
        return target

    def _check_implicit_body(self, signature: Signature, parameter: Parameter) -> None:
        if self.method in _WITHOUT_BODY:
            name, shown = parameter.name, show(parameter.annotation)
            body = ", or Annotated[..., Body()] if clients do send a body"
            signature.refuse(
                f"the parameter {name!r} has the type {shown} of a JSON body, which a "
                f"{self.method} request doesn't use ({self.method} {self.pattern!r}): write "
                f"{name}: Annotated[{shown}, Query()] for the fields of the query"
                f"{body if self.method == 'DELETE' else ''}"
            )

    def _check_text(
        self, signature: Signature, parameter: Parameter, kind: str, target: ValidationTarget
    ) -> None:
        """Rejects types that can't be built from the strings of a part of the request."""
        name, shown = parameter.name, show(parameter.annotation)
        if kind == "websocket":
            signature.refuse(
                f"the parameter {name!r} is the WebSocket, which {parameter.marker!r} can't read: "
                f"write {name}: {shown}"
            )
        if kind in ("unknown", "context"):
            self._refuse_unknown(signature, parameter)
        if has_literal_bool(parameter.annotation):
            signature.refuse(
                f"the parameter {name!r} has the type {shown}, but text isn't converted to a bool "
                "of a Literal: write bool"
            )
        if kind == "file" and target != "form":
            signature.refuse(f"the parameter {name!r} is a file, which only a form has")
        if kind == "many" and target == "cookie":
            signature.refuse(
                f"the parameter {name!r} has the type {shown}, but a cookie has one value: read it "
                "as str, and split it in a function for Depends()"
            )
        if target == "param":
            self._check_path(signature, parameter, kind)

    def _check_path(self, signature: Signature, parameter: Parameter, kind: str) -> None:
        name, shown = parameter.name, show(parameter.annotation)
        if kind == "many" or (kind == "object" and not isinstance(parameter.marker, Path)):
            signature.refuse(
                f"the parameter {name!r} has the type {shown}, but the path ({self.pattern!r}) has "
                "one string for it: write a type such as int, UUID, date, an Enum or a Literal"
            )
        key = _key(parameter, "param")
        if kind == "object":
            return
        if key not in self._in_path:
            self.absent.append((signature, key))
        elif self._in_path[key] and parameter.is_required:
            signature.refuse(
                f"the parameter {name!r} may be absent from the path ({self.pattern!r}): "
                "give it a default"
            )

    def _refuse_unknown(self, signature: Signature, parameter: Parameter) -> NoReturn:
        name, shown = parameter.name, show(parameter.annotation)
        if is_marker_as_type(parameter.annotation):
            kind = parameter.annotation.__name__
            hint = f"write {name}: Annotated[..., {kind}()]"
            if kind == "File":
                hint = f"write {name}: kit.File, or {name}: Annotated[bytes, File()]"
            signature.refuse(f"the annotation of {name!r} is the marker kit.typed.{kind}: {hint}")
        if isinstance(parameter.annotation, (Marker, Env, Var, Dependency)):
            signature.refuse(
                f"the annotation of {name!r} is {shown} without a type: write {name}: "
                f"Annotated[type, {shown}]"
            )
        if shown in _INSTEAD:
            signature.refuse(
                f"the parameter {name!r} has the type {shown}, which isn't passed to endpoints: "
                f"write {_INSTEAD[shown]}"
            )
        signature.refuse(
            f"the parameter {name!r} has the type {shown}, which can't be read from a request: "
            f"write {name}: Annotated[{shown}, Depends(function)] for what a function provides, "
            "with Env() in place of Depends() for a value of c.env, or Var() for a variable; or "
            f"give the app a decoder: Kit(decoders={{{shown}: function}})"
        )

    def _add_to_source(
        self,
        signature: Signature,
        parameter: Parameter,
        target: ValidationTarget,
        *,
        is_model: bool,
    ) -> str:
        field = self._field(signature, parameter, target)
        if is_model:
            if isinstance(parameter.marker, Marker) and parameter.marker.name is not None:
                signature.refuse(
                    f"the parameter {parameter.name!r} takes all fields of "
                    f"{show(field.annotation)}, so {parameter.marker!r} can't name it"
                )
            field.local = self._local(parameter.name)
            self.sources.append(Source(target, [field], signature, is_model=True))
            return field.local
        for source in self.sources:
            if source.takes(field, target):
                same = next((each for each in source.fields if each.key == field.key), None)
                if same is None:
                    field.local = self._local(parameter.name)
                    source.fields.append(field)
                    return field.local
                if same.is_like(field):
                    return same.local
        field.local = self._local(parameter.name)
        self.sources.append(Source(target, [field], signature, is_model=False))
        return field.local

    def _add_raw_body(self, signature: Signature, parameter: Parameter) -> str:
        field = self._field(signature, parameter, "json")
        field.local = self._local(parameter.name)
        media_types = parameter.marker.media_types if isinstance(parameter.marker, Body) else ()
        self.raw_bodies.append(RawBody(field, media_types))
        return field.local

    def _add_to_body(self, signature: Signature, parameter: Parameter) -> str:
        marker = parameter.marker
        embed = isinstance(marker, Body) and marker.embed
        if isinstance(marker, Body) and marker.media_types:
            signature.refuse(
                f"the parameter {parameter.name!r} has the type {show(parameter.annotation)} of a "
                f"JSON body, but {marker!r} has a media_type, which is for bytes: leave it out"
            )
        field = self._field(signature, parameter, "json")
        body = self.body
        if body is None:
            body = self.body = JsonBody(signature, [], embed=embed)
        else:
            first = body.fields[0]
            same = next((each for each in body.fields if each.key == field.key), None)
            if same is not None and same.is_like(field) and embed == body.embed:
                return same.local
            if not (embed and body.embed) or same is not None:
                hint = "write one type that has both"
                is_shared = signature is not first.signature and not (embed or body.embed)
                if is_shared and first.annotation == field.annotation:
                    hint = "give them one name to read it for both"
                signature.refuse(
                    f"the parameters {first.name!r} and {parameter.name!r} are both the JSON body: "
                    f"{hint}, or Annotated[..., Body(embed=True)] for each, to read them from one "
                    "object by their names"
                )
        field.local = self._local(parameter.name)
        body.fields.append(field)
        return field.local

    def _field(self, signature: Signature, parameter: Parameter, target: ValidationTarget) -> Field:
        decoded = self.codecs.decoders
        kind = parameter.annotation
        return Field(
            name=parameter.name,
            key=_key(parameter, target),
            annotation=with_choices(kind, self.codecs) if decoded else kind,
            default=parameter.default,
            takes_list=takes_many(parameter.annotation),
            signature=signature,
        )

    def _local(self, name: str) -> str:
        """Returns a local name for a value."""
        local, number = name, 2
        while local in self._locals:
            local = f"{name}_{number}"
            number += 1
        self._locals.add(local)
        return local

    def describe(self) -> str:
        """Describes the source of each value for human readers, one per line."""
        lines = []
        for source in self.sources:
            part = "path" if source.target == "param" else source.target
            lines += [_described(each, part, is_all=source.is_model) for each in source.fields]
        if self.body is not None:
            is_all = not self.body.embed
            lines += [_described(each, "JSON body", is_all=is_all) for each in self.body.fields]
        lines += [_described(each.field, "body", is_all=True) for each in self.raw_bodies]
        for value in self.context_values:
            source_of = f"c.env[{value.name!r}]" if value.is_env else f"c.get({value.name!r})"
            lines.append(f"{value.local} = {source_of}")
        for call in self.calls:
            lines.append(f"{call.local} = {_named(call.signature)}({call.arguments})")
        return "\n".join([*lines, f"{_named(self.signature)}({self.arguments})"])


def _described(field: Field, part: str, *, is_all: bool) -> str:
    key = "" if is_all else f"[{field.key!r}]"
    return f"{field.local}: {show(field.annotation)} = {part}{key}"


def _named(signature: Signature) -> str:
    function = signature.function
    name = getattr(function, "__qualname__", None)
    return show(type(function)) if not isinstance(name, str) else name.rpartition("<locals>.")[2]


def _key(parameter: Parameter, target: ValidationTarget) -> str:
    if isinstance(parameter.marker, Marker) and parameter.marker.name is not None:
        name = parameter.marker.name
    else:
        name = parameter.name.replace("_", "-") if target == "header" else parameter.name
    return name.lower() if target == "header" else name


def read_parameters(pattern: str) -> Iterator[tuple[str, bool]]:
    """Yields the parameters of a pattern, and whether each is optional."""
    for segment in split_pattern(pattern):
        optional = segment.startswith(":") and segment.endswith("?")
        parameter = parse_parameter(segment[:-1] if optional else segment)
        if parameter is not None:
            yield parameter.name, optional


def read_overrides(
    overrides: Mapping[Callable[..., Any], Callable[..., Any]], names: Mapping[str, Any]
) -> dict[Any, Signature]:
    """Reads the functions that replace dependencies."""
    return {
        identity(unwrapped(function)): read_signature(unwrapped(other), names)
        for function, other in overrides.items()
    }
