# SPDX-License-Identifier: MIT
"""Renders one block of a template, without the rest of the page."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from jinja2 import Environment, Template, nodes
from jinja2.runtime import Context as Names

from ._loading import literal, parse

# Statements outside blocks that define names for the block.
_DEFINITIONS = (nodes.Import, nodes.FromImport, nodes.Macro, nodes.Assign, nodes.AssignBlock)


# More than any app has. A name can be written in many ways, e.g. with trailing slashes, so clients
# could fill the memory if an app takes names from them.
_MOST_REMEMBERED = 1000

K = TypeVar("K")
V = TypeVar("V")


def remember(known: dict[K, V], key: K, value: V) -> None:
    """Adds an entry to a cache, and clears the cache first if it is full."""
    if len(known) >= _MOST_REMEMBERED:
        known.clear()
    known[key] = value


def build_context(template: Template, values: dict[str, Any]) -> Names:
    """Returns the context for rendering a template.

    PERF: `template.new_context` looks up each global in a ChainMap, which takes longer than a small
    page.
    """
    environment = template.environment
    known = environment.globals
    return environment.context_class(
        environment, {**known, **values}, template.name, template.blocks, known
    )


class Fragment(NamedTuple):
    """A block that is compiled separately.

    Attributes:
        template: A template with the definitions before the block, and the block.
        block: Its name.
        chain: The requested template and those that it extends, up to the last one that has the
            block, as loaded when this was compiled.
    """

    template: Template
    block: str
    chain: tuple[Template, ...]

    def names(self, values: dict[str, Any]) -> Names:
        """Returns the context for rendering; `super()` in it is the overridden block."""
        context = build_context(self.template, values)
        blocks = [each.blocks[self.block] for each in self.chain if self.block in each.blocks]
        context.blocks[self.block] = blocks
        return context


class Fragments:
    """A cache of rendered blocks.

    Args:
        environment: The Jinja environment.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._compiled: dict[tuple[str, str], Fragment] = {}

    def get(self, name: str, block: str) -> Fragment:
        """Returns a block, compiled again if one of its templates has changed.

        Args:
            name: The template, which has the block or inherits it.
            block: The block.

        Raises:
            TemplateNotFound: If there is no such template.
            LookupError: If it has no such block.
        """
        found = self._compiled.get((name, block))
        get = self._environment.get_template
        if found is None or any(get(str(each.name)) is not each for each in found.chain):
            found = self._compile(name, block)
            remember(self._compiled, (name, block), found)
        return found

    def _compile(self, name: str, block: str) -> Fragment:
        environment = self._environment
        chain: list[Template] = []
        kept: list[nodes.Node] = []
        wanted: nodes.Node | None = None
        last = 0
        parent: Any = name
        while isinstance(parent, str) and parent not in [each.name for each in chain]:
            tree = parse(environment, parent)
            chain.append(environment.get_template(parent))
            found = next((each for each in tree.find_all(nodes.Block) if each.name == block), None)
            if found is not None:
                last = len(chain)
                if wanted is None:
                    wanted = found
            if wanted is None or wanted is found:
                # The definitions of a parent come first: they must not hide the names of the child.
                kept[:0] = [each for each in tree.body if isinstance(each, _DEFINITIONS)]
            extends = tree.find(nodes.Extends)
            parent = None if extends is None else literal(extends.template)
        if wanted is None:
            raise LookupError(_without(name, block, chain))
        alone = nodes.Template([*kept, wanted], lineno=1)
        alone.set_environment(environment)
        code = environment.compile(alone, name, chain[0].filename)
        template = Template.from_code(environment, code, environment.make_globals(None))
        return Fragment(template, block, tuple(chain[:last]))


def _without(name: str, block: str, chain: list[Template]) -> str:
    names = [*dict.fromkeys(each for template in chain for each in template.blocks)]
    has = f"has {', '.join(names)}" if names else "has no blocks"
    return f"The template {name!r} has no block {block!r}: it {has}"
