# SPDX-License-Identifier: MIT
"""A pattern, or its end, as one regular expression for paths."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kit.interface import UnsupportedPathError

from ._expressions import traits
from ._parsing import FLAGS, Segment, compile_expression


def first_stretch(segments: Sequence[Segment]) -> int | None:
    """Finds the first expression before the last segment that may match slashes.

    Where its value ends depends on everything that follows, so this can't be matched segment by
    segment.

    Args:
        segments: The segments of a variant, see `variants`.

    Returns:
        Its index; None if there is none.
    """
    for index, segment in enumerate(segments[:-1]):
        if segment.expression is not None and traits(segment.expression).takes_slash:
            return index
    return None


class PathExpression:
    """The regular expression for some segments of a pattern, each after a slash.

    An expression in braces has to match the whole value of its parameter, and sees only that, so
    those with anchors, lookarounds or references are checked on the values. If an expression before
    the end may match slashes, it takes as much as it can while what follows still matches; it and
    the expressions after it then can't have anchors or references.

    Args:
        path: The whole pattern, for errors.
        segments: The segments of a variant, or the last of them.
        method: The method of the route, for errors.
        ends_with_slash: Whether a slash at the end makes no difference.

    Raises:
        UnsupportedPathError: If an expression is invalid or can't be combined with the others.

    Attributes:
        pattern: The expression, with a group for each parameter; the group has the parameter's name
            if that is possible.
    """

    __slots__ = ("_checks", "_count", "_ends_with_slash", "_names", "pattern")

    def __init__(
        self,
        path: str,
        segments: Sequence[Segment],
        method: str | None = None,
        *,
        ends_with_slash: bool = False,
    ) -> None:
        self._names: dict[str, str] = {}
        self._count = 0
        self._checks: list[tuple[str, re.Pattern[str]]] = []
        self._ends_with_slash = ends_with_slash
        stretch = first_stretch(segments)
        last = len(segments) - 1
        text = ""
        for index, segment in enumerate(segments):
            if segment.name is None:
                # A slash at the end is accepted in any case.
                if segment.text or index < last or not ends_with_slash:
                    text += literal_text(segments, index)
                continue
            alone = stretch is None or index < stretch
            group = self._parameter(path, segment, method, alone=alone, is_last=index == last)
            text += f"/{group}"
        self.pattern = re.compile(rf"{text}\Z", FLAGS)

    def read(self, path: str, start: int = 0) -> dict[str, str] | None:
        """Returns the parameters of a path.

        Args:
            path: A routing path that starts with a slash.
            start: The index of the slash where the segments begin.

        Returns:
            The values by name, the first of several with one name; None if the path doesn't match.
        """
        match = self._match(path, start)
        if match is None and self._ends_with_slash and path.endswith("/"):
            # Afterwards, and not as an optional slash in the expression: a parameter may take it.
            match = self._match(path[:-1], start)
        if match is None:
            return None
        return {name: match[group] for name, group in self._names.items()}

    def _match(self, path: str, start: int) -> re.Match[str] | None:
        match = self.pattern.match(path, start)
        if match is None or all(check.match(match[group]) for group, check in self._checks):
            return match
        return None

    def _parameter(
        self, path: str, segment: Segment, method: str | None, *, alone: bool, is_last: bool
    ) -> str:
        """Returns the group for a parameter; `alone` if its value is known without the others."""
        name, expression = str(segment.name), segment.expression
        group = self._group(name)
        if expression is None:
            return f"(?P<{group}>[^/]+)"
        whole = compile_expression(expression, path, method or "ALL")
        kind = traits(expression)
        if alone and (kind.is_anchored or kind.looks_around or kind.stands_alone):
            self._checks.append((group, whole))
            return f"(?P<{group}>{'.*' if is_last else '[^/]*'})"
        if kind.is_anchored or kind.stands_alone:
            found = "anchors" if kind.is_anchored else "references, named groups or flags"
            raise UnsupportedPathError(
                path,
                f"{expression!r} can't have {found}, since an expression before the end of the "
                "pattern may match slashes: exclude slashes there, as in [^/]+, or use plain "
                "expressions and check the values in the handler",
                method,
                path.find("{" + expression + "}") + 1,
            )
        return f"(?P<{group}>{expression})"

    def _group(self, name: str) -> str:
        # Only an identifier can name a group: other names, e.g. `user-id`, become `_` and a number.
        usable = name.isidentifier() and name.isascii() and not name.startswith("_")
        group = name if usable and name not in self._names else f"_{self._count}"
        self._count += 1
        self._names.setdefault(name, group)  # the first of several with one name wins
        return group


def literal_text(segments: Sequence[Segment], index: int) -> str:
    """Returns the expression for a literal or `*`, with the slash before it.

    Args:
        segments: All segments.
        index: The index of this one.
    """
    text = segments[index].text
    is_last = index + 1 == len(segments)
    if text == "*" and is_last:
        # The rest can be absent, but not after another `*`.
        return "/.*" if index and segments[index - 1].is_wildcard else "(?:/.*)?"
    if text == "*":
        return "/[^/]*"
    if text.endswith("*") and is_last:
        return f"/{re.escape(text[:-1])}.*"
    return f"/{re.escape(text)}"
