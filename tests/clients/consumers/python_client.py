# SPDX-License-Identifier: MIT
"""Calls the apps with the clients that openapi-python-client generated; prints what it read."""

from __future__ import annotations

import json
import os
from datetime import date
from io import BytesIO
from typing import Any

from bookshelf_client import AuthenticatedClient as ShelfClient
from bookshelf_client.api.api import (
    create_book,
    delete_book,
    list_books,
    put_api_books_by_id_cover,
    read_book,
)
from bookshelf_client.types import File as Cover
from conduit_client import AuthenticatedClient as ConduitClient
from conduit_client.api.articles import create_article, create_favorite, list_articles
from conduit_client.api.user import read_user
from conduit_client.api.users import create_user
from every_feature_client import AuthenticatedClient, Client
from every_feature_client.api.bodies import (
    change_thing,
    create_album,
    create_thing,
    echo_box,
    echo_owner,
    echo_pair,
    echo_shape,
    login,
)
from every_feature_client.api.guarded import (
    tell_basic,
    tell_bearer,
    tell_jwt,
    tell_key,
    tell_oauth,
)
from every_feature_client.api.jobs import start_job
from every_feature_client.api.parameters import read_path, read_simple, search
from every_feature_client.api.results import (
    delete_nothing,
    list_pages,
    read_events,
    read_file,
    read_filtered,
    read_union,
)
from every_feature_client.models import Album, Color, Group, Login, TreePatch
from every_feature_client.types import File


def body(endpoint: Any, value: dict[str, Any]) -> Any:
    """Makes the body of an endpoint, of the class that its generated function takes."""
    return endpoint._get_kwargs.__annotations__["body"].from_dict(value)


def with_token(kind: Any, app: str, token: str, prefix: str = "Bearer") -> Any:
    """Makes a client with credentials, which accepts only documented statuses."""
    return kind(os.environ[app], token, prefix=prefix, raise_on_unexpected_status=True)


def call_every() -> dict[str, Any]:
    client = Client(os.environ["EVERY_FEATURE"], raise_on_unexpected_status=True)
    day = date(2026, 1, 2)
    found = search.sync(
        client=client,
        words=["a", "b"],
        color=Color.RED,
        after=day,
        x_trace="abc",
    )
    thing = create_thing.sync(
        client=client,
        body=body(
            create_thing,
            {
                "displayName": "Lamp",
                "serial": "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22",
                "price": "1.50",
                "madeOn": "2026-01-02",
                "color": "blue",
                "rank": 2,
                "place": [1, 2.5],
            },
        ),
    )
    shapes = [{"type": "circle", "radius": 3}, {"type": "square", "side": 2}]
    group = Group.from_dict({"type": "group", "shapes": shapes})
    owner = body(echo_owner, {"name": "Ada", "pet": {"kind": "dog", "tricks": ["sit"]}})
    form = Login.from_dict({"username": "ada", "password": "pa55word", "remember": True})
    album = Album(
        title="Spring",
        cover=File(BytesIO("\x89PNG".encode()), "cover.png", "image/png"),
        pictures=[File(BytesIO(b"-"), name, "text/plain") for name in ("a.txt", "b.txt")],
        years=[1815, 1817],
    )
    listed = list_pages.sync(client=client, limit=2, since=1905, sort="-year")
    following = list_pages.sync(
        client=client, limit=2, since=1905, sort="-year", cursor=listed.next_
    )
    invalid = read_simple.sync(client=client, q="")
    token, jwt, basic = (os.environ[each] for each in ("TOKEN", "JWT", "BASIC"))
    bearer = with_token(AuthenticatedClient, "EVERY_FEATURE", token)
    key = AuthenticatedClient(
        os.environ["EVERY_FEATURE"], os.environ["KEY"], prefix="", auth_header_name="X-Key"
    )
    guarded = [
        tell_bearer.sync(client=bearer),
        tell_basic.sync(client=with_token(AuthenticatedClient, "EVERY_FEATURE", basic, "Basic")),
        tell_key.sync(client=key),
        tell_jwt.sync(client=with_token(AuthenticatedClient, "EVERY_FEATURE", jwt)),
        tell_oauth.sync(client=bearer),
    ]
    anonymous = with_token(AuthenticatedClient, "EVERY_FEATURE", "unknown")
    events = read_events.sync_detailed(client=client, count=2)
    return {
        "path": read_path.sync(7, "ada", day, client=client).to_dict(),
        "search": found.to_dict(),
        "thing": [thing.display_name, thing.price, thing.color.value, thing.place],
        "changed": change_thing.sync(
            3, client=client, body=TreePatch.from_dict({"name": "oak"})
        ).name,
        "shape": echo_shape.sync(client=client, body=group).to_dict(),
        "owner": echo_owner.sync(client=client, body=owner).pet.to_dict(),
        "box": echo_box.sync(client=client, body=body(echo_box, {"content": 3})).content,
        "pair": echo_pair.sync(client=client, body=["a", 1]),
        "login": login.sync(client=client, body=form).to_dict(),
        "album": create_album.sync(client=client, body=album).to_dict(),
        "page": [each.id for each in listed.items],
        "next": [each.id for each in following.items],
        "union": read_union.sync("book", client=client).to_dict(),
        "file": read_file.sync_detailed(client=client).content.decode(),
        "deleted": delete_nothing.sync_detailed(1, client=client).status_code,
        "missing": read_filtered.sync(99, client=client).detail,
        "events": [json.loads(line)["number"] for line in events.content.splitlines()],
        "job": start_job.sync(client=client, body=body(start_job, {"x": 1})).to_dict(),
        "fault": start_job.sync(client=client, body=body(start_job, {"x": -1})).reason,
        "guarded": [each.text for each in guarded],
        "anonymous": tell_bearer.sync_detailed(client=anonymous).status_code,
        "invalid": [each.path for each in invalid.errors],
    }


def call_shelf() -> dict[str, Any]:
    client = with_token(ShelfClient, "BOOKSHELF", os.environ["SHELF_TOKEN"])
    new = body(create_book, {"title": os.environ["TITLE"], "author": "Ada"})
    number = create_book.sync(client=client, body=new).id
    listed = list_books.sync(client=client, q=os.environ["TITLE"])
    picture = Cover(BytesIO(b"\x89PNG\r\n\x1a\n"), "c.png", "image/png")
    form = put_api_books_by_id_cover._get_kwargs.__annotations__["body"](cover=picture)
    return {
        "title": read_book.sync(number, client=client).title == os.environ["TITLE"],
        "found": [each.author for each in listed.items],
        "cover": put_api_books_by_id_cover.sync_detailed(
            number, client=client, body=form
        ).status_code,
        "gone": delete_book.sync_detailed(number, client=client).status_code,
    }


def call_conduit() -> dict[str, Any]:
    name = os.environ["NAME"]
    anonymous = with_token(ConduitClient, "CONDUIT", "unknown", "Token")
    user = {"username": name, "email": f"{name}@example.com", "password": "correct horse"}
    made = create_user.sync(client=anonymous, body=body(create_user, {"user": user})).user
    client = with_token(ConduitClient, "CONDUIT", made.token, "Token")
    article = {"title": name, "description": "About", "body": "Text", "tagList": ["a"]}
    new = body(create_article, {"article": article})
    written = create_article.sync(client=client, body=new).article
    return {
        "user": made.username == name,
        "tags": written.tag_list,
        "liked": create_favorite.sync(written.slug, client=client).article.favorites_count,
        "count": list_articles.sync(client=client, author=name).articles_count,
        "refused": read_user.sync_detailed(client=anonymous).status_code,
    }


if __name__ == "__main__":
    read = {
        "every_feature": call_every(),
        "bookshelf": call_shelf(),
        "conduit": call_conduit(),
    }
    print(json.dumps(read))
