# SPDX-License-Identifier: MIT
import falcon.asgi


class Hello:
    async def on_get(self, req, resp):
        resp.content_type = "text/plain; charset=utf-8"
        resp.text = "Hello, World!"


app = falcon.asgi.App()
app.add_route("/", Hello())
