"""Names of files and folders that nothing has yet."""

import os
from itertools import count
from pathlib import Path


def free_name(folder: Path, stem: str, suffix: str = "") -> str:
    """Propose a name that is free, as its custodian's folder is: with a number if need be."""
    names = (f"{stem}{'' if n == 1 else f'-{n}'}{suffix}" for n in count(1))
    taken = os.path.lexists
    return next(n for n in names if not (taken(folder / n) or taken(folder / f"{n}-custodian")))
