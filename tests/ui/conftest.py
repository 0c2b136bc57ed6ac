"""Blender with the add-on registered; each test starts from an empty file."""

import importlib.util

import pytest

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def registered():
    import bpy

    import addon

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    yield
    addon.unregister()
