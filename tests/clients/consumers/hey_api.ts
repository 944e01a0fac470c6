// SPDX-License-Identifier: MIT
// Calls the apps with the clients that hey-api generated, and prints what it read.

import * as shelf from "./bookshelf";
import { client as shelfClient } from "./bookshelf/client.gen";
import * as conduit from "./conduit";
import { client as conduitClient } from "./conduit/client.gen";
import * as every from "./every_feature";
import { client as everyClient } from "./every_feature/client.gen";

const env = (name: string): string => process.env[name] ?? "";

everyClient.setConfig({ baseUrl: env("EVERY_FEATURE") });
shelfClient.setConfig({ baseUrl: env("BOOKSHELF"), auth: env("SHELF_TOKEN") });
conduitClient.setConfig({ baseUrl: env("CONDUIT") });

async function callEvery(): Promise<Record<string, unknown>> {
  const path = await every.readPath({ path: { number: 7, name: "ada", day: "2026-01-02" } });
  const search = await every.search({
    query: { words: ["a", "b"], color: "red", after: "2026-01-02", pages: { low: 1, high: 9 } },
    headers: { "x-trace": "abc" },
  });
  const thing = await every.createThing({
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
  const changed = await every.changeThing({ path: { id: 3 }, body: { name: "oak" } });
  const shape = await every.echoShape({
    body: {
      type: "group",
      shapes: [
        { type: "circle", radius: 3 },
        { type: "square", side: 2 },
      ],
    },
  });
  const owner = await every.echoOwner({
    body: { name: "Ada", pet: { kind: "dog", tricks: ["sit"] } },
  });
  const box = await every.echoBox({ body: { content: 3 } });
  const pair = await every.echoPair({ body: ["a", 1] });
  const login = await every.login({
    body: { username: "ada", password: "pa55word", remember: true },
  });
  const album = await every.createAlbum({
    body: {
      title: "Spring",
      cover: new File(["\x89PNG"], "cover.png", { type: "image/png" }),
      pictures: [new File(["-"], "a.txt"), new File(["-"], "b.txt")],
      years: [1815, 1817],
    },
  });
  const query = { limit: 2, since: 1905, sort: "-year" } as const;
  const listed = await every.listPages({ query });
  const next = await every.listPages({
    query: { ...query, cursor: listed.data?.next ?? undefined },
  });
  const union = await every.readUnion({ path: { kind: "book" } });
  const file = await every.readFile({ parseAs: "blob" });
  const deleted = await every.deleteNothing({ path: { id: 1 } });
  const missing = await every.readFiltered({ path: { id: 99 } });
  const events = await every.readEvents({ query: { count: 2 }, parseAs: "text" });
  const job = await every.startJob({ body: { x: 1 } });
  const fault = await every.startJob({ body: { x: -1 } });
  const guarded = [
    await every.tellBearer({ auth: env("TOKEN") }),
    await every.tellBasic({ auth: `${env("EVERY_USER")}:${env("PASSWORD")}` }),
    await every.tellKey({ auth: env("KEY") }),
    await every.tellJwt({ auth: env("JWT") }),
    await every.tellOauth({ auth: env("TOKEN") }),
  ];
  const anonymous = await every.tellBearer();
  const invalid = await every.readSimple({ query: { q: "" } });
  return {
    path: path.data,
    search: search.data,
    thing: thing.data && [
      thing.data.displayName,
      thing.data.price,
      thing.data.color,
      thing.data.place,
    ],
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
    file: file.data instanceof Blob ? await file.data.text() : null,
    deleted: deleted.response?.status,
    missing: missing.error && "detail" in missing.error ? missing.error.detail : null,
    events: String(events.data)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).number),
    job: job.data,
    fault: fault.error && typeof fault.error === "object" && "reason" in fault.error ? fault.error.reason : null,
    guarded: guarded.map((each) => each.data?.text),
    anonymous: anonymous.response?.status,
    invalid:
      invalid.error && "errors" in invalid.error ? invalid.error.errors?.map((e) => e.path) : null,
  };
}

async function callShelf(): Promise<Record<string, unknown>> {
  const made = await shelf.createBook({ body: { title: env("TITLE"), author: "Ada" } });
  const path = { id: made.data?.id ?? 0 };
  const read = await shelf.readBook({ path });
  const listed = await shelf.listBooks({ query: { q: env("TITLE") } });
  const bytes = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const cover = new File([bytes], "c.png", { type: "image/png" });
  const set = await shelf.putApiBooksByIdCover({ path, body: { cover } });
  const gone = await shelf.deleteBook({ path });
  return {
    title: read.data?.title === env("TITLE"),
    found: listed.data?.items.map((each) => each.author),
    cover: set.response?.status,
    gone: gone.response?.status,
  };
}

async function callConduit(): Promise<Record<string, unknown>> {
  const name = env("NAME");
  const user = { username: name, email: `${name}@example.com`, password: "correct horse" };
  const made = await conduit.createUser({ body: { user } });
  const auth = `Token ${made.data?.user.token}`;
  const article = await conduit.createArticle({
    auth,
    body: { article: { title: name, description: "About", body: "Text", tagList: ["a"] } },
  });
  const slug = article.data?.article.slug ?? "";
  const liked = await conduit.createFavorite({ auth, path: { slug } });
  const listed = await conduit.listArticles({ query: { author: name } });
  const refused = await conduit.readUser();
  return {
    user: made.data?.user.username === name,
    tags: article.data?.article.tagList,
    liked: liked.data?.article.favoritesCount,
    count: listed.data?.articlesCount,
    refused: refused.response?.status,
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
