# SPDX-License-Identifier: MIT
"""The calls of an endpoint and its dependencies, and the values of the context they need."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from kit.authoring.signatures import describe
from kit.interface import Context

from .._signature.markers import Scope
from .._signature.signature import Made, Parameter, Signature
from .._signature.types import allows_none

MANAGED = ("manager", "async manager", "unclear manager")
"""The modes of functions whose results are entered as context managers."""


class Arguments(NamedTuple):
    """The arguments of a call, by the local names of their values.

    Attributes:
        positional: Arguments passed by position.
        by_keyword: Arguments passed by keyword, by the names of the parameters.
    """

    positional: tuple[str, ...]
    by_keyword: Mapping[str, str]

    def bind(self, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        """Returns a function that takes values by their local names, and calls `function`."""
        by_keyword = self.by_keyword
        if len(self.positional) == 1 and not by_keyword:
            (name,) = self.positional
            return lambda values: function(values[name])
        pick = _picker(self.positional)
        if not by_keyword:
            return lambda values: function(*pick(values))
        return lambda values: function(
            *pick(values), **{name: values[local] for name, local in by_keyword.items()}
        )

    def __str__(self) -> str:
        by_keyword = [f"{name}={local}" for name, local in self.by_keyword.items()]
        return ", ".join([*self.positional, *by_keyword])


def _picker(names: tuple[str, ...]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Returns a function that takes a dict, and returns the values with these names."""
    # PERF: three times as fast as a loop over the names.
    if len(names) > 1:
        return itemgetter(*names)
    if not names:
        return lambda values: ()
    (name,) = names
    return lambda values: (values[name],)


class DependencyCall:
    """A call of a dependency.

    Args:
        local: The local name of the value that it provides.
        signature: The function to call.
        scope: When its exit runs.
        arguments: The arguments.
        ends_early: Whether its value is closed before the response is sent.
        cache_key: Identifies it among the dependencies of a request; None if it is called anew for
            each parameter.

    Attributes:
        call: Calls the function with values by their local names.
        is_async: Whether the result of the call is a coroutine.
    """

    def __init__(
        self,
        local: str,
        signature: Signature,
        scope: Scope,
        arguments: Arguments,
        *,
        ends_early: bool,
        cache_key: Any = None,
    ) -> None:
        self.local = local
        self.signature = signature
        self.scope = scope
        self.arguments = arguments
        self.ends_early = ends_early
        self.cache_key = cache_key
        self.call = arguments.bind(signature.call)
        self.is_async = signature.mode == "async"

    @property
    def closes_early(self) -> bool:
        """Whether the value may have to be closed before the response is sent."""
        return self.scope == "function" and self.signature.mode in (*MANAGED, "unclear")


class ContextValue(NamedTuple):
    """A value from `c.env`, or a variable.

    Attributes:
        local: Its local name.
        is_env: Whether it comes from `c.env`.
        name: Its name in `c.env` or among the variables.
        parameter: The first parameter that needs it.
        signature: The function with that parameter.
    """

    local: str
    is_env: bool
    name: str
    parameter: Parameter
    signature: Signature

    def read(self, c: Context[Any, Any]) -> Any:
        """Returns the value for a request, or the default of the parameter.

        Raises:
            LookupError: If the value is missing, and the parameter has no default.
        """
        return self._read_env(c) if self.is_env else self._read_variable(c)

    def _read_env(self, c: Context[Any, Any]) -> Any:
        try:
            return c.env[self.name]
        except KeyError:
            if not self.parameter.is_required:
                return self._create_default()
        raise LookupError(
            f"{describe(self.signature.function)} reads c.env[{self.name!r}], which isn't there: "
            "run the app with the lifespan that yields it, or pass env={...} to request()"
        )

    def _read_variable(self, c: Context[Any, Any]) -> Any:
        value = c.get(self.name)
        if value is not None:
            return value
        if not self.parameter.is_required:
            return self._create_default()
        if allows_none(self.parameter.annotation):
            return None
        raise LookupError(
            f"{describe(self.signature.function)} reads the variable {self.name!r}, which no "
            "middleware has set for this request: give the parameter a default, or a type with "
            "None, if it may be absent"
        )

    def _create_default(self) -> Any:
        default = self.parameter.default
        if isinstance(default, Made):
            return default.factory()
        return copy.deepcopy(default) if isinstance(default, (list, dict, set)) else default
