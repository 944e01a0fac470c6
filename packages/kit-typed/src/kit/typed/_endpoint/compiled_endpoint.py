# SPDX-License-Identifier: MIT
"""Runs an endpoint for the requests of one route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeAlias

from kit.authoring.maybe_await import is_awaitable
from kit.authoring.signatures import describe
from kit.interface import Context, is_response

from .._parameters.request_values import compile_reading, load_form, read_json
from .._results.results import ANYTHING, Result
from .._results.streams import StreamedCall
from .calls import DependencyCall
from .dependencies import exit_arguments, provide
from .problems import list_problems
from .resolution import Resolution
from .shared_values import find_provided

# The errors of msgspec and pydantic; deeply nested JSON raises RecursionError.
_INVALID = (ValueError, RecursionError)
_DATA = frozenset({dict, list, tuple, str, int, float, bool})

Load: TypeAlias = Callable[[Context[Any, Any], dict[str, Any]], Awaitable[None]]
Run: TypeAlias = Callable[[Context[Any, Any]], Coroutine[Any, Any, Any]]
Finish: TypeAlias = Callable[[Context[Any, Any], dict[str, Any], AsyncExitStack | None], Any]


class CompiledEndpoint:
    """An endpoint with the sources of its parameters.

    Args:
        resolution: The sources of its parameters.
        result: How its results are sent; without a status, with the one set on the context.
        shared: The keys of the dependencies whose values it shares with the guards before it, by
            local name; see `find_shared`.

    Attributes:
        run: Handles a request: returns the response, or for a WebSocket, the handler of the
            connection. Raises RequestValidationError with all errors of an invalid request, and
            LookupError if a value isn't in `c.env`, or a variable isn't set.
    """

    def __init__(
        self, resolution: Resolution, result: Result, shared: Mapping[str, Any] | None = None
    ) -> None:
        self.resolution = resolution
        self._call_endpoint = resolution.arguments.bind(resolution.signature.call)
        stream = resolution.signature.stream
        if stream is not None:
            _refuse_early_ends(resolution)
            self._call_endpoint = StreamedCall(
                resolution.signature, stream, self._call_endpoint, result, resolution.codecs
            ).respond
            result = ANYTHING
        self._result = result
        self._status = result.status
        self._is_async = resolution.signature.mode == "async"
        # PERF: results of these classes need no further checks.
        self._unchanged = result.unchanged
        self._is_unchanged = result.is_unchanged
        self._reads_of_texts = [
            compile_reading(each) for each in resolution.sources if each.target != "form"
        ]
        forms = [each for each in resolution.sources if each.target == "form"]
        self._loads_of_bodies: list[Load] = [
            *(each.load_into for each in resolution.raw_bodies),
            *(partial(load_form, each) for each in forms),
        ]
        closes_early = any(each.closes_early for each in resolution.calls)
        self.run: Run = self._run_within_stack if closes_early else self._run
        self._shared = shared or {}
        self._provide = self._provide_shared if shared else self._provide_own
        # What follows once all values are known, instead of a call of the endpoint.
        self._finish: Finish | None = self._connection_handler if resolution.connection else None

    async def _run_within_stack(self, c: Context[Any, Any]) -> Any:
        """Handles a request, some of whose dependencies close before the response is sent."""
        async with AsyncExitStack() as exits:
            return await self._run(c, exits)
        raise RuntimeError(
            f"a dependency of {describe(self.resolution.signature.function)} suppressed an "
            "exception, so there is no response: raise it again after the yield"
        )

    # PERF: one coroutine, as a second one for the rare cases takes 0.15 us of each result.
    async def _run(  # noqa: C901
        self, c: Context[Any, Any], exits: AsyncExitStack | None = None
    ) -> Any:
        resolution = self.resolution
        body = resolution.body
        values: dict[str, Any] = {"c": c}
        try:
            for read in self._reads_of_texts:
                read(c, values)
            for load in self._loads_of_bodies:
                await load(c, values)
            if body is not None:
                body.add_to(values, await read_json(c, body))
        except _INVALID as error:
            raise await list_problems(c, resolution, error) from error
        for each in resolution.context_values:
            values[each.local] = each.read(c)
        if resolution.calls:
            await self._provide(c, values, exits, resolution.calls)
        if self._finish is not None:
            return self._finish(c, values, exits)
        result = self._call_endpoint(values)
        if self._is_async:
            result = await result
        if type(result) in self._unchanged or self._is_unchanged(result):
            return c.json(result, self._status)
        while is_awaitable(result) and not is_response(result):
            result = await result
        return self._respond(c, result)

    async def _provide_own(
        self,
        c: Context[Any, Any],
        values: dict[str, Any],
        exits: AsyncExitStack | None,
        calls: Iterable[DependencyCall],
    ) -> None:
        """Adds the values of dependencies to the values."""
        for call in calls:
            result = call.call(values)
            if call.is_async:
                result = await result
            if type(result) not in _DATA:
                result = await provide(c, call, result, exits)
            values[call.local] = result

    async def _provide_shared(
        self,
        c: Context[Any, Any],
        values: dict[str, Any],
        exits: AsyncExitStack | None,
        calls: Iterable[DependencyCall],
    ) -> None:
        """Like `_provide_own`, but shares values with the guards of the request."""
        provided = find_provided(c)
        for call in calls:
            key = self._shared.get(call.local)
            if key is None or key not in provided:
                await self._provide_own(c, values, exits, (call,))
                if key is not None:
                    provided[key] = values[call.local]
            else:
                values[call.local] = provided[key]

    def _respond(self, c: Context[Any, Any], result: Any) -> Any:
        """Returns the response for a result, which may be a response."""
        if is_response(result):
            return result
        declared = self._result
        if result is None and declared.allows_none:
            return c.body(None, 204 if self._status is None else self._status)
        if declared.convert is not None:
            result = declared.convert(result)
        return c.json(result, self._status)

    def _connection_handler(
        self, c: Context[Any, Any], values: dict[str, Any], exits: AsyncExitStack | None
    ) -> Callable[[Any], Any]:
        """Returns the handler of a WebSocket; dependencies of the scope `function` close after it.

        If the connection is rejected in the end, they close at the end of the request.
        """

        def handle(ws: Any) -> Any:
            return self._call_endpoint({**values, self.resolution.connection: ws})

        if exits is None:
            return handle
        kept = exits.pop_all()
        close_once = kept.__aexit__  # it runs each exit once
        c.add_cleanup(lambda error: close_once(*exit_arguments(error)))

        async def handle_and_close(ws: Any) -> Any:
            async with kept:
                return await handle(ws)

        return handle_and_close


def _refuse_early_ends(resolution: Resolution) -> None:
    for call in resolution.calls:
        if call.closes_early:
            resolution.signature.refuse(
                f"it yields while the response is sent, but the dependency {call.local!r} has the "
                "scope 'function', so it would be closed before: give it the scope 'request', "
                "which ends after the stream"
            )
