"""What `./dev gpu-check` does: builds syncline on a machine with a GPU, tests it there, and measures.

usage: gpu_check.py [--bundle FILE] [--out FILE] [--without-gpu]

Needs CMake, ninja, a C++ compiler, nvcc 13.0 and a LibTorch 2.11; no network. What else the build needs comes from the
file that `./dev gpu-bundle` makes. Writes one JSON of figures, again after each step, so that nothing is lost to a step
that fails. Takes less than 10 minutes: a step that would take longer is ended.

exit code: 0 all steps succeeded; 1 one failed, or there is no GPU
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build-gpu"
LIMIT_S = 570
REHEARSAL_LIMIT_S = 7200  # without a GPU, on any computer
SPEED_S = 12  # of measuring, a setting
START = time.monotonic()
TARGETS = ["syncline", "gpu_test", "training_speed"]
# The toolkit's libraries that LibTorch's CMake files look for.
LIBRARIES = ["cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse", "cupti", "nvrtc", "nvJitLink", "cufile"]


class Stop(Exception):
    """Nothing more can be done; the text says why and what to do."""


def say(text):
    print(f"[gpu-check {time.monotonic() - START:5.0f} s] {text}", file=sys.stderr, flush=True)


def output_of(*command, env=None):
    """Its stdout, or None if it cannot be run or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def find_gpu():
    fields = ["name", "driver_version", "memory.total", "compute_cap"]
    listed = output_of("nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits")
    if not listed:
        raise Stop("there is no GPU here that nvidia-smi lists; run this on a machine with one and its driver, or, to try "
                   "everything else, with --without-gpu")
    gpus = [dict(zip(fields, [value.strip() for value in line.split(",")])) for line in listed.splitlines()]
    first = gpus[0]
    return {"device": first["name"], "gpus": len(gpus), "driver": first["driver_version"],
            "memory_mib": int(first["memory.total"]), "compute_capability": first["compute_cap"]}


def find_torch():
    named = os.environ.get("SYNCLINE_TORCH_DIR")
    if named is None:
        found = output_of("python3", "-c", "import torch; print(torch.__path__[0])")
        named = found.splitlines()[-1] if found else str(cached_site_packages() / "torch")
    folder = pathlib.Path(named).resolve()
    if not (folder / "share/cmake/Torch").is_dir():
        raise Stop(f"{folder} holds no share/cmake/Torch: name the folder 'torch' of a LibTorch in SYNCLINE_TORCH_DIR")
    return folder


def cached_site_packages():
    """Of the virtual environment that `./dev setup` makes."""
    cache = pathlib.Path(os.environ.get("SYNCLINE_CACHE") or pathlib.Path.home() / ".cache/syncline")
    return next(cache.glob("venv/lib/python3.*/site-packages"), cache)


def find_program(name, *more):
    """On the PATH, in the folders `more`, or as a Python package."""
    for candidate in [shutil.which(name), *(str(pathlib.Path(folder) / name) for folder in more)]:
        if candidate and os.access(candidate, os.X_OK):
            return pathlib.Path(candidate)
    found = output_of("python3", "-c", f"import {name}; print({name}.{name.upper()}_BIN_DIR if hasattr({name}, "
                      f"'{name.upper()}_BIN_DIR') else {name}.BIN_DIR)")
    if found and os.access(f"{found}/{name}", os.X_OK):
        return pathlib.Path(found) / name
    raise Stop(f"there is no {name} on the PATH")


def find_nvcc(torch):
    folders = ["/usr/local/cuda/bin", torch.parent / "nvidia/cu13/bin", cached_site_packages() / "nvidia/cu13/bin"]
    if os.environ.get("CUDACXX"):
        folders.insert(0, pathlib.Path(os.environ["CUDACXX"]).parent)
    return find_program("nvcc", *folders).resolve()


def find_bundle(named):
    candidates = [named] if named else [os.environ.get("SYNCLINE_GPU_BUNDLE"), ROOT / "gpu-bundle.tar.gz",
                                        ROOT / "build/gpu-bundle.tar.gz"]
    for candidate in candidates:
        if candidate and pathlib.Path(candidate).is_file():
            return pathlib.Path(candidate)
    raise Stop(f"there is no bundle {named or ROOT / 'gpu-bundle.tar.gz'}: make it with ./dev gpu-bundle on a machine with "
               "Debian's packages, and put it there or name it in SYNCLINE_GPU_BUNDLE")


def unpack(bundle):
    """The folder that it is in; not again if it is that file already."""
    folder = BUILD / "bundle"
    state = bundle.stat()
    stamp = f"{state.st_size} {state.st_mtime_ns}"
    mark = folder / "unpacked"
    if not mark.is_file() or mark.read_text(encoding="utf-8") != stamp:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with tarfile.open(bundle) as tar:
            if hasattr(tarfile, "data_filter"):
                tar.extractall(folder, filter="tar")
            else:
                tar.extractall(folder)
        mark.write_text(stamp, encoding="utf-8")
    return folder


def complete_toolkit(nvcc, torch):
    """Folders of CUDA headers and libraries under their plain names, for a toolkit that has not all of them.

    LibTorch's wheels bring the others, but as libcublas.so.13, which no linker finds."""
    toolkit = nvcc.parents[1]
    wheels = torch.parent / "nvidia/cu13"
    plain = BUILD / "toolkit/lib"
    shutil.rmtree(BUILD / "toolkit", ignore_errors=True)
    plain.mkdir(parents=True)
    for name in LIBRARIES:
        if any((toolkit / folder / f"lib{name}.so").exists() for folder in ("lib64", "lib", "targets/x86_64-linux/lib")):
            continue
        if found := sorted((wheels / "lib").glob(f"lib{name}.so.*")):
            (plain / f"lib{name}.so").symlink_to(found[-1])
    headers = [] if (toolkit / "include/cublas_v2.h").exists() else [wheels / "include"]
    return plain.parent, headers


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.out = pathlib.Path(arguments.out or BUILD / "gpu-check.json").resolve()
        self.figures = {"complete": False, "failed": []}
        self.env = {}

    def save(self):
        self.figures["seconds"] = round(time.monotonic() - START, 1)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        part = self.out.with_name(self.out.name + ".part")
        part.write_text(json.dumps(self.figures, indent=2) + "\n", encoding="utf-8")
        part.rename(self.out)

    def step(self, name, work):
        """Runs it; what it returns stands under its name. A step that fails is noted, and the next follows."""
        say(f"{name} ...")
        begin = time.monotonic()
        try:
            self.figures[name] = work()
        except (OSError, RuntimeError, ValueError, KeyError, subprocess.SubprocessError) as error:
            self.figures[name] = {"error": str(error)[-4000:]}
            self.figures["failed"].append(name)
            say(f"{name} failed: {str(error)[-4000:]}")
        self.figures.setdefault("step_seconds", {})[name] = round(time.monotonic() - begin, 1)
        self.save()
        return name not in self.figures["failed"]

    def left(self):
        limit = REHEARSAL_LIMIT_S if self.arguments.without_gpu else LIMIT_S
        return max(1.0, limit - (time.monotonic() - START))

    def run(self, *command, limit=LIMIT_S, env=None, on_line=None):
        """Its stdout. `on_line` is given each line as it comes."""
        if self.arguments.without_gpu:
            limit = REHEARSAL_LIMIT_S
        process = subprocess.Popen([str(part) for part in command], cwd=ROOT, env=env or self.env, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)  # so that what it starts is ended with it
        lines, errors = [], []

        def read():
            for line in process.stdout:
                lines.append(line)
                if on_line:
                    on_line(line)

        readers = [threading.Thread(target=read), threading.Thread(target=lambda: errors.extend(process.stderr))]
        for reader in readers:
            reader.start()
        try:
            process.wait(timeout=min(limit, self.left()))
            late = False
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for reader in readers:
            reader.join()
        if late or process.returncode != 0:
            how = "took too long and was ended" if late else f"ended with {process.returncode}"
            raise RuntimeError(f"{pathlib.Path(command[0]).name} {how}: {''.join(lines)[-2500:]}{''.join(errors)[-1500:]}")
        return "".join(lines)

    def prepare(self):
        gpu = {"device": "none"} if self.arguments.without_gpu else find_gpu()
        self.figures.update(gpu)
        self.torch = find_torch()
        self.cmake, self.ninja = find_program("cmake"), find_program("ninja")
        self.nvcc = find_nvcc(self.torch)
        bundle = find_bundle(self.arguments.bundle)
        say(f"{gpu['device']}; {self.torch}; {self.nvcc}; {bundle}")
        self.bundle = unpack(bundle)
        self.toolkit, self.headers = complete_toolkit(self.nvcc, self.torch)

        version = (self.torch / "version.py").read_text(encoding="utf-8") if (self.torch / "version.py").exists() else ""
        named = re.search(r"__version__ = '([^']*)'", version)
        nvcc_says = re.search(r"V([0-9.]+)", output_of(self.nvcc, "--version") or "")
        self.figures["versions"] = {
            "libtorch": named[1] if named else "unknown", "nvcc": nvcc_says[1] if nvcc_says else "unknown",
            "cmake": (output_of(self.cmake, "--version") or "unknown").split("\n", maxsplit=1)[0],
            "compiler": (output_of("g++", "--version") or "unknown").split("\n", maxsplit=1)[0],
            "commit": output_of("git", "-C", str(ROOT), "rev-parse", "HEAD") or "unknown"}

        system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        libraries = [str(self.bundle / "usr/lib/x86_64-linux-gnu"), os.environ.get("LD_LIBRARY_PATH", "")]
        kept = {name: value for name, value in os.environ.items()
                if name in ("HOME", "USER", "LANG", "TMPDIR", "TERM") or name.startswith(("CUDA_VISIBLE", "NVIDIA_"))}
        self.env = kept | {"PATH": f"{self.cmake.parent}:{self.ninja.parent}:{system}",
                           "LD_LIBRARY_PATH": ":".join(filter(None, libraries)),  # the driver's may be in it
                           "SYNCLINE_CACHE": str(self.cache("cache"))}

    def cache(self, name):
        """A new cache folder with the text to train on, so that no training comes from an earlier run."""
        folder = BUILD / name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "text").mkdir(parents=True)
        (folder / "text/shakespeare").symlink_to(self.bundle / "text/shakespeare")
        return folder

    def build(self):
        options = {"SYNCLINE_TORCH_DIR": self.torch, "SYNCLINE_CUDA": "ON", "SYNCLINE_VENV": BUILD / "none",
                   "CMAKE_PREFIX_PATH": f"{self.bundle / 'usr'};{self.toolkit}", "CMAKE_LIBRARY_ARCHITECTURE": "x86_64-linux-gnu",
                   "CMAKE_CUDA_COMPILER": self.nvcc, "CUDA_TOOLKIT_ROOT_DIR": self.nvcc.parents[1],
                   "CUDAToolkit_ROOT": self.nvcc.parents[1]}
        if self.headers:
            options["CMAKE_CXX_FLAGS"] = " ".join(f"-idirafter {folder}" for folder in self.headers)
        if capability := self.figures.get("compute_capability"):
            options["SYNCLINE_CUDA_ARCHITECTURES"] = capability.replace(".", "") + "-real"
        self.run(self.cmake, "--fresh", "-S", ROOT, "-B", BUILD / "build", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={self.ninja}",
                 *(f"-D{name}={value}" for name, value in options.items()), limit=120)
        said = [time.monotonic()]

        def progress(line):
            if (step := re.match(r"\[(\d+)/(\d+)\]", line)) and time.monotonic() - said[0] > 10:
                said[0] = time.monotonic()
                say(f"compiled {step[1]} of {step[2]}")

        self.run(self.ninja, "-C", BUILD / "build", *TARGETS, limit=420, on_line=progress)
        return {"targets": TARGETS}

    def tests(self):
        listed = BUILD / "gpu_test.json"
        listed.unlink(missing_ok=True)
        failed = None
        try:
            self.run(BUILD / "build/tests/compute/gpu_test", f"--gtest_output=json:{listed}", limit=150)
        except RuntimeError as error:
            failed = str(error)
        if not listed.exists():
            raise RuntimeError(failed or "gpu_test wrote no list of its tests")
        results = {"passed": 0, "skipped": [], "failed": []}
        for suite in json.loads(listed.read_text(encoding="utf-8"))["testsuites"]:
            for test in suite["testsuite"]:
                name = f"{suite['name']}.{test['name']}"
                if test.get("failures"):
                    results["failed"].append({name: test["failures"][0]["failure"][:400]})
                elif test.get("result") == "SKIPPED":
                    results["skipped"].append(name)
                else:
                    results["passed"] += 1
        say(f"{results['passed']} tests passed, {len(results['skipped'])} skipped, {len(results['failed'])} failed")
        if results["failed"]:
            self.figures["failed"].append("tests")
        elif failed:
            raise RuntimeError(failed)
        return results

    def quickstart(self, device, cache):
        out = BUILD / f"quickstart-{cache}"
        shutil.rmtree(out, ignore_errors=True)
        begin = time.monotonic()
        env = self.env | {"SYNCLINE_CACHE": str(self.cache(cache))}
        printed = self.run(BUILD / "build/syncline", "run", "scenarios/quickstart.textproto", "--device", device, "--quiet",
                           "--json", "--out", out, limit=150, env=env)
        seconds = time.monotonic() - begin
        summary = json.loads(printed)
        summary = summary.get("summary", summary)
        real = json.loads((out / "real_time.json").read_text(encoding="utf-8")) if (out / "real_time.json").exists() else {}
        say(f"quickstart on {device}: loss {summary['final_loss']:.4f} in {seconds:.1f} s")
        return {"final_loss": summary["final_loss"], "seconds": round(seconds, 2), "real_time": real}

    def repeated(self):
        again = self.quickstart(self.device, "cache-again")
        first, second = ((BUILD / f"quickstart-{name}/results.json").read_bytes() for name in ("cache-first", "cache-again"))
        say("repeated: the results are " + ("the same bytes" if first == second else "NOT the same bytes"))
        if first != second:
            self.figures["failed"].append("repeated")
        return again | {"same_bytes": first == second}

    def speed(self, precision, replicas):
        program = BUILD / "build/bench/compute/training_speed"
        small = ["device=cpu", "layers=2", "width=64", "heads=2", "context=64", "vocabulary=300", "batch=2", "seconds=1"]
        settings = small if self.arguments.without_gpu else ["device=cuda", f"seconds={SPEED_S}"]
        printed = self.run(program, f"precision={precision}", f"replicas={replicas}", *settings, limit=90)
        figures = json.loads(printed)
        say(f"{precision}, {replicas} replica{'s' if replicas > 1 else ''}: {figures['tokens_per_s']:,.0f} tokens/s"
            + (f", MFU {figures['mfu']:.1%}" if "mfu" in figures else ""))
        return figures

    def all(self):
        self.prepare()
        self.device = "cpu" if self.arguments.without_gpu else "cuda"
        if self.step("build", self.build):
            self.step("tests", self.tests)
            self.step("quickstart", lambda: self.quickstart(self.device, "cache-first"))
            for precision in ("bf16", "fp32"):
                for replicas in (1, 4):
                    model = "gpt_124m" if self.device == "cuda" else "small_model"
                    self.step(f"{model}_{precision}_{replicas}_replicas", lambda p=precision, r=replicas: self.speed(p, r))
            self.step("quickstart_repeated", self.repeated)
            if self.device == "cuda":
                self.step("quickstart_cpu", lambda: self.quickstart("cpu", "cache-cpu"))
        self.figures["complete"] = not self.figures["failed"]
        self.save()
        say(f"{'done' if self.figures['complete'] else 'failed: ' + ', '.join(self.figures['failed'])}; figures in {self.out}")
        return 0 if self.figures["complete"] else 1


def main():
    parser = argparse.ArgumentParser(prog="./dev gpu-check", description="Builds, tests and measures syncline on a GPU.")
    parser.add_argument("--bundle", help="what ./dev gpu-bundle made (default: gpu-bundle.tar.gz in the repository's root)")
    parser.add_argument("--out", help="the JSON of figures (default: build-gpu/gpu-check.json)")
    parser.add_argument("--without-gpu", action="store_true", help="a rehearsal: everything that needs no GPU")
    try:
        return Check(parser.parse_args()).all()
    except Stop as stop:
        say(f"stopped: {stop}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
