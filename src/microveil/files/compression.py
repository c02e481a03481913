"""Compressed files: unpacked into memory as far as it reaches, and packed."""

import gzip
import io
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from microveil.errors import FileError
from microveil.files.checking import in_our_words, of_extra
from microveil.table import memory

_STEP = 1 << 22  # bytes unpacked between two looks at how many there are
# Of free memory: the parts are put together, or a table is made of them, and both must fit.
_SHARE = 0.5


def _zstd() -> Any:
    """Return Python's own library, or before 3.14 the one that became it."""
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return of_extra(module, extra="files", place=".zst", purpose="zstd is packed and unpacked")


def _parts(raw: bytes, compression: str) -> Iterator[bytes]:
    held = io.BytesIO(raw)
    with gzip.GzipFile(fileobj=held) if compression == "gzip" else _zstd().ZstdFile(held) as file:
        yield from iter(lambda: file.read1(_STEP), b"")


def _whole(path: Path, compression: str) -> AbstractContextManager[None]:
    """Refuse a file that cannot be unpacked."""
    rule = f"the file must be whole {compression}, and it is cut, broken or something else"
    remedy = f"compress the table again; name it without {path.suffix} if it is not compressed"
    return in_our_words(lambda _error: FileError(str(path), rule, remedy))


def unpacked(path: Path, raw: bytes, compression: str) -> bytes:
    """Unpack a compressed file, of one part or several; refuse one that is broken or too large."""
    with _whole(path, compression):
        if not raw:
            raise EOFError  # as of any that is cut
        return joined(path, _parts(raw, compression))


def beginning(path: Path, raw: bytes, compression: str) -> bytes:
    """Unpack the first few megabytes of what may be the beginning of a compressed file."""
    found = b""
    with _whole(path, compression):
        if not raw:
            raise EOFError
        with suppress(EOFError):  # it is cut, as a beginning is
            for part in _parts(raw, compression):
                found += part
                if len(found) >= _STEP:
                    break
    return found


def joined(path: Path, parts: Iterable[bytes]) -> bytes:
    """Put the parts of a file together as they come, as far as half of the free memory reaches."""
    kept, size, limit = list[bytes](), 0, _limit()
    try:
        for part in parts:
            size += len(part)
            if size > limit:
                raise _too_large(path, limit)
            kept.append(part)
        return b"".join(kept)
    except MemoryError:
        raise _too_large(path, limit) from None


def check_fits(path: Path, size: int) -> None:
    """Refuse a file whose parts would come to more than half of the memory that is free."""
    if size > (limit := _limit()):
        raise _too_large(path, limit)


def _limit() -> float:
    free = memory.free_memory()
    return math.inf if free is None else _SHARE * free


def _too_large(path: Path, limit: float) -> FileError:
    rule = (
        "the file must fit into half of the memory that is free when it is unpacked, "
        f"and it comes to more than {limit / 1e6:.0f} MB"
    )
    remedy = "check that it is the table that was meant, or use a machine with more memory"
    return FileError(str(path), rule, remedy)


@contextmanager
def packing(file: IO[bytes], compression: str | None) -> Iterator[IO[bytes]]:
    """Give what a file that is to be compressed is written into; itself, if it is not to be."""
    if compression is None:
        yield file
        return
    if compression == "gzip":
        packed: Any = gzip.GzipFile("", "wb", 6, file, 0)  # its header names neither file nor time
    else:
        zstd = _zstd()
        checked = {zstd.CompressionParameter.checksum_flag: 1}
        packed = zstd.ZstdFile(file, "wb", options=checked)
    with packed:
        yield packed
