// SPDX-License-Identifier: MIT
// Calls the apps with openapi-fetch, typed by openapi-typescript, and prints what it read.

import createClient from "openapi-fetch";

import type { paths as Conduit } from "./conduit/paths";
import type { paths as Every } from "./every_feature/paths";
import type { paths as Shelf } from "./bookshelf/paths";

const env = (name: string): string => process.env[name] ?? "";

const every = createClient<Every>({ baseUrl: env("EVERY_FEATURE") });
const shelf = createClient<Shelf>({
  baseUrl: env("BOOKSHELF"),
  headers: { authorization: `Bearer ${env("SHELF_TOKEN")}` },
});
const conduit = createClient<Conduit>({ baseUrl: env("CONDUIT") });

async function callEvery(): Promise<Record<string, unknown>> {
  const bearer = { authorization: `Bearer ${env("TOKEN")}` };
  const path = await every.GET("/parameters/path/{number}/{name}/{day}", {
    params: { path: { number: 7, name: "ada", day: "2026-01-02" } },
  });
  const search = await every.GET("/parameters/search", {
    params: {
      query: { words: ["a", "b"], color: "red", after: "2026-01-02", pages: { low: 1, high: 9 } },
      header: { "x-trace": "abc" },
    },
  });
  const thing = await every.POST("/bodies/thing", {
    body: {
      displayName: "Lamp",
      serial: "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22",
      price: "1.50",
      madeOn: "2026-01-02",
      color: "blue",
      rank: 2,
      place: [1, 2.5],
    },
  });
  const changed = await every.PATCH("/bodies/thing/{id}", {
    params: { path: { id: 3 } },
    body: { name: "oak" },
  });
  const shape = await every.POST("/bodies/shape", {
    body: {
      type: "group",
      shapes: [
        { type: "circle", radius: 3 },
        { type: "square", side: 2 },
      ],
    },
  });
  const owner = await every.POST("/bodies/owner", {
    body: { name: "Ada", pet: { kind: "dog", tricks: ["sit"] } },
  });
  const box = await every.POST("/bodies/box", { body: { content: 3 } });
  const pair = await every.POST("/bodies/pair", { body: ["a", 1] });
  const login = await every.POST("/bodies/login", {
    body: { username: "ada", password: "pa55word", remember: true },
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  // openapi-typescript takes files for strings, so the form is written by hand.
  const form = new FormData();
  form.append("title", "Spring");
  form.append("cover", new Blob(["\x89PNG"], { type: "image/png" }), "cover.png");
  for (const name of ["a.txt", "b.txt"]) form.append("pictures", new Blob(["-"]), name);
  for (const year of ["1815", "1817"]) form.append("years", year);
  const album = await every.POST("/bodies/album", {
    body: { title: "Spring", cover: "cover.png" },
    bodySerializer: () => form,
  });
  const listed = await every.GET("/results/pages", {
    params: { query: { limit: 2, since: 1905, sort: "-year" } },
  });
  const next = await every.GET("/results/pages", {
    params: { query: { limit: 2, since: 1905, sort: "-year", cursor: listed.data?.next ?? undefined } },
  });
  const union = await every.GET("/results/union/{kind}", { params: { path: { kind: "book" } } });
  const file = await every.GET("/results/file", { parseAs: "blob" });
  const deleted = await every.DELETE("/results/nothing/{id}", { params: { path: { id: 1 } } });
  const missing = await every.GET("/results/filtered/{id}", { params: { path: { id: 99 } } });
  const events = await every.GET("/results/events", {
    params: { query: { count: 2 } },
    parseAs: "text",
  });
  const job = await every.POST("/results/jobs", { body: { x: 1 } });
  const fault = await every.POST("/results/jobs", { body: { x: -1 } });
  const guarded = [
    await every.GET("/guarded/bearer", { headers: bearer }),
    await every.GET("/guarded/basic", { headers: { authorization: `Basic ${env("BASIC")}` } }),
    await every.GET("/guarded/key", { headers: { "x-key": env("KEY") } }),
    await every.GET("/guarded/jwt", { headers: { authorization: `Bearer ${env("JWT")}` } }),
    await every.GET("/guarded/oauth", { headers: bearer }),
  ];
  const anonymous = await every.GET("/guarded/bearer");
  const invalid = await every.GET("/parameters/simple", { params: { query: { q: "" } } });
  return {
    path: path.data,
    search: search.data,
    thing: thing.data && [thing.data.displayName, thing.data.price, thing.data.color, thing.data.place],
    changed: changed.data?.name,
    shape: shape.data,
    owner: owner.data?.pet,
    box: box.data?.content,
    pair: pair.data,
    login: login.data,
    album: album.data,
    page: listed.data?.items.map((each) => each.id),
    next: next.data?.items.map((each) => each.id),
    union: union.data,
    file: await file.data?.text(),
    deleted: deleted.response.status,
    missing: missing.error && "detail" in missing.error ? missing.error.detail : null,
    events: events.data
      ?.trim()
      .split("\n")
      .map((line: string) => JSON.parse(line).number),
    job: job.data,
    fault: fault.error && "reason" in fault.error ? fault.error.reason : null,
    guarded: guarded.map((each) => each.data?.text),
    anonymous: anonymous.response.status,
    invalid:
      invalid.error && "errors" in invalid.error ? invalid.error.errors?.map((e) => e.path) : null,
  };
}

async function callShelf(): Promise<Record<string, unknown>> {
  const made = await shelf.POST("/api/books", { body: { title: env("TITLE"), author: "Ada" } });
  const id = made.data?.id ?? 0;
  const read = await shelf.GET("/api/books/{id}", { params: { path: { id } } });
  const listed = await shelf.GET("/api/books", { params: { query: { q: env("TITLE") } } });
  const cover = new FormData();
  cover.append("cover", new Blob([Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10])], { type: "image/png" }), "c.png");
  const set = await shelf.PUT("/api/books/{id}/cover", {
    params: { path: { id } },
    body: { cover: "c.png" },
    bodySerializer: () => cover,
  });
  const gone = await shelf.DELETE("/api/books/{id}", { params: { path: { id } } });
  return {
    title: read.data?.title === env("TITLE"),
    found: listed.data?.items.map((each) => each.author),
    cover: set.response.status,
    gone: gone.response.status,
  };
}

async function callConduit(): Promise<Record<string, unknown>> {
  const name = env("NAME");
  const user = { username: name, email: `${name}@example.com`, password: "correct horse" };
  const made = await conduit.POST("/api/users", { body: { user } });
  const headers = { authorization: `Token ${made.data?.user.token}` };
  const article = await conduit.POST("/api/articles", {
    headers,
    body: { article: { title: name, description: "About", body: "Text", tagList: ["a"] } },
  });
  const slug = article.data?.article.slug ?? "";
  const liked = await conduit.POST("/api/articles/{slug}/favorite", {
    headers,
    params: { path: { slug } },
  });
  const listed = await conduit.GET("/api/articles", { params: { query: { author: name } } });
  const refused = await conduit.GET("/api/user");
  return {
    user: made.data?.user.username === name,
    tags: article.data?.article.tagList,
    liked: liked.data?.article.favoritesCount,
    count: listed.data?.articlesCount,
    refused: refused.response.status,
  };
}

async function main(): Promise<void> {
  const read = {
    every_feature: await callEvery(),
    bookshelf: await callShelf(),
    conduit: await callConduit(),
  };
  console.log(JSON.stringify(read));
}

void main();
