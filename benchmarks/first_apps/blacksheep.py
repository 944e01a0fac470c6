# SPDX-License-Identifier: MIT
from blacksheep import Application, Router, text

app = Application(router=Router())


@app.router.get("/")
async def hello(request):
    return text("Hello, World!")
