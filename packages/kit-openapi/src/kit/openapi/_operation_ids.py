# SPDX-License-Identifier: MIT
"""Names operations. An id depends on its operation, and on whether another one has the same name.

The order of registration doesn't matter, so clients and tools keep their names when routes are
added or moved in the source.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256

from ._operations import Operation

_NOT_IN_KEYS = re.compile(r"[^a-z0-9]")
_DIGITS_OF_HASH = 8


def name_operations(operations: Sequence[Operation], notes: list[str]) -> None:
    """Sets the names and ids of operations.

    The id is the one from `describe`, or else the name of the function. If several operations have
    the same, each of them gets an id from its method and path. Names count as the same if they
    differ only in case and punctuation, since generators change both: `readBook` and `read_book`.

    Args:
        operations: All operations of a document.
        notes: Receives the ids from `describe` that several operations have.
    """
    steps = {id(each): _list_choices(each) for each in operations}
    levels = dict.fromkeys(steps, 0)
    changed = list(operations)
    while changed:
        same: defaultdict[str, list[Operation]] = defaultdict(list)
        for each in operations:
            each.id = steps[id(each)][levels[id(each)]]
            same[_key(each.id)].append(each)
        changed = [
            each
            for group in same.values()
            for each in _find_weakest(group, levels)
            if levels[id(each)] + 1 < len(steps[id(each)])
        ]
        for each in changed:
            levels[id(each)] += 1
    for each in operations:
        each.name = steps[id(each)][0]
    _note_shared_ids(operations, notes)


def _list_choices(operation: Operation) -> list[str]:
    """Returns the ids that an operation can have; the last one is unique."""
    # Not the path that is shown, whose parameters have the names of the first route.
    method, template = operation.method.lower(), operation.template
    by_path = f"{method}_{template.words}"
    # Paths such as /a-b and /a_b have the same words.
    whole = sha256(f"{method} {template.path}".encode()).hexdigest()[:_DIGITS_OF_HASH]
    given: str | None = operation.described.get("operation_id")
    if given is not None:
        return [given, f"{given}_{by_path}", f"{given}_{by_path}_{whole}"]
    name: str = getattr(operation.function, "__name__", "")
    # Ids are parts of URLs in documentation.
    is_usable = name.isidentifier() and name.isascii()
    return [*([name] if is_usable else []), by_path, f"{by_path}_{whole}"]


def _find_weakest(group: list[Operation], levels: dict[int, int]) -> list[Operation]:
    """Returns the operations that give up an id that several have.

    Ids from `describe` stay if others can change.
    """
    if len(group) == 1:
        return []
    ranks = [("operation_id" in each.described, levels[id(each)]) for each in group]
    weakest = min(ranks)
    return [each for each, rank in zip(group, ranks, strict=True) if rank == weakest]


def _key(name: str) -> str:
    return _NOT_IN_KEYS.sub("", name.lower()) or name


def _note_shared_ids(operations: Sequence[Operation], notes: list[str]) -> None:
    shared: defaultdict[str, list[Operation]] = defaultdict(list)
    for each in operations:
        if "operation_id" in each.described and each.id != each.name:
            shared[each.name].append(each)
    for name, group in shared.items():
        places = ", ".join(f"{each.method} {each.shown.path} is {each.id!r}" for each in group)
        notes.append(f"the operation id {name!r:.100} from describe() isn't unique: {places}")
