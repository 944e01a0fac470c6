# SPDX-License-Identifier: MIT
"""A typed endpoint at one method and pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from kit.authoring.route_hooks import find_bound
from kit.interface import (
    METHOD_NAME_ALL,
    Codecs,
    Context,
    Problem,
    RouterRoute,
    ValidationProblem,
)
from kit.interface.metadata import attach, combine_security, get_facts
from kit.router.patterns import covers

from .._parameters.documentation import documented_type
from .._parameters.raw_body import RawBody
from .._results.responses import describe_responses
from .._results.results import Result
from .._results.streams import describe_stream
from .._signature.signature import REQUIRED, Signature
from .._signature.types import allows_none, never_fits, show
from .compiled_endpoint import CompiledEndpoint
from .resolution import Resolution
from .shared_values import find_shared
from .unread_parameters import unread_name


class CompiledRoute:
    """An endpoint at one method and pattern.

    Args:
        signature: The endpoint.
        result: How its results are sent.
        method: The method.
        pattern: The whole pattern.
        codecs: The encoders and decoders of the app.

    Attributes:
        resolution: The sources of its values, without overrides.
        handler: The function that handles its requests.
    """

    def __init__(
        self, signature: Signature, result: Result, method: str, pattern: str, codecs: Codecs
    ) -> None:
        self._signature = signature
        self._result = result.bind(codecs)
        self._method = method
        self._pattern = pattern
        self._codecs = codecs
        self._overrides: list[Mapping[Any, Signature]] = []
        self._provided_before: frozenset[Any] = frozenset()
        self._endpoint = self._compile()
        self.resolution = self._endpoint.resolution

        # PERF: `async def` would add a coroutine, 0.2 us.
        def handler(c: Context[Any, Any]) -> Any:
            return self._endpoint.run(c)

        self.handler = handler

    def _compile(self) -> CompiledEndpoint:
        resolution = self._resolve()
        shared = find_shared(resolution, self._provided_before) if self._provided_before else None
        return CompiledEndpoint(resolution, self._result, shared)

    def _resolve(self) -> Resolution:
        overrides = {key: value for each in self._overrides for key, value in each.items()}
        return Resolution(self._signature, self._method, self._pattern, overrides, self._codecs)

    @property
    def cache_keys(self) -> frozenset[Any]:
        """The keys of the dependencies that are called once per request."""
        return frozenset(call.cache_key for call in self.resolution.calls) - {None}

    def override(self, overrides: Mapping[Any, Signature]) -> None:
        """Replaces dependencies by other functions from now on."""
        self._overrides.append(overrides)
        try:
            self._endpoint = self._compile()
        except TypeError:
            self._overrides.remove(overrides)
            raise

    def restore(self, overrides: Mapping[Any, Signature]) -> None:
        """Ends an `override`."""
        self._overrides = [each for each in self._overrides if each is not overrides]
        self._endpoint = self._compile()

    def check(self, before: Sequence[RouterRoute], route: RouterRoute | None = None) -> None:
        """Rejects parameters that nothing provides, and names in the pattern that nothing reads.

        See `kit.authoring.route_hooks`.
        """
        self.check_values(before)
        if route is not None:
            self._check_names(before, route)
        if self.resolution.calls:
            self._share_values(before)

    def check_values(self, before: Sequence[RouterRoute]) -> None:
        """Rejects parameters that nothing provides."""
        place = f"{self._method} {self._pattern!r}"
        for signature, name in self.resolution.absent:
            signature.refuse(
                f"Path() reads the parameter {name!r} of the path, which {place} doesn't have"
            )
        variables = [each for each in self.resolution.context_values if not each.is_env]
        provided = self._provided(before) if variables else {}
        for value in variables:
            kind = value.parameter.annotation
            if value.name in provided:
                if never_fits(provided[value.name], kind):
                    value.signature.refuse(
                        f"Var() reads the variable {value.name!r} ({place}) as {show(kind)}, but "
                        f"the middleware before the route provides {show(provided[value.name])}: "
                        "write that type, or correct the one that the middleware declares"
                    )
            elif value.parameter.is_required and not allows_none(kind):
                value.signature.refuse(
                    f"Var() reads the variable {value.name!r} ({place}), which no middleware before"
                    " the route provides: register the middleware before it; if its factory "
                    "doesn't declare the variable, declare it with "
                    f"kit.interface.metadata.attach(middleware, provides={{{value.name!r}: type}})"
                )

    def _share_values(self, before: Sequence[RouterRoute]) -> None:
        """Compiles the endpoint again if guards before it provide values that it needs."""
        guards = (
            guard
            for each in before
            if each.takes_next
            for guard in find_bound(each.handler, "__kit_route__")
        )
        provided = self.cache_keys.intersection(key for guard in guards for key in guard.cache_keys)
        if provided != self._provided_before:
            self._provided_before = provided
            self._endpoint = self._compile()

    def check_env(self, env: Mapping[str, Any]) -> None:
        """Rejects missing values of `c.env`; see `kit.authoring.route_hooks`."""
        for value in self._endpoint.resolution.context_values:
            if not (value.is_env and value.parameter.is_required):
                continue
            with suppress(KeyError):
                env[value.name]  # not `in`, since a mapping may create missing values
                continue
            names = ", ".join(map(repr, env)) or "nothing"
            value.signature.refuse(
                f"Env() reads c.env[{value.name!r}] ({self._method} {self._pattern!r}), which no "
                f"lifespan yields, but {names}: yield it in the lifespan of the app, or give the "
                "parameter a default"
            )

    def _check_names(self, before: Sequence[RouterRoute], route: RouterRoute) -> None:
        """Rejects a parameter of the route's own pattern that nothing reads."""
        read = self.resolution.path_names
        # A dependency, or a decorator above @typed, can read all parameters from the context.
        if read is None or self._is_wrapped(route.handler):
            return
        name = unread_name(route, before, read)
        if name is None:
            return
        added = f"{name}: str" if name.isidentifier() else f"with Path({name!r})"
        self._signature.refuse(
            f"the pattern {self._pattern!r} ({self._method}) has {':' + name!r}, which no "
            f"parameter reads: add a parameter {added}, or remove it from the pattern, or write * "
            "there"
        )

    def _is_wrapped(self, handler: Any) -> bool:
        """Returns whether a decorator is between the route and this handler."""
        layers = 0
        while handler is not None and handler is not self.handler:
            layers += 1
            handler = getattr(handler, "__wrapped__", None)
        return handler is None or layers > (1 if self.resolution.connection else 0)

    def _provided(self, before: Sequence[RouterRoute]) -> dict[str, Any]:
        """Returns the variables that middleware sets, with their types; the last one counts."""
        names: dict[str, Any] = {}
        for route in before:
            provides = get_facts(route.handler).provides if route.takes_next else ()
            is_around = provides and route.method in (METHOD_NAME_ALL, self._method)
            if is_around and covers(route.path, self._pattern):
                names.update(provides)
        return names

    def _describe_results(self) -> dict[int, Any]:
        """Returns the responses of the endpoint itself by status."""
        stream, status = self._signature.stream, self._result.status
        if stream is not None:
            return describe_stream(stream, status)
        if self.resolution.connection:
            return {}
        return describe_responses(self._signature.returns, status)

    def with_facts(self, handler: Any) -> Any:
        """Attaches the metadata of the endpoint for tools."""
        resolution = self.resolution
        validates: dict[Any, Any] = {}
        for source in resolution.sources:
            if source.target not in validates:
                same = [each for each in resolution.sources if each.target == source.target]
                validates[source.target] = documented_type(same, self._codecs.decoders)
        if resolution.body is not None:
            validates["json"] = resolution.body.documented_type
            attach(handler, body_required=resolution.body.default is REQUIRED)
            if resolution.body.media_types:
                attach(handler, body_media_types=resolution.body.media_types)
        responses: dict[int, Any] = {}
        for call in resolution.calls:
            responses.update(get_facts(call.signature.function).responses)
        if resolution.raw_bodies and not validates.keys() & {"json", "form"}:
            _describe_raw_body(handler, resolution.raw_bodies[0])
        if validates or resolution.raw_bodies:
            responses[400] = ValidationProblem
        responses.update(self._describe_results())
        attach(handler, typed_result=self._result.options.given)
        if self._result.status is not None:  # whatever status the context has
            attach(handler, typed_status=self._result.status)
        raw_types = [each for each in resolution.raw_bodies if each.media_types]
        if raw_types or validates.keys() & {"json", "form"}:
            responses[415] = Problem
        attach(handler, validates=validates, responses=responses, source=resolution.describe())
        # The documentation includes the exceptions of these functions.
        calls = tuple(call.signature.function for call in resolution.calls)
        attach(handler, typed_calls=calls)
        # Every guard among the dependencies can reject a request.
        security = combine_security([self._signature.function, *calls])
        return attach(handler, security=security) if security else handler


def _describe_raw_body(handler: Any, body: RawBody) -> None:
    """Documents a body of which only the bytes are read, unless `describe` says more."""
    if "request_body" not in get_facts(handler).describes:
        attach(handler, describes={"request_body": body.description})
