# SPDX-License-Identifier: MIT
"""The front end: pages that are rendered here, from the same queries as the API's responses."""
