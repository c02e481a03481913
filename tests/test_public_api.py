"""The public names, and what asking for them does not load."""

import importlib
import os
import pkgutil
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

import microveil as mv
from microveil import kernels

NAMES = [
    "Advice", "Assessment", "AttackReport", "Audit", "Comparison", "DataError", "EmpiricalAudit",
    "ExactCellsError", "FileError", "Guarantee", "LabelledTable", "MicroveilError", "Part", "Plan",
    "Release", "RequestError",
    "advise", "assess", "attack", "audit", "bounds_from_data", "categories_from_data", "compare",
    "empirical_audit", "invented_people", "methods", "ordered", "part", "partition", "plan",
    "protect", "read", "resolution_from_data",
]  # fmt: skip
ROOT = Path(__file__).parents[1]
OPTIONAL = (
    *("pandas", "pyarrow", "sklearn", "statsmodels", "matplotlib", "pyspark", "opendp"),
    *("starlette", "uvicorn", "jinja2", "tomli_w"),
)
COUNTED = """
from numba.core.dispatcher import Dispatcher
kernels = [d for d in gc.get_objects() if isinstance(d, Dispatcher)]
compiled = sum(sum(d.stats.cache_misses.values()) for d in kernels)
print(len(kernels) > 5, compiled)
"""
LITTLE = (
    """
import gc
import numpy as np
from microveil.kernels import ranking
packed = np.empty(9, dtype=np.uint64)
ranking.pack(np.arange(9), 0, 4, packed)
"""
    + COUNTED
)
SECOND = (
    """
import microveil.protect, microveil.audit, microveil as mv
print(mv.protect, mv.audit)
import gc, sys
import numpy as np, microveil as mv
table = {"x": np.arange(300) % 70, "y": np.arange(300) / 4}
release = mv.protect(table, method="idp-cbls", k=10, epsilon=99, attributes=["x", "y"],
                     resolution={"y": 0.25}, exact_cells="allow", shuffle=True)
print(*sorted({name.split(".")[0] for name in sys.modules}))
mv.assess(table, release.data)
"""
    + COUNTED
)


def python(code, **environment):
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment or None,
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def second():
    """What another process prints that does what this one did: modules loaded, and kernels."""
    exec(SECOND, {})  # noqa: S102 -- ours, and the same as the other process runs
    return python(SECOND).splitlines()


def test_the_public_names_are_these():
    """A name that appears or goes is a decision, not an accident."""
    assert mv.__all__ == NAMES
    assert all(getattr(mv, name) is not None for name in NAMES)
    assert dir(mv) == sorted(NAMES)


def test_verbs_stay_verbs_when_their_modules_are_imported(second):
    """`microveil.protect` is a function, whoever imported the module of that name before."""
    assert second[0].count("<function") == 2
    assert isinstance(mv.partition, types.ModuleType)


def test_import_loads_nothing_heavy():
    """`import microveil` loads neither numpy nor an optional library."""
    code = "import sys, microveil; print(sorted(m for m in sys.modules if '.' not in m))"
    loaded = python(code)
    for name in ("numpy", "numba", "polars", "typer", *OPTIONAL):
        assert f"'{name}'" not in loaded


def test_propensity_loads_no_optional_library():
    """A measure that other libraries offer too is ours."""
    code = (
        "import sys; from microveil.measures.propensity import propensity\n"
        "table = {'A': [1.0, 2.0, 4.0, 3.0], 'B': [1.0, 3.0, 2.0, 5.0]}\n"
        "propensity(table, table, order=1)\n"
        "print(*sys.modules)"
    )
    assert not {*python(code).split()} & {*OPTIONAL, "sklearn", "statsmodels", "patsy"}


def test_protect_loads_no_optional_library(second):
    """Arrays are protected without pandas and the like, and pyarrow is loaded for none."""
    loaded = set(second[1].split())
    assert {"numpy", "numba"} < loaded
    assert not loaded & set(OPTIONAL)


def test_help_loads_nothing_heavy():
    """The command line's help needs no numpy, and nothing of the page."""
    code = (
        "import sys, microveil.cli as c\n"
        "heavy = ('numpy', 'numba', 'polars', 'scipy', 'starlette', 'uvicorn', 'jinja2')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    assert python(code) == "[]"


def test_the_version_is_shown_by_a_command_that_loads_nothing_heavy():
    """`microveil --version` prints the package's own version, without numpy."""
    code = (
        "import contextlib, io, sys\n"
        "from microveil.cli import main\n"
        "sys.argv = ['microveil', '--version']\n"
        "shown = io.StringIO()\n"
        "with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "heavy = [m for m in ('numpy', 'numba', 'polars', 'scipy') if m in sys.modules]\n"
        "print([shown.getvalue(), heavy])"
    )
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert mv.__version__ == declared["version"]
    assert python(code) == str([f"microveil {mv.__version__}\n", []])


def test_a_second_process_compiles_no_kernel(second):
    """What this process called, compiled or found, another one finds."""
    assert second[2:] == ["True 0"]


def test_a_process_without_a_cache_compiles(tmp_path):
    """And keeps what it compiled for the next: counting tells the two apart."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    many, compiled = python(LITTLE, **environment).split()
    assert many == "True"
    assert int(compiled) > 0
    assert python(LITTLE, **environment) == "True 0"


def test_every_kernel_is_cached():
    """Whoever calls one first compiles it for all who come later."""
    modules = [
        importlib.import_module(f"microveil.kernels.{one.name}")
        for one in pkgutil.iter_modules(kernels.__path__)
    ]
    found = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    ]
    assert len(found) > 80
    for kernel in found:
        assert isinstance(kernel._cache, FunctionCache), kernel.__name__
