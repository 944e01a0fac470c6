# SPDX-License-Identifier: MIT
"""Sends and reads the models that datamodel-code-generator made; prints what it read."""

from __future__ import annotations

import json
import os
from typing import Any, TypeVar

import bookshelf_models as shelf
import conduit_models as conduit
import every_feature_models as every
import httpx
from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


class Caller:
    """Calls an app with models.

    Args:
        app: The name of the variable with the URL.
        authorization: Credentials.
    """

    def __init__(self, app: str, authorization: str = "") -> None:
        headers = {"content-type": "application/json", "authorization": authorization}
        self._client = httpx.Client(base_url=os.environ[app], headers=headers)

    def send(self, path: str, body: BaseModel, kind: type[M], status: int = 200) -> M:
        """Posts a model, and reads the model of the answer."""
        content = body.model_dump_json(by_alias=True, exclude_unset=True)
        response = self._client.post(path, content=content)
        assert response.status_code == status, response.text
        return kind.model_validate_json(response.content)

    def read(self, path: str, kind: type[M], status: int = 200, **query: Any) -> M:
        """Reads the model of an answer."""
        response = self._client.get(path, params=query)
        assert response.status_code == status, response.text
        return kind.model_validate_json(response.content)


def call_every() -> dict[str, Any]:
    caller = Caller("EVERY_FEATURE")
    values = {
        "displayName": "Lamp",
        "serial": "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22",
        "price": "1.50",
        "madeOn": "2026-01-02",
        "color": "blue",
        "rank": 2,
        "place": [1, 2.5],
    }
    new = every.Thing.model_validate(values)
    thing = caller.send("/bodies/thing", new, every.Thing, 201).model_dump(mode="json")
    shapes = [{"type": "circle", "radius": 3}, {"type": "square", "side": 2}]
    group = every.Group.model_validate({"type": "group", "shapes": shapes})
    owner = every.Owner.model_validate({"name": "Ada", "pet": {"kind": "dog", "tricks": ["sit"]}})
    point, fault = every.Point(x=1), every.Point(x=-1)
    return {
        "thing": [thing[name] for name in ("displayName", "price", "color", "place")],
        "shape": caller.send("/bodies/shape", group, every.Group).model_dump(mode="json"),
        "owner": caller.send("/bodies/owner", owner, every.Owner).pet.model_dump(mode="json"),
        "union": caller.read("/results/union/book", every.Book).model_dump(mode="json"),
        "missing": caller.read("/results/filtered/99", every.Problem, 404).detail,
        "job": caller.send("/results/jobs", point, every.Job, 202).model_dump(mode="json"),
        "fault": caller.send("/results/jobs", fault, every.Fault, 409).reason,
        "invalid": [
            each.path
            for each in caller.read("/parameters/simple", every.ValidationProblem, 400, q="").errors
        ],
    }


def call_shelf() -> dict[str, Any]:
    caller = Caller("BOOKSHELF", f"Bearer {os.environ['SHELF_TOKEN']}")
    new = shelf.NewBook(title=os.environ["TITLE"], author="Ada")
    made = caller.send("/api/books", new, shelf.Book, 201)
    read = caller.read(f"/api/books/{made.id}", shelf.Book)
    return {"title": read.title == os.environ["TITLE"]}


def call_conduit() -> dict[str, Any]:
    name = os.environ["NAME"]
    user = conduit.NewUser(
        username=name, email=f"{name}@example.com", password=os.environ["PASSWORD"]
    )
    new = conduit.CreateUserJson(user=user)
    made = Caller("CONDUIT").send("/api/users", new, conduit.UserResponse, 201).user
    caller = Caller("CONDUIT", f"Token {made.token}")
    text = conduit.NewArticle(title=name, description="About", body="Text", tagList=["a"])
    article = conduit.CreateArticleJson(article=text)
    written = caller.send("/api/articles", article, conduit.ArticleResponse, 201).article
    listed = caller.read("/api/articles", conduit.ArticlesResponse, author=name)
    return {
        "user": made.username == name,
        "tags": written.tagList,
        "count": listed.articlesCount,
    }


if __name__ == "__main__":
    read = {
        "every_feature": call_every(),
        "bookshelf": call_shelf(),
        "conduit": call_conduit(),
    }
    print(json.dumps(read))
