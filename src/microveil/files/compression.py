"""Compressed files: unpacked into memory as far as it reaches, and packed part by part."""

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from microveil.errors import FileError

__all__ = ["packed", "unpacked"]

_STEP = 1 << 22  # bytes unpacked between two looks at how many there are
_GZIP = 16 + zlib.MAX_WBITS  # zlib's name for it: with gzip's header and checksum
# Of free memory: the parts are put together, or a table is made of them, and both must fit.
_SHARE = 0.5
_MEMORY = Path("/proc/meminfo")
_GROUP, _OF_GROUP = Path("/sys/fs/cgroup"), ("max", "current")


def unpacked(path: Path, raw: bytes) -> bytes:
    r"""Unpack the bytes of a gzip file, of one part or several.

    Raises
    ------
    FileError
        If they are cut, broken or something else, or do not fit into half of the memory that
        is free.

    Examples
    --------
    >>> unpacked(Path("people.csv.gz"), b"".join(packed(iter([b"AGE", b"\n41"]))))
    b'AGE\n41'
    """
    limit = int(_SHARE * _free_memory())
    try:
        return _joined(_parts(raw), limit)
    except (zlib.error, EOFError):
        rule = "the file must be whole gzip, and it is cut, broken or something else"
        remedy = "compress the table again; name it without .gz if it is not compressed"
        raise FileError(str(path), rule, remedy) from None
    except MemoryError:
        rule = (
            "the file must fit into half of the memory that is free when it is unpacked, "
            f"and it comes to more than {limit // 1_000_000} MB"
        )
        remedy = "check that it is the table that was meant, or use a machine with more memory"
        raise FileError(str(path), rule, remedy) from None


def packed(batches: Iterator[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Compress a file part by part; the header names neither file nor time."""
    stream = zlib.compressobj(wbits=_GZIP)
    for batch in batches:
        yield stream.compress(batch)
    yield stream.flush()


def _parts(raw: bytes) -> Iterator[bytes]:
    """Unpack a few megabytes at a time; EOFError where the bytes end too soon."""
    stream = zlib.decompressobj(wbits=_GZIP)
    for start in range(0, len(raw), _STEP):
        given = raw[start : start + _STEP]
        while given:
            if stream.eof:
                given = given.lstrip(b"\0")  # what fills up the blocks of a tape
                if not given:
                    break
                stream = zlib.decompressobj(wbits=_GZIP)
            yield stream.decompress(given, _STEP)
            given = stream.unused_data if stream.eof else stream.unconsumed_tail
    while not stream.eof:  # what is left inside of the last bytes given
        part = stream.decompress(b"", _STEP)
        if not part and not stream.eof:
            raise EOFError
        yield part


def _joined(parts: Iterator[bytes], limit: int) -> bytes:
    """Put parts together; MemoryError where they come to more than a limit."""
    kept: list[bytes] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > limit:
            raise MemoryError
        kept.append(part)
    return b"".join(kept)


def _free_memory() -> int:
    """Bytes that the system, or the group of processes that this one is in, has left."""
    free = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError, StopIteration):
        lines = _MEMORY.read_text("ascii").splitlines()
        free.append(1024 * int(next(line for line in lines if "MemAvailable" in line).split()[1]))
    with suppress(OSError, ValueError):  # "max" is no number
        limit, used = (int((_GROUP / f"memory.{name}").read_text("ascii")) for name in _OF_GROUP)
        free.append(limit - used)
    return min(free)
