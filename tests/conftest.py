"""What all tests share: a Python that holds Blender leaves without running Blender's own clean-up."""

import os
import sys


def pytest_sessionfinish(session, exitstatus) -> None:
    session.config.stash_status = int(exitstatus)


def pytest_unconfigure(config) -> None:
    """Some bpy modules crash while Python ends; nothing of a test happens that late."""
    if "bpy" in sys.modules and hasattr(config, "stash_status") and not hasattr(config, "workerinput"):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash_status)
