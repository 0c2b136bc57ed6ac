"""What only a real window shows. Skipped unless HEFT_WINDOW names a command that runs Blender with one."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

COMMAND = os.environ.get("HEFT_WINDOW", "")


@pytest.mark.skipif(not COMMAND, reason="HEFT_WINDOW names no command that shows Blender in a window")
def test_undo_redo_and_escape() -> None:
    script = Path(__file__).with_name("undo_and_escape.py")
    done = subprocess.run([*shlex.split(COMMAND), "--factory-startup", "--enable-event-simulate", "--python",
                           str(script)], capture_output=True, text=True, timeout=300)
    assert "OK" in done.stdout.split() and "WRONG" not in done.stdout, done.stdout + done.stderr
