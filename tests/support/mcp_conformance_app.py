# SPDX-License-Identifier: MIT
"""The tools that the conformance suite of the Model Context Protocol asks for."""

from __future__ import annotations

from typing import Any

from kit import Context, HTTPException, Kit, Response
from kit.mcp import mcp, tool

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da63fcff1f0002eb01f58f3a4ec80000000049454e44ae426082"
)
WAV = (
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00"
)

app: Kit[Any, Any] = Kit()
mcp(app, name="Conformance")
mcp(app, path="/sessions", name="Conformance", stateless=False)


@app.get("/text")
@tool(name="test_simple_text")
async def text(c: Context[Any, Any]) -> Response:
    return c.text("This is a simple text response for testing.")


@app.get("/image")
@tool(name="test_image_content")
async def image(c: Context[Any, Any]) -> Response:
    return c.body(PNG, headers={"content-type": "image/png"})


@app.get("/audio")
@tool(name="test_audio_content")
async def audio(c: Context[Any, Any]) -> Response:
    return c.body(WAV, headers={"content-type": "audio/wav"})


@app.get("/file")
@tool(name="test_embedded_resource")
async def file(c: Context[Any, Any]) -> Response:
    return c.body(b"\x00\x01", headers={"content-type": "application/octet-stream"})


@app.get("/error")
@tool(name="test_error_handling")
async def error(c: Context[Any, Any]) -> Response:
    raise HTTPException(500, "This tool intentionally returns an error for testing")
