# SPDX-License-Identifier: MIT
"""The factory of the middleware."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, overload

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware

from ._caching import CacheControl
from ._files import Folder
from ._from_folder import FolderOptions, from_folder
from ._from_source import SourceOptions, from_source
from ._options import (
    GetContent,
    IsDir,
    Notify,
    check_cache_control,
    check_functions,
    check_index,
    check_mimes,
    check_names,
    check_precompressed,
    check_root,
    package_folder,
    refuse_together,
)
from ._static_root import StaticRoot

__all__ = ("serve_static",)

StrPath = str | os.PathLike[str]


@overload
def serve_static(
    root: StrPath,
    path: str | None = None,
    *,
    rewrite_request_path: Callable[[str], Any] | None = None,
    mimes: Mapping[str, str] | None = None,
    precompressed: bool | Iterable[str] = False,
    on_found: Notify | None = None,
    on_not_found: Notify | None = None,
    index: str | None = "index.html",
    fallback: str | None = None,
    cache_control: str | CacheControl | None = None,
    follow_symlinks: bool = False,
    dotfiles: bool = False,
    allow_percent_in_path: bool = False,
    pathsend: bool = False,
) -> AsyncMiddleware: ...
@overload
def serve_static(
    *,
    package: str,
    directory: str = "static",
    path: str | None = None,
    rewrite_request_path: Callable[[str], Any] | None = None,
    mimes: Mapping[str, str] | None = None,
    precompressed: bool | Iterable[str] = False,
    on_found: Notify | None = None,
    on_not_found: Notify | None = None,
    index: str | None = "index.html",
    fallback: str | None = None,
    cache_control: str | CacheControl | None = None,
    dotfiles: bool = False,
    allow_percent_in_path: bool = False,
    pathsend: bool = False,
) -> AsyncMiddleware: ...
@overload
def serve_static(
    root: str = "./",
    path: str | None = None,
    *,
    get_content: GetContent,
    is_dir: IsDir | None = None,
    join: Callable[..., str] | None = None,
    path_resolve: Callable[[str], str] | None = None,
    rewrite_request_path: Callable[[str], Any] | None = None,
    mimes: Mapping[str, str] | None = None,
    precompressed: bool | Iterable[str] = False,
    on_found: Notify | None = None,
    on_not_found: Notify | None = None,
    index: str | None = "index.html",
    cache_control: str | CacheControl | None = None,
    dotfiles: bool = False,
    allow_percent_in_path: bool = False,
) -> AsyncMiddleware: ...
def serve_static(
    root: StrPath | None = None,
    path: str | None = None,
    *,
    package: str | None = None,
    directory: str | None = None,
    get_content: GetContent | None = None,
    is_dir: IsDir | None = None,
    join: Callable[..., str] | None = None,
    path_resolve: Callable[[str], str] | None = None,
    rewrite_request_path: Callable[[str], Any] | None = None,
    mimes: Mapping[str, str] | None = None,
    precompressed: bool | Iterable[str] = False,
    on_found: Notify | None = None,
    on_not_found: Notify | None = None,
    index: str | None = "index.html",
    fallback: str | None = None,
    cache_control: str | CacheControl | None = None,
    follow_symlinks: bool = False,
    dotfiles: bool = False,
    allow_percent_in_path: bool = False,
    pathsend: bool = False,
) -> AsyncMiddleware:
    """Returns middleware that serves the files in a folder for GET and HEAD.

    If no file matches, the request continues to the routes after the middleware. The full request
    path is looked up below the root: with `app.use("/static/*", serve_static("assets"))`,
    `/static/app.js` is the file `assets/static/app.js`, unless `rewrite_request_path` removes the
    prefix.

    Files are sent with ETag and Last-Modified, whole or in ranges, in constant memory. A path that
    is ambiguous or leaves the folder matches no file.

    Args:
        root: The folder, which must exist. A relative path is resolved against the working
            directory when this is called.
        path: The path, below the root, of a file, or folder with an index, to send for every
            request.
        package: The name of an importable package that contains the folder, instead of `root`.
        directory: The folder in the package; default `static`.
        get_content: A function `(path, c)`, plain or async, instead of files. It returns a value
            for `c.body`, a response, or None if there is no content. `root` is then only a path
            prefix, `./` by default.
        is_dir: For `get_content`: returns whether a path is a folder; if so, its index is
            requested. A function `(path)`, plain or async.
        join: For `get_content`: joins the parts of a path; by default with slashes.
        path_resolve: For `get_content`: changes the joined path.
        rewrite_request_path: Changes the decoded path of the request before it is looked up: a
            function `(path)`, plain or async.
        mimes: Content types by extension, in addition to the built-in ones, e.g. `{"foo":
            "text/x-foo"}`.
        precompressed: Whether to look for precompressed files, with `.br`, `.zst` or `.gz` appended
            to the name; or the content codings to look for, the preferred one first.
        on_found: Called with the path of the file and the context before the file is sent, e.g. to
            set headers with `c.header`: a function `(path, c)`, plain or async.
        on_not_found: Called in the same way if no file matches the path of a request.
        index: Name of the file to send for a folder, or None.
        fallback: The path, below the root, of the page to send when a browser navigates to a path
            that neither a file nor a later route or middleware matches: the entry page of a
            single-page app.
        cache_control: Cache-Control of the files; or a function `(path)`, plain or async, that
            returns it for a path below the root, such as `hashed_names()`.
        follow_symlinks: Whether to follow symbolic links in the folder, wherever they lead.
        dotfiles: Whether to serve names that begin with a dot. `.well-known` is always served.
        allow_percent_in_path: Whether to serve paths that still contain a percent sign after
            decoding.
        pathsend: Whether a server with the ASGI extension Path Send opens larger files itself, by
            path. It does so after Kit has read their size and date, and follows links: use it only
            for folders with files that don't change while the app runs.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option has the wrong type, or can't be used with another one.
        ValueError: If an option can't be used, e.g. because the folder doesn't exist.

    SPEC: RFC 9110, sections 8.8, 13 and 14.

    Example:
        app.use("/*", serve_static("dist", fallback="index.html", cache_control=hashed_names()))
    """
    check = OptionChecks("serve_static")
    check_functions(
        check,
        get_content=(get_content, "(path, c)"),
        is_dir=(is_dir, "(path)"),
        join=(join, "(root, path)"),
        path_resolve=(path_resolve, "(path)"),
        rewrite_request_path=(rewrite_request_path, "(path)"),
        on_found=(on_found, "(path, c)"),
        on_not_found=(on_not_found, "(path, c)"),
    )
    check.flag("follow_symlinks", follow_symlinks)
    check.flag("dotfiles", dotfiles)
    check.flag("allow_percent_in_path", allow_percent_in_path)
    check.flag("pathsend", pathsend)
    checked_index = check_index(check, index)
    checked_mimes = check_mimes(check, mimes)
    encodings = check_precompressed(check, precompressed)
    cache_control = check_cache_control(check, cache_control)
    of_files = {"fallback": fallback, "follow_symlinks": follow_symlinks, "pathsend": pathsend}
    if get_content is not None:
        refuse_together(
            "get_content",
            {"package": package, "directory": directory, **of_files},
            "it applies only to files on disk",
        )
        return from_source(
            SourceOptions(
                root=check.text("root", "./" if root is None else root),
                path=None if path is None else check.text("path", path),
                get_content=get_content,
                is_dir=is_dir,
                join=join,
                path_resolve=path_resolve,
                index_name=checked_index,
                rewrite_request_path=rewrite_request_path,
                allow_percent_in_path=allow_percent_in_path,
                dotfiles=dotfiles,
                mimes=checked_mimes,
                encodings=encodings,
                cache_control=cache_control,
                on_found=on_found,
                on_not_found=on_not_found,
            )
        )
    refuse_together(
        "files on disk",
        {"is_dir": is_dir, "join": join, "path_resolve": path_resolve},
        "it applies only to get_content",
    )
    folder = _folder(check, root, package, directory)
    return from_folder(
        FolderOptions(
            static_root=StaticRoot(
                folder=Folder(folder, follow_symlinks=follow_symlinks),
                index_name=checked_index,
                mimes=checked_mimes,
                encodings=encodings,
                hand_over=pathsend,
            ),
            fixed=None if path is None else check_names(check, "path", path),
            fallback=None if fallback is None else check_names(check, "fallback", fallback),
            rewrite_request_path=rewrite_request_path,
            allow_percent_in_path=allow_percent_in_path,
            dotfiles=dotfiles,
            cache_control=cache_control,
            on_found=on_found,
            on_not_found=on_not_found,
        )
    )


def _folder(check: OptionChecks, root: Any, package: Any, directory: Any) -> str:
    if package is None:
        if directory is not None:
            raise TypeError(
                "serve_static(directory=...) needs package=...: write root=... for a folder "
                "outside packages"
            )
        if root is None:
            raise TypeError("serve_static() needs a folder: root=..., or package=...")
        return check_root(check, root)
    if root is not None:
        raise TypeError("serve_static() takes root=... or package=..., not both")
    return package_folder(check, package, "static" if directory is None else directory)
