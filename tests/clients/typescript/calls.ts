// SPDX-License-Identifier: MIT
// Calls every operation of `client_app.py` with its generated client, `api.ts`.

import assert from "node:assert/strict";
import test from "node:test";

import {
  ApiError,
  Client,
  isErrorOf,
  type FailError,
  type PutJobResult,
  type Search,
  type SearchOptions,
  type Thing,
} from "./api.js";

/** Whether two types are the same; `true` can't be assigned to it otherwise. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? true
    : false;
function check<_Fact extends true>(): void {}

const baseUrl = process.env["API"] ?? "";
const api = new Client({ baseUrl: `${baseUrl}//` });

test("types", () => {
  check<Same<Thing["kind"], "a" | "it's" | 'say "x"' | undefined>>();
  check<Same<Thing["pair"], [number, string]>>();
  check<Same<Thing["parts"], { [name: string]: number } | undefined>>();
  check<Same<FailError["status"], 400 | 404 | 409 | 410>>();
  check<Same<NonNullable<SearchOptions["query"]>["name"], string | undefined>>();
  check<Same<Awaited<ReturnType<Client["delete"]>>, undefined>>();
  check<Same<Awaited<ReturnType<Client["picture"]>>, Blob>>();
  check<Same<Awaited<ReturnType<Client["text"]>>, string>>();
  check<Same<PutJobResult["status"], 200 | 202>>();
  // @ts-expect-error: the id is a number
  void (() => api.putJob("1"));
  // @ts-expect-error: the kind is one of three
  void ((thing: Thing) => api.addThing({ ...thing, kind: "c" }));
  // @ts-expect-error: there is no such parameter
  void (() => api.search({ query: { words: [] } }));
});

test("segments of a path are escaped", async () => {
  const sent = { class: "a/b?c#d%e", path: "ä 1\u{1F600}" };
  assert.deepEqual(await api.segments(sent.class, sent.path), sent);
  for (const dots of ["", ".", ".."]) {
    await assert.rejects(api.segments("a", dots), TypeError);
  }
});

test("query, headers and cookies", async () => {
  let response: Response | undefined;
  const watched = new Client({
    baseUrl,
    headers: { "X-Trace": "of the client" },
    fetch: async (url, init) => (response = await fetch(url, init)),
  });
  const found: Search = await watched.search({
    query: {
      word: ["a&b", "", "ü"],
      range: { low: 1, high: 2 },
      day: "2026-01-02",
      page: null,
      name: "null",
      is_new: true,
    },
    headers: { "x-trace": "abc" },
    cookies: { theme: 'da"rk; é' },
  });
  assert.deepEqual(found, {
    word: ["a&b", "", "ü"],
    range: { low: 1, high: 2 },
    day: "2026-01-02",
    page: null,
    name: "null",
    is_new: true,
  });
  assert.equal(response?.headers.get("x-trace"), "abc");
  assert.match(response?.url ?? "", /range%5Blow%5D=1&range%5Bhigh%5D=2/);
  assert.equal((await api.search()).page, 7);
  assert.equal((await api.search({ query: { range: { low: 3 } } })).range?.low, 3);
  await watched.search();
  assert.equal(response?.headers.get("x-trace"), "of the client");
});

test("JSON", async () => {
  const thing: Thing = {
    displayName: "Lamp",
    shape: { type: "circle", radius: 1.5 },
    price: "9.90",
    day: "2026-01-02",
    pair: [1, "a"],
    kind: 'say "x"',
    parts: { bulb: 1 },
    tree: { name: "root", children: [{ name: "leaf", children: [] }] },
    shapes: [{ type: "square", side: 2 }, null],
    data: "AAEC",
  };
  const added = await api.addThing(thing);
  assert.deepEqual(added, thing);
  if (added.shape.type === "circle") assert.equal(added.shape.radius, 1.5);
  else assert.fail(`a square of ${added.shape.side}`);
});

test("forms and bytes", async () => {
  const form = { user_name: "ä & b", roles: ["x", "y"], age: null };
  assert.deepEqual(await api.login(form), form);
  assert.deepEqual(await api.login({ user_name: "a" }), {
    user_name: "a",
    roles: [],
    age: null,
  });
  const cover = new File(["front"], "cover ä.png", { type: "image/png" });
  const pages = [new Blob(["one"]), new Blob(["two"])];
  assert.deepEqual(await api.upload({ cover, pages, note: "n" }), [
    "cover ä.png",
    "front",
    "one",
    "two",
    "n",
  ]);
  const expected = "application/octet-stream bytes";
  assert.equal(await api.raw(new Blob(["bytes"])), expected);
  assert.equal(await api.raw(new TextEncoder().encode("bytes")), expected);
  assert.equal(await api.raw(new Blob(["bytes"]).stream()), expected);
});

test("QUERY", async () => {
  assert.deepEqual(await api.findThings({ low: 1 }), { low: 1, high: null });
});

test("results", async () => {
  assert.equal(await api.text(), "häh");
  const picture = await api.picture();
  assert.equal(picture.type, "image/png");
  assert.equal(picture.size, 4);
  assert.equal(await api.delete(1), undefined);
  assert.equal(await (await api.moved()).text(), "häh");
  const answer = await api.putJob(1);
  if (answer.status === 200) assert.equal(answer.body.id, 1);
  else assert.fail(`job ${answer.body.number}`);
  assert.deepEqual(await api.putJob(2), { status: 202, body: { number: 2 } });
});

async function failed(id: number): Promise<ApiError> {
  try {
    await api.fail(id);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  return assert.fail("no ApiError");
}

test("errors", async () => {
  assert.equal(await api.fail(0), undefined);
  const conflict = await failed(409);
  if (isErrorOf("fail", conflict) && conflict.status === 409) {
    assert.equal(conflict.body.place, "elsewhere");
  } else {
    assert.fail("it is documented");
  }
  const gone = await failed(410);
  if (isErrorOf("fail", gone) && gone.status === 410) {
    assert.equal(gone.body.toUpperCase(), "IT WAS HERE");
  } else {
    assert.fail("it is documented");
  }
  assert.ok(!isErrorOf("delete", gone));
  const missing = await failed(404);
  assert.ok(isErrorOf("fail", missing));
  assert.match(missing.message, /^fail: 404/);
  const teapot = await failed(418);
  assert.ok(!isErrorOf("fail", teapot));
  assert.deepEqual(teapot.body, { short: true });
  const invalid = await api.addThing({} as Thing).catch((error) => error);
  assert.ok(isErrorOf("addThing", invalid) && invalid.status === 400);
  assert.equal(invalid.body.errors[0]?.path, "displayName");
});

test("an error that isn't as documented", async () => {
  const proxy = new Client({
    baseUrl,
    fetch: async () =>
      new Response("<h1>Conflict</h1>", {
        status: 409,
        headers: { "Content-Type": "text/html" },
      }),
  });
  const error = await proxy.fail(1).catch((error) => error);
  assert.ok(error instanceof ApiError && !isErrorOf("fail", error));
  assert.equal(error.body, "<h1>Conflict</h1>");
});

test("credentials", async () => {
  const denied = await api.secretBearer().catch((error) => error);
  assert.ok(isErrorOf("secretBearer", denied) && denied.status === 401);
  let asked = 0;
  const bearer = new Client({
    baseUrl,
    token: async () => `s3cr${(asked += 1) && "et"}`,
  });
  await bearer.secretBearer();
  const sent = await bearer.secretBearer();
  assert.equal(sent.headers["authorization"], "Bearer s3cret");
  assert.equal(asked, 2);
  const basic = new Client({
    baseUrl,
    basicAuth: { username: "adä", password: "p:w" },
  });
  assert.match(
    (await basic.secretBasic()).headers["authorization"] ?? "",
    /^Basic /,
  );
  const keys = new Client({ baseUrl, xKey: "1", key: "2 3", session: "4" });
  const extra = { headers: { "X-Extra": "5" } };
  const { url, headers } = await keys.secretKey({ init: extra });
  assert.equal(url, "/secret/key?key=2+3");
  assert.deepEqual(headers, {
    "x-key": "1",
    "x-extra": "5",
    cookie: "session=4",
  });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test("streams", async () => {
  const accept = "text/event-stream";
  const shapes = [
    { type: "circle", radius: 0 },
    { type: "square", side: 1 },
    { type: "circle", radius: 2 },
  ];
  assert.deepEqual(await collect(api.shapes(3)), shapes);
  assert.deepEqual(await collect(api.shapes(3, { accept })), shapes);
  assert.deepEqual(await collect(api.shapes(0)), []);
  const words = ["one\u2028two\nthree", '"quoted"'];
  assert.deepEqual(await collect(api.words()), words);
  assert.deepEqual(await collect(api.words({ accept })), words);
  const conflict = await collect(api.shapes(-1)).catch((error) => error);
  assert.ok(isErrorOf("shapes", conflict) && conflict.status === 409);
});

test("streams in pieces", async () => {
  const pieces = ['{"type":"circle","radius":1}\r\n\n{"ty', 'pe":"square","side":'];
  const body = new ReadableStream({
    start(controller) {
      const encoder = new TextEncoder();
      for (const piece of [...pieces, "2}"]) {
        controller.enqueue(encoder.encode(piece));
      }
      controller.close();
    },
  });
  const fed = new Client({ baseUrl, fetch: async () => new Response(body) });
  assert.deepEqual(await collect(fed.shapes(2)), [
    { type: "circle", radius: 1 },
    { type: "square", side: 2 },
  ]);
});

test("a stream ends when it is aborted or left", async () => {
  const found: number[] = [];
  const controller = new AbortController();
  for await (const number of api.clock({ signal: controller.signal })) {
    found.push(number);
    if (number === 2) controller.abort();
  }
  assert.deepEqual(found, [0, 1, 2]);
  const items = [1, 2, 3].map((number) => `${number}\n`).join("");
  const fed = new Client({ baseUrl, fetch: async () => new Response(items) });
  const aborted = new AbortController();
  for await (const number of fed.clock({ signal: aborted.signal })) {
    assert.equal(number, 1);
    aborted.abort();
  }
  for await (const number of api.clock({ accept: "text/event-stream" })) {
    if (number === 2) break;
  }
  const signal = AbortSignal.timeout(50);
  await assert.rejects(collect(api.clock({ signal })), { name: "TimeoutError" });
  await assert.rejects(api.text({ signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
});
