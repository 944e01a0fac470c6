# SPDX-License-Identifier: MIT
"""Checks the arguments of `openapi` and `build_document`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from kit.authoring.options import OptionChecks
from kit.interface import App

from ._describe import check_scheme, check_security
from ._description_checks import (
    check_described,
    check_extensions,
    check_external_docs,
    check_members,
    check_tags,
)
from ._document import Documentation
from ._path_item_checks import check_path_item
from ._selection import Selection
from ._versions import Version, check_fields

_INFO_TEXTS = ("title", "version", "summary", "description", "termsOfService")
# SPEC: OpenAPI 3.2.0 section 4.6.
_SERVER = ("url", "name", "description", "variables")
_LINKS = ("identifier", "url")
_INFO_OBJECTS = {"contact": ("name", "url", "email"), "license": ("name", *_LINKS)}
_INFO = (*_INFO_TEXTS, *_INFO_OBJECTS)
DEFAULT_INFO = {"title": "API", "version": "0.1.0"}
_PATH = r"/(?:[^{}*:?#]*[^{}*:?#/])?"
_DOCUMENT_PATH = r"/(?:[^{}*:?#]*[^{}*:?#/])"


def check_app(factory: str, app: Any) -> None:
    """Rejects what is no app.

    Raises:
        TypeError: If it isn't one.
    """
    if isinstance(app, type) or not all(hasattr(app, name) for name in ("routes", "fetch")):
        raise TypeError(f"{factory}() takes a Kit app first, not {app!r:.100}")


def check_schemes(
    check: OptionChecks, security_schemes: Mapping[str, Mapping[str, Any]] | None
) -> Mapping[str, Mapping[str, Any]]:
    """Checks the option `security_schemes`, and returns it.

    Raises:
        TypeError: If it isn't a mapping from names to Security Scheme Objects.
        ValueError: If an HTTP scheme isn't a token.
    """
    schemes = {} if security_schemes is None else security_schemes
    if not isinstance(schemes, Mapping):
        check.wrong_type("security_schemes", schemes, "a mapping from names to schemes")
    for name, scheme in schemes.items():
        shown = f"security_schemes[{name!r:.100}]"
        if not isinstance(scheme, Mapping) or not isinstance(scheme.get("type"), str):
            check.wrong_type(shown, scheme, "a Security Scheme Object with a type")
        check_scheme(check, f"{shown}['scheme']", scheme)
    return schemes


def documentation(
    factory: str,
    app: App,
    *,
    info: Mapping[str, Any] | None,
    servers: Sequence[Mapping[str, Any]],
    tags: Sequence[Mapping[str, Any]],
    errors: Any,
    security_schemes: Mapping[str, Mapping[str, Any]] | None,
    security: Any = None,
    webhooks: Any = None,
    external_docs: Any = None,
    extensions: Any = None,
    include: Any = None,
    exclude: Any = None,
    transform: Any = None,
    version: Version = "3.1",
    separate_input_output: bool = False,
) -> Documentation:
    """Checks the options of a document.

    Args:
        factory: Name of the called function.
        app: The app.
        info: See `openapi`.
        servers: See `openapi`.
        tags: See `openapi`.
        errors: See `openapi`.
        security_schemes: See `openapi`.
        security: See `openapi`.
        webhooks: See `openapi`.
        external_docs: See `openapi`.
        extensions: See `openapi`.
        include: See `openapi`.
        exclude: See `openapi`.
        transform: See `openapi`.
        version: See `openapi`.
        separate_input_output: See `openapi`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used.
    """
    check = OptionChecks(factory)
    check_app(factory, app)
    schemes = check_schemes(check, security_schemes)
    check.choice("version", version, get_args(Version))
    own_servers = _objects(check, "servers", servers, "url", "https://api.example.com")
    for each in own_servers:
        check_members(check, "servers", each, _SERVER)
    own_tags = _tags(check, tags)
    check_fields(check, version, servers=own_servers, tags=own_tags, schemes=schemes)
    return Documentation(
        app,
        info=_info(check, info),
        servers=own_servers,
        tags=own_tags,
        errors=_errors(check, factory, errors),
        security_schemes=schemes,
        security=None if security is None else _security(check, security, schemes),
        webhooks=_webhooks(check, webhooks),
        external_docs=None
        if external_docs is None
        else check_external_docs(check, "external_docs", external_docs),
        extensions=None if extensions is None else check_extensions(check, extensions),
        selection=None
        if include is None and exclude is None
        else Selection(factory, include, exclude),
        transform=None
        if transform is None
        else check.function("transform", transform, "(document)", plain=True),
        version=version,
        factory=factory,
        separate_input_output=check.flag("separate_input_output", separate_input_output),
    )


def _tags(check: OptionChecks, tags: Any) -> list[Mapping[str, Any]]:
    objects = _objects(check, "tags", tags, "name", "books")
    check_tags(check, objects)
    return objects


def _security(
    check: OptionChecks, security: Any, schemes: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    checked = check_security(check, security)
    for each in checked:
        for name in () if "type" in each else each:
            if name not in schemes:
                check.unusable("security", each, "the names of `security_schemes`")
    return checked


def _webhooks(check: OptionChecks, webhooks: Any) -> Mapping[str, Any]:
    expected = "a mapping from names to operations, such as {'book.added': Book}"
    if webhooks is None:
        return {}
    if not isinstance(webhooks, Mapping):
        check.wrong_type("webhooks", webhooks, expected)
    for name, value in webhooks.items():
        if not isinstance(name, str) or not name:
            check.wrong_type("webhooks", webhooks, expected)
        check_path_item(check, f"webhooks[{name!r:.100}]", value)
    return dict(webhooks)


def _info(check: OptionChecks, info: Mapping[str, Any] | None) -> dict[str, Any]:
    if info is None:
        return dict(DEFAULT_INFO)
    own = (
        {name: each for name, each in info.items() if not str(name).startswith("x-")}
        if (isinstance(info, Mapping))
        else info
    )
    check.keys("info", own, _INFO)
    for name in _INFO_TEXTS:
        if not isinstance(info.get(name, ""), str):
            check.wrong_type(f"info[{name!r}]", info[name], "a str")
    for name, members in _INFO_OBJECTS.items():
        if name in info:
            _check_object(check, f"info[{name!r}]", info[name], members)
    if "license" in info and (
        "name" not in info["license"] or len(info["license"].keys() & _LINKS) > 1
    ):
        check.unusable("info['license']", info["license"], "a name, and 'identifier' or 'url'")
    return {**DEFAULT_INFO, **info}


def _check_object(check: OptionChecks, option: str, value: Any, members: Sequence[str]) -> None:
    if not isinstance(value, Mapping):
        check.wrong_type(option, value, f"a mapping with {' or '.join(map(repr, members))}")
    check_members(check, option, value, members)
    for name in members:
        if not isinstance(value.get(name, ""), str):
            check.wrong_type(f"{option}[{name!r}]", value[name], "a str")


def _objects(
    check: OptionChecks, option: str, value: Any, key: str, example: str
) -> list[Mapping[str, Any]]:
    expected = f"a list of mappings such as {{{key!r}: {example!r}}}"
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        check.wrong_type(option, value, expected)
    for each in value:
        if not isinstance(each, Mapping) or not isinstance(each.get(key), str):
            check.wrong_type(option, value, expected)
    return list(value)


def _errors(check: OptionChecks, factory: str, errors: Any) -> Mapping[str, Any] | None:
    if errors is None:
        return None
    for kind in errors.values() if isinstance(errors, Mapping) else (errors,):
        check_described(f"{factory}(errors=...)", kind)
    if isinstance(errors, Mapping):
        for media_type in errors:
            check.text(
                "errors", media_type, r"[^/\s;]+/[^/\s;]+", "media types such as 'application/json'"
            )
        return errors
    if isinstance(errors, (str, bytes, int)):
        check.wrong_type("errors", errors, "a type, or a mapping from media types to types")
    return {"application/json": errors}


def check_paths(path: Any, docs: Any, factory: str = "openapi") -> None:
    """Checks the paths of document and page.

    Args:
        path: Path of the document.
        docs: Path of the page; None for no page.
        factory: Name of the called function.

    Raises:
        TypeError: If one isn't a str.
        ValueError: If one isn't a path, or has parameters, or if they are the same.
    """
    check = OptionChecks(factory)
    check.text("path", path, _DOCUMENT_PATH, "a path without parameters such as '/openapi.json'")
    if docs is not None:
        check.text("docs", docs, _PATH, "a path without parameters such as '/docs'")
        if docs == path:
            check.unusable("docs", docs, "a path other than that of the document")


def check_assets(assets: Any) -> Path | str | None:
    """Checks the location of the files of the page.

    Args:
        assets: A folder as Path, a URL as str, or None.

    Raises:
        TypeError: If it is anything else.
        ValueError: If the folder doesn't exist, or the URL is neither absolute nor begins with `/`.
    """
    check = OptionChecks("openapi")
    if assets is None:
        return None
    if isinstance(assets, Path):
        if not assets.is_dir():
            check.unusable("assets", str(assets), "a folder that exists")
        return assets
    if not isinstance(assets, str):
        check.wrong_type("assets", assets, "a pathlib.Path of a folder, or a URL as str")
    parts = urlsplit(assets)
    is_url = parts.scheme in ("http", "https") and bool(parts.netloc)
    if not is_url and not (assets.startswith("/") and not assets.startswith("//")):
        check.unusable(
            "assets", assets, "a URL such as '/static/swagger'; write Path(...) for a folder"
        )
    return assets.rstrip("/")
