# SPDX-License-Identifier: MIT
"""Recognizes middleware whose last action is `await next()`.

Guards, and middleware that only prepares a request, end like this:

    async def guard(c, next):
        if not allowed(c):
            raise HTTPException(403)
        await next()

There, it makes no difference whether an exception of the next handler is handled before the guard
goes on, or after the guard has let it through: the guard does nothing in between. So `kit.compose`
needs no coroutine of its own between the two, which saves half the time of a level.

The bytecode of a function shows this. The instructions to look for are those of two small
functions, compiled by the same interpreter. No jump may lead into them: `return await next()` ends
like `return cached or await next()`, which may return something else. A function with anything
unusual isn't recognized, and is composed in the general way.
"""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeAlias

# The name of an instruction, and its argument where that isn't a place in the bytecode.
_Step: TypeAlias = tuple[str, object]
# The instructions of an ending, and how many jumps lead to each of them.
_Ending: TypeAlias = list[tuple[_Step, int]]
_PARAMETERS = 2
# Functions that can read `next` without naming it.
_READS_LOCALS = frozenset(("eval", "exec", "locals", "vars"))
# PERF: these are in `inspect`, which takes 10 ms to import.
_COROUTINE, _VARARGS, _VARKEYWORDS = 0x80, 0x04, 0x08


class Tail(NamedTuple):
    """How a handler ends.

    Attributes:
        is_call: Whether it calls `next` only once, as `await next()` or `return await next()`, and
            does nothing after that; not even if that raises an exception.
        is_quiet: Whether it returns nothing but None, or what `next` returns.
    """

    is_call: bool
    is_quiet: bool


_UNKNOWN = Tail(is_call=False, is_quiet=False)


def tail_of(handler: object) -> Tail:
    """Returns how a handler ends.

    Args:
        handler: A handler or middleware.

    Returns:
        Facts that are certain. Both are False for anything but a coroutine function `(c, next)`.
    """
    if type(handler) is not FunctionType:
        return _UNKNOWN
    code = handler.__code__
    flags = code.co_flags & (_COROUTINE | _VARARGS | _VARKEYWORDS)
    parameters = (code.co_argcount, code.co_kwonlyargcount)
    if flags != _COROUTINE or parameters != (_PARAMETERS, 0):
        return _UNKNOWN
    try:
        return _read(code)
    except Exception:  # an interpreter whose bytecode is unlike CPython's
        return _UNKNOWN


def _read(code: CodeType) -> Tail:
    if not _READS_LOCALS.isdisjoint(code.co_names):
        return _UNKNOWN
    instructions = list(dis.get_instructions(code))
    span = _call_at_the_end(instructions, code.co_varnames[1])
    if span is None or _is_guarded(code, instructions, span):
        return _UNKNOWN
    is_quiet = all(
        index == span[1] or _returns_none(instructions, index)
        for index, each in enumerate(instructions)
        if _is_return(each)
    )
    return Tail(is_call=True, is_quiet=is_quiet)


def _call_at_the_end(instructions: Sequence[dis.Instruction], name: str) -> tuple[int, int] | None:
    """Returns where `next` is loaded and where the function returns after awaiting it, or None."""
    uses = [index for index, each in enumerate(instructions) if name in _variables(each)]
    if len(uses) != 1 or not _loads_last(instructions[uses[0]], name):
        return None
    start = uses[0]
    jumps = _jumps(instructions)
    for ending in _own_code()[0]:
        if _ending(instructions[start + 1 : start + 1 + len(ending)], jumps) == ending:
            return start, start + len(ending)
    return None


def _ending(instructions: Sequence[dis.Instruction], jumps: Counter[int]) -> _Ending:
    return [(_step(each), jumps[each.offset]) for each in instructions]


def _jumps(instructions: Sequence[dis.Instruction]) -> Counter[int]:
    """Returns how many jumps lead to each place in the bytecode."""
    kinds = {*dis.hasjrel, *dis.hasjabs}
    return Counter(each.argval for each in instructions if each.opcode in kinds)


def _variables(instruction: dis.Instruction) -> tuple[str, ...]:
    """Returns the local variables that an instruction uses: none, one or two."""
    if not any(kind in instruction.opname for kind in ("FAST", "DEREF", "CELL", "CLOSURE")):
        return ()
    value = instruction.argval
    return value if isinstance(value, tuple) else (value,)


def _loads_last(instruction: dis.Instruction, name: str) -> bool:
    """Returns whether an instruction leaves a variable on top of the stack."""
    return "LOAD_FAST" in instruction.opname and _variables(instruction)[-1] == name


def _step(instruction: dis.Instruction) -> _Step:
    if "CONST" in instruction.opname:
        return instruction.opname, instruction.argval
    if instruction.opname == "YIELD_VALUE":
        return instruction.opname, None  # its argument depends on the code around it
    return instruction.opname, instruction.arg


def _is_return(instruction: dis.Instruction) -> bool:
    return instruction.opname in ("RETURN_VALUE", "RETURN_CONST")


def _returns_none(instructions: Sequence[dis.Instruction], index: int) -> bool:
    instruction = instructions[index]
    if instruction.opname == "RETURN_CONST":
        return instruction.argval is None
    before = _step(instructions[index - 1])
    return before == ("LOAD_CONST", None) and not instruction.is_jump_target


def _is_guarded(
    code: CodeType, instructions: Sequence[dis.Instruction], span: tuple[int, int]
) -> bool:
    """Returns whether an exception of the call would run code of the function."""
    first, last = instructions[span[0]].offset, instructions[span[1]].offset
    at = {each.offset: each for each in instructions}
    return any(
        start <= last and end > first and _step(at[target]) not in _own_code()[1]
        for start, end, target in _exception_table(code)
    )


def _exception_table(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Yields start, end and handler of each guarded part, as offsets in the bytecode.

    SPEC: CPython, InternalDocs/exception_handling.md.
    """
    numbers = _numbers(code.co_exceptiontable)
    for start in numbers:
        size, target, _ = next(numbers), next(numbers), next(numbers)
        yield 2 * start, 2 * (start + size), 2 * target


def _numbers(table: bytes) -> Iterator[int]:
    """Yields the numbers of an exception table: six bits a byte, the most significant first."""
    number = 0
    for byte in table:
        number = number << 6 | byte & 0x3F
        if not byte & 0x40:
            yield number
            number = 0


async def _awaits(c: Any, next: Any) -> None:
    await next()


async def _returns(c: Any, next: Any) -> Any:
    return await next()


@cache
def _own_code() -> tuple[list[_Ending], set[_Step]]:
    """Returns what this interpreter makes of functions that only call `next`.

    Returns:
        For each of them the instructions after `next` was loaded, up to the return; and how the
        handlers begin that the interpreter itself adds for exceptions.
    """
    endings = []
    handlers = set()
    for function in (_awaits, _returns):
        code = function.__code__
        instructions = list(dis.get_instructions(code))
        first = next(n for n, each in enumerate(instructions) if "next" in _variables(each))
        last = next(n for n, each in enumerate(instructions) if n > first and _is_return(each))
        endings.append(_ending(instructions[first + 1 : last + 1], _jumps(instructions)))
        at = {each.offset: each for each in instructions}
        handlers |= {_step(at[target]) for _, _, target in _exception_table(code)}
    return endings, handlers
