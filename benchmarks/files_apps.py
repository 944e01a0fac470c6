# SPDX-License-Identifier: MIT
"""Apps that serve the folder named in the environment, each with what its framework has for it.

Those whose names end in `_json` answer with JSON that is compressed for each request.
"""

from __future__ import annotations

import os
from typing import Any

from .middleware_content import LEVEL, TEN_KIB

FOLDER = "KIT_BENCHMARK_FILES"
BOOKS = TEN_KIB
_TYPE = "application/json"


def kit() -> Any:
    from kit import Kit
    from kit.serve_static import serve_static

    app = Kit()
    app.use("/*", serve_static(os.environ[FOLDER], precompressed=True))
    return app


def starlette() -> Any:
    from starlette.applications import Starlette
    from starlette.routing import Mount
    from starlette.staticfiles import StaticFiles

    return Starlette(routes=[Mount("/", StaticFiles(directory=os.environ[FOLDER]))])


def litestar() -> Any:
    from litestar import Litestar
    from litestar.static_files import create_static_files_router

    router = create_static_files_router(path="/", directories=[os.environ[FOLDER]])
    return Litestar([router], openapi_config=None)


def blacksheep() -> Any:
    from blacksheep import Application

    app = Application()
    app.serve_files(os.environ[FOLDER], extensions={".txt", ".bin", ".js", ".br"})
    return app


def kit_json() -> Any:
    from kit import Context, Kit, Response
    from kit.compress import compress

    app = Kit()
    app.use(compress(encoding="gzip", level=LEVEL))

    @app.get("/books.json")
    async def books(c: Context) -> Response:
        return c.body(BOOKS, 200, {"Content-Type": _TYPE})

    return app


def starlette_json() -> Any:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def books(request: Request) -> Response:
        return Response(BOOKS, media_type=_TYPE)

    gzip = Middleware(GZipMiddleware, compresslevel=LEVEL)
    return Starlette(routes=[Route("/books.json", books)], middleware=[gzip])


def litestar_json() -> Any:
    from litestar import Litestar, get
    from litestar.config.compression import CompressionConfig

    @get("/books.json", media_type=_TYPE)
    async def books() -> bytes:
        return BOOKS

    gzip = CompressionConfig(backend="gzip", gzip_compress_level=LEVEL)
    return Litestar([books], compression_config=gzip, openapi_config=None)


def blacksheep_json() -> Any:
    from blacksheep import Application, Content, Response
    from blacksheep.server.compression import GzipMiddleware, use_gzip_compression

    app = Application()
    use_gzip_compression(app, GzipMiddleware(comp_level=LEVEL))

    @app.router.get("/books.json")
    async def books():
        return Response(200, content=Content(_TYPE.encode(), BOOKS))

    return app


NGINX = """
daemon off;
master_process off;
pid {folder}.nginx/pid;
error_log stderr error;
events {{ worker_connections 64; }}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 1000000;
    client_body_temp_path {folder}.nginx/body;
    proxy_temp_path {folder}.nginx/proxy;
    fastcgi_temp_path {folder}.nginx/fastcgi;
    uwsgi_temp_path {folder}.nginx/uwsgi;
    scgi_temp_path {folder}.nginx/scgi;
    types {{ text/plain txt; text/javascript js; application/json json; }}
    gzip on;
    gzip_comp_level 6;
    gzip_types application/json;
    server {{
        listen 127.0.0.1:{port};
        root {folder};
    }}
}}
"""
"""Configuration of nginx for the same folder, in one process."""
