# SPDX-License-Identifier: MIT
"""Runs a Kit for an RSGI server, such as granian; imported with the first call of one."""
