# SPDX-License-Identifier: MIT
from quart import Quart, Response

app = Quart("first", static_folder=None)


@app.get("/")
async def hello():
    return Response("Hello, World!", mimetype="text/plain")
