"""Compressed files: unpacked into memory as far as it reaches, and packed part by part."""

import math
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microveil.errors import FileError
from microveil.files.extras import of_extra
from microveil.table import memory

__all__ = ["COMPRESSIONS", "beginning", "check_fits", "joined", "packed", "unpacked"]

_STEP = 1 << 22  # bytes unpacked between two looks at how many there are
_GZIP = 16 + zlib.MAX_WBITS  # zlib's name for it: with gzip's header and checksum
# Of free memory: the parts are put together, or a table is made of them, and both must fit.
_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compression:
    """A way to compress.

    ``parts`` unpacks a few megabytes at a time, EOFError where the bytes end too soon; ``packer``
    makes a stream with ``compress`` and ``flush``; ``error`` says what else ``parts`` raises.
    """

    suffix: str
    parts: Callable[[bytes], Iterator[bytes]]
    packer: Callable[[], Any]
    error: Callable[[], type[Exception]]


def unpacked(path: Path, raw: bytes, compression: str) -> bytes:
    r"""Unpack the bytes of a compressed file, of one part or several.

    Raises
    ------
    FileError
        If they are cut, broken or something else, or do not fit into half of the memory that
        is free, or the library that unpacks them is not installed.

    Examples
    --------
    >>> packing = packed(iter([b"AGE", b"\n41"]), "gzip")
    >>> unpacked(Path("people.csv.gz"), b"".join(packing), "gzip")
    b'AGE\n41'
    """
    way = COMPRESSIONS[compression]
    try:
        return joined(path, way.parts(raw))
    except (way.error(), EOFError):
        raise _cut(path, compression) from None


def beginning(path: Path, raw: bytes, compression: str) -> bytes:
    """Unpack the first few megabytes of what may be the beginning of a compressed file.

    Raises
    ------
    FileError
        As for `unpacked`, where it is seen so early.
    """
    way = COMPRESSIONS[compression]
    if not raw:
        raise _cut(path, compression)
    try:
        return next(way.parts(raw), b"")
    except EOFError:  # it is cut, as a beginning is
        return b""
    except way.error():
        raise _cut(path, compression) from None


def joined(path: Path, parts: Iterator[bytes]) -> bytes:
    """Put the parts of a file together as they come, as far as half of the free memory reaches.

    Raises
    ------
    FileError
        As soon as they come to more.
    """
    limit = _limit()
    kept: list[bytes] = []
    size = 0
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
    limit = _limit()
    if size > limit:
        raise _too_large(path, limit)


def _limit() -> float:
    """Return how many bytes may be unpacked: no limit where the system does not say."""
    free = memory.free_memory()
    return math.inf if free is None else _SHARE * free


def _too_large(path: Path, limit: float) -> FileError:
    rule = (
        "the file must fit into half of the memory that is free when it is unpacked, "
        f"and it comes to more than {limit / 1e6:.0f} MB"
    )
    remedy = "check that it is the table that was meant, or use a machine with more memory"
    return FileError(str(path), rule, remedy)


def _cut(path: Path, compression: str) -> FileError:
    rule = f"the file must be whole {compression}, and it is cut, broken or something else"
    suffix = COMPRESSIONS[compression].suffix
    remedy = f"compress the table again; name it without {suffix} if it is not compressed"
    return FileError(str(path), rule, remedy)


def packed(batches: Iterator[bytes | memoryview], compression: str) -> Iterator[bytes | memoryview]:
    """Compress a file part by part; the header names neither file nor time."""
    stream = COMPRESSIONS[compression].packer()
    for batch in batches:
        yield stream.compress(batch)
    yield stream.flush()


def _of_gzip(raw: bytes) -> Iterator[bytes]:
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


def _of_zstd(raw: bytes) -> Iterator[bytes]:
    library = _zstd()
    stream = library.ZstdDecompressor()
    for start in range(0, len(raw), _STEP):
        given = raw[start : start + _STEP]
        while given:
            if stream.eof:
                stream = library.ZstdDecompressor()
            yield stream.decompress(given, _STEP)
            while not stream.eof and not stream.needs_input:
                yield stream.decompress(b"", _STEP)
            given = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise EOFError


def _zstd() -> Any:
    """Return Python's own library, or before 3.14 the one that became it."""
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return of_extra(module, extra="files", place=".zst", purpose="zstd is packed and unpacked")


def _zstd_error() -> type[Exception]:
    error: type[Exception] = _zstd().ZstdError
    return error


def _zstd_packer() -> Any:
    library = _zstd()
    checked = {library.CompressionParameter.checksum_flag: 1}
    return library.ZstdCompressor(options=checked)


COMPRESSIONS = {
    "gzip": _Compression(
        suffix=".gz",
        parts=_of_gzip,
        packer=lambda: zlib.compressobj(wbits=_GZIP),
        error=lambda: zlib.error,
    ),
    "zstd": _Compression(suffix=".zst", parts=_of_zstd, packer=_zstd_packer, error=_zstd_error),
}
