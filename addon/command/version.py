# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Heft this is. Needs no Blender: a batch asks too."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path


def heft_version() -> str:
    """From the manifest where it lies beside us, as in Blender and a checkout; else from the installed package."""
    manifest = Path(__file__).resolve().parents[2] / "blender_manifest.toml"
    if manifest.is_file():
        import tomllib

        return str(tomllib.loads(manifest.read_text(encoding="utf-8"))["version"])
    try:
        return metadata.version("heft")
    except metadata.PackageNotFoundError:
        return "unknown"
