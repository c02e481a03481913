"""Tables of many files: a folder of parts, as clusters of machines write them."""

import hashlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from microveil.errors import FileError


def copy_parts(files: Sequence[str], folder: Path) -> str:
    """Copy files, by their addresses, into a new folder by numbers; return `digest_of_parts`."""
    folder.mkdir()
    copies = []
    try:
        for number, address in enumerate(sorted(files)):
            copies.append(folder / f"part-{number:05}.parquet")
            shutil.copyfile(path_of(address), copies[-1])
        return digest_of_parts(copies)
    except OSError:
        raise FileError(
            f"{folder.name}", "a part of the table cannot be copied", "see that there is room"
        ) from None


def address_of(path: Path) -> str:
    """Return a file's address as Spark takes one: nothing in its name is written in codes."""
    return f"file://{path.as_posix()}"


def path_of(address: str) -> str:
    """Return a file's path of its address as Spark gives one: some of its name in codes."""
    return unquote(urlsplit(address).path)


def digest_of_parts(files: Iterable[Path]) -> str:
    """Return the SHA-256 of the bytes of all files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
