# SPDX-License-Identifier: MIT
"""Builds the path of a route from the values of its parameters: matching, backwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from kit.http.paths import decode_component, decode_path

from ._expressions import traits
from ._parsing import Segment, compile_expression, variants
from ._whole import PathExpression

# SPEC: RFC 3986 section 3.3: the characters of a segment, beside letters, digits and `-._~`.
_SAFE = "!$&'()*+,;=:@"
# APPSEC: clients and proxies remove dot segments (RFC 3986, section 5.2.4), and may merge slashes.
_REMOVED = ("", ".", "..")


class PathBuilder:
    """Builds the paths that one variant of a pattern matches.

    Args:
        pattern: The whole pattern, as a router gets it; also for errors.
        segments: The segments of the variant, see `variants`.
        before: The variants before it, which routers try first.

    Attributes:
        names: The names of its parameters, in order.
        wildcard: The segment that stands for any text, such as `*` or `assets*`; None without one.
    """

    __slots__ = ("_before", "_expression", "_pattern", "_segments", "names", "wildcard")

    def __init__(
        self, pattern: str, segments: Sequence[Segment], before: Sequence[PathBuilder] = ()
    ) -> None:
        self._before = before
        self._pattern = pattern
        self._segments = segments
        self._expression: PathExpression | None = None
        self.names = tuple(dict.fromkeys(each.name for each in segments if each.name is not None))
        self.wildcard = next(
            (
                each.text
                for each in segments
                if each.is_wildcard
                or (each is segments[-1] and each.name is None and each.text.endswith("*"))
            ),
            None,
        )

    def build(self, values: Mapping[str, str]) -> str:
        """Returns the path with these values, percent-encoded.

        A value is one segment. It may have slashes only if the expression of its parameter takes
        them, as `{.+}` does, and is then several segments.

        SPEC: RFC 3986 section 3.3.

        Args:
            values: The decoded value of each parameter.

        Returns:
            The path, which the pattern matches with exactly these values.

        Raises:
            ValueError: If the pattern has a wildcard, or a value can't be at its place in a path.
        """
        if self.wildcard is not None:
            raise ValueError(
                f"{self._pattern!r} has the wildcard {self.wildcard!r}, which no parameter names: "
                "write a parameter there, such as :path{.+}"
            )
        path = "".join(f"/{self._encode(segment, values)}" for segment in self._segments)
        if path.startswith("//"):  # APPSEC: it would be the name of a host
            raise ValueError(f"{self._pattern!r} begins with an empty segment: no path leads there")
        is_read_earlier = any(each._read(path) is not None for each in self._before)
        if is_read_earlier or (self.names and self._read(path) != values):
            raise ValueError(
                f"{self._pattern!r} doesn't match {path!r} with the values {dict(values)!r:.200}"
            )
        return path

    def _read(self, path: str) -> dict[str, str] | None:
        """Returns the values that a request of a path would have."""
        if self._expression is None:
            self._expression = PathExpression(self._pattern, self._segments)
        found = self._expression.read(decode_path(path))
        if found is None:
            return None
        return {name: decode_component(value) for name, value in found.items()}

    def _encode(self, segment: Segment, values: Mapping[str, str]) -> str:
        if segment.name is None:
            return quote(segment.text, safe=_SAFE + "%")  # escapes in a pattern stay escapes
        value = values[segment.name]
        what = f"{segment.name}={value!r:.100}"
        pieces = [value]
        if segment.expression is not None:
            if traits(segment.expression).takes_slash:
                pieces = value.split("/")
            self._check_expression(segment.expression, value, what)
        for piece in pieces:
            if "/" in piece:
                raise ValueError(
                    f"{what} has a slash, but ':{segment.name}' of {self._pattern!r} is one segment"
                )
            if piece in _REMOVED:
                raise ValueError(
                    f"{what} can't be in the path of {self._pattern!r}, since clients remove the "
                    "segments '.', '..' and ''"
                )
        try:
            return "/".join(quote(piece, safe=_SAFE) for piece in pieces)
        except UnicodeEncodeError as error:
            raise ValueError(f"{what} has half of a surrogate pair") from error

    def _check_expression(self, expression: str, value: str, what: str) -> None:
        # In a routing path, these characters stay encoded.
        routed = value.replace("%", "%25").replace("?", "%3F").replace("#", "%23")
        if not compile_expression(expression, self._pattern, "ALL").match(routed):
            raise ValueError(f"{what} doesn't match {{{expression}}} in {self._pattern!r}")


def path_builders(pattern: str) -> list[PathBuilder]:
    """Returns what builds the paths of a pattern: several for one with optional parameters.

    Args:
        pattern: The pattern, as a router gets it; see `kit.router.route_patterns.for_router`.

    Returns:
        One for each variant, the shortest first.
    """
    builders: list[PathBuilder] = []
    for segments in variants(pattern):
        builders.append(PathBuilder(pattern, segments, tuple(builders)))
    return builders
