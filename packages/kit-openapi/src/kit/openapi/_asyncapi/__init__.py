# SPDX-License-Identifier: MIT
"""AsyncAPI documents of the WebSockets of an app, and a page that shows them."""
