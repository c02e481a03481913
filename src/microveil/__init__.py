"""microveil: publish a table about people so that the people cannot be found in it.

>>> import numpy as np
>>> import microveil as mv
>>> release = mv.protect(
...     {"AGE": np.array([23, 35, 31, 62, 58, 47])},
...     method="dp-um",
...     k=3,
...     epsilon=1,
...     attributes="AGE",
...     bounds={"AGE": (0, 120)},
... )
>>> print(release.guarantee.statement().splitlines()[0])
# What this release guarantees
"""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microveil import partition
    from microveil.audit import Audit, audit
    from microveil.audit.advice import Advice, advise
    from microveil.audit.empirical import EmpiricalAudit, empirical_audit
    from microveil.compare import Comparison, compare
    from microveil.datasets import invented_people
    from microveil.errors import DataError, ExactCellsError, FileError, MicroveilError, RequestError
    from microveil.files.labelled import read
    from microveil.guarantee import Guarantee
    from microveil.measures.assess import assess
    from microveil.measures.assessment import Assessment
    from microveil.measures.attack import attack
    from microveil.measures.attacks.outcome import AttackReport
    from microveil.methods import methods
    from microveil.protect.parts import Part, part
    from microveil.protect.plan import Plan
    from microveil.protect.protecting import plan, protect
    from microveil.protect.release import Release
    from microveil.schema import ordered
    from microveil.table import (
        LabelledTable,
        bounds_from_data,
        categories_from_data,
        resolution_from_data,
    )

# Where each public name lives; nothing is imported before it is asked for (PEP 562).
_HOMES = {
    "Advice": "audit.advice",
    "Assessment": "measures.assessment",
    "AttackReport": "measures.attacks.outcome",
    "Audit": "protect.exact_audit",
    "Comparison": "compare",
    "DataError": "errors",
    "EmpiricalAudit": "audit.empirical",
    "ExactCellsError": "errors",
    "FileError": "errors",
    "Guarantee": "guarantee",
    "LabelledTable": "table",
    "MicroveilError": "errors",
    "Part": "protect.parts",
    "Plan": "protect.plan",
    "Release": "protect.release",
    "RequestError": "errors",
    "advise": "audit.advice",
    "assess": "measures.assess",
    "attack": "measures.attack",
    "audit": "audit.exact",
    "bounds_from_data": "table",
    "categories_from_data": "table",
    "compare": "compare",
    "empirical_audit": "audit.empirical",
    "invented_people": "datasets",
    "methods": "methods",
    "ordered": "schema",
    "part": "protect.parts",
    "partition": "",
    "plan": "protect.protecting",
    "protect": "protect.protecting",
    "read": "files.labelled",
    "resolution_from_data": "table",
}

__all__ = [
    "Advice",
    "Assessment",
    "AttackReport",
    "Audit",
    "Comparison",
    "DataError",
    "EmpiricalAudit",
    "ExactCellsError",
    "FileError",
    "Guarantee",
    "LabelledTable",
    "MicroveilError",
    "Part",
    "Plan",
    "Release",
    "RequestError",
    "advise",
    "assess",
    "attack",
    "audit",
    "bounds_from_data",
    "categories_from_data",
    "compare",
    "empirical_audit",
    "invented_people",
    "methods",
    "ordered",
    "part",
    "partition",
    "plan",
    "protect",
    "read",
    "resolution_from_data",
]


class _Package(types.ModuleType):
    """The package: names on demand, and verbs that their modules cannot hide.

    `microveil.protect` is the verb; importing the module of that name would bind the module
    in its place, so that binding is passed over.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return importlib.import_module("importlib.metadata").version("microveil")
        if name not in _HOMES:
            raise AttributeError(f"module 'microveil' has no attribute {name!r}")
        home = _HOMES[name]
        module = importlib.import_module(f"microveil.{home or name}")
        value = getattr(module, name) if home else module
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # A module of the name of a verb stays out of its way: the verb is found when asked for.
        if not (isinstance(value, types.ModuleType) and _HOMES.get(name)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(__all__)


sys.modules[__name__].__class__ = _Package
