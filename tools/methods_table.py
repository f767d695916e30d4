#!/usr/bin/env python3
"""Compares the training methods and writes the table of docs/methods.md.

Every strategy in scenarios/methods/ trains the quickstart's model on equal tokens, with three seeds, and is timed at three
bandwidths: one `syncline sweep`. What is in the cache is not trained again, and an interrupted sweep goes on.
"""

import argparse
import collections
import csv
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "scenarios" / "methods"
BANDWIDTH = "topology.clusters.wan.bandwidth"
BANDWIDTHS = ["100 Mbit/s", "1 Gbit/s", "10 Gbit/s"]
BEGIN = "<!-- written by tools/methods_table.py -->\n"
END = "<!-- end of the table -->\n"


def sweep(program, names, seeds, out):
    """Runs the sweep; its folder is kept, so that a second call only does what is new."""
    command = [program, "sweep", str(FOLDER / "base.textproto"), "--out", str(out),
               "--vary", "seed=" + ",".join(map(str, seeds)),
               "--vary", "strategy=" + ",".join(f"@{name}.textproto" for name in names),
               "--vary", f"{BANDWIDTH}=" + ",".join(BANDWIDTHS)]
    code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    if code != 0:
        sys.exit(code)


def worker_bytes(folder):
    """Bytes that a worker sends, the mean over workers."""
    with open(folder / "workers.csv", newline="") as file:
        return statistics.mean(float(row["bytes_sent"]) for row in csv.DictReader(file))


def read_points(out):
    """{method: {bandwidth: [(loss, seconds, bytes a worker) for each seed]}}"""
    points = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(out / "sweep.csv", newline="") as file:
        for row in csv.DictReader(file):
            method = row["strategy"].removeprefix("@").removesuffix(".textproto")
            points[method][row[BANDWIDTH]].append((float(row["final_loss"]), float(row["virtual_time_s"]),
                                                   worker_bytes(out / row["folder"])))
    return points


def mean_and_spread(values, digits):
    mean = statistics.mean(values)
    if len(values) == 1 or max(values) - min(values) < 10 ** -digits / 2:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {statistics.stdev(values):.{digits}f}"


def table(points):
    """Rows from the best loss to the worst. A method whose program depends on the network has a loss for each bandwidth:
    then the loss is that at 1 Gbit/s."""
    middle = BANDWIDTHS[1]
    loss = {method: statistics.mean(point[0] for point in by[middle]) for method, by in points.items()}
    reference = loss.get("data_parallel")
    lines = ["| method | loss, nats a byte | to data parallel | MB a worker | " +
             " | ".join(f"s at {bandwidth}" for bandwidth in BANDWIDTHS) + " |",
             "|---|---|---|---|" + "---|" * len(BANDWIDTHS)]
    for method in sorted(points, key=loss.get):
        by = points[method]
        change = f"{100 * (loss[method] / reference - 1):+.1f} %" if reference else ""
        cells = [f"`{method}`", mean_and_spread([point[0] for point in by[middle]], 3), change,
                 f"{statistics.mean(point[2] for point in by[middle]) / 1e6:.1f}"]
        cells += [f"{statistics.mean(point[1] for point in by[bandwidth]):.1f}" for bandwidth in BANDWIDTHS]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def replace_table(page, text):
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        sys.exit(f"docs/methods.md has no lines {BEGIN.strip()!r} and {END.strip()!r} to write the table between")
    return before + BEGIN + text + END + after


def main():
    names = sorted(path.stem for path in FOLDER.glob("*.textproto") if path.stem != "base")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build" / "syncline", help="syncline; default build/syncline")
    parser.add_argument("--methods", nargs="+", default=names, metavar="NAME", help="of scenarios/methods/; default all")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "runs" / "methods", help="the sweep's folder")
    parser.add_argument("--print", action="store_true", help="print the table and leave docs/methods.md as it is")
    options = parser.parse_args()
    unknown = sorted(set(options.methods) - set(names))
    if unknown:
        sys.exit(f"no such method: {', '.join(unknown)}; there are: {', '.join(names)}")
    sweep(str(options.program), options.methods, options.seeds, options.out.resolve())
    text = table(read_points(options.out))
    if options.print:
        print(text, end="")
        return
    page = ROOT / "docs" / "methods.md"
    page.write_text(replace_table(page.read_text(), text))


if __name__ == "__main__":
    main()
