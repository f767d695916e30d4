"""Checks that the rooms include only what the house allows them.

usage: check_includes.py ROOT     prints each forbidden include; exit code 1 if there are any
"""

import pathlib
import re
import sys

# Beside its own files. An entry that ends with / is a folder.
MAY_KNOW = {
    "topology": [],
    "compute": ["topology/"],
    "sim": ["topology/", "compute/program.h", "compute/pace/"],
    "scenarios": ["topology/", "sim/", "compute/"],
    "report": ["topology/", "sim/", "compute/", "scenarios/"],
    "app": ["topology/", "sim/", "compute/", "scenarios/", "report/"],
    "tests": ["topology/", "sim/", "compute/", "scenarios/", "report/", "app/"],
    "bench": ["topology/", "sim/", "compute/", "scenarios/", "report/", "app/"],
}

# Libraries that stay inside some rooms: name, its headers, the files that may include them. What holds for a file of a room
# holds for its tests and benchmarks, which lie under the same path in tests/ and bench/.
STAYS_INSIDE = [
    (
        "LibTorch and CUDA",
        re.compile(r"(torch|ATen|c10|caffe2|nvtx3|cub|thrust|cuda|cooperative_groups)/"
                   r"|(cuda|cublas|curand|cufft|cudnn|cusparse|cusolver|nccl|nvrtc|nvml|cooperative_groups)\w*(\.\w+)?$"),
        re.compile(r"compute/(torch|nccl)[/_]|compute/compression/.*\.cu$"),
    ),
    ("Protobuf", re.compile(r"google/protobuf/|.*\.pb\.h$"), re.compile(r"(scenarios|report)/")),
    ("Boost.Graph", re.compile(r"boost/graph/"), re.compile(r"topology/")),
    ("MPI", re.compile(r"mpi\.h$"), re.compile(r"app/")),
]

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def included_files(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def objections(file, quote, included):
    """Why `file`, a path from the root, may not include this; nothing if it may."""
    room = file.split("/")[0]
    allowed = [room + "/", *MAY_KNOW[room]]
    if quote == '"' and ".." in included.split("/"):
        yield "is not written from the repository's root"
    if included.split("/")[0] in MAY_KNOW:
        if not any(included.startswith(a) if a.endswith("/") else included == a for a in allowed):
            yield f"is not for {room}/, which may know: {', '.join(allowed)}"
    mirrored = file.removeprefix("tests/").removeprefix("bench/")
    for name, headers, insiders in STAYS_INSIDE:
        if headers.match(included) and not insiders.match(mirrored):
            yield f"is of {name}, which stays inside {insiders.pattern}"


def check(root):
    found = []
    for room in MAY_KNOW:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".h", ".cc", ".cu"):
                continue
            file = path.relative_to(root).as_posix()
            for number, quote, included in included_files(path):
                found += [f"{file}:{number}: {included} {why}" for why in objections(file, quote, included)]
    return found


if __name__ == "__main__":
    violations = check(pathlib.Path(sys.argv[1]))
    for violation in violations:
        print(violation)
    sys.exit(1 if violations else 0)
