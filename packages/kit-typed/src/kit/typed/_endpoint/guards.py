# SPDX-License-Identifier: MIT
"""Dependencies as middleware: they decide about a request before its parameters are read."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AsyncExitStack
from typing import Any, TypeAlias, get_args, get_origin

from kit.authoring.caller_frame import find_caller_frame
from kit.authoring.route_hooks import find_bound
from kit.authoring.signatures import copy_names
from kit.interface import (
    METHOD_NAME_ALL,
    Codecs,
    Context,
    HTTPException,
    Next,
    Response,
    RouterRoute,
    is_response,
)
from kit.interface.metadata import attach
from kit.router.patterns import may_overlap, parse_parameter, split_pattern

from .._results.results import ANYTHING
from .._signature.markers import Dependency
from .._signature.signature import (
    REQUIRED,
    Parameter,
    Provider,
    Signature,
    read_signature,
    unwrapped,
)
from .._signature.types import find_classes, split
from .compiled_endpoint import CompiledEndpoint
from .compiled_route import CompiledRoute
from .resolution import Resolution, read_parameters
from .shared_values import find_provided, find_shared

# What yields or awaits the value of a guard; its type is the first argument.
_PROVIDERS = (
    *(AsyncIterator, AsyncIterable, AsyncGenerator),
    *(Iterator, Iterable, Generator, Awaitable),
)

_Handler: TypeAlias = Callable[[Context[Any, Any], Next], Awaitable[Response | None]]


class Guard(Dependency):
    """A dependency that an app also takes as middleware."""

    __kit_takes_next__ = True

    def __kit_bind__(self, method: str, pattern: str, codecs: Codecs) -> _Handler:
        """Compiles the middleware for a route; see `kit.interface.hooks`."""
        guard = CompiledGuard(self, self._read(), method, pattern, codecs)
        handler = guard.handler
        handler.__dict__.update(
            __kit_origin__=self.function,
            __kit_check__=guard.check,
            __kit_check_after__=guard.check_after,
            __kit_check_env__=guard.check_env,
            __kit_route__=guard,
        )
        copy_names(handler, self.function)
        bound: _Handler = guard.with_facts(handler)
        return bound

    def __call__(self, c: Context[Any, Any], next: Next) -> Awaitable[Response | None]:
        """Runs the guard, for middleware that wraps it."""
        route = c.matched_routes[c.req.route_index]
        for compiled in find_bound(route.handler, "__kit_route__"):
            if isinstance(compiled, CompiledGuard) and compiled.guard is self:
                handler: _Handler = compiled.handler
                return handler(c, next)
        bound = self.__kit_bind__(route.method, route.path, c.codecs)
        for compiled in find_bound(bound, "__kit_route__"):  # which the app couldn't check
            compiled.check_after(c.matched_routes[c.req.route_index + 1 :])
        return bound(c, next)

    def _read(self) -> Signature:
        """Returns the signature of a function that takes the value as its only parameter."""
        known: Signature | None = self.__dict__.get("signature")
        if known is not None:
            return known
        if self.function is None:
            raise TypeError(
                "Depends() without a function can't be middleware, since there is no annotation to "
                "call: write Depends(function)"
            )
        # The names in annotations may be local to the function that registers the guard.
        names = find_caller_frame()[0].f_locals
        signature = read_signature(unwrapped(self.function), names)
        provider = Provider(signature, self.use_cache, self.scope)
        value = Parameter("value", Any, REQUIRED, None, provider, by_keyword=False)

        def guard(value: Any) -> Any:
            return value

        guard.__dict__["__kit_origin__"] = self.function
        guard.__qualname__ = "Depends"
        known = self.__dict__["signature"] = Signature(guard, guard, "plain", (value,), REQUIRED)
        return known


class GuardEndpoint(CompiledEndpoint):
    """Provides the value of a guard.

    Args:
        resolution: The sources of its parameters.

    Attributes:
        closes_early: Whether a dependency closes before the response is sent.
        find_refusal: Returns the response for a value that refuses a request.
    """

    def __init__(self, resolution: Resolution) -> None:
        super().__init__(resolution, ANYTHING, find_shared(resolution))
        (local,) = resolution.arguments.positional
        self._finish = lambda c, values, exits: values[local]
        self.closes_early = any(call.closes_early for call in resolution.calls)
        is_check = _returns_bool(resolution.calls[-1].signature)
        self.find_refusal = find_refusal_of_check if is_check else find_refusal
        early = {call.local for call in resolution.calls if call.ends_early}
        self._early = [key for local, key in self._shared.items() if local in early]

    def load(
        self, c: Context[Any, Any], exits: AsyncExitStack | None = None
    ) -> Coroutine[Any, Any, Any]:
        """Returns the value.

        Args:
            c: The context.
            exits: Where the dependencies that close early register their exits.
        """
        return self._run(c, exits)

    def forget_closed(self, c: Context[Any, Any]) -> None:
        """Forgets the values that close with the guard, so that nothing uses them afterwards."""
        provided = find_provided(c)
        for key in self._early:
            provided.pop(key, None)


class CompiledGuard(CompiledRoute):
    """A guard at one method and pattern.

    Args:
        guard: The dependency.
        signature: A function that takes its value.
        method: The method.
        pattern: The whole pattern.
        codecs: The encoders and decoders of the app.
    """

    _endpoint: GuardEndpoint

    def __init__(
        self, guard: Guard, signature: Signature, method: str, pattern: str, codecs: Codecs
    ) -> None:
        super().__init__(signature, ANYTHING, method, pattern, codecs)
        self.guard = guard

        async def handler(c: Context[Any, Any], next: Next) -> Response | None:
            endpoint = self._endpoint
            if endpoint.closes_early:
                return await self._run_within_stack(endpoint, c, next)
            response = endpoint.find_refusal(await endpoint.load(c))
            if response is None:
                await next()
            return response

        self.handler: Any = handler

    def _compile(self) -> GuardEndpoint:
        return GuardEndpoint(self._resolve())

    async def _run_within_stack(
        self, endpoint: GuardEndpoint, c: Context[Any, Any], next: Next
    ) -> Response | None:
        """Runs a guard, some of whose dependencies close before the response is sent."""
        handled: Exception | None = None
        is_decided = False
        response: Response | None = None
        try:
            async with AsyncExitStack() as exits:
                exits.callback(endpoint.forget_closed, c)
                response = endpoint.find_refusal(await endpoint.load(c, exits))
                is_decided = True
                if response is None:
                    before = c.error
                    await next()
                    handled = c.error
                    if handled is not None and handled is not before:
                        raise handled  # for the dependencies; the response is already there
        except Exception as error:
            if error is not handled:
                raise
        if not is_decided:
            raise RuntimeError(
                f"a dependency of {self.guard!r} suppressed an exception, so the guard hasn't let "
                "the request pass: raise it again after the yield"
            )
        return response

    def check(self, before: Sequence[RouterRoute], route: RouterRoute | None = None) -> None:
        """Rejects parameters that nothing provides; see `kit.interface.hooks`."""
        self.check_values(before)

    def check_after(self, after: Sequence[RouterRoute]) -> None:
        """Rejects parameters of the query that a guarded route has in its path.

        APPSEC: they would be read from the query of a request for another object.
        """
        names = {
            field.key: field.signature
            for source in self.resolution.sources
            if source.target == "query" and not source.is_model
            for field in source.fields
            if _is_unmarked(field.signature, field.name)
        }
        for route in after if names else ():
            is_same = self._method in (route.method, METHOD_NAME_ALL) or (
                route.method == METHOD_NAME_ALL
            )
            if route.takes_next or not is_same:
                continue
            for name, _ in read_parameters(route.path):
                if name in names and _may_meet(self._pattern, route.path, name):
                    names[name].refuse(
                        f"the parameter {name!r} is read from the query, but {route.method} "
                        f"{route.path!r} has it in its path, and a guard reads only the path "
                        f"parameters of its own pattern, {self._pattern!r}: write "
                        f"use={self.guard!r} at the route, or a pattern with the parameter, or "
                        f"{name}: Annotated[..., Query()] for the query"
                    )

    def with_facts(self, handler: Any) -> Any:
        """Attaches the metadata of the guard for tools."""
        call = self.resolution.calls[-1]  # after those that it depends on
        if _returns_bool(call.signature):
            attach(handler, responses={403: "Forbidden"})
        return super().with_facts(handler)


def find_refusal(value: Any) -> Response | None:
    """Returns the response of a guard that refuses a request; None if it lets the request pass.

    Raises:
        HTTPException: 403, if the guard returned False.
    """
    if value is False:
        raise HTTPException(403, "Forbidden")
    return value if is_response(value) else None


def find_refusal_of_check(value: Any) -> Response | None:
    """Returns the same for a guard that is annotated to return a bool.

    APPSEC: `return user and user.is_admin` is None without a user.

    Raises:
        HTTPException: 403, if the guard returned what isn't true.
    """
    return find_refusal(value if value or is_response(value) else False)


def _returns_bool(signature: Signature) -> bool:
    returns, _ = split(signature.returns)
    if get_origin(returns) in _PROVIDERS:
        (returns, *_) = get_args(returns)
    return bool in (find_classes(returns) or ())


def _may_meet(pattern: str, path: str, name: str) -> bool:
    """Returns whether a guarded route reads a parameter that the guard's pattern leaves open.

    Args:
        pattern: The pattern of the guard.
        path: The pattern of the route.
        name: The parameter of the route.
    """
    if not may_overlap(pattern, path):
        return False
    for ours, theirs in zip(split_pattern(pattern), split_pattern(path), strict=False):
        parameter = parse_parameter(theirs.removesuffix("?"))
        if "{" in ours or "{" in theirs:  # they may take several segments
            return True
        if parameter is not None and parameter.name == name:
            return ours.startswith(":") or ours.endswith("*")
    return True


def _is_unmarked(signature: Signature, name: str) -> bool:
    return any(each.name == name and each.marker is None for each in signature.parameters)
