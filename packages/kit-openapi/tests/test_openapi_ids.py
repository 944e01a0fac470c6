# SPDX-License-Identifier: MIT
"""Operation ids: unique, the same in any order of registration, and parts of URLs."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.openapi import describe, find_operations


async def read_book(c: Context) -> Response:
    return c.text("x")


def named(name: str) -> Any:
    """Returns a handler with a name, such as one of several modules."""

    async def handler(c: Context) -> Response:
        return c.text("x")

    handler.__name__ = name
    return handler


def list_ids(app: Kit) -> dict[str, str]:
    return {
        f"{each.method} {each.path}": each.operation["operationId"]
        for each in find_operations(app).operations
    }


def test_the_name_of_a_function_is_the_id_if_it_is_the_only_one() -> None:
    app = Kit()
    app.get("/a", read_book)
    app.get("/lambda/:id", lambda c: c.text("x"))
    app.get("/given", describe(operation_id="named")(lambda c: c.text("x")))
    assert list_ids(app) == {
        "GET /a": "read_book",
        "GET /lambda/{id}": "get_lambda_by_id",
        "GET /given": "named",
    }


def test_operations_of_one_function_have_ids_of_method_and_path() -> None:
    app = Kit()
    app.on(["PUT", "POST"], ["/a", "/b"], read_book)
    app.get("/partial/:id?", functools.partial(read_book))
    assert list_ids(app) == {
        "PUT /a": "put_a",
        "POST /a": "post_a",
        "PUT /b": "put_b",
        "POST /b": "post_b",
        "GET /partial": "get_partial",
        "GET /partial/{id}": "get_partial_by_id",
    }


def test_functions_with_the_same_name_have_ids_of_method_and_path() -> None:
    books, users = Kit(), Kit()
    books.get("/", named("list"))
    users.get("/", named("list"))
    app = Kit()
    app.route("/books", books)
    app.route("/users", users)
    assert [*list_ids(app).values()] == ["get_books", "get_users"]


def test_a_part_that_is_added_twice_has_ids_with_its_prefixes() -> None:
    part = Kit()
    part.get("/books/:id", read_book)
    app = Kit()
    app.route("/v1", part)
    app.route("/v2", part)
    assert [*list_ids(app).values()] == ["get_v1_books_by_id", "get_v2_books_by_id"]


def test_a_summary_keeps_the_name_of_the_function() -> None:
    app = Kit()
    app.on(["PUT", "POST"], "/a", read_book)
    summaries = {each.operation["summary"] for each in find_operations(app).operations}
    assert summaries == {"Read book"}


def test_ids_from_describe_are_kept_and_those_of_functions_give_way() -> None:
    app = Kit()
    app.get("/a", read_book)
    app.get("/b", describe(operation_id="read_book")(named("other")))
    assert list_ids(app) == {"GET /a": "get_a", "GET /b": "read_book"}
    assert not find_operations(app).notes


def test_an_id_from_describe_that_is_not_unique_is_noted() -> None:
    app = Kit()
    app.get("/b", describe(operation_id="read")(named("first")))
    app.get("/c", describe(operation_id="read")(named("second")))
    assert [*list_ids(app).values()] == ["read_get_b", "read_get_c"]
    (note,) = find_operations(app).notes
    assert "'read'" in note
    assert "GET /b is 'read_get_b'" in note


def test_names_that_generators_would_write_alike_are_the_same_name() -> None:
    app = Kit()
    app.get("/a", named("readBook"))
    app.get("/b", named("read_book"))
    assert [*list_ids(app).values()] == ["get_a", "get_b"]


def test_paths_with_the_same_words_have_different_ids() -> None:
    app = Kit()
    app.get("/a-b", read_book)
    app.get("/a_b", read_book)
    first, second = list_ids(app).values()
    assert first != second
    assert first.startswith("get_a_b_")
    assert second.startswith("get_a_b_")


def test_a_parameter_keeps_the_words_of_its_own_route() -> None:
    def build(*routes: tuple[str, str]) -> dict[str, str]:
        app = Kit()
        for method, path in routes:
            app.on(method, path, read_book)
        return {each.method: each.operation["operationId"] for each in find_operations(app)[1]}

    routes = (("GET", "/a/:id"), ("PUT", "/a/:key"))
    assert (
        build(*routes) == build(*reversed(routes)) == {"GET": "get_a_by_id", "PUT": "put_a_by_key"}
    )


def test_other_letters_than_those_of_urls_are_in_no_id() -> None:
    app = Kit()
    app.get("/größe", named("größe"))
    assert [*list_ids(app).values()] == ["get_gr_e"]
    with pytest.raises(ValueError, match=r"operation_id.*URL"):
        describe(operation_id="read a book")


ROUTES = st.lists(
    st.tuples(
        st.sampled_from(["GET", "PUT", "POST"]),
        st.sampled_from(["/", "/a", "/A", "/a-b", "/a_b", "/get", "/a/:id", "/v1/a", "/v2/a"]),
        st.sampled_from(["get_a", "getA", "list", "a", "größe", "<lambda>"]),
        st.sampled_from([None, None, "list", "get_a_b", "get-a"]),
    ),
    unique_by=lambda each: each[:2],
    max_size=12,
)


def build_ids(routes: list[Any]) -> dict[str, str]:
    app = Kit()
    for method, path, name, chosen in routes:
        handler = named(name)
        if chosen is not None:
            handler = describe(operation_id=chosen)(handler)
        app.on(method, path, handler)
    return list_ids(app)


@given(ROUTES, st.randoms(use_true_random=False))
def test_ids_do_not_depend_on_the_order(routes: list[Any], random: Any) -> None:
    found = build_ids(routes)
    shuffled = [*routes]
    random.shuffle(shuffled)
    assert build_ids(shuffled) == found
    keys = [re.sub("[^a-z0-9]", "", each.lower()) for each in found.values()]
    assert len({*keys}) == len(keys) == len(routes)


@given(ROUTES)
def test_another_route_renames_only_those_whose_name_it_has(routes: list[Any]) -> None:
    before = build_ids(routes)
    after = build_ids([*routes, ("POST", "/entirely/new", "never_used_before", None)])
    assert after.pop("POST /entirely/new") == "never_used_before"
    assert after == before
