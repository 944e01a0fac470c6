# SPDX-License-Identifier: MIT
"""Mistakes in the options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from jinja2 import DictLoader, MemcachedBytecodeCache, TemplateNotFound, TemplateSyntaxError
from jinja2 import Undefined as Lenient

from kit.templates import layout, templates

LOADER = DictLoader({"a.html": "{{ absent }}", "bad.html": "{% if %}"})


async def later(value: Any = None) -> str:
    return "later"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, ValueError, "templates() needs a directory, a package or a loader"),
        ({"directory": 7}, TypeError, "takes a path or a list of them, not 7"),
        ({"directory": [7]}, TypeError, "takes a path or a list of them, not 7"),
        ({"directory": b"a"}, TypeError, "takes a path or a list of them, not b'a'"),
        ({"directory": []}, ValueError, "expected a path or several"),
        ({"directory": "/absent/pages"}, ValueError, "expected a folder, but /absent/pages is"),
        ({"directory": ""}, ValueError, "expected a folder: write '.' for the working"),
        ({"package": 7}, TypeError, "templates(package=...) takes a str, not 7"),
        ({"package": ":pages"}, ValueError, "expected a package such as 'shop', or"),
        ({"package": "kit_absent"}, ValueError, "No module named 'kit_absent'"),
        ({"loader": "pages"}, TypeError, "takes a loader of jinja2, not 'pages'"),
        ({"loader": LOADER, "directory": "pages"}, ValueError, "can't be used with directory"),
        ({"loader": LOADER, "layout": 7}, TypeError, "takes a str or a list of them, not 7"),
        ({"loader": LOADER, "layout": ""}, ValueError, "expected names of templates"),
        (
            {"loader": LOADER, "layout": "absent.html"},
            TemplateNotFound,
            "There is no template 'absent.html'",
        ),
        ({"loader": LOADER, "context": 7}, TypeError, "takes a function (c) or a list of"),
        ({"loader": LOADER, "context": [lambda: None]}, TypeError, "takes a function (c): got"),
        ({"loader": LOADER, "undefined": "strict"}, TypeError, "takes a class of jinja2, such"),
        ({"loader": LOADER, "enable_async": 1}, TypeError, "takes a bool, not 1"),
        ({"loader": LOADER, "auto_reload": None}, TypeError, "takes a bool, not None"),
        ({"loader": LOADER, "htmx": "yes"}, TypeError, "takes a bool, not 'yes'"),
        ({"loader": LOADER, "bytecode_cache": 7}, TypeError, "takes a path or a BytecodeCache"),
        ({"loader": LOADER, "bytecode_cache": ""}, ValueError, "expected a folder"),
        ({"loader": LOADER, "extensions": [7]}, TypeError, "takes a list of extensions of"),
        (
            {"loader": LOADER, "extensions": "jinja2.ext.do"},
            TypeError,
            "templates(extensions=...) takes a list of extensions of jinja2, not 'jinja2.ext.do'",
        ),
        ({"loader": LOADER, "environment_options": 7}, TypeError, "takes a mapping, not 7"),
        (
            {"loader": LOADER, "environment_options": {"autoescape": False}},
            ValueError,
            "templates(environment_options=...) can't set autoescape, which is always on",
        ),
        (
            {"loader": LOADER, "environment_options": {"undefined": Lenient}},
            ValueError,
            "templates(environment_options=...) can't set undefined: write",
        ),
        ({"loader": LOADER, "globals": 7}, TypeError, "takes a mapping of names, not 7"),
        ({"loader": LOADER, "globals": {7: 7}}, TypeError, "takes a mapping of names, not {7"),
        ({"loader": LOADER, "filters": {"double": 2}}, TypeError, "templates(filters=...)"),
        (
            {"loader": LOADER, "filters": {"later": later}},
            ValueError,
            "templates(filters=...): 'later' is async, which needs enable_async=True",
        ),
        (
            {"loader": LOADER, "globals": {"later": later}},
            ValueError,
            "templates(globals=...): 'later' is async, which needs enable_async=True",
        ),
    ],
)
def test_a_wrong_option_is_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        templates(**options)
    assert text in str(raised.value)


def test_an_error_in_a_layout_is_found_at_once() -> None:
    with pytest.raises(TemplateSyntaxError):
        templates(loader=LOADER, layout="bad.html")


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'autoescape'"):
        templates(loader=LOADER, autoescape=False)  # type: ignore[call-arg]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_for_code_that_others_may_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    templates(loader=LOADER, bytecode_cache=folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(ValueError, match="only the app can write") as raised:
        templates(loader=LOADER, bytecode_cache=folder)
    assert str(raised.value).startswith(f"templates(bytecode_cache={str(folder)!r:.100}) can't")


def test_options_of_jinja() -> None:
    cache = MemcachedBytecodeCache(object())  # type: ignore[arg-type]  # it isn't asked
    made = templates(
        loader=LOADER,
        undefined=Lenient,
        environment_options={"trim_blocks": True},
    )
    assert made.environment.trim_blocks
    assert made.render("a.html") == ""
    assert templates(loader=LOADER, bytecode_cache=cache).environment.bytecode_cache is cache


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        (7, TypeError, "layout(name=...) takes a str, not 7"),
        ("", ValueError, "layout(name='') can't be used: expected the name of a template"),
    ],
)
def test_a_wrong_layout_is_refused(name: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        layout(name)
    assert str(raised.value) == text


def test_unknown_environment_options() -> None:
    with pytest.raises(ValueError, match="has the unknown key 'trim': expected ") as caught:
        templates(loader=LOADER, environment_options={"trim": True})
    assert str(caught.value).startswith("templates(environment_options=...)")
    assert "'trim_blocks'" in str(caught.value)
