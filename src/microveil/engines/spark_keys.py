"""Keys of what is drawn in Spark, in files of the scratch folder.

A worker takes a key from its file as a task begins. A key in the task itself would go with it into
the plan of the query, which Spark keeps for as long as the session lives, and may send on, show or
log. The file is nobody else's, lies beside values that the key is to hide, and is overwritten and
removed as `protect` ends: nothing can be drawn by the key again.
"""

import itertools
import os
from pathlib import Path

from microveil.errors import EngineError

__all__ = ["KeyFiles"]


class KeyFiles:
    """Keys in files of mode 0600, for as long as tasks need them.

    Parameters
    ----------
    folder : Path
        Of mode 0700, seen by all workers.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[Path] = []
        self._numbers = itertools.count()  # columns are drawn side by side

    def written(self, key: bytes) -> Path:
        """Write a key to a file of its own, and return its path; the key itself is not kept.

        Raises
        ------
        EngineError
            If the folder cannot be written.
        """
        path = self._folder / f"key-{next(self._numbers)}"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                self._files.append(path)
                file.write(key)
        except OSError:
            raise EngineError(
                "scratch", "the folder for scratch files cannot be written", "name another"
            ) from None
        return path

    def destroy(self) -> None:
        """Overwrite every key, and remove its file."""
        while self._files:
            path = self._files.pop()
            try:
                with path.open("r+b") as file:
                    file.write(bytes(path.stat().st_size))
                    file.flush()
                    os.fsync(file.fileno())
                path.unlink()
            except OSError:  # the folder is gone, and its files with it
                continue
