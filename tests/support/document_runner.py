# SPDX-License-Identifier: MIT
"""Does what a reader of a document does: saves, runs and types what its blocks show, in order.

- Python with a title is saved under it, and imported, unless it is a test or a command runs it; a
  block titled `shop/books.py` is the module `shop.books`.
  Without one it is run as a program of its own; it is saved as `app.py`, unless another block bears
  that title.
- `text` behind Python, or behind commands, is what was printed there.
- `console` has commands behind `$ ` and what they print, as has `text` that begins so; `sh` has
  commands alone. `export NAME=value` holds to the end of the document; the value may also
  come from the output of curl, through jq. `$NAME` in a curl command is that value.
- `json` behind a command that shows nothing is what that printed, spread over lines.
- `curl` asks the app that was made last. Where an app of another framework stands before it, in a
  file `*_app.py`, that has to give the same answer.
- Servers are started at other ports; each has to answer, and to end when it is told to.
- Tests are run when a command says so, else at the end.
- Anything else is data, and has to be well-formed.

In what is shown, `...` stands for anything.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from commands import clean_environment
from document_curl import curl
from document_servers import is_server, serve
from documents import Block, Document

from kit.dev import load_app

# Files that apps serve: what they answer is what is tested.
WEB = ("html", "js")
# What a shell does with the files of the reader.
RUN = ("kit", "python", "python3", "pytest", "mkdir", "cat", "ls")
EXPORTS = re.compile(r"export (\w+)=(\S+)")
EXPORTS_PRINTED = re.compile(r"export (\w+)=\$\((curl .+) \| jq -r \.([\w.]+)\)", re.DOTALL)
INSTALLS = re.compile(r"^(?:uv )?(?:pip install|add)\b")
_ENVIRONMENT = {
    # Of the plugins here a reader has this one, which comes with Kit.
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_ADDOPTS": "-p anyio.pytest_plugin -p no:cacheprovider",
}
# What a server adds to each answer.
_OF_THE_SERVER = re.compile(r"^(?:date|server|transfer-encoding): .*\n", re.MULTILINE)
# What differs from run to run: times, and versions.
_VARYING = re.compile(r"\b\d+(?:\.\d+)?(?= ?m?s\b)|(?<![\d.])\d+\.\d+\.\d+(?![\d.])")
# What pytest adds to a duration from one minute on.
_IN_HOURS = re.compile(r"(?<=\ds) \(\d+:\d\d:\d\d\)")


class Reader:
    """Somebody who follows a document in an empty folder.

    Args:
        document: The document.
        folder: The folder.
        project: Given if the document makes a distribution: what to add to the environment
            variables. Every command is run then, and Python is saved alone.
    """

    def __init__(
        self, document: Document, folder: Path, project: Mapping[str, str] | None = None
    ) -> None:
        self._document = document
        self._folder = folder
        self._project = project
        self._namespace: dict[str, Any] = {}
        self._app: Any = None
        self._peer: Any = None
        self._printed = ""
        self._json = ""
        self._has_app_py = any(block.title == "app.py" for block in document.blocks)
        self._is_of_peer = False
        consoles = (block.text for block in document.blocks if block.language == "console")
        self._run_by_commands = re.findall(r"^\$ python (\S+\.py)", "".join(consoles), re.MULTILINE)
        self._tests_wait = False
        self._imported: set[str] = set()
        self._exported: set[str] = set()
        self._environment = dict(os.environ)
        self.ran = 0

    def follow(self) -> None:
        """Follows the document to its end.

        Raises:
            AssertionError: If something is not as it says.
        """
        sys.path.insert(0, str(self._folder))
        others = self._take_modules()
        try:
            for block in self._document.blocks:
                if block.not_run:
                    self._save(block)
                else:
                    self._take(block)
                    self.ran += 1
            if self._tests_wait:
                self._run("pytest")
        finally:
            sys.path.remove(str(self._folder))
            os.environ.clear()
            os.environ.update(self._environment)
            for name in self._imported:
                sys.modules.pop(name, None)
            self._take_modules()
            sys.modules.update(others)

    def _take_modules(self) -> dict[str, ModuleType]:
        """Takes away what is imported under the names of the document, e.g. by other tests."""
        titles = [block.title for block in self._document.blocks if block.language == "python"]
        own = {_module(title).partition(".")[0] for title in titles if title}
        names = [name for name in sys.modules if name.partition(".")[0] in own]
        return {name: sys.modules.pop(name) for name in names}

    def _take(self, block: Block) -> None:
        if self._json:
            assert block.language == "json", f"{block.place}: expected what was printed before it"
            assert json.loads(block.text) == json.loads(self._json), block.place
            self._json = ""
            return
        taken: Callable[[Block], None] | None = {
            "python": self._python,
            "console": self._console,
            "sh": self._sh,
            "text": self._console if block.text.startswith("$ ") else self._text,
        }.get(block.language)
        if taken is not None:
            taken(block)
            return
        self._save(block)
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language != "markdown" and not (block.title and block.language in WEB):
            raise AssertionError(f"{block.place}: nothing tests {block.language!r}; say why not")

    # Python -----------------------------------------------------------------------------------

    def _python(self, block: Block) -> None:
        code = compile(block.text, str(self._folder / "app.py"), "exec")
        name = block.title
        self._save(block)
        if self._project is not None:
            return
        if re.fullmatch(r"(?:\w+/)?test_\w+\.py", name):
            self._tests_wait = True
            return
        if name in self._run_by_commands:
            return
        if not name and not block.continues:
            self._namespace = self._new_module("program" if self._has_app_py else "app")
        printed = io.StringIO()
        with redirect_stdout(printed):
            try:
                if name:
                    self._namespace = vars(self._import(_module(name)))
                else:
                    exec(code, self._namespace)
            except Exception as error:
                raise AssertionError(f"{block.place}: {error!r}") from error
        self._printed = printed.getvalue()
        if "app" in self._namespace:
            self._peer = self._app if self._is_of_peer else None
            self._is_of_peer = name.endswith("_app.py")
            self._app = self._namespace["app"]
            if not name and not self._has_app_py:
                self._write("app.py", block.text, append=block.continues)

    def _new_module(self, name: str) -> dict[str, Any]:
        self._imported.add(name)
        sys.modules[name] = ModuleType(name)
        return vars(sys.modules[name])

    def _import(self, name: str) -> ModuleType:
        self._imported.add(name)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def _save(self, block: Block) -> None:
        if block.title:
            self._write(block.title, block.text, append=block.continues)

    def _write(self, name: str, text: str, *, append: bool) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + text if append else text)

    # Commands ---------------------------------------------------------------------------------

    def _text(self, block: Block) -> None:
        assert self._printed, f"{block.place}: nothing was printed before it; say why not"
        compare(block.place, block.text, self._printed)
        self._printed = ""

    def _console(self, block: Block) -> None:
        self._printed = ""
        for command, shown in session(block.text):
            printed = self._command(block, command)
            if printed and not shown.strip():
                self._json = printed
            elif shown.strip():
                assert printed is not None, f"{block.place}: {command} is not run, but has output"
                compare(block.place, shown, printed)

    def _sh(self, block: Block) -> None:
        lines = re.sub(r"\\\n", " ", block.text).splitlines()
        commands = [line for line in lines if line.strip() and not line.startswith("#")]
        servers = [command for command in commands if is_server(without_variables(command))]
        if servers and self._project is None:
            self._serve(servers)
        for command in commands:
            if command not in servers or self._project is not None:
                self._command(block, command, must_succeed=True)

    def _command(self, block: Block, command: str, *, must_succeed: bool = False) -> str | None:
        """What a command prints; None if it is only looked at."""
        if self._project is not None:
            return self._run(command)
        if is_server(without_variables(command)):
            return self._serve([command])[0]
        command = without_variables(command)
        if kept := EXPORTS_PRINTED.fullmatch(command):
            printed_json = self._command(block, kept[2], must_succeed=True)
            self._export(kept[1], _member(json.loads(printed_json or ""), kept[3]))
            return None
        words = shlex.split(command.replace("\\\n", " "), comments=True)
        if words[0] == "curl":
            words = [self._expanded(word) for word in words]
            printed = io.StringIO()
            with redirect_stdout(printed):
                status, body = curl(words[1:], self._app, self._folder)
            self._printed += printed.getvalue()
            if self._peer is not None:
                there, other = curl(words[1:], self._peer, self._folder)
                same = (status, _body(body)) == (there, _body(other))
                assert same, f"{block.place}: {command} gives {there} there: {other}"
            assert not must_succeed or status < 400, f"{block.place}: {command} gave {status}"
            return body
        if exported := EXPORTS.fullmatch(command):
            self._export(exported[1], exported[2])
            return None
        if INSTALLS.match(command):
            for word in words:
                _check_requirement(block, word)
            return None
        assert words[0] in RUN, f"{block.place}: {command!r} is not run; say why not"
        if words[0] == "pytest":
            self._tests_wait = False
        return self._run(command)

    def _export(self, name: str, value: str) -> None:
        os.environ[name] = value
        self._exported.add(name)

    def _expanded(self, word: str) -> str:
        """A word of a command with the values of the variables that the document exports."""
        for name in self._exported:
            word = word.replace(f"${name}", os.environ[name])
        return word

    def _run(self, command: str) -> str:
        environment = clean_environment()
        if self._project is not None:
            environment.update(self._project)
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
            environment.update(_ENVIRONMENT, PATH=path)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{self._document.name}: {command}\n{done.stdout}"
        return done.stdout

    def _serve(self, commands: Sequence[str]) -> list[str]:
        printed = serve(commands, self._folder)
        words = shlex.split(commands[0])
        if self._app is None and words[:2] == ["kit", "serve"]:
            self._app = load_app(str(self._folder / words[2]))
        return printed


def session(text: str) -> list[tuple[str, str]]:
    """Returns the commands of a console, each with what is shown below it."""
    found = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = 1
        while lines[count - 1].endswith("\\"):
            count += 1
        found.append(("\n".join(lines[:count]), "\n".join(lines[count:])))
    return found


def _module(title: str) -> str:
    """The name of the module that a file is."""
    return title.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _member(value: Any, path: str) -> str:
    """What jq prints of a string below a path."""
    for name in path.split("."):
        value = value[name]
    assert isinstance(value, str)
    return value


def without_variables(command: str) -> str:
    """Returns a command without the variables that are set before it."""
    return re.sub(r"^(?:[A-Z_]+=\S+ )+", "", command)


def compare(place: str, shown: str, printed: str) -> None:
    """Compares what a document shows with what was printed."""
    shown, printed = (
        _VARYING.sub("0", _IN_HOURS.sub("", _OF_THE_SERVER.sub("", text.rstrip() + "\n")))
        for text in (shown, printed)
    )
    shown = re.sub(r"[ \t]+$", "", shown, flags=re.MULTILINE)
    printed = re.sub(r"[ \t\r]+$", "", printed, flags=re.MULTILINE)
    pattern = r"[\s\S]*?".join(map(re.escape, shown.split("...")))
    if re.fullmatch(pattern, printed) is None:
        assert printed == shown, f"{place} shows something else than was printed:\n{printed}"


def _body(printed: str) -> str:
    """What curl prints without the head of the answer."""
    return re.sub(r"\AHTTP/[\s\S]*?\n\n", "", printed).rstrip()


def _check_requirement(block: Block, word: str) -> None:
    """Looks whether there is such a distribution, with such extras."""
    match = re.fullmatch(r"([A-Za-z][\w-]*)(?:\[([\w-]+)\])?", word)
    if match is None or word in ("uv", "pip", "install", "add"):
        return
    try:
        metadata = importlib.metadata.metadata(match[1])
    except importlib.metadata.PackageNotFoundError:
        raise AssertionError(f"{block.place}: there is no distribution {match[1]}") from None
    extras = metadata.get_all("Provides-Extra") or []
    assert match[2] is None or match[2] in extras, f"{block.place}: there is no {word}"
