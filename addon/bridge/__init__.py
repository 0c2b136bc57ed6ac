# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender data to solver data and back; no context, no interface."""
