# SPDX-License-Identifier: MIT
from muffin import Application, ResponseText

app = Application()


@app.route("/", methods=["GET"])
async def hello(request):
    return ResponseText("Hello, World!")
