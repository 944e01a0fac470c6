# SPDX-License-Identifier: MIT
"""The apps that `overhead` times: a text route behind each middleware, in Kit and in its peers.

A framework is imported when its apps are made. Each function returns two ASGI apps: the one behind
the middleware, and the one behind a middleware that does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .logins import kit_login
from .peers import KIT
from .sample_request import SampleRequest
from .sessions import (
    cookie,
    kit_session,
    litestar_files,
    litestar_memory,
    litestar_session,
    memory,
    sqlite,
    starlette_session,
)

Pair = tuple[Any, Any]
SENT = b"x" * 200
BASIC = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="  # RFC 7617: Aladdin, open sesame
ORIGIN = "https://example.com"
SECRET = "s3cret"
JWT_SECRET = "use-a-secret-of-at-least-32-bytes-from-the-environment"
STARLETTE, LITESTAR = "starlette", "litestar"


@dataclass(frozen=True)
class Row:
    """One middleware.

    Attributes:
        name: What it is called in the table.
        asked: The request.
        frameworks: By name of the framework, what makes its apps.
        whole: Whether the whole request is timed, since the middleware answers it alone: no
            request without the middleware is like it.
    """

    name: str
    asked: SampleRequest
    frameworks: dict[str, Callable[[], Pair]]
    whole: bool = False


def kit(make: Callable[[Any], Any], *, method: str = "GET") -> Callable[[], Pair]:
    """A route of Kit.

    Args:
        make: Makes the middleware; it is given the app.
        method: Its method. Where there is a body, the handler reads it.
    """

    def pair() -> Pair:
        from kit import Context, Kit

        async def text(c: Context) -> Any:
            if method == "POST":
                await c.req.bytes()
            return c.text("Hello, World!")

        async def nothing(c: Context, next: Any) -> None:
            await next()

        def app(middleware: Any) -> Any:
            made: Any = Kit()
            return made.use(middleware(made)).on([method], "/", text)

        return app(make), app(lambda app: nothing)

    return pair


def starlette(name: str, *, method: str = "GET", **options: Any) -> Callable[[], Pair]:
    """A route of Starlette.

    Args:
        name: Module and class of the middleware, below `starlette.middleware`.
        method: Its method.
        **options: Arguments of the class.
    """

    def pair() -> Pair:
        from importlib import import_module

        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.responses import PlainTextResponse
        from starlette.routing import Route

        async def text(request: Any) -> Any:
            if method == "POST":
                await request.body()
            return PlainTextResponse("Hello, World!")

        class Nothing:
            def __init__(self, app: Any) -> None:
                self.app = app

            async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
                await self.app(scope, receive, send)

        module, _, kind = name.rpartition(".")
        found = getattr(import_module(f"starlette.middleware.{module}"), kind)
        route = Route("/", text, methods=[method])
        return (
            Starlette(routes=[route], middleware=[Middleware(found, **options)]),
            Starlette(routes=[route], middleware=[Middleware(Nothing)]),
        )

    return pair


def litestar(*, method: str = "GET", **options: Callable[[], Any]) -> Callable[[], Pair]:
    """A route of Litestar.

    Args:
        method: Its method.
        **options: Arguments of the app, each made by a function.
    """

    def pair() -> Pair:
        from litestar import Litestar, MediaType, Request, route

        @route("/", http_method=[method], media_type=MediaType.TEXT, status_code=200)
        async def text(request: Request[Any, Any, Any]) -> str:
            if method == "POST":
                await request.body()
            return "Hello, World!"

        made = {name: value() for name, value in options.items()}
        plain = {"openapi_config": None, "logging_config": None}
        return Litestar([text], **made, **plain), Litestar([text], **plain)

    return pair


class BasicBackend:
    """Starlette's way to basic authentication: a backend of one's own, after its documentation."""

    async def authenticate(self, conn: Any) -> Any:
        """Looks at the credentials of a request."""
        import base64
        import hmac

        from starlette.authentication import AuthCredentials, SimpleUser

        _, _, credentials = conn.headers["authorization"].partition(" ")
        username, _, password = base64.b64decode(credentials).decode().partition(":")
        known = hmac.compare_digest(username, "Aladdin")
        if known & hmac.compare_digest(password, "open sesame"):
            return AuthCredentials(["authenticated"]), SimpleUser(username)
        return None


def made_by(module: str, name: str, /, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
    """Calls a factory of a package of Kit."""

    def make(app: Any) -> Any:
        from importlib import import_module

        return getattr(import_module(f"kit.{module}"), name)(*arguments, **options)

    return make


def with_app(module: str, name: str) -> Callable[[Any], Any]:
    """Calls a factory that takes the app."""
    return lambda app: made_by(module, name, app=app)(app)


def litestar_cache() -> Pair:
    """A response that is cached in memory, and one that isn't."""
    from litestar import Litestar, MediaType, get

    @get("/", media_type=MediaType.TEXT, cache=60)
    async def cached() -> str:
        return "Hello, World!"

    @get("/", media_type=MediaType.TEXT)
    async def text() -> str:
        return "Hello, World!"

    plain: dict[str, Any] = {"openapi_config": None, "logging_config": None}
    return Litestar([cached], **plain), Litestar([text], **plain)


PAGE = "<h1>{{ title }}</h1><ul>{% for book in books %}<li>{{ book }}</li>{% endfor %}</ul>"
PAGE_VALUES = {"title": "Books", "books": ["Dune", "Momo", "Romeo & Juliet"]}
RENDERED = b"<h1>Books</h1><ul><li>Dune</li><li>Momo</li><li>Romeo &amp; Juliet</li></ul>"


def kit_page() -> Pair:
    """A page from a template, and a page that is there already."""
    from jinja2 import DictLoader

    from kit import Context, Kit
    from kit.templates import templates

    async def nothing(c: Context, next: Any) -> None:
        await next()

    rendered: Any = Kit()
    rendered.use(templates(loader=DictLoader({"page.html": PAGE})))
    rendered.get("/", lambda c: c.render("page.html", PAGE_VALUES))
    plain: Any = Kit()
    return rendered, plain.use(nothing).get("/", lambda c: c.html(RENDERED.decode()))


def starlette_page() -> Pair:
    """The same of Starlette."""
    from jinja2 import DictLoader, Environment
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse
    from starlette.routing import Route
    from starlette.templating import Jinja2Templates

    environment = Environment(loader=DictLoader({"page.html": PAGE}), autoescape=True)
    templates = Jinja2Templates(env=environment)

    async def rendered(request: Any) -> Any:
        return templates.TemplateResponse(request, "page.html", PAGE_VALUES)

    async def plain(request: Any) -> Any:
        return HTMLResponse(RENDERED)

    return Starlette(routes=[Route("/", rendered)]), Starlette(routes=[Route("/", plain)])


def litestar_page() -> Pair:
    """The same of Litestar."""
    from jinja2 import DictLoader, Environment
    from litestar import Litestar, MediaType, get
    from litestar.contrib.jinja import JinjaTemplateEngine
    from litestar.response import Template
    from litestar.template import TemplateConfig

    environment = Environment(loader=DictLoader({"page.html": PAGE}), autoescape=True)
    engine = JinjaTemplateEngine.from_environment(environment)

    @get("/")
    async def rendered() -> Any:
        return Template("page.html", context=PAGE_VALUES)

    @get("/", media_type=MediaType.HTML)
    async def plain() -> bytes:
        return RENDERED

    options: dict[str, Any] = {"openapi_config": None, "logging_config": None}
    return (
        Litestar([rendered], template_config=TemplateConfig(instance=engine), **options),
        Litestar([plain], **options),
    )


def asgi_session(app: Any) -> Any:
    """The session of Starlette in a Kit app."""
    from starlette.middleware.sessions import SessionMiddleware

    from kit.asgi import asgi_middleware

    return asgi_middleware(SessionMiddleware, secret_key="s3cret")


def some_of_two(app: Any) -> Any:
    """Bearer or basic authentication, of which the second succeeds."""
    from kit.basic_auth import basic_auth
    from kit.bearer_auth import bearer_auth
    from kit.combine import some

    return some(bearer_auth(token="s3cret"), basic_auth(username="Aladdin", password="open sesame"))


def jwt_user(app: Any) -> Any:
    """A token by a secret, and the user whom a function finds by its claims."""
    from kit.jwt import jwt

    async def find_user(payload: Any, c: Any) -> Any:
        return payload["sub"]

    return jwt(secret=JWT_SECRET, alg="HS256", load=find_user).required


def litestar_jwt() -> Any:
    """The same of Litestar."""
    from litestar.security.jwt import JWTAuth

    async def find_user(token: Any, connection: Any) -> Any:
        return token.sub

    return [JWTAuth[Any](token_secret=JWT_SECRET, retrieve_user_handler=find_user).on_app_init]


def signed_token() -> str:
    """A token with the claims that Litestar wants."""
    from kit.jwt import sign

    return sign({"sub": "ann", "iat": 1_700_000_000, "exp": 4_000_000_000}, JWT_SECRET)


def secure_headers_with_nonce(app: Any) -> Any:
    """A policy with a nonce, which is new with each answer."""
    from kit.secure_headers import NONCE, secure_headers

    return secure_headers(content_security_policy={"script_src": ["'self'", NONCE]})


def litestar_cors() -> Any:
    """CORS for one origin."""
    from litestar.config.cors import CORSConfig

    return CORSConfig(allow_origins=[ORIGIN])


def litestar_csrf() -> Any:
    """A guard by tokens, which are compared."""
    from litestar.config.csrf import CSRFConfig

    return CSRFConfig(secret=SECRET)


def litestar_hosts() -> Any:
    """The hosts of the row."""
    from litestar.config.allowed_hosts import AllowedHostsConfig

    return AllowedHostsConfig(allowed_hosts=["localhost", "*.example.com"], www_redirect=False)


def litestar_rate_limit() -> Any:
    """A limit that nobody reaches, in memory."""
    from litestar.middleware.rate_limit import RateLimitConfig

    return [RateLimitConfig(rate_limit=("minute", 1_000_000_000)).middleware]


def starlette_metrics() -> Pair:
    """Metrics of requests, labelled by the patterns of routes."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route
    from starlette_exporter import PrometheusMiddleware

    async def text(request: Any) -> Any:
        return PlainTextResponse("Hello, World!")

    class Nothing:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await self.app(scope, receive, send)

    routes = [Route("/", text)]
    return (
        Starlette(routes=routes, middleware=[Middleware(PrometheusMiddleware)]),
        Starlette(routes=routes, middleware=[Middleware(Nothing)]),
    )


def litestar_metrics() -> Any:
    """Metrics of requests, labelled by the patterns of routes."""
    from litestar.plugins.prometheus import PrometheusConfig

    return [PrometheusConfig(group_path=True).middleware]


def kit_health(app: Any) -> Any:
    """Probes that are asked for at other paths."""
    from kit.health import health

    return health({"database": lambda env: None})


def csrf_token() -> str:
    """The token that Litestar wants, as cookie and header; Kit looks at neither."""
    try:
        from litestar.middleware.csrf import generate_csrf_token
    except ImportError:
        return ""
    return generate_csrf_token(SECRET)


def session_rows(*, writes: bool) -> Iterator[Row]:
    """A session that a handler reads, or changes, by where it is kept."""
    peers = {
        "cookie": (cookie, {STARLETTE: starlette_session(writes=writes)}),
        "memory": (memory, {LITESTAR: litestar_session(litestar_memory, writes=writes)}),
        "SQLite": (sqlite, {LITESTAR: litestar_session(litestar_files, writes=writes)}),
    }
    for place, (options, others) in peers.items():
        name = f"session, {place}, {'write' if writes else 'read'}"
        yield Row(name, SampleRequest(), {KIT: kit_session(options, writes=writes), **others})


def rows() -> tuple[Row, ...]:
    """All rows."""
    plain = SampleRequest()
    cross = SampleRequest(headers={"origin": ORIGIN})
    preflight = SampleRequest(
        "OPTIONS",
        {"origin": ORIGIN, "access-control-request-method": "PUT"},
        status=None,
        body=None,
    )
    signed_in = SampleRequest(headers={"authorization": BASIC})
    token = csrf_token()
    form = SampleRequest(
        "POST",
        {
            "origin": "http://localhost",
            "sec-fetch-site": "same-origin",
            "content-type": "text/plain",
            "cookie": f"csrftoken={token}",
            "x-csrftoken": token,
        },
        SENT,
    )
    upload = SampleRequest("POST", {}, SENT)
    cors = {"allow_origins": [ORIGIN]}
    of_all_origins = {
        KIT: kit(made_by("cors", "cors")),
        STARLETTE: starlette("cors.CORSMiddleware", allow_origins=["*"]),
    }
    of_some_origins = {
        KIT: kit(made_by("cors", "cors", origin=[ORIGIN])),
        STARLETTE: starlette("cors.CORSMiddleware", **cors),
        LITESTAR: litestar(cors_config=litestar_cors),
    }
    hosts = ["localhost", "*.example.com"]
    return (
        Row(
            "asgi-middleware",
            plain,
            {
                KIT: kit(asgi_session),
                STARLETTE: starlette("sessions.SessionMiddleware", secret_key="s3cret"),
            },
        ),
        Row("logger", plain, {KIT: kit(made_by("logger", "logger", lambda line: None))}),
        Row("cors, any origin", cross, of_all_origins),
        Row("cors, an origin", cross, of_some_origins),
        Row("cors, no origin", plain, of_some_origins),
        Row("cors, preflight", preflight, of_some_origins, whole=True),
        Row(
            "csrf, POST",
            form,
            {
                KIT: kit(made_by("csrf", "csrf"), method="POST"),
                LITESTAR: litestar(method="POST", csrf_config=litestar_csrf),
            },
        ),
        Row("csrf, GET", plain, {KIT: kit(made_by("csrf", "csrf"))}),
        Row("secure-headers", plain, {KIT: kit(made_by("secure_headers", "secure_headers"))}),
        Row("secure-headers, nonce", plain, {KIT: kit(secure_headers_with_nonce)}),
        Row(
            "trusted-hosts",
            plain,
            {
                KIT: kit(made_by("trusted_hosts", "trusted_hosts", *hosts)),
                STARLETTE: starlette("trustedhost.TrustedHostMiddleware", allowed_hosts=hosts),
                LITESTAR: litestar(allowed_hosts=litestar_hosts),
            },
        ),
        Row(
            "basic-auth",
            signed_in,
            {
                KIT: kit(
                    made_by("basic_auth", "basic_auth", username="Aladdin", password="open sesame")
                ),
                STARLETTE: starlette(
                    "authentication.AuthenticationMiddleware", backend=BasicBackend()
                ),
            },
        ),
        Row(
            "bearer-auth",
            SampleRequest(headers={"authorization": "Bearer s3cret"}),
            {KIT: kit(made_by("bearer_auth", "bearer_auth", token="s3cret"))},
        ),
        Row(
            "jwt, HS256 and a user",
            SampleRequest(headers={"authorization": f"Bearer {signed_token()}"}),
            {KIT: kit(jwt_user), LITESTAR: litestar(on_app_init=litestar_jwt)},
        ),
        Row(
            "ip-restriction",
            plain,
            {
                KIT: kit(
                    made_by(
                        "ip_restriction",
                        "ip_restriction",
                        rules={"allow_list": ["127.0.0.0/8", "::1"]},
                    )
                )
            },
        ),
        Row(
            "body-limit",
            upload,
            {
                KIT: kit(made_by("body_limit", "body_limit", max_size=1000), method="POST"),
                STARLETTE: starlette(
                    "body_limit.RequestBodyLimitMiddleware", method="POST", max_body_size=1000
                ),
            },
        ),
        Row(
            "rate-limit, memory",
            plain,
            {
                KIT: kit(made_by("rate_limit", "rate_limit", "1000000000/minute")),
                LITESTAR: litestar(middleware=litestar_rate_limit),
            },
        ),
        Row("oidc, session in memory", plain, {KIT: kit_login}),
        *session_rows(writes=False),
        *session_rows(writes=True),
        Row("request-id", plain, {KIT: kit(made_by("request_id", "request_id"))}),
        Row(
            "templates, a page",
            SampleRequest(body=RENDERED),
            {KIT: kit_page, STARLETTE: starlette_page, LITESTAR: litestar_page},
        ),
        Row(
            "cache, a hit in memory",
            plain,
            {
                KIT: kit(made_by("cache", "cache", cache_control="max-age=3600")),
                LITESTAR: litestar_cache,
            },
            whole=True,
        ),
        Row("timeout", plain, {KIT: kit(made_by("timeout", "timeout", 5.0))}),
        Row("cancel-on-disconnect", plain, {KIT: kit(made_by("timeout", "cancel_on_disconnect"))}),
        Row("some of two", signed_in, {KIT: kit(some_of_two)}),
        Row("method-override", plain, {KIT: kit(with_app("method_override", "method_override"))}),
        Row(
            "method-not-allowed",
            plain,
            {KIT: kit(with_app("method_not_allowed", "method_not_allowed"))},
        ),
        Row("pretty-json", plain, {KIT: kit(made_by("pretty_json", "pretty_json"))}),
        Row("powered-by", plain, {KIT: kit(made_by("powered_by", "powered_by"))}),
        Row(
            "metrics",
            plain,
            {
                KIT: kit(made_by("metrics", "metrics")),
                STARLETTE: starlette_metrics,
                LITESTAR: litestar(middleware=litestar_metrics),
            },
        ),
        Row("health, another path", plain, {KIT: kit(kit_health)}),
        Row("timing", plain, {KIT: kit(made_by("timing", "timing"))}),
        Row(
            "serve-static, no such file",
            plain,
            {KIT: kit(made_by("serve_static", "serve_static", root="benchmarks"))},
        ),
        Row("context-storage", plain, {KIT: kit(made_by("context_storage", "context_storage"))}),
        Row("language", plain, {KIT: kit(made_by("language", "language_detector"))}),
        Row(
            "trim-trailing-slash",
            plain,
            {KIT: kit(made_by("trailing_slash", "trim_trailing_slash"))},
        ),
        Row(
            "append-trailing-slash",
            plain,
            {KIT: kit(made_by("trailing_slash", "append_trailing_slash"))},
        ),
    )
