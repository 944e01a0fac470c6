/** How a body is read. */
type BodyKind = "json" | "text" | "binary" | "empty" | "unknown";

/** How the bodies of an operation's documented responses are read. */
type Responses = Partial<Record<number | `${number}XX` | "default", BodyKind>>;

// #region secrets
/** A token or key, or a function that is asked for it before each request. */
export type Secret = string | (() => string | Promise<string>);

// #endregion
/** Options of a client. */
export interface ClientOptions {
  /* kit: client options */
  /** Headers of each request. */
  headers?: RequestInit["headers"];
  /** What sends requests, e.g. with retries. The default is the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** Options of each request. */
export interface RequestOptions {
  /** Aborts the request, e.g. `AbortSignal.timeout(5000)`. */
  signal?: AbortSignal;
  /** Further options for `fetch`, e.g. `cache`, `credentials` or `headers`. */
  init?: Omit<RequestInit, "body" | "method" | "signal">;
}

// #region accept
/** Options of a stream. */
export interface StreamOptions extends RequestOptions {
  /** How the server sends the items. The default is JSON Lines. */
  accept?: "application/jsonl" | "text/event-stream";
}

// #endregion
/** A request of an operation. */
interface OperationRequest {
  operation: keyof Errors;
  method: string;
  path: string;
  query?: object | undefined;
  headers?: object | undefined;
  cookies?: object | undefined;
  /** The names of parameters and form fields for which `null` is sent as a text. */
  nullable?: readonly string[];
  json?: unknown;
  form?: object | undefined;
  // #region multipart
  multipart?: object | undefined;
  // #endregion
  content?: RequestInit["body"] | undefined;
  contentType?: string;
  // #region streams
  accept?: string;
  /** Whether the data of events are texts; otherwise they are JSON. */
  isText?: boolean;
  // #endregion
  responses: Responses;
  options: RequestOptions;
}

/**
 * An error response, or a response with an undocumented status.
 *
 * `isErrorOf` tells the documented errors of an operation, with the types of their bodies.
 */
export class ApiError<
  Status extends number = number,
  Body = unknown,
> extends Error {
  override readonly name = "ApiError";
  /** The HTTP status code. */
  readonly status: Status;
  /** The body: JSON, text or a `Blob`. */
  readonly body: Body;
  /** The response; its body has been read. */
  readonly response: Response;
  /** The name of the method that failed. */
  readonly operation: string;
  /** Whether the operation documents the status, and the media type is as documented. */
  readonly isDocumented: boolean;

  constructor(
    operation: string,
    response: Response,
    body: Body,
    isDocumented: boolean,
  ) {
    super(`${operation}: ${response.status} ${response.statusText}`.trimEnd());
    this.status = response.status as Status;
    this.body = body;
    this.response = response;
    this.operation = operation;
    this.isDocumented = isDocumented;
  }
}

/**
 * Tells whether an error is one that an operation documents.
 *
/* kit: example */
 */
export function isErrorOf<Name extends keyof Errors>(
  operation: Name,
  error: unknown,
): error is Errors[Name] {
  return (
    error instanceof ApiError &&
    error.operation === operation &&
    error.isDocumented
  );
}

// #region path
/** Escapes the parameters of a path. */
function path(pieces: TemplateStringsArray, ...values: unknown[]): string {
  const segments = values.map((value) => {
    const segment = String(value);
    if (["", ".", ".."].includes(segment)) {
      throw new TypeError(`"${segment}" can't be a part of a path`);
    }
    return encodeURIComponent(segment);
  });
  return String.raw({ raw: pieces }, ...segments);
}

// #endregion
/** Yields names and values; those of objects as `range[low]`, those of arrays one by one. */
function* flatten(
  values: object,
  nullable: readonly string[],
): Generator<[name: string, value: unknown]> {
  for (const [name, value] of Object.entries(values)) {
    const isList = Array.isArray(value);
    const items: unknown[] = isList ? value : [value];
    for (const [index, item] of items.entries()) {
      if (item === undefined) continue;
      if (item === null) {
        if (isList || nullable.includes(name)) yield [name, "null"];
      } else if (typeof item === "object" && !(item instanceof Blob)) {
        const prefix = isList ? `${name}[${index}]` : name;
        const inner = Object.entries(item).map(([key, each]) => [
          `${prefix}[${key}]`,
          each,
        ]);
        yield* flatten(Object.fromEntries(inner), nullable);
      } else {
        yield [name, item];
      }
    }
  }
}

/** Returns the names and values of a query, of headers, or of a form without files. */
function toPairs(
  values: object = {},
  nullable: readonly string[] = [],
): [string, string][] {
  return [...flatten(values, nullable)].map(([name, value]) => [
    name,
    String(value),
  ]);
}

// #region multipart
/** Writes a form with files. */
function toFormData(
  values: object,
  nullable: readonly string[] = [],
): FormData {
  const form = new FormData();
  for (const [name, value] of flatten(values, nullable)) {
    if (value instanceof Blob) form.append(name, value);
    else form.append(name, String(value));
  }
  return form;
}

// #endregion
// #region basic
/** Returns the credentials of a user in Base64 of UTF-8 (RFC 7617). */
function toBasic(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

// #endregion
// #region secrets
/** Returns a token or key. */
async function resolve(secret: Secret): Promise<string> {
  return typeof secret === "function" ? secret() : secret;
}

// #endregion
/** Returns the body of a request, whose media type it adds to the headers. */
function writeBody(
  request: OperationRequest,
  headers: Headers,
): RequestInit["body"] | undefined {
  const { nullable } = request;
  if (request.contentType) headers.set("Content-Type", request.contentType);
  if (request.json !== undefined) return JSON.stringify(request.json);
  if (request.form) return new URLSearchParams(toPairs(request.form, nullable));
  // #region multipart
  if (request.multipart) return toFormData(request.multipart, nullable);
  // #endregion
  return request.content;
}

/** Finds how the body of a response is read; `undefined` if its status isn't documented. */
function findKind(responses: Responses, status: number): BodyKind | undefined {
  const range = `${Math.floor(status / 100)}XX` as const;
  return responses[status] ?? responses[range] ?? responses.default;
}

/** Reads the body of an error; returns whether it is as documented, too. */
async function readError(
  response: Response,
  kind: BodyKind | undefined,
): Promise<[unknown, boolean]> {
  const type = response.headers.get("Content-Type") ?? "";
  if (kind === "binary") return [await response.blob(), true];
  const text = await response.text();
  if (type.includes("json")) {
    try {
      const body: unknown = JSON.parse(text);
      return [body, kind === "json" || kind === "unknown"];
    } catch {
      return [text, false];
    }
  }
  return [text, kind === "text" || kind === "empty" || kind === "unknown"];
}

// #region send
/** Reads the body of a response that isn't an error. */
async function readBody(response: Response, kind: BodyKind): Promise<unknown> {
  switch (kind) {
    case "json":
      return response.json();
    case "text":
      return response.text();
    case "binary":
      return response.blob();
    case "empty":
      await response.body?.cancel();
      return undefined;
    case "unknown":
      return response;
  }
}

// #endregion
// #region streams
/** Yields the lines of a body, without their ends. */
async function* readLines(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) yield line.replace(/\r$/, "");
      if (done) return;
    }
  } finally {
    // Closes the connection if the caller has had enough.
    await reader.cancel().catch(() => undefined);
  }
}

/** Yields the items of JSON Lines. */
async function* readJsonLines(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<unknown, void, undefined> {
  for await (const line of readLines(body)) {
    if (line.trim()) yield JSON.parse(line);
  }
}

/** Yields the data of server-sent events (HTML, section 9.2.6). */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  isText: boolean,
): AsyncGenerator<unknown, void, undefined> {
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line === "" && data.length) {
      const text = data.join("\n");
      data = [];
      yield isText ? text : JSON.parse(text);
    } else if (line === "data" || line.startsWith("data:")) {
      data.push(line.slice("data:".length).replace(/^ /, ""));
    }
  }
}

// #endregion
/* kit: class comment */
export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /* kit: operations */

  // #region call
  /** Sends a request, and returns the body of the response. */
  async #call<Result>(request: OperationRequest): Promise<Result> {
    const { body } = await this.#send(request);
    return body as Result;
  }

  // #endregion
  // #region answer
  /** Sends a request, and returns the status and the body of the response. */
  async #answer<Result>(request: OperationRequest): Promise<Result> {
    return (await this.#send(request)) as Result;
  }

  // #endregion
  // #region send
  async #send(
    request: OperationRequest,
  ): Promise<{ status: number; body: unknown }> {
    const response = await this.#fetch(request);
    const kind = await this.#throwIfError(request, response);
    const body = await readBody(response, kind);
    return { status: response.status, body };
  }

  // #endregion
  // #region streams
  /** Yields the items of a stream until it ends, or until the caller aborts it. */
  async *#items<Item>(
    request: OperationRequest,
  ): AsyncGenerator<Item, void, undefined> {
    try {
      const response = await this.#fetch(request);
      await this.#throwIfError(request, response);
      if (!response.body) return;
      const type = response.headers.get("Content-Type") ?? "";
      const items = type.startsWith("text/event-stream")
        ? readEvents(response.body, request.isText ?? false)
        : readJsonLines(response.body);
      for await (const item of items) {
        // Items may have arrived before the caller aborted the stream.
        request.options.signal?.throwIfAborted();
        yield item as Item;
      }
    } catch (error) {
      const { signal } = request.options;
      const isTimeout = signal?.reason?.name === "TimeoutError";
      // To abort a stream is how a caller ends it; a timeout is a failure.
      if (!signal?.aborted || isTimeout || error !== signal.reason) throw error;
    }
  }

  // #endregion
  /** Throws an `ApiError` unless the response is a documented success. */
  async #throwIfError(
    { operation, responses }: OperationRequest,
    response: Response,
  ): Promise<BodyKind> {
    const kind = findKind(responses, response.status);
    if (kind !== undefined && response.status < 400) return kind;
    const [body, isDocumented] = await readError(response, kind);
    throw new ApiError(operation, response, body, isDocumented);
  }

  async #fetch(request: OperationRequest): Promise<Response> {
    const { nullable, options } = request;
    const query = new URLSearchParams(toPairs(request.query, nullable));
    const headers = new Headers(this.#options.headers);
    const cookies = new Map(toPairs(request.cookies, nullable));
    /* kit: credentials */
    new Headers(options.init?.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    const own = toPairs(request.headers, nullable);
    for (const [name] of own) headers.delete(name);
    for (const [name, value] of own) headers.append(name, value);
    // #region streams
    if (request.accept) headers.set("Accept", request.accept);
    // #endregion
    if (cookies.size) {
      const pairs = [...cookies].map(
        ([name, value]) => `${name}=${encodeURIComponent(value)}`,
      );
      headers.set("Cookie", pairs.join("; "));
    }
    const body = writeBody(request, headers);
    const init: RequestInit & { duplex?: "half" } = {
      ...options.init,
      method: request.method,
      headers,
    };
    if (options.signal) init.signal = options.signal;
    if (body !== undefined) init.body = body;
    // Fetch requires it for streams.
    if (body instanceof ReadableStream) init.duplex = "half";
    const search = query.toString() && `?${query.toString()}`;
    const base = this.#options.baseUrl.replace(/\/+$/, "");
    const { fetch = globalThis.fetch } = this.#options;
    return fetch(`${base}${request.path}${search}`, init);
  }
}
