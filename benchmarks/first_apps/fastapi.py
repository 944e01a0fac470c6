# SPDX-License-Identifier: MIT
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI(openapi_url=None)


@app.get("/")
async def hello():
    return PlainTextResponse("Hello, World!")
