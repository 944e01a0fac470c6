# SPDX-License-Identifier: MIT
"""Names of other frameworks, by where they are written, and what Kit has for each.

Imported only to refuse one of them.
"""

from __future__ import annotations

_LIFESPAN = "start and end things in a lifespan, Kit(lifespan=...)"
_MIDDLEWARE = "write middleware (c, next) and register it with app.use(), before the routes"
_ON = "write app.get(path), app.post(path), or app.on(['GET', 'POST'], path)"
_ON_ERROR = "write @app.on_error(SomeError), and @app.not_found() for unmatched requests"
_SERVE = "run it with `kit serve app.py`, with `kit dev app.py` while developing"
_ROUTE = "make the other app with Kit(), and write app.route('/prefix', other)"
_STATE = "yield values from a lifespan, Kit(lifespan=...), and read them from c.env"
_WEBSOCKET = "write @app.get(path) above @upgrade_websocket of kit.websocket"
_OPENAPI = "use kit.openapi, which describes the routes of an app"
_NO_NAMES = "write the path, or keep it in a constant: routes have no names"

ATTRIBUTES = {
    "add_api_route": _ON,
    "add_api_websocket_route": _WEBSOCKET,
    "add_event_handler": _LIFESPAN,
    "add_exception_handler": _ON_ERROR,
    "add_middleware": _MIDDLEWARE,
    "add_route": _ON,
    "add_url_rule": _ON,
    "after_request": _MIDDLEWARE,
    "api_route": _ON,
    "before_request": _MIDDLEWARE,
    "config": _STATE,
    "dependency_overrides": "write `with override(app, {function: fake}):` of kit.typed",
    "errorhandler": _ON_ERROR,
    "exception_handler": _ON_ERROR,
    "fire": _SERVE,
    "head": "register GET, which answers HEAD as well",
    "include_router": _ROUTE,
    "listen": _SERVE,
    "middleware": _MIDDLEWARE,
    "on_event": _LIFESPAN,
    "on_shutdown": _LIFESPAN,
    "on_startup": _LIFESPAN,
    "openapi": _OPENAPI,
    "openapi_schema": _OPENAPI,
    "register": _ROUTE,
    "register_blueprint": _ROUTE,
    "run": _SERVE,
    "state": _STATE,
    "teardown_appcontext": _LIFESPAN,
    "teardown_request": _MIDDLEWARE,
    "test_client": "write test_client(app) or sync_test_client(app) of kit.testing",
    "url_for": _NO_NAMES,
    "url_path_for": _NO_NAMES,
    "websocket": _WEBSOCKET,
    "websocket_route": _WEBSOCKET,
}

_APP = "write `from kit import Kit`"
_OTHER_APP = "write `from kit import Kit`, make the other app with Kit(), and add it by app.route()"
_TYPED = "it is part of kit.typed"

# No name of a module below `kit` may be among these: it could not be imported any more.
IMPORTS = {
    "APIRouter": _OTHER_APP,
    "BackgroundTasks": "write c.execution_ctx.wait_until(task()) in the handler",
    "Blueprint": _OTHER_APP,
    "Body": _TYPED,
    "CORSMiddleware": "write `from kit.cors import cors`",
    "Cookie": _TYPED,
    "Depends": _TYPED,
    "FastAPI": _APP,
    "FileResponse": "write `from kit import send_file`",
    "Flask": _APP,
    "Form": _TYPED,
    "HTMLResponse": "return c.html(...) from the handler",
    "Header": _TYPED,
    "Hono": _APP,
    "JSONResponse": "return c.json(...) from the handler",
    "Litestar": _APP,
    "Path": _TYPED,
    "PlainTextResponse": "return c.text(...) from the handler",
    "Query": _TYPED,
    "RedirectResponse": "return c.redirect(...) from the handler",
    "Route": "register handlers with @app.get(path) and the like",
    "Router": _OTHER_APP,
    "Starlette": _APP,
    "StaticFiles": "write `from kit.serve_static import serve_static`",
    "StreamingResponse": "return stream(c, ...) of kit.streaming from the handler",
    "TestClient": "write `from kit.testing import sync_test_client`",
    "UploadFile": "write `from kit import File`",
    "WebSocket": "it is part of kit.websocket",
    "abort": "write `raise HTTPException(404)`",
    "jsonify": "return c.json(...) from the handler",
    "current_app": "read c.env in the handler, which has what the lifespan yields",
    "g": "write c.set('name', value) and c.get('name')",
    "make_response": "return c.text(...), c.json(...) or c.body(...) from the handler",
    "redirect": "return c.redirect(...) from the handler",
    "render_template": "return c.render(...), with templates() of kit.templates",
    "url_for": _NO_NAMES,
}

_IN_OPENAPI = "write @describe(...) of kit.openapi above the handler"
_BY_TYPED = "annotate what a @typed function of kit.typed returns"
_BY_USE = "give middleware as use=[...]"

ROUTES = {
    "dependencies": _BY_USE,
    "deprecated": _IN_OPENAPI,
    "description": _IN_OPENAPI,
    "endpoint": "routes have no names; leave it out",
    "guards": _BY_USE,
    "handler": "give the handler after the path, or use a decorator",
    "include_in_schema": _IN_OPENAPI,
    "middleware": _BY_USE,
    "name": "routes have no names; leave it out",
    "operation_id": _IN_OPENAPI,
    "path": "give the path first, without a keyword",
    "response_class": "return c.json(...), c.html(...) or c.text(...) from the handler",
    "response_model": _BY_TYPED,
    "responses": _IN_OPENAPI,
    "return_dto": _BY_TYPED,
    "strict_slashes": "write Kit(strict=False)",
    "summary": _IN_OPENAPI,
    "tags": _IN_OPENAPI,
}

CONSTRUCTOR = {
    "debug": "develop with `kit dev app.py`, which shows tracebacks",
    "dependencies": _MIDDLEWARE,
    "docs_url": _OPENAPI,
    "exception_handlers": _ON_ERROR,
    "import_name": "leave it out",
    "middleware": _MIDDLEWARE,
    "on_shutdown": _LIFESPAN,
    "on_startup": _LIFESPAN,
    "openapi_url": _OPENAPI,
    "prefix": "write app.route('/prefix', other), or app.base_path('/prefix')",
    "redirect_slashes": "write Kit(strict=False), or use kit.trailing_slash",
    "root_path": "give it to the server: `kit serve --root-path /prefix`",
    "route_handlers": "register handlers with @app.get(path) and the like",
    "routes": "register handlers with app.get(path, handler) and the like",
    "static_folder": "use serve_static of kit.serve_static",
    "title": _OPENAPI,
    "version": _OPENAPI,
}
