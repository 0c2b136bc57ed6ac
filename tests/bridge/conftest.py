"""Blender for tests: each one starts from an empty file. `make test` and `make matrix` bring the bpy module."""

import importlib.util

import pytest

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def empty_file():
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    yield
