"""The digest of a file, made while the file is read."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path

from microveil.files.file_bytes import FileBytes, check_unchanged, state_of

__all__ = ["DigestBeside", "digest_of_files"]


class DigestBeside:
    """SHA-256 of bytes, by a thread that begins at once and ends when nobody waits for it.

    Parameters
    ----------
    parts : iterable of bytes
        What the thread takes, part by part.
    check : callable
        Refuses bytes that others have changed since: called when the digest is asked for.

    Examples
    --------
    >>> DigestBeside([b"AGE", b"41"]).result()[:8]
    '47f0795d'
    """

    def __init__(
        self, parts: Iterable[bytes | memoryview], check: Callable[[], None] = lambda: None
    ) -> None:
        self._check = check
        self._unwanted = threading.Event()
        self._found: Future[str] = Future()
        work = parts, self._unwanted, self._found
        threading.Thread(target=_digest, args=work, name="digest", daemon=True).start()

    def __del__(self) -> None:
        self._unwanted.set()

    def result(self) -> str:
        """Wait for it: in hexadecimal digits."""
        digest = self._found.result()
        self._check()
        return digest


def digest_of_files(files: list[Path]) -> DigestBeside:
    """Make the digest of the bytes of all files; those that are changed meanwhile are refused."""
    states = [state_of(path) for path in files]

    def check() -> None:
        for path, state in zip(files, states, strict=True):
            check_unchanged(path, state)

    def parts() -> Iterator[bytes]:
        for path, state in zip(files, states, strict=True):
            check_unchanged(path, state)
            yield from FileBytes(path).digested()

    return DigestBeside(parts(), check)


def _digest(
    parts: Iterable[bytes | memoryview], unwanted: threading.Event, found: "Future[str]"
) -> None:
    try:
        digest = hashlib.sha256()
        for part in parts:
            if unwanted.is_set():
                return
            digest.update(part)
        found.set_result(digest.hexdigest())
    except BaseException as error:  # noqa: BLE001 -- raised where the digest is asked for
        found.set_exception(error)
