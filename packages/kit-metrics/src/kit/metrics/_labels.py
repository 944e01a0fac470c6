# SPDX-License-Identifier: MIT
"""Labels and exemplars returned by functions of the app."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.interface import Context

from ._instruments import LABELS, OTHER, Exemplar

__all__ = ("ExtraLabels", "build_exemplar", "check_labels", "exemplar_source")

_NAME = r"(?!__)[A-Za-z_][A-Za-z0-9_]*"
# The first two are built-in labels of histograms and summaries.
_RESERVED = frozenset(("le", "quantile", *LABELS))
# SPEC: OpenMetrics 1.0, section "Exemplars": in characters, of names and values together.
_MOST_OF_EXEMPLAR = 128
_logger = logging.getLogger("kit.metrics")


def check_labels(check: OptionChecks, labels: Any) -> Mapping[str, Callable[[Any], Any]]:
    """Checks the option `labels`, and returns a mapping of names to functions (c)."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        check.wrong_type("labels", labels, "a mapping of names to str or functions (c)")
    functions = {}
    for name, label in labels.items():
        if not isinstance(name, str) or not re.fullmatch(_NAME, name) or name in _RESERVED:
            raise ValueError(
                f"{check.factory}(labels=...) has the label {name!r:.100}: expected a name such "
                f"as 'tenant', other than {', '.join(sorted(_RESERVED))}"
            )
        if isinstance(label, str):
            functions[name] = _constant(label)
        else:
            functions[name] = check.function(f"labels[{name!r}]", label, "(c)")
    return functions


def _constant(value: str) -> Callable[[Any], str]:
    return lambda c: value


class ExtraLabels:
    """Labels with values returned by functions.

    Args:
        functions: Each label name with its function `(c)`, plain or async.
        most_values: How many values a label may have, besides `OTHER`.
    """

    def __init__(self, functions: Mapping[str, Callable[[Any], Any]], most_values: int) -> None:
        self.names = tuple(functions)
        self._labels: list[tuple[str, Callable[[Any], Any], set[str]]] = [
            (name, function, set()) for name, function in functions.items()
        ]
        self._most_values = most_values
        self._once = _Once()

    async def values(self, c: Context[Any, Any]) -> tuple[str, ...]:
        """Returns the values for a request.

        If a function fails, or returns anything but a str or None, its first failure is logged, and
        the value is empty.
        """
        return tuple(
            [
                self._bounded(name, await self._asked(name, function, c), known)
                for name, function, known in self._labels
            ]
        )

    async def _asked(self, name: str, function: Callable[[Any], Any], c: Any) -> str:
        try:
            value = await call(function, c)
            if value is None:
                return ""
            if not isinstance(value, str):
                raise TypeError(
                    f"the function of the label {name!r} returned {value!r:.100}, expected a str "
                    "or None"
                )
        except Exception:
            self._once.warn(
                ("failed", name), "The label %r has no value: its function failed", name
            )
            return ""
        # A lone surrogate would make every scrape fail.
        return value if value.isascii() else value.encode(errors="replace").decode()

    def _bounded(self, name: str, value: str, known: set[str]) -> str:
        if value in known:
            return value
        if len(known) >= self._most_values:
            self._once.warn(
                ("full", name),
                "The label %r has %d values: all others are counted as %s",
                name,
                self._most_values,
                OTHER,
            )
            return OTHER
        known.add(value)
        return value


class _Once:
    """Logs each warning the first time."""

    def __init__(self) -> None:
        self._said: set[object] = set()

    def warn(self, what: object, text: str, *args: object) -> None:
        """Logs a warning, with the current exception, unless it was logged before."""
        if what not in self._said:
            self._said.add(what)
            _logger.warning(text, *args, exc_info=sys.exception())


_exemplars = _Once()


def exemplar_source(
    check: OptionChecks, exemplars: Any
) -> Callable[[Context[Any, Any]], Any] | None:
    """Checks the option `exemplars`, and returns the function for it, or None."""
    if exemplars is False:
        return None
    if exemplars is not True:
        if not callable(exemplars):
            check.wrong_type("exemplars", exemplars, "a bool or a function (c)")
        function: Callable[[Context[Any, Any]], Any] = check.function("exemplars", exemplars, "(c)")
        return function
    try:
        from opentelemetry.trace import get_current_span
    except ImportError as error:
        raise ImportError(
            "metrics(exemplars=True) needs opentelemetry-api: pip install opentelemetry-api"
        ) from error

    def current_trace(c: Context[Any, Any]) -> dict[str, str] | None:
        span = get_current_span().get_span_context()
        if not (span.is_valid and span.trace_flags.sampled):
            return None
        return {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}

    return current_trace


async def build_exemplar(function: Callable[[Any], Any], c: Context[Any, Any]) -> Exemplar:
    """Returns the exemplar of a request; None if there is none, or it can't be used.

    Args:
        function: Function `(c)`, plain or async, that returns a mapping or None.
        c: The context.
    """
    try:
        exemplar: Any = await call(function, c)
        if exemplar is None:
            return None
        texts = _check_texts(exemplar)
    except Exception:
        _exemplars.warn(function, "There is no exemplar: the function of exemplars=... failed")
        return None
    if sum(map(len, texts)) > _MOST_OF_EXEMPLAR or not all(
        re.fullmatch(_NAME, name) for name in exemplar
    ):
        _exemplars.warn(function, "There is no exemplar: %r can't be used", exemplar)
        return None
    return dict(exemplar)


def _check_texts(exemplar: Any) -> Iterable[str]:
    texts = [*exemplar.keys(), *exemplar.values()]
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"an exemplar has {text!r:.100}, expected a mapping of str to str")
        text.encode()  # fails for lone surrogates
    return texts
