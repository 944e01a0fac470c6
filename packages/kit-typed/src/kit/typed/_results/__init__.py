# SPDX-License-Identifier: MIT
"""What an endpoint returns or yields, and how it is sent."""
