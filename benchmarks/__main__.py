"""One table of measurements: `make bench`, or `python -m benchmarks growth memory` for some of it.

Prints the table and writes it to build/bench.json.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads only cost time on matrices this small

PARTS = ("memory", "growth", "elimination", "bake_speed", "helper_force", "comfort", "ground", "falling", "falls")
OUTPUT = Path(__file__).resolve().parents[1] / "build" / "bench.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all if none is named", metavar="part")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    chosen = parser.parse_args()
    from benchmarks import table

    rows = []
    for part in chosen.parts or PARTS:
        start = perf_counter()
        print(f"{part} ...", end=" ", flush=True, file=sys.stderr)
        rows += importlib.import_module(f"benchmarks.{part}").rows()
        print(f"{perf_counter() - start:.0f} s", flush=True, file=sys.stderr)
    print(table.text(rows))
    table.write(rows, chosen.out)


if __name__ == "__main__":
    main()
