"""The rules of middleware_compare.py for the middleware that deals with content: etag, compress and serve_static.

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
etag_star_in_list      Hono takes `*` in If-None-Match for a wildcard only where it stands alone; Kit also among others, as
                       several lines are joined by commas.
etag_304_encoded       The digest of a compressed body isn't the same in two implementations of deflate. Where a 304
                       stands for such a body, what is compared of the ETag is its form.
compress_threshold     Hono applies its threshold only to answers that declare a Content-Length; Kit to the size of the
                       body. So that everything else is compared, Kit is given no threshold, and the encodings that
                       Hono has. What is declared to be below Hono's threshold is compared without the encoding, and
                       so are empty bodies, which Kit never compresses. Of several compress, another one may be the
                       first that compresses.
compress_head          Hono's compress leaves HEAD alone; Kit answers with the headers of a GET (RFC 9110, 9.3.2).
compress_304           Hono's compress leaves a 304 alone; Kit gives it the Vary, and to a client that has the encoded
                       response the weak ETag, that the 200 has (RFC 9110, 15.4.5).
compress_x_gzip        In Kit, x-gzip is gzip (RFC 9110, section 8.4.1.3).
compress_event_streams Hono does not compress text/event-stream; Kit does, event by event.
compress_malformed_tag Hono's compress writes W/ before an ETag without quotes, too, which makes it no entity tag (RFC
                       9110, section 8.8.3). Kit leaves it.
compress_vary_any      Kit adds nothing to a Vary that is or has `*`.
static_dotfiles        Hono's serve_static serves files whose names begin with a dot; Kit's only with dotfiles=True, with
                       which it is given the programs.
static_negotiated      Hono's serve_static compares the names in Accept-Encoding literally, without q and *, and names
                       it in Vary on precompressed answers alone; Kit's negotiates (RFC 9110, section 12.5.3), and
                       names it wherever a precompressed file might be.
static_empty           An empty file is not found in Hono.
static_types           Kit's table of content types has m3u8 and zst.
"""

from __future__ import annotations

import json
import re
from typing import Any, Iterator
from urllib.parse import urlsplit

from middleware_programs import calls_of, field, members, options_of, same_form_of_etag, with_headers

Json = dict[str, Any]
RULES = (
    "etag_304_headers",
    "etag_streams",
    "etag_whole_body",
    "etag_syntax",
    "etag_status",
    "etag_star_in_list",
    "etag_304_encoded",
    "compress_threshold",
    "compress_head",
    "compress_304",
    "compress_x_gzip",
    "compress_event_streams",
    "compress_malformed_tag",
    "compress_vary_any",
    "static_dotfiles",
    "static_negotiated",
    "static_empty",
    "static_types",
)
STREAMED = ("stream", "/flow")  # in the paths of handlers that stream
CHUNK_BYTES = 65536  # how much Hono reads at once of a body in memory
THRESHOLD = 1024
OF_ENCODING = ("content-encoding", "content-length", "vary", "etag")


def options_of_hono(options: Json) -> Json:
    """The options of compress that make Kit's do what Hono's does."""
    options = {"threshold": 0, **{k: v for k, v in options.items() if k != "threshold"}}
    return options if "encoding" in options else {**options, "encodings": ["gzip", "deflate"]}


def with_etag(request: Json, app: Json, want: Json, have: Json, rules: set[str]) -> Json:
    """Hono's answer as it would be if its etag did what Kit's does."""
    if "status" not in want or "status" not in have:
        return want
    got, listed = have["headers"], field(request, "if-none-match")
    is_stream = any(name in request["url"] for name in STREAMED) and "etag" not in got
    if (want["status"], have["status"]) == (304, 200):
        if ("etag_streams" in rules and is_stream) or ("etag_syntax" in rules and ("w/" in listed or '" "' in listed)):
            return have
        if options_of("compress", app) and validates_another_body(request, have, rules):
            return have
    if "etag_star_in_list" in rules and (want["status"], have["status"]) == (200, 304):
        if "*" in {member.strip() for member in listed.split(",")}:
            return have
    is_304 = (want["status"], have["status"]) == (304, 304)
    if "etag_304_encoded" in rules and is_304 and options_of("compress", app) and asks_for_encoding(request):
        if same_form_of_etag(want, have):
            want = with_headers(want, have, "etag")
    failed_after = want["status"] == have["status"] == 500 and listed and any(calls_of("mw_throw_after", app))
    if "etag_304_headers" in rules and (is_304 or failed_after):
        names = [name for name in got if name not in want["headers"]]
        names += [
            name
            for name in ("vary", "server-timing")
            if name in want["headers"] and members(want["headers"], name) <= members(got, name)
        ]
        # What is set further out unless it is there: in Hono's, it isn't there any more.
        kept = [(a[0], a[1]) for a in calls_of("mw_after_header", app)]
        names += [name for name in want["headers"] if (name, got.get(name)) in kept]
        cookies = want["headers"].get("set-cookie")
        if cookies and have["headers"].get("set-cookie", [])[-len(cookies) :] == cookies:
            names.append("set-cookie")
        return with_headers(want, have, *names)
    if "etag" in want["headers"] and "etag" not in got:
        is_partial = "etag_status" in rules and 200 < have["status"] < 300
        if is_partial or ("etag_streams" in rules and is_stream):
            return with_headers(want, have, "etag")
    size = want["body"].get("length", 0) if isinstance(want.get("body"), dict) else 0
    if "etag_whole_body" in rules and size > CHUNK_BYTES and "etag" in got:
        return with_headers(want, have, "etag")
    return want


def asks_for_encoding(request: Json) -> bool:
    return any(name in field(request, "accept-encoding").lower() for name in ("gzip", "deflate", "*"))


def validates_another_body(request: Json, have: Json, rules: set[str]) -> bool:
    """Whether Hono compressed what Kit does not, or the other way round, so that the ETag is another one."""
    if "compress_x_gzip" in rules and "x-gzip" in field(request, "accept-encoding") and "decoded" in have:
        return True
    return "compress_threshold" in rules and have["body"] == "" and "etag" not in have["headers"]


def encoded_anew(want: Json, have: Json) -> Json:
    """Hono's answer, as it would be if compress had encoded it as in Kit."""
    lost = members(want["headers"], "vary") - members(have["headers"], "vary") - {"accept-encoding"}
    names = [name for name in OF_ENCODING if name != "vary" or not lost]
    return {**with_headers(want, have, *names), "decoded": have.get("decoded")}


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
        return "compress_threshold" in rules and len(options) > 1 and "decoded" in want and "decoded" in have
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
    tag = have["headers"].get("etag")
    if "compress_malformed_tag" in rules and tag and '"' not in tag and want["headers"].get("etag") == f"W/{tag}":
        want = with_headers(want, have, "etag")
    if not encoded_for_a_reason(request, options, want, have, rules):
        return want
    want = encoded_anew(want, have)
    # What is compressed isn't indented further out.
    return {**want, "body": have["body"]} if "pretty" in request["url"] and "decoded" in have else want


# ---- serve_static -------------------------------------------------------------------------------

MORE_TYPES = {"m3u8": "application/vnd.apple.mpegurl", "zst": "application/zstd"}
SUFFIXES = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}  # codings of precompressed files
PLAIN_CODINGS = re.compile(r"(?:[a-z]+(?:, )?)*")


def with_dotfiles(options: Json) -> Json:
    return {**options, "dotfiles": True}


def files_of(app: Json) -> Iterator[Json]:
    """What the folders of an app hold that serve precompressed files: texts by their paths."""
    for options in options_of("serve_static", app):
        if options.get("precompressed"):
            yield options["getContent"]["files"]


def qualities(accept_encoding: str) -> dict[str, float]:
    """The quality of each coding that is named in Accept-Encoding."""
    named = (re.split(r"\s*;\s*q=", each.strip().lower()) for each in accept_encoding.split(","))
    return {name: float(q[0]) if q else 1.0 for name, *q in named}


def is_best(encoding: str | None, files: Json, path: str, asked: str) -> bool:
    """Whether no other coding of a file is one that the client would rather have."""
    wanted = qualities(asked)
    there = [coding for coding, suffix in SUFFIXES.items() if path + suffix in files]
    best = max((wanted.get(coding, wanted.get("*", 0.0)) for coding in there), default=0.0)
    if encoding is None:
        return best <= wanted.get("identity", 0.0)
    return encoding in there and 0 < best == wanted.get(encoding, wanted.get("*", 0.0))


def is_negotiated(request: Json, app: Json, want: Json, have: Json) -> bool:
    """Whether Kit sends the file that Hono sends, in the coding that the client likes best."""
    encoding, asked = have["headers"].get("content-encoding"), field(request, "accept-encoding")
    texts = [
        json.dumps(body["json"], separators=(",", ":")) if isinstance(body, dict) else body
        for body in (want["body"], have["body"])
    ]
    for files in files_of(app):
        for name, text in files.items():
            path = re.sub(r"\.(?:br|zst|gz)$", "", name) if "content-encoding" in want["headers"] else name
            if text == texts[0] and files.get(path + SUFFIXES.get(encoding, "")) == texts[1]:
                return is_best(encoding, files, path, asked)
    return False


def with_static(request: Json, app: Json, want: Json, have: Json, rules: set[str]) -> Json:
    """Hono's answer with a file, as Kit's serve_static is meant to give it."""
    path = urlsplit(request["url"]).path
    if "status" not in want or "status" not in have or "/static/" not in path:
        return want
    headers, got, statuses = want["headers"], have["headers"], (want["status"], have["status"])
    more = MORE_TYPES.get(path.rpartition(".")[2])
    if "static_types" in rules and more and headers.get("content-type") == "application/octet-stream":
        headers = {**headers, "content-type": more}
    if "static_empty" in rules and path.endswith("/empty.txt") and statuses == (404, 200) and not have["body"]:
        return have
    want = {**want, "headers": headers}
    if "static_negotiated" in rules and statuses == (200, 200) and any(files_of(app)):
        if "accept-encoding" in members(got, "vary") - members(headers, "vary"):
            vary = ", ".join(filter(None, [headers.get("vary"), "Accept-Encoding"]))
            want = {**want, "headers": {**headers, "vary": vary}}
        if not PLAIN_CODINGS.fullmatch(field(request, "accept-encoding")):
            if is_negotiated(request, app, want, have):
                sent = {"body": have["body"], "decoded": have.get("decoded")}
                names = ["content-encoding", *(["etag"] if same_form_of_etag(want, have) else [])]
                return {**with_headers(want, have, *names), **sent}
    return want
