# SPDX-License-Identifier: MIT
"""Apps that serve the folder named in the environment, each with what its framework has for it."""

from __future__ import annotations

import os
from typing import Any

FOLDER = "KIT_BENCHMARK_FILES"


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
    types {{ text/plain txt; text/javascript js; }}
    server {{
        listen 127.0.0.1:{port};
        root {folder};
    }}
}}
"""
"""Configuration of nginx for the same folder, in one process."""
