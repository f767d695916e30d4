#!/usr/bin/env python3
"""Runs the network benchmark side by side with SimGrid on the same traffic.

Both run one after the other, several times, and the shortest time of each counts: a figure alone says something about
the machine, only the ratio of one run says something about the simulators.
"""

import argparse
import json
import os
import subprocess
import sys

# What is printed, and the arguments of both programs.
TRAFFIC = {
    "ring 1024": "ring 1024 1e9",
    "ring 1024 10": "ring 1024 1e9 10",
    "alltoall 256 10 burst": "alltoall 256 1e6 10 0 burst",
    "alltoall 1024 burst": "alltoall 1024 1e6 0 0 burst",
    "alltoall 1024 10 burst": "alltoall 1024 1e6 10 0 burst",
    "dumbbell 10000 50": "dumbbell 10000 64 1250 50",
    "dumbbell 20000 100": "dumbbell 20000 64 1250 100",
    "dumbbell 100000 1000": "dumbbell 100000 64 1250 1000",
    "ring 4096": "ring 4096 1e9",
}

# SimGrid told to use the plain model: without these it answers another question.
PLAIN = [
    "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0", "--cfg=network/crosstraffic:0",
    "--cfg=network/bandwidth-factor:1", "--cfg=network/latency-factor:1", "--cfg=network/weight-S:0",
    "--log=root.thresh:critical",
]

RUNS = 5  # of each, but no further one after this many seconds:
SECONDS = 3


def shortest(command, limit_s):
    """The JSON answer of the shortest of some runs; None where one takes longer than the limit."""
    best = None
    spent_s = 0.0
    for _ in range(RUNS):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
        answer = json.loads(done.stdout)
        if best is None or answer["wall_s"] < best["wall_s"]:
            best = answer
        spent_s += answer["wall_s"]
        if spent_s > SECONDS:
            break
    return best


def compare(name, own, peer, limit_s):
    arguments = TRAFFIC[name].split()
    ours = shortest([own] + arguments, None)
    row = {
        "traffic": name, "transfers": ours["flows"], "syncline_wall_s": ours["wall_s"], "simgrid_wall_s": None,
        "ratio": None, "syncline_mb": ours["maxrss_mb"], "simgrid_mb": None,
    }
    if not peer:
        return row
    theirs = shortest([peer] + arguments + PLAIN, limit_s)
    if theirs is None:
        row["simgrid_over_s"] = limit_s
        return row
    row.update(simgrid_wall_s=theirs["wall_s"], simgrid_mb=theirs["maxrss_mb"],
               ratio=theirs["wall_s"] / ours["wall_s"])
    # A faster wrong answer is no answer. Our clock has nanoseconds, half of one a dependent step.
    for field in ("sim_end", "sum_finish"):
        if abs(ours[field] - theirs[field]) > 1e-6 * theirs[field]:
            sys.exit(f"{name}: {field} is {ours[field]}, and SimGrid's {theirs[field]}")
    return row


def text(row):
    theirs = "-"
    if row["simgrid_wall_s"] is not None:
        theirs = f"{row['simgrid_wall_s']:.3f}"
    elif "simgrid_over_s" in row:
        theirs = f"> {row['simgrid_over_s']:g}"
    ratio = f"{row['ratio']:.1f}" if row["ratio"] else "-"
    return (f"{row['traffic']:<24}{row['transfers']:>10}{row['syncline_wall_s']:>13.4f}{theirs:>12}{ratio:>9}"
            f"{row['syncline_mb']:>13.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--own", required=True, help="network_bench")
    parser.add_argument("--peer", default="", help="sgbench; without it only our own times are printed")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each traffic")
    parser.add_argument("--only", choices=list(TRAFFIC), help="this one alone")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run of the peer")
    options = parser.parse_args()
    peer = options.peer if os.access(options.peer, os.X_OK) else ""
    if not peer:
        print("SimGrid is not built: ./dev bench --peers", file=sys.stderr)
    if not options.json:
        print(f"{'traffic':<24}{'transfers':>10}{'syncline s':>13}{'SimGrid s':>12}{'ratio':>9}{'syncline MB':>13}")
    for name in [options.only] if options.only else TRAFFIC:
        row = compare(name, options.own, peer, options.limit)
        print(json.dumps(row) if options.json else text(row), flush=True)


if __name__ == "__main__":
    main()
