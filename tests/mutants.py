"""Break the core in one place after another, and see that its tests notice: `make mutants`.

`mutants.toml` names the places. Each mutant is tried on a copy of `src`, two at a time; the tests
that are named with it must pass on the whole copy and fail on the broken one.
"""

import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

__all__ = ["MUTANTS", "ROOT", "read"]

ROOT = Path(__file__).parents[1]
MUTANTS = Path(__file__).with_name("mutants.toml")
FOLDER = ROOT / "build" / "mutants"
AT_ONCE = 2
# Exit codes of pytest: all passed, and some failed. Any other says that nothing was tried.
PASSED, FAILED = 0, 1
SECONDS = 300


def read() -> dict[str, dict]:
    """Return the mutants by their names."""
    return tomllib.loads(MUTANTS.read_text("utf-8"))


class Copy:
    """A copy of `src`, with the caches of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, folder / "src"
        # Caches stay from one run to the next: they go by the files' times, which are copied too.
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(ROOT / "src", self.source, ignore=shutil.ignore_patterns("__pycache__"))
        self._seconds = int(time.time())

    def run(self, tests: list[str], numba: str = "numba") -> subprocess.CompletedProcess[str]:
        """Run tests on the copy."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (self.source, ROOT / "tests"))),
            "NUMBA_CACHE_DIR": f"{self.folder / numba}",
            "PYTHONPYCACHEPREFIX": f"{self.folder / 'bytecode'}",
            **dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "--tb=short"]
        command += ["-p", "no:cacheprovider", f"--basetemp={self.folder / 'tmp'}", *tests]
        given = {"cwd": ROOT, "env": environment, "timeout": SECONDS}
        return subprocess.run(command, check=False, text=True, capture_output=True, **given)

    def tried(self, mutant: dict) -> str:
        """Return what became of a mutant, in a word or two."""
        path = self.source / mutant["file"]
        whole, times = path.read_text("utf-8"), path.stat()
        if whole.count(mutant["find"]) != 1:
            return f"text found {whole.count(mutant['find'])} times"
        # A compiled kernel holds those that it calls: of a broken one nothing is taken over.
        is_kernel = "kernels" in path.parts
        try:
            path.write_text(whole.replace(mutant["find"], mutant["replace"]), "utf-8")
            self._seconds += 1  # a time that no cache has seen: bytecode goes by whole seconds
            os.utime(path, (self._seconds, self._seconds))
            done = self.run(mutant["tests"], "broken" if is_kernel else "numba")
        except subprocess.TimeoutExpired:
            return f"not tried: its tests take over {SECONDS} seconds"
        finally:
            path.write_text(whole, "utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            shutil.rmtree(self.folder / "broken", ignore_errors=True)
        if done.returncode == FAILED:
            return "killed"
        return "SURVIVED" if done.returncode == PASSED else f"not tried:\n{done.stdout[-2000:]}"


def outcomes(mutants: dict[str, dict], folder: Path) -> Iterator[tuple[str, str]]:
    """Try mutants, and yield what became of each as it comes."""
    copies: Queue[Copy] = Queue()
    for number in range(AT_ONCE):
        copies.put(Copy(folder / f"copy-{number}"))

    def tried(item: tuple[str, dict]) -> tuple[str, str]:
        copy = copies.get()
        try:
            return item[0], copy.tried(item[1])
        finally:
            copies.put(copy)

    def passes(tests: list[str]) -> subprocess.CompletedProcess[str]:
        copy = copies.get()
        try:
            return copy.run(tests)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        tests = sorted({test for mutant in mutants.values() for test in mutant["tests"]})
        parts = [tests[number::AT_ONCE] for number in range(AT_ONCE)]
        for done in pool.map(passes, filter(None, parts)):  # without a name pytest runs them all
            if done.returncode != PASSED:
                sys.exit(f"the tests must pass before anything is broken:\n{done.stdout[-4000:]}")
        yield from pool.map(tried, mutants.items())


def main(names: list[str]) -> None:
    """Try all mutants, or those of some names, and say of each what became of it."""
    mutants = {name: one for name, one in read().items() if not names or name in names}
    if not mutants:
        sys.exit(f"there is no mutant of that name in {MUTANTS.name}")
    left = []
    for number, (name, outcome) in enumerate(outcomes(mutants, FOLDER), 1):
        print(f"{number:2} of {len(mutants)}  {name}: {outcome}", flush=True)  # noqa: T201
        left += [] if outcome.startswith("killed") else [name]
    if left:
        sys.exit(f"{len(left)} of {len(mutants)} mutants are not killed: {', '.join(left)}")
    print(f"all {len(mutants)} mutants are killed")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
