"""Blender with the add-on registered; each test starts from an empty file. Skipped where there is no bpy."""

import os

import pytest

bpy = pytest.importorskip("bpy", reason="these tests need the bpy module: make test and make matrix bring it")


@pytest.fixture(autouse=True)
def registered():
    import addon

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    yield
    addon.unregister()


def pytest_sessionfinish(session, exitstatus) -> None:
    """Some bpy modules crash while Python ends; nothing of a test happens that late."""
    session.config._heft_status = int(exitstatus)


def pytest_unconfigure(config) -> None:
    if hasattr(config, "_heft_status") and not hasattr(config, "workerinput") and not config.option.numprocesses:
        import sys

        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config._heft_status)
