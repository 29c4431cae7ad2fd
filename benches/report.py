"""Prints the medians of the library benches as growth ratios beside their bars. Standard library only.

Usage: report.py target/criterion
"""

import json
import pathlib
import sys

SIZES = ["1000", "50000", "1000000"]
# path: (most that 1M events may take, as a multiple of 1k; most milliseconds at 1M)
BARS = {
    "state": (1.3, 1.0),
    "context": (1.3, None),
    "fork": (2.0, 1.0),
    "rollback": (2.0, 1.0),
    "merge_base": (2.0, 1.0),
    "diff": (1.3, None),
}


def median_ms(root, path, size):
    text = (root / path / size / "new" / "estimates.json").read_text()
    return json.loads(text)["median"]["point_estimate"] / 1e6


def main():
    root = pathlib.Path(sys.argv[1])
    print(f"{'path':<12} {'1k ms':>9} {'50k ms':>9} {'1M ms':>9} {'1M / 1k':>8}  bar")
    for path, (growth, most) in BARS.items():
        times = [median_ms(root, path, size) for size in SIZES]
        ratio = times[-1] / times[0]
        met = ratio <= growth and (most is None or times[-1] < most)
        bar = f"<= {growth}" + (f", < {most:g} ms" if most else "")
        columns = " ".join(f"{time:>9.3f}" for time in times)
        print(f"{path:<12} {columns} {ratio:>8.2f}  {bar} {'ok' if met else 'MISSED'}")


main()
