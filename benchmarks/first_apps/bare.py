# SPDX-License-Identifier: MIT
app = None
