// SPDX-License-Identifier: MIT
// Calls the apps with the clients that orval generated, and prints what it read.

import * as shelf from "./bookshelf/client";
import * as conduit from "./conduit/client";
import * as every from "./every_feature/client";

const env = (name: string): string => process.env[name] ?? "";

const authorized = (value: string): RequestInit => ({ headers: { authorization: value } });

async function callEvery(): Promise<Record<string, unknown>> {
  const path = await every.readPath(7, "ada", "2026-01-02");
  const search = await every.search(
    { words: ["a", "b"], color: "red", after: "2026-01-02", pages: { low: 1, high: 9 } },
    { "x-trace": "abc" },
  );
  const thing = await every.createThing({
    displayName: "Lamp",
    serial: "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22",
    price: "1.50",
    madeOn: "2026-01-02",
    color: "blue",
    rank: 2,
    place: [1, 2.5],
  });
  const changed = await every.changeThing(3, { name: "oak" });
  const shape = await every.echoShape({
    type: "group",
    shapes: [
      { type: "circle", radius: 3 },
      { type: "square", side: 2 },
    ],
  });
  const owner = await every.echoOwner({ name: "Ada", pet: { kind: "dog", tricks: ["sit"] } });
  const box = await every.echoBox({ content: 3 });
  const pair = await every.echoPair(["a", 1]);
  const login = await every.login({ username: "ada", password: "pa55word", remember: true });
  const album = await every.createAlbum({
    title: "Spring",
    cover: new File(["\x89PNG"], "cover.png", { type: "image/png" }),
    pictures: [new File(["-"], "a.txt"), new File(["-"], "b.txt")],
    years: [1815, 1817],
  });
  const query = { limit: 2, since: 1905, sort: "-year" } as const;
  const listed = await every.listPages(query);
  const found = listed.status === 200 ? listed.data : undefined;
  const next = await every.listPages({ ...query, cursor: found?.next ?? undefined });
  const union = await every.readUnion("book");
  const file = await every.readFile();
  const deleted = await every.deleteNothing(1);
  const missing = await every.readFiltered(99);
  const events = await every.readEvents({ count: 2 }, { headers: { accept: "text/event-stream" } });
  const job = await every.startJob({ x: 1 });
  const fault = await every.startJob({ x: -1 });
  const bearer = authorized(`Bearer ${env("TOKEN")}`);
  const guarded = [
    await every.tellBearer(bearer),
    await every.tellBasic(authorized(`Basic ${env("BASIC")}`)),
    await every.tellKey({ headers: { "x-key": env("KEY") } }),
    await every.tellJwt(authorized(`Bearer ${env("JWT")}`)),
    await every.tellOauth(bearer),
  ];
  const anonymous = await every.tellBearer();
  const invalid = await every.readSimple({ q: "" });
  return {
    path: path.data,
    search: search.data,
    thing:
      thing.status === 201
        ? [thing.data.displayName, thing.data.price, thing.data.color, thing.data.place]
        : null,
    changed: changed.status === 200 ? changed.data.name : null,
    shape: shape.data,
    owner: owner.status === 200 ? owner.data.pet : null,
    box: box.status === 200 ? box.data.content : null,
    pair: pair.data,
    login: login.data,
    album: album.data,
    page: found?.items.map((each) => each.id),
    next: next.status === 200 ? next.data.items.map((each) => each.id) : null,
    union: union.data,
    file: file.status === 200 ? await file.data.text() : null,
    deleted: deleted.status,
    missing: missing.status === 404 ? missing.data.detail : null,
    events: String(events.data)
      .split("\n")
      .filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)).number),
    job: job.data,
    fault: fault.status === 409 ? fault.data.reason : null,
    guarded: guarded.map((each) => (each.status === 200 ? each.data.text : null)),
    anonymous: anonymous.status,
    invalid: invalid.status === 400 ? invalid.data.errors?.map((each) => each.path) : null,
  };
}

async function callShelf(): Promise<Record<string, unknown>> {
  const options = authorized(`Bearer ${env("SHELF_TOKEN")}`);
  const made = await shelf.createBook({ title: env("TITLE"), author: "Ada" }, options);
  const id = made.status === 201 ? made.data.id : 0;
  const read = await shelf.readBook(id);
  const listed = await shelf.listBooks({ q: env("TITLE") });
  const bytes = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const cover = new File([bytes], "c.png", { type: "image/png" });
  const set = await shelf.putApiBooksByIdCover(id, { cover }, options);
  const gone = await shelf.deleteBook(id, options);
  return {
    title: read.status === 200 && read.data.title === env("TITLE"),
    found: listed.status === 200 ? listed.data.items.map((each) => each.author) : null,
    cover: set.status,
    gone: gone.status,
  };
}

async function callConduit(): Promise<Record<string, unknown>> {
  const name = env("NAME");
  const user = { username: name, email: `${name}@example.com`, password: "correct horse" };
  const made = await conduit.createUser({ user });
  const options = authorized(`Token ${made.status === 201 ? made.data.user.token : ""}`);
  const article = await conduit.createArticle(
    { article: { title: name, description: "About", body: "Text", tagList: ["a"] } },
    options,
  );
  const slug = article.status === 201 ? article.data.article.slug : "";
  const liked = await conduit.createFavorite(slug, options);
  const listed = await conduit.listArticles({ author: name });
  const refused = await conduit.readUser();
  return {
    user: made.status === 201 && made.data.user.username === name,
    tags: article.status === 201 ? article.data.article.tagList : null,
    liked: liked.status === 200 ? liked.data.article.favoritesCount : null,
    count: listed.status === 200 ? listed.data.articlesCount : null,
    refused: refused.status,
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
