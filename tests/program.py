"""The command as a user runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
               **{name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}}


def heft(*arguments: object, cwd: Path = ROOT, timeout: float = 300.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "addon", *map(str, arguments)], cwd=cwd, env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)


def start(*arguments: object, cwd: Path = ROOT) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "addon", *map(str, arguments)], cwd=cwd, env=ENVIRONMENT,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
