"""The rules of middleware_compare.py for the middleware that deals with content: etag and compress.

etag_304_headers       A 304 of Hono's etag keeps the headers of its retainedHeaders alone: it drops CORS headers, cookies,
                       security headers and, unless they are listed, ETag and Vary. Kit's drops what describes the
                       content (RFC 9110, section 15.4.5). What Hono keeps, Kit has to keep. That holds for an error
                       that is raised after it, too, which gets the headers that are left.
etag_streams           Hono digests streams, which it holds in memory for that; in Kit they pass as they are.
etag_whole_body        Of a body in several chunks, Hono digests each chunk with the digest of those before; Kit digests
                       the body. Applies to bodies beyond 64 KiB.
etag_syntax            Hono takes `w/` for `W/`, and tags with only a blank between them for a list; by RFC 9110 (sections
                       8.8.3 and 5.6.1) neither is one, so that nothing matches.
etag_status            Hono gives an ETag to any successful response, e.g. a 206, for which it digests a part; Kit to a
                       200 alone.
etag_handler_headers   Behind Hono's etag and compress, a header that middleware has set before the handler wins over
                       that of the handler's response, as behind its cors (handler_headers).
compress_threshold     Hono applies its threshold only to answers that declare a Content-Length; Kit to the size of the
                       body. So that everything else is compared, Kit is given no threshold, and the encodings that
                       Hono has. What is declared to be below Hono's threshold is compared without the encoding, and
                       so are empty bodies, which Kit never compresses.
compress_head          Hono's compress leaves HEAD alone; Kit answers with the headers of a GET (RFC 9110, 9.3.2).
compress_304           Hono's compress leaves a 304 alone; Kit gives it the Vary, and to a client that has the encoded
                       response the weak ETag, that the 200 has (RFC 9110, 15.4.5).
compress_x_gzip        In Kit, x-gzip is gzip (RFC 9110, section 8.4.1.3).
compress_event_streams Hono does not compress text/event-stream; Kit does, event by event.
compress_vary_any      Kit adds nothing to a Vary that is or has `*`.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
RULES = (
    "etag_304_headers",
    "etag_streams",
    "etag_whole_body",
    "etag_syntax",
    "etag_status",
    "etag_handler_headers",
    "compress_threshold",
    "compress_head",
    "compress_304",
    "compress_x_gzip",
    "compress_event_streams",
    "compress_vary_any",
)
STREAMED = ("stream", "/flow")  # in the paths of handlers that stream
CHUNK_BYTES = 65536  # how much Hono reads at once of a body in memory
THRESHOLD = 1024
OF_ENCODING = ("content-encoding", "content-length", "vary", "etag")


def options_of_hono(options: Json) -> Json:
    """The options of compress that make Kit's do what Hono's does."""
    options = {"threshold": 0, **{k: v for k, v in options.items() if k != "threshold"}}
    return options if "encoding" in options else {**options, "encodings": ["gzip", "deflate"]}


def field(request: Json, name: str) -> str:
    return ", ".join(value for key, value in request.get("headers") or [] if key.lower() == name)


def members(headers: Json, name: str) -> set[str]:
    return {member.strip().lower() for member in headers.get(name, "").split(",")} - {""}


def with_headers(want: Json, have: Json, *names: str) -> Json:
    """Hono's answer with some of its headers as in Kit's."""
    kept = {name: value for name, value in want["headers"].items() if name not in names}
    return {**want, "headers": {**kept, **{name: have["headers"][name] for name in names if name in have["headers"]}}}


def handler_won(app: str, want: Json, have: Json) -> Json:
    """Hono's answer with the headers of the handler, where those of middleware have won."""
    own = app.lower()
    names = [
        name
        for name, value in have["headers"].items()
        if isinstance(value, str)
        and want["headers"].get(name) not in (None, value)
        and f'"{name}": "{value.lower()}"' in own
    ]
    return with_headers(want, have, *names)


def with_etag(request: Json, app: str, want: Json, have: Json, rules: set[str]) -> Json:
    """Hono's answer as it would be if its etag did what Kit's does."""
    if "status" not in want or "status" not in have:
        return want
    got, listed = have["headers"], field(request, "if-none-match")
    is_stream = any(name in request["url"] for name in STREAMED) and "etag" not in got
    if "etag_handler_headers" in rules:
        want = handler_won(app, want, have)
    if (want["status"], have["status"]) == (304, 200):
        if ("etag_streams" in rules and is_stream) or ("etag_syntax" in rules and ("w/" in listed or '" "' in listed)):
            return have
    is_304 = (want["status"], have["status"]) == (304, 304)
    failed_after = want["status"] == have["status"] == 500 and listed and '"mw_throw_after"' in app
    if "etag_304_headers" in rules and (is_304 or failed_after):
        names = [name for name in got if name not in want["headers"]]
        names += [
            name
            for name in ("vary", "server-timing")
            if name in want["headers"] and members(want["headers"], name) <= members(got, name)
        ]
        return with_headers(want, have, *names)
    if "etag" in want["headers"] and "etag" not in got:
        is_partial = "etag_status" in rules and have["status"] != 200
        if is_partial or ("etag_streams" in rules and is_stream):
            return with_headers(want, have, "etag")
    size = want["body"].get("length", 0) if isinstance(want.get("body"), dict) else 0
    if "etag_whole_body" in rules and size > CHUNK_BYTES and "etag" in got:
        return with_headers(want, have, "etag")
    return want


def encoded_for_a_reason(request: Json, options: list[Json], want: Json, have: Json, rules: set[str]) -> bool:
    """Whether Kit encodes an answer, or says that it may, that Hono leaves as it is."""
    headers = want["headers"]
    if "compress_head" in rules and request["method"] == "HEAD":
        return True
    if "compress_304" in rules and want["status"] == have["status"] == 304:
        tag = headers.get("etag", "")
        return have["headers"].get("etag", "") in (tag, f"W/{tag}")
    if "compress_threshold" in rules and want["status"] != 304 and want.get("body") == "":
        return "content-encoding" not in have["headers"]
    if "content-encoding" in headers:
        return False
    if "compress_threshold" in rules and headers.get("content-length", "").isdigit():
        thresholds = [each.get("threshold", 0) for each in options if isinstance(each, dict)]
        if int(headers["content-length"]) < max([THRESHOLD, *thresholds]):
            return True
    if "compress_threshold" in rules and "pretty" in request["url"]:
        return True  # Hono compared the length with its threshold, and removed it when it indented the answer
    if "compress_x_gzip" in rules and "x-gzip" in field(request, "accept-encoding"):
        return True
    if "compress_event_streams" in rules and headers.get("content-type", "").startswith("text/event-stream"):
        return True
    return "compress_vary_any" in rules and "*" in members(have["headers"], "vary")


def with_compress(request: Json, options: list[Json], want: Json, have: Json, rules: set[str]) -> Json:
    """Hono's answer as it would be if its compress did what Kit's does."""
    if "status" not in want or "status" not in have:
        return want
    if not encoded_for_a_reason(request, options, want, have, rules):
        return want
    want = {**with_headers(want, have, *OF_ENCODING), "decoded": have.get("decoded")}
    # What is compressed isn't indented further out.
    return {**want, "body": have["body"]} if "pretty" in request["url"] and "decoded" in have else want
