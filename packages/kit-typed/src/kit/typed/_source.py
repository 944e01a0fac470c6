# SPDX-License-Identifier: MIT
"""Generates the code that runs an endpoint for the requests of one route."""

from __future__ import annotations

import copy
import keyword
import linecache
import weakref
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from typing import Any

import msgspec

from kit.authoring.maybe_await import is_awaitable, plain_result, settle
from kit.authoring.numerals import checked
from kit.authoring.signatures import describe
from kit.authoring.vary import depend_on
from kit.cookie import get_cookie
from kit.http.media_types import is_json
from kit.validator.schemas import split_values

from ._parts import Field, JsonBody, Part
from ._plan import TAKEN, Call, Plan, Value
from ._reading import (
    MARK,
    MissingError,
    absent_body,
    form_values,
    refusal,
    refusal_with_body,
    values_of,
)
from ._running import (
    VALUES,
    Answers,
    Opened,
    enter,
    enter_async,
    enter_unclear,
    enter_until_returned,
    leaving,
    no_env,
    variable,
)
from ._signature import REQUIRED, Made
from ._types import allows_none

_READERS = {
    "param": "req.param({})",
    "query": "req.query({})",
    "header": "req.header({})",
    "cookie": "_cookie(c, {})",
}
_INVALID = (ValueError, RecursionError)


# APPSEC: a line break in a pattern would end the comment, and the rest would be run as code.
def _in_one_line(text: str) -> str:
    """Escapes unprintable characters."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


_numbers = count(1)


class Source:
    """The code of one route.

    Args:
        plan: The sources of the values.
        answers: Creates responses from results.
        status: The status of JSON, or None.

    Attributes:
        text: The code.
        names: The values of the names in it.
        file: The name of the file that tracebacks show.
    """

    def __init__(self, plan: Plan, answers: Answers, status: int | None) -> None:
        self._plan = plan
        self._lines: list[str] = []
        self._indent = 1
        self._is_async = False
        self._status = status
        self.names: dict[str, Any] = {
            "_answer": answers.answer,
            "_convert": msgspec.convert,
            "_data": answers.data,
            "_endpoint": plan.signature.call,
        }
        self._read()
        for value in plan.values:
            self._get(value)
        if plan.connection and any(call.is_block for call in plan.calls):
            self._line(f"exits = {self._constant('exits', AsyncExitStack)}()")
        blocks = [self._call(call) for call in plan.calls]
        self._finish(any(blocks))
        name = getattr(plan.signature.function, "__name__", "")
        if not isinstance(name, str):  # that of a mock is a mock
            name = ""
        is_usable = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
        self._name = name if is_usable and name[0] != "_" and name not in TAKEN else "endpoint"
        head = f"{'async ' if self._is_async else ''}def {self._name}(c):"
        place = _in_one_line(f"{plan.method} {plan.pattern}")
        function = _in_one_line(describe(plan.signature.function))
        self.text = "\n".join([f"# {place}: {function}", head, *self._lines]) + "\n"
        # Tracebacks look up the lines by this name, so each piece of code has its own.
        self.file = f"<kit.typed {next(_numbers)}: {place} {function}>"

    def compile(self) -> Any:
        """Returns the function; tracebacks show its lines."""
        code = compile(self.text, self.file, "exec")
        lines = [f"{line}\n" for line in self.text.split("\n")]
        linecache.cache[self.file] = (len(self.text), None, lines, self.file)
        namespace = dict(self.names)
        exec(code, namespace)  # noqa: S102 - made of names and literals alone
        function = namespace[self._name]
        ending = weakref.finalize(function.__code__, linecache.cache.pop, self.file, None)
        ending.atexit = False
        return function

    def _line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    def _constant(self, name: str, value: Any) -> str:
        """Returns a name in the code for a value."""
        number, free = 2, f"_{name}"
        while free in self.names and self.names[free] is not value:
            number, free = number + 1, f"_{name}_{number}"
        self.names[free] = value
        return free

    def _read(self) -> None:
        plan = self._plan
        if not plan.parts and plan.body is None:
            return
        self._line("req = c.req")
        self._line("try:")
        self._indent += 1
        for part in plan.parts:
            self._read_part(part)
        if plan.body is not None:
            self._read_json(plan.body)
        self._indent -= 1
        self._line(f"except {self._constant('invalid', _INVALID)} as error:")
        self._indent += 1
        parts = self._constant("parts", plan.parts)
        if plan.body is None and all(part.target != "form" for part in plan.parts):
            refuse = self._constant("refusal", refusal)
            self._line(f"raise {refuse}(c, {parts}, error) from error")
        else:
            self._is_async = True
            refuse = self._constant("refusal", refusal_with_body)
            body = self._constant("body", plan.body)
            self._line(f"raise await {refuse}(c, {parts}, {body}, error) from error")
        self._indent -= 1

    def _read_part(self, part: Part) -> None:
        if part.target == "header":
            # APPSEC: or a cache would send the response of one client to another.
            names = part.schema.headers if part.is_model else ", ".join(sorted(part.names))
            self._line(f"{self._constant('depend_on', depend_on)}(c, {names!r})")
        if part.is_model:
            self._read_model(part)
        elif part.target == "form":
            self._is_async = True
            read = self._constant("form", form_values)
            self._line(f"values = await {read}(c, {self._constant('form_part', part)})")
            self._take(part, "values")
        elif part.target == "param" or self._is_direct(part):
            for field in part.fields:
                self._read_directly(part, field)
        else:
            self._read_together(part)

    def _is_direct(self, part: Part) -> bool:
        (first, *others) = part.fields
        return not (others or first.takes_list) and first.is_immutable

    def _read_model(self, part: Part) -> None:
        (field,) = part.fields
        function = part.schema.load if field.default is REQUIRED else part.load_model
        load = self._constant(f"load_{field.local}", function)
        of = self._constant(f"part_{field.local}", part)
        if part.target == "form":
            self._is_async = True
            read = self._constant("form", form_values)
            self._line(f"{field.local} = {load}(await {read}(c, {of}))")
        else:
            read = self._constant("values_of", values_of)
            self._line(f"{field.local} = {load}({read}(c, {of}))")

    def _read_directly(self, part: Part, field: Field) -> None:
        if part.target == "cookie":
            self.names["_cookie"] = get_cookie
        read = _READERS[part.target].format(repr(field.key))
        local = field.local
        if field.annotation in (str, str | None):
            convert = "{}"
        else:
            kind = self._constant(f"type_{local}", field.annotation)
            convert = f"_convert({{}}, {kind}, strict=False)"
            plain = partial(msgspec.convert, type=field.annotation, strict=False)
            load = checked(plain, field.annotation, is_json=False)
            if load is not plain:
                convert = f"{self._constant(f'load_{local}', load)}({{}})"
        if field.default is not REQUIRED:
            default = self._default(local, field)
            value = convert.format("value")
            self._line(f"{local} = {default} if (value := {read}) is None else {value}")
        elif part.target == "param":
            self._line(f"{local} = {convert.format(read)}")
        else:
            missing = self._constant("missing", MissingError)
            self._line(f"if (value := {read}) is None:")
            self._line(f"    raise {missing}")
            self._line(f"{local} = {convert.format('value')}")

    def _default(self, local: str, field: Field) -> str:
        if field.is_immutable:
            return self._constant(f"default_{local}", field.default)
        return f"{self._constant(f'make_{local}', field.make_default)}()"

    def _read_together(self, part: Part) -> None:
        if part.target == "cookie":
            self._line(f"values = {self._constant('cookie', get_cookie)}(c)")
        elif part.target == "query" and not part.has_lists:
            self._line("values = req.query()")
        elif part.target == "query":
            self._line("every, values = req.queries(), {}")
            for field in part.fields:
                self._line(f"if (value := every.get({field.key!r})) is not None:")
                self._line(f"    values[{field.key!r}] = value{'' if field.takes_list else '[0]'}")
        else:
            self._line("values = {}")
            for field in part.fields:
                self._line(f"if (value := req.header({field.key!r})) is not None:")
                every = f"req.raw.headers.get_all({field.key!r})"
                if field.key in part.schema.separated:
                    every = f"{self._constant('split_values', split_values)}({every})"
                self._line(f"    values[{field.key!r}] = {every if field.takes_list else 'value'}")
        self._take(part, "values")

    def _take(self, part: Part, values: str) -> None:
        """Converts values, and gives each its local name."""
        kind = self._constant(f"{part.target}_type", part.type)
        plain = partial(msgspec.convert, type=part.type, strict=False)
        load = checked(plain, part.type, is_json=False)
        if load is plain:
            self._line(f"values = _convert({values}, {kind}, strict=False)")
        else:
            self._line(f"values = {self._constant(f'load_{part.target}', load)}({values})")
        for field in part.fields:
            self._line(f"{field.local} = values.{field.attribute}")

    def _read_json(self, body: JsonBody) -> None:
        self._is_async = True
        local = "body" if body.embed else body.fields[0].local
        if body.embed:
            local = "values"
        load = self._constant("decode", body.schema.load)
        self._line("kind = req.header('content-type')")
        self._line(f"if kind == 'application/json' or {self._constant('is_json', is_json)}(kind):")
        self._indent += 1
        self._line("content = await req.bytes()")
        self._line("if content[:1] == b'\\xef':")
        self._line(f"    content = content.removeprefix({self._constant('mark', MARK)})")
        if body.default is REQUIRED:
            self._line(f"{local} = {load}(content)")
        else:
            default = self._default("body", body.fields[0])
            given = "content"
            if body.is_absent_if_null:
                given = "content and content.strip() != b'null'"
            self._line(f"{local} = {load}(content) if {given} else {default}")
        self._indent -= 1
        self._line("else:")
        if body.default is REQUIRED:
            self._line(f"    raise {self._constant('missing', MissingError)}")
        else:
            absent = self._constant("absent_body", absent_body)
            self._line(f"    {local} = await {absent}(c, {default})")
        if body.embed:
            for field in body.fields:
                self._line(f"{field.local} = values.{field.attribute}")

    def _get(self, value: Value) -> None:
        """Reads a value from the context."""
        local, name, parameter = value.local, value.name, value.parameter
        named = describe(value.signature.function)
        if not parameter.is_required:
            default = self._constant(f"default_{local}", parameter.default)
            if isinstance(parameter.default, Made):
                default += ".factory()"
            elif isinstance(parameter.default, (list, dict, set)):
                default = f"{self._constant('copy', copy.deepcopy)}({default})"
            if value.is_env:
                self._line(f"{local} = c.env.get({name!r}, {default})")
            else:
                self._line(f"{local} = {default} if (value := c.get({name!r})) is None else value")
        elif value.is_env:
            self._line("try:")
            self._line(f"    {local} = c.env[{name!r}]")
            self._line("except KeyError:")
            self._line(f"    {self._constant('no_env', no_env)}({named!r}, {name!r})")
        elif allows_none(parameter.annotation):
            self._line(f"{local} = c.get({name!r})")
        else:
            get = self._constant("variable", variable)
            self._line(f"{local} = {get}(c, {named!r}, {name!r})")

    def _call(self, call: Call) -> bool:
        """Calls a dependency; returns whether it has started a block."""
        function = self._constant(f"get_{call.local}", call.signature.call)
        code = f"{function}({call.arguments})"
        if call.mode == "plain":
            self._line(f"{call.local} = {code}")
            check = self._constant("plain_result", plain_result)
            self._line(f"if {self._constant('later', is_awaitable)}({call.local}):")
            self._line(f"    {check}({call.local}, {function}, '@typed', may_enter=True)")
        elif call.mode == "async":
            self._is_async = True
            self._line(f"{call.local} = await {code}")
            settling = self._constant("settle", settle)
            self._line(f"if {self._constant('later', is_awaitable)}({call.local}):")
            settled = f"await {settling}({call.local}, {function}, may_enter=True)"
            self._line(f"    {call.local} = {settled}")
        elif call.mode in ("unclear", "unclear manager"):
            return self._call_unclear(call, code)
        elif call.scope == "function" and self._plan.connection:
            self._is_async = True
            is_async = call.mode == "async manager"
            entering = self._constant("enter_until_returned", enter_until_returned)
            self._line(f"{call.local} = await {entering}(c, exits, {code}, {is_async})")
        elif call.scope == "function":
            is_async = call.mode == "async manager"
            self._is_async = self._is_async or is_async
            self._line(f"{'async ' if is_async else ''}with {code} as {call.local}:")
            self._indent += 1
            return True
        elif call.mode == "manager":
            self._line(f"{call.local} = {self._constant('enter', enter)}(c, {code})")
        else:
            self._is_async = True
            entering = self._constant("enter_async", enter_async)
            self._line(f"{call.local} = await {entering}(c, {code})")
        return False

    def _call_unclear(self, call: Call, code: str) -> bool:
        """Calls a dependency whose result shows how to get its value."""
        self._is_async = True
        is_manager = call.mode == "unclear manager"
        if call.is_block:
            opened = f"{self._constant('opened', Opened)}({code}, {is_manager})"
            if not self._plan.connection:
                self._line(f"async with {opened} as {call.local}:")
                self._indent += 1
                return True
            entering = self._constant("enter_until_returned", enter_until_returned)
            self._line(f"{call.local} = await {entering}(c, exits, {opened}, True)")
            return False
        self._line(f"{call.local} = {code}")
        self._line(f"if {call.local}.__class__ not in {self._constant('settled', VALUES)}:")
        entering = self._constant("enter_unclear", enter_unclear)
        self._line(f"    {call.local} = await {entering}(c, {call.local}, {is_manager})")
        return False

    def _handler_of_connection(self, code: str) -> str:
        """Returns code that creates the handler for the connection, once it is accepted."""
        handler = f"lambda {self._plan.connection}: {code}"
        if any(call.is_block for call in self._plan.calls):
            return f"{self._constant('leaving', leaving)}(exits, {handler})"
        return handler

    def _finish(self, has_blocks: bool) -> None:
        plan = self._plan
        code = f"_endpoint({plan.arguments})"
        if plan.connection:
            self._line(f"return {self._handler_of_connection(code)}")
            return
        if plan.signature.mode == "async":
            self._is_async = True
            code = f"await {code}"
        self._line(f"result = {code}")
        status = "" if self._status is None else f", {self._status}"
        if not has_blocks:
            self._line("if result.__class__ in _data:")
            self._line(f"    return c.json(result{status})")
            self._line("return _answer(c, result)")
            return
        # The response is created while the dependencies are still open, even if a plain function
        # returns an awaitable.
        self._is_async = True
        self._line("response = _answer(c, result)")
        self._line("if hasattr(response, '__await__'):")
        self._line("    response = await response")
        self._line("return response")
        self._indent = 1
        fault = f"a dependency of {describe(plan.signature.function)} suppressed an exception, so "
        fault += "there is no response: raise it again after the yield"
        self._line(f"raise RuntimeError({fault!r})")
