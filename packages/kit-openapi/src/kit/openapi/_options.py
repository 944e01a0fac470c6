# SPDX-License-Identifier: MIT
"""Checks the arguments of `openapi` and `build_document`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from kit.authoring.options import OptionChecks
from kit.interface import App

from ._describe import check_described, check_scheme
from ._document import Documentation
from ._versions import Version, check_fields

_INFO = ("title", "version", "summary", "description", "termsOfService", "contact", "license")
DEFAULT_INFO = {"title": "API", "version": "0.1.0"}
_PATH = r"/(?:[^{}*:?#]*[^{}*:?#/])?"
_DOCUMENT_PATH = r"/(?:[^{}*:?#]*[^{}*:?#/])"


def documentation(
    factory: str,
    app: App,
    *,
    info: Mapping[str, Any] | None,
    servers: Sequence[Mapping[str, Any]],
    tags: Sequence[Mapping[str, Any]],
    errors: Any,
    security_schemes: Mapping[str, Mapping[str, Any]] | None,
    version: Version = "3.1",
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
        version: See `openapi`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used.
    """
    check = OptionChecks(factory)
    if isinstance(app, type) or not all(hasattr(app, name) for name in ("routes", "fetch")):
        raise TypeError(f"{factory}() takes a Kit app first, not {app!r:.100}")
    schemes = {} if security_schemes is None else security_schemes
    if not isinstance(schemes, Mapping):
        check.wrong_type("security_schemes", schemes, "a mapping from names to schemes")
    for name, scheme in schemes.items():
        if isinstance(scheme, Mapping):
            check_scheme(check, f"security_schemes[{name!r:.100}]['scheme']", scheme)
    check.choice("version", version, get_args(Version))
    own_servers = _objects(check, "servers", servers, "url", "https://api.example.com")
    own_tags = _objects(check, "tags", tags, "name", "books")
    check_fields(check, version, servers=own_servers, tags=own_tags, schemes=schemes)
    return Documentation(
        app,
        info=_info(check, info),
        servers=own_servers,
        tags=own_tags,
        errors=_errors(check, factory, errors),
        security_schemes=schemes,
        version=version,
    )


def _info(check: OptionChecks, info: Mapping[str, Any] | None) -> dict[str, Any]:
    if info is None:
        return dict(DEFAULT_INFO)
    own = (
        {name: each for name, each in info.items() if not str(name).startswith("x-")}
        if (isinstance(info, Mapping))
        else info
    )
    check.keys("info", own, _INFO)
    for name in ("title", "version"):
        if not isinstance(info.get(name, ""), str):
            check.wrong_type(f"info[{name!r}]", info[name], "a str")
    return {**DEFAULT_INFO, **info}


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


def check_paths(path: Any, docs: Any) -> None:
    """Checks the paths of document and page.

    Args:
        path: Path of the document.
        docs: Path of the page; None for no page.

    Raises:
        TypeError: If one isn't a str.
        ValueError: If one isn't a path, or has parameters, or if they are the same.
    """
    check = OptionChecks("openapi")
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
