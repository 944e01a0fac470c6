# SPDX-License-Identifier: MIT
"""Behind a cache, no client gets a response that was made of another one's headers.

A table of the ways in which Kit hands a header or a cookie to a handler as data. None of the
handlers says Vary or private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import anyio
import msgspec
import pydantic
import pytest

from kit import Context, Kit
from kit.bearer_auth import bearer_auth
from kit.cache import cache
from kit.cookie import delete_cookie, get_cookie
from kit.interface import Next
from kit.jwt import jwt, sign
from kit.language import language_detector
from kit.typed import Cookie, Depends, Header, Var, typed
from kit.validator import validator

SECRET = "RkhqYzM5c0VxN2tVd1pQb1lUMmxCdkF4TmdJbVE4ZUQ"
Say = Callable[[str], Mapping[str, str]]


class InStruct(msgspec.Struct):
    x_user: str


@dataclass
class InDataclass:
    x_user: str


class InTypedDict(TypedDict):
    x_user: str


class InModel(pydantic.BaseModel):
    x_user: str


class InAlias(pydantic.BaseModel):
    name: str = pydantic.Field(alias="X-User")


class InExtra(pydantic.BaseModel, extra="allow"):
    pass


class InValidator(pydantic.BaseModel):
    user: str = ""

    @pydantic.model_validator(mode="before")
    @classmethod
    def find(cls, values: Any) -> Any:
        return {"user": values["x-user"]}


class UserCookie(msgspec.Struct):
    user: str


def header(name: str) -> Mapping[str, str]:
    return {"X-User": name}


def cookie(name: str) -> Mapping[str, str]:
    return {"Cookie": f"user={name}"}


def signed(name: str) -> Mapping[str, str]:
    return {"Cookie": f"token={sign({'sub': name}, SECRET, 'HS256')}"}


WAYS: dict[str, tuple[Callable[[Kit[Any, Any]], object], Say]] = {}


def way(say: Say) -> Callable[[Callable[[Kit[Any, Any]], object]], object]:
    def note(build: Callable[[Kit[Any, Any]], object]) -> object:
        WAYS[build.__name__] = (build, say)
        return build

    return note


@way(header)
def typed_header(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(x_user: Annotated[str, Header()]) -> str:
        return x_user


@way(header)
def typed_header_with_a_default(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(
        x_user: Annotated[str, Header()] = "", x_other: Annotated[str, Header()] = ""
    ) -> str:
        return x_user


@way(header)
def typed_list(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(x_user: Annotated[list[str], Header()]) -> list[str]:
        return x_user


@way(header)
def typed_header_by_another_name(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(name: Annotated[str, Header("X-User")]) -> str:
        return name


@way(header)
def typed_dependency(app: Kit[Any, Any]) -> None:
    async def user(x_user: Annotated[str, Header()]) -> str:
        return x_user

    @app.get("/")
    @typed
    async def endpoint(name: Annotated[str, Depends(user)]) -> str:
        return name


@way(header)
def typed_model(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(given: Annotated[InStruct, Header()]) -> str:
        return given.x_user


@way(header)
def typed_model_beside_another_parameter(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(
        given: Annotated[InModel, Header()], x_other: Annotated[str, Header()] = ""
    ) -> str:
        return given.x_user


@way(header)
def typed_dict(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(given: Annotated[dict[str, str], Header()]) -> str:
        return given["x-user"]


@way(cookie)
def typed_cookie(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(user: Annotated[str, Cookie()]) -> str:
        return user


@way(cookie)
def typed_cookies(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(user: Annotated[str, Cookie()], b: Annotated[str, Cookie()] = "") -> str:
        return user


@way(cookie)
def typed_model_of_cookies(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(given: Annotated[UserCookie, Cookie()]) -> str:
        return given.user


@way(signed)
def typed_variable_of_a_guard(app: Kit[Any, Any]) -> None:
    app.use(jwt(secret=SECRET, alg="HS256", cookie="token"))

    @app.get("/")
    @typed
    async def endpoint(jwt_payload: Annotated[dict[str, Any], Var()]) -> str:
        return str(jwt_payload["sub"])


for kind in (InStruct, InDataclass, InTypedDict, InModel):

    @way(header)
    def validated(app: Kit[Any, Any], kind: Any = kind) -> None:
        def answer(c: Context) -> Any:
            found = c.req.valid("header")
            return c.json(found["x_user"] if isinstance(found, dict) else found.x_user)

        app.get("/", answer, use=validator("header", kind))

    WAYS[f"validated_{kind.__name__}"] = WAYS.pop("validated")


@way(header)
def validated_by_an_alias(app: Kit[Any, Any]) -> None:
    app.get("/", lambda c: c.json(c.req.valid("header").name), use=validator("header", InAlias))


@way(header)
def validated_extra_fields(app: Kit[Any, Any]) -> None:
    def answer(c: Context) -> Any:
        return c.json(c.req.valid("header").model_extra["x-user"])

    app.get("/", answer, use=validator("header", InExtra))


@way(header)
def validated_by_code_of_the_model(app: Kit[Any, Any]) -> None:
    app.get("/", lambda c: c.json(c.req.valid("header").user), use=validator("header", InValidator))


@way(header)
def validated_by_a_function(app: Kit[Any, Any]) -> None:
    check = validator("header", lambda value, c: value["x-user"])
    app.get("/", lambda c: c.json(c.req.valid("header")), use=check)


@way(header)
def validated_dict(app: Kit[Any, Any]) -> None:
    check = validator("header", dict[str, str])
    app.get("/", lambda c: c.json(c.req.valid("header")["x-user"]), use=check)


@way(cookie)
def validated_cookie(app: Kit[Any, Any]) -> None:
    check = validator("cookie", UserCookie)
    app.get("/", lambda c: c.json(c.req.valid("cookie").user), use=check)


@way(cookie)
def validated_cookie_by_a_function(app: Kit[Any, Any]) -> None:
    check = validator("cookie", lambda value, c: value["user"])
    app.get("/", lambda c: c.json(c.req.valid("cookie")), use=check)


@way(cookie)
def one_cookie(app: Kit[Any, Any]) -> None:
    app.get("/", lambda c: c.json(get_cookie(c, "user")))


@way(cookie)
def all_cookies(app: Kit[Any, Any]) -> None:
    app.get("/", lambda c: c.json(get_cookie(c)["user"]))


@way(cookie)
def a_cookie_read_by_middleware_behind_the_cache(app: Kit[Any, Any]) -> None:
    async def user(c: Context, next: Next) -> None:
        c.set("user", get_cookie(c, "user"))
        await next()

    app.get("/", lambda c: c.json(c.get("user")), use=user)


@way(cookie)
def a_deleted_cookie(app: Kit[Any, Any]) -> None:
    app.get("/", lambda c: c.json(delete_cookie(c, "user")))


@way(signed)
def jwt_in_a_cookie(app: Kit[Any, Any]) -> None:
    guard = jwt(secret=SECRET, alg="HS256", cookie="token")
    app.get("/", lambda c: c.json(c.get("jwt_payload")["sub"]), use=guard)


@way(lambda name: {"X-Token": f"Bearer {name}"})
def a_token_in_another_header(app: Kit[Any, Any]) -> None:
    guard = bearer_auth(
        verify_token=lambda token, c: {"sub": token}, header_name="X-Token", user_variable="user"
    )
    app.get("/", lambda c: c.json(c.get("user")["sub"]), use=guard)


LANGUAGES = {"ann": "en", "bob": "de"}


@way(lambda name: {"Accept-Language": LANGUAGES[name]})
def language_of_a_header(app: Kit[Any, Any]) -> None:
    use = language_detector(supported_languages=["en", "de"], caches=False)
    names = {language: name for name, language in LANGUAGES.items()}
    app.get("/", lambda c: c.json(names[c.get("language")]), use=use)


@way(lambda name: {"Cookie": f"language={LANGUAGES[name]}"})
def language_of_a_cookie(app: Kit[Any, Any]) -> None:
    use = language_detector(supported_languages=["en", "de"], caches=False)
    names = {language: name for name, language in LANGUAGES.items()}
    app.get("/", lambda c: c.json(names[c.get("language")]), use=use)


@pytest.mark.parametrize("name", WAYS)
def test_two_clients_never_share_a_response(name: str) -> None:
    build, say = WAYS[name]
    app: Kit[Any, Any] = Kit()
    app.use(cache(cache_control="max-age=60"))
    build(app)

    async def ask() -> None:
        for user in ("ann", "bob", "ann"):
            response = await app.request("/", headers=say(user))
            assert response.status == 200
            assert user in await response.text()

    anyio.run(ask)
