"""These tests start `python -m addon`, which needs the bpy module beside this Python. Skipped where there is none."""

import importlib.util

import pytest


def pytest_collection_modifyitems(items) -> None:
    if importlib.util.find_spec("bpy") is None:
        skip = pytest.mark.skip(reason="no bpy module in this environment; make blender brings one")
        for item in items:
            if "/tests/scenes/" in item.path.as_posix() or "/tests/command/" in item.path.as_posix():
                item.add_marker(skip)
