# SPDX-License-Identifier: MIT
"""The behaviours that take one request to observe."""

from __future__ import annotations

import hashlib

from behaviours import asked

UPLOAD = bytes(range(256)) * 40_000  # 10 MB
TOO_LARGE = "15000000"
LONG = "x" * 6000
FORM = (("content-type", "application/x-www-form-urlencoded"),)
JSON = (("content-type", "application/json"),)
MULTIPART = (("content-type", "multipart/form-data; boundary=b"),)
PARTS = (
    b'--b\r\ncontent-disposition: form-data; name="title"\r\n\r\ncaf\xc3\xa9\r\n'
    b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n\x00\xff\r\n'
    b"--b--\r\n"
)

# --- routing -----------------------------------------------------------------------------------

G = "Methods and routing"
asked(G, "GET", "200 hello; content-type: text/plain; charset=UTF-8", "/text", "content-type")
asked(
    G,
    "HEAD has the Content-Length of GET",
    "200; content-length: 5",
    "/text",
    "content-length",
    method="HEAD",
)
for method in ("OPTIONS", "POST", "PUT", "PATCH", "DELETE"):
    asked(G, method, f"200 {method}", "/method", method=method)
asked(G, "custom method", "200 PURGE", "/method", method="PURGE")
asked(G, "method without a route", "404 404 Not Found", "/text", method="DELETE")
asked(G, "path without a route", "404 404 Not Found", "/none")
asked(G, "HEAD of a path without a route", "404", "/none", method="HEAD")
asked(G, "percent-encoded UTF-8", '200 "café au"', "/echo/caf%C3%A9%20au")
asked(G, "encoded slash stays in its segment", '200 "a/b"', "/echo/a%2Fb")
asked(G, "encoded percent sign", '200 "100%"', "/echo/100%25")
asked(G, "path that isn't UTF-8", "200 /path/%FF", "/path/%FF")
asked(G, "double slash", "200 /path//a", "/path//a")
asked(G, "dot segments", "200 /path/a/../b", "/path/a/../b")
asked(
    G,
    "query with repeated and empty values",
    '200 {"a":["1","2"],"b":[" +"],"c":[""]}',
    "/query?a=1&a=2&b=%20%2B&c=",
)
asked(G, "query that is only a question mark", "200 {}", "/query?")
asked(G, "query that isn't UTF-8", '200 {"a":["%FF"]}', "/query?a=%FF")

# --- request headers ---------------------------------------------------------------------------

G = "Request headers"
asked(G, "repeated", '200 "1, 2"', "/header", headers=(("x-value", "1"), ("x-value", "2")))
asked(G, "empty", '200 ""', "/header", headers=(("x-value", ""),))
asked(G, "Latin-1", '200 "caf\xe9"', "/header", headers=(("x-value", "caf\xe9"),))
asked(G, "of 6,000 bytes", "200 6000", "/header-length", headers=(("x-value", LONG),))
asked(G, "name in capitals", '200 "v"', "/header", headers=(("X-VALUE", "v"),))
asked(
    G,
    "two Cookie lines",
    '200 ["1","2"]',
    "/cookie",
    headers=(("cookie", "a=1"), ("cookie", "b=2")),
)
asked(G, "underscore in a name", '200 ["v",null]', "/under", headers=(("x_under", "v"),))
asked(G, "no Content-Type", "200 null", "/type")

# --- bodies ------------------------------------------------------------------------------------

G = "Bodies"
asked(
    G,
    "JSON",
    '201 {"got":["ü",null]}',
    "/json",
    method="POST",
    headers=JSON,
    body='["ü", null]'.encode(),
)
asked(
    G,
    "invalid JSON",
    "400 Malformed JSON in the request body: Input data was truncated (byte 1)",
    "/json",
    method="POST",
    headers=JSON,
    body=b"{",
)
asked(
    G, "form", '200 {"a":"1","b":"é"}', "/form", method="POST", headers=FORM, body=b"a=1&b=%C3%A9"
)
asked(
    G,
    "multipart with a file",
    '200 ["a.bin",2,"00ff","café"]',
    "/upload",
    method="POST",
    headers=MULTIPART,
    body=PARTS,
)
asked(G, "none", '200 ""', "/bytes", method="POST")
asked(
    G,
    "every byte",
    f'200 "{bytes(range(128, 256)).hex()}"',
    "/bytes",
    method="POST",
    body=bytes(range(128, 256)),
)
asked(
    G,
    "chunked",
    '200 "6162"',
    "/bytes",
    method="POST",
    body=b"ab",
    is_chunked=True,
    needs="connection",
)
DIGEST = f"200 {len(UPLOAD)} {hashlib.md5(UPLOAD).hexdigest()[:8]}"
asked(G, "10 MB streamed", DIGEST, "/count", method="POST", body=UPLOAD, needs="size")
asked(
    G,
    "10 MB streamed and chunked",
    DIGEST,
    "/count",
    method="POST",
    body=UPLOAD,
    is_chunked=True,
    needs="size",
)
asked(G, "not read", "200 not read", "/ignored", method="POST", body=b"unread")
asked(
    G,
    "too large, with Content-Length",
    "413 The body is larger than 14000000 bytes",
    "/bytes",
    method="POST",
    headers=(("content-length", TOO_LARGE),),
    needs="size",
)
asked(
    G,
    "too large, chunked",
    "413 The body is larger than 14000000 bytes",
    "/bytes",
    method="POST",
    body=b"x" * 14_100_000,
    is_chunked=True,
    needs="size",
)

# --- responses ---------------------------------------------------------------------------------

G = "Responses"
asked(G, "bytes", f"200 {bytes(range(256)).hex()}", "/binary")
asked(G, "text", "200 größer ✓; content-length: 12", "/unicode", "content-length")
asked(G, "204", "204; content-length: none", "/empty", "content-length")
asked(G, "304", '304; etag: "x"', "/unchanged", "etag")
asked(
    G,
    "several cookies",
    "200 three; set-cookie: a=1; Path=/ | b=1; Path=/ | c=1; Path=/",
    "/cookies",
    "set-cookie",
)
asked(G, "repeated header", "200 two; link: </a> | </b>", "/repeated", "link")
asked(G, "Latin-1 in a header", "200 latin; x-value: caf\xe9", "/latin-1", "x-value")
asked(G, "5 MB", "200 5000000 bytes", "/large", needs="size")
asked(G, "418", "418 a status", "/status/418")
asked(G, "status without a reason phrase", "299 a status", "/status/299")
asked(G, "redirect", "302; location: /text", "/redirect", "location")
asked(G, "no Content-Type", "200 untyped; content-type: none", "/untyped", "content-type")
asked(G, "async stream", "200 0;1;2;3;4;", "/stream")
asked(G, "plain generator", "200 0;1;2;3;4;", "/generator")
asked(
    G,
    "HEAD of a stream",
    "200; content-type: text/plain; content-length: none",
    "/stream",
    "content-type",
    "content-length",
    method="HEAD",
)
asked(
    G,
    "server-sent events",
    "200 event: tick\ndata: 0\n\nevent: tick\ndata: 1; content-type: text/event-stream",
    "/sse",
    "content-type",
)

# --- errors ------------------------------------------------------------------------------------

G = "Errors"
asked(G, "exception", "500 Internal Server Error", "/boom")
asked(G, "HTTPException with a header", "403 refused; x-why: because", "/refused", "x-why")
asked(G, "the app's error handler", '409 {"conflict":"two at once"}', "/conflict")

# --- connections -------------------------------------------------------------------------------

G = "Connection and lifespan"
asked(G, "`c.env` has what the lifespan yielded", '200 "from the lifespan"', "/env")
asked(G, "address of the client", '200 "127.0.0.1"', "/client")
asked(G, "URL", "200 http://example.com/url?a=1", "/url?a=1")
asked(
    G,
    "X-Forwarded-Proto and -For",
    "200 http://example.com/url",
    "/url",
    headers=(("x-forwarded-proto", "https"), ("x-forwarded-for", "203.0.113.9")),
    needs="connection",
)
asked(G, "mounted app", '200 ["/a b","http://example.com/mounted/a%20b"]', "/mounted/a%20b")

# --- files -------------------------------------------------------------------------------------

G = "Files"
TEN = "/files/ten.txt"
asked(G, "file", "200 0123456789; content-length: 10", TEN, "content-length")
asked(G, "HEAD", "200; content-length: 10", TEN, "content-length", method="HEAD")
asked(
    G,
    "range",
    "206 234; content-range: bytes 2-4/10",
    TEN,
    "content-range",
    headers=(("range", "bytes=2-4"),),
)
asked(
    G,
    "range beyond the end",
    "416; content-range: bytes */10",
    TEN,
    "content-range",
    headers=(("range", "bytes=20-"),),
)
asked(
    G,
    "not modified",
    "304",
    TEN,
    headers=(("if-modified-since", "Fri, 31 Dec 2100 00:00:00 GMT"),),
)
asked(G, "no such file", "404 404 Not Found", "/files/none.txt")
