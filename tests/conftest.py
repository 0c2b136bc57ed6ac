"""What all tests share: where bpy is missing, those that start `python -m addon` are skipped; where it is there, Python
leaves without running Blender's own clean-up."""

import importlib.util
import os
import sys

import pytest


def pytest_collection_modifyitems(items) -> None:
    if importlib.util.find_spec("bpy") is None:
        skip = pytest.mark.skip(reason="no bpy module in this environment; make blender brings one")
        for item in items:
            if {"scenes", "command"} & set(item.path.parts[-2:-1]):
                item.add_marker(skip)


def pytest_sessionfinish(session, exitstatus) -> None:
    session.config.stash_status = int(exitstatus)


def pytest_unconfigure(config) -> None:
    """Some bpy modules crash while Python ends; nothing of a test happens that late."""
    if "bpy" in sys.modules and hasattr(config, "stash_status") and not hasattr(config, "workerinput"):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash_status)
