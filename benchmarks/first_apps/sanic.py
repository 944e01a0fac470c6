# SPDX-License-Identifier: MIT
from sanic import Sanic
from sanic.response import text

app = Sanic("first")
app.config.ACCESS_LOG = False


@app.get("/")
async def hello(request):
    return text("Hello, World!")
