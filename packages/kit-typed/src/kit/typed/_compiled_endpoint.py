# SPDX-License-Identifier: MIT
"""Runs an endpoint for the requests of one route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeAlias

from kit.authoring.maybe_await import is_awaitable
from kit.authoring.signatures import describe
from kit.interface import Context, is_response

from ._dependencies import exit_arguments, provide
from ._problems import list_problems
from ._request_values import load_form, read_json, read_text
from ._resolution import Resolution
from ._types import is_object

# The errors of msgspec and pydantic; deeply nested JSON raises RecursionError.
_INVALID = (ValueError, RecursionError)
_DATA = frozenset({dict, list, tuple, str, int, float, bool})

Load: TypeAlias = Callable[[Context[Any, Any], dict[str, Any]], Awaitable[None]]
Run: TypeAlias = Callable[[Context[Any, Any]], Coroutine[Any, Any, Any]]


class CompiledEndpoint:
    """An endpoint with the sources of its parameters.

    Args:
        resolution: The sources of its parameters.
        status: The status of its result; None: the status set on the context.

    Attributes:
        run: Handles a request: returns the response, or for a WebSocket, the handler of the
            connection. Raises RequestValidationError with all errors of an invalid request, and
            LookupError if a value isn't in `c.env`, or a variable isn't set.
    """

    def __init__(self, resolution: Resolution, status: int | None) -> None:
        self.resolution = resolution
        self._status = status
        self._call_endpoint = resolution.arguments.bind(resolution.signature.call)
        self._is_async = resolution.signature.mode == "async"
        # PERF: a result whose type is data needs no further checks.
        returns = resolution.signature.returns
        self._data = _DATA | {returns} if is_object(returns) else _DATA
        self._texts = [each for each in resolution.sources if each.target != "form"]
        forms = [each for each in resolution.sources if each.target == "form"]
        self._loads_of_bodies: list[Load] = [
            *(each.load_into for each in resolution.raw_bodies),
            *(partial(load_form, each) for each in forms),
        ]
        closes_early = any(each.closes_early for each in resolution.calls)
        self.run: Run = self._run_within_stack if closes_early else self._run

    async def _run_within_stack(self, c: Context[Any, Any]) -> Any:
        """Handles a request, some of whose dependencies close before the response is sent."""
        async with AsyncExitStack() as exits:
            return await self._run(c, exits)
        raise RuntimeError(
            f"a dependency of {describe(self.resolution.signature.function)} suppressed an "
            "exception, so there is no response: raise it again after the yield"
        )

    async def _run(self, c: Context[Any, Any], exits: AsyncExitStack | None = None) -> Any:
        resolution = self.resolution
        body = resolution.body
        values: dict[str, Any] = {"c": c}
        try:
            for source in self._texts:
                source.load_into(values, read_text(c, source))
            for load in self._loads_of_bodies:
                await load(c, values)
            if body is not None:
                body.add_to(values, await read_json(c, body))
        except _INVALID as error:
            raise await list_problems(c, resolution, error) from error
        for each in resolution.context_values:
            values[each.local] = each.read(c)
        if resolution.calls:
            await self._provide(c, values, exits)
        if resolution.connection:
            return self._connection_handler(c, values, exits)
        result = self._call_endpoint(values)
        if self._is_async:
            result = await result
        if type(result) in self._data:
            return c.json(result, self._status)
        return await self._respond(c, result)

    async def _provide(
        self, c: Context[Any, Any], values: dict[str, Any], exits: AsyncExitStack | None
    ) -> None:
        """Adds the values of the dependencies to the values."""
        for call in self.resolution.calls:
            result = call.call(values)
            if call.is_async:
                result = await result
            if type(result) not in _DATA:
                result = await provide(c, call, result, exits)
            values[call.local] = result

    async def _respond(self, c: Context[Any, Any], result: Any) -> Any:
        """Returns the response for a result; the result may be a response or an awaitable."""
        while is_awaitable(result) and not is_response(result):
            result = await result
        if result is None:
            return c.body(None, 204 if self._status is None else self._status)
        return result if is_response(result) else c.json(result, self._status)

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
