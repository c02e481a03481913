"""Draws for records that no process holds together: each a function of a secret key and a number.

Where a step on a record may be carried out twice, as a cluster of machines does with a task that
failed, fresh randomness would publish two draws of one value. Here every record has a stream of
random words of its own, keyed by a secret and named by the record's number, and its draw takes
them by the exact algorithms of `noise`: tried again it comes out the same. The law of the draws
is then that of the house as far as nobody can tell the streams from chance: a computational claim.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import keyed as kernel
from microveil.noise.noise import (
    BATCH,
    KEY_BYTES,
    REALS,
    RandomSource,
    continuous_noise,
    discrete_laplace,
    noise_of_reals,
    uniform,
    uniform_and_rest,
    uniform_reals,
)
from microveil.table.keeping import IN_MEMORY, Filling, Room, pieces

__all__ = ["CellDraws", "InOneStream", "InParts", "OfRecords", "RecordStreams", "StreamDraws"]

Whole = NDArray[np.int64]
NOT_PICKLED = "streams of records hold a secret key and cannot be pickled"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RecordStreams:
    """A stream of random 64-bit words for each record: ChaCha20 under one key, by its number.

    It cannot be pickled, so that no key leaves a process in what is sent or kept by others.

    Attributes
    ----------
    key : uint32 array (8,)

    Examples
    --------
    >>> streams = RecordStreams.keyed(bytes(32), "noise", "AGE")
    >>> both = streams.of(np.array([7, 8])).discrete_laplace(1000, 2)
    >>> bool(streams.of(np.array([8])).discrete_laplace(1000, 1)[0] == both[1])
    True
    """

    key: NDArray[np.uint32]

    @classmethod
    def keyed(cls, key: bytes, purpose: str, attribute: str) -> "RecordStreams":
        """Return the streams of one attribute for one purpose.

        Parameters
        ----------
        key : bytes
            32 bytes from the operating system, of one release.
        purpose : str
            Up to 16 bytes: what the draws are for.
        attribute : str
            Its name.
        """
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key must have {KEY_BYTES} bytes")
        # Keyed BLAKE2b is a pseudorandom function; purpose and name enter it apart.
        own = hashlib.blake2b(
            attribute.encode("utf-8", "surrogatepass"),
            key=key,
            person=purpose.encode(),
            digest_size=KEY_BYTES,
        ).digest()
        return cls(np.frombuffer(own, dtype="<u4").astype(np.uint32))

    def of(self, records: Whole) -> "OfRecords":
        """Return what draws for records of these numbers, int64 (n_records,)."""
        return OfRecords(self.key, records)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a key must not travel."""
        raise TypeError(NOT_PICKLED)


class CellDraws(Protocol):
    """What draws for cells, one draw for each: from one stream, or from the records' own."""

    def discrete_laplace(self, scale: int, n_cells: int) -> Whole:
        """Draw from the discrete Laplace law of a scale for each cell, exactly; see `noise`."""
        ...

    def uniform(self, bounds: Whole) -> Whole:
        """Draw a whole number from 0 to below each cell's bound, exactly."""
        ...


class StreamDraws(CellDraws, Protocol):
    """What draws for the cells of a column from one stream: noise of no promised law, too."""

    def continuous(self, law: str, delta: float, n_cells: int) -> NDArray[np.float64]:
        """Draw noise of a law for each cell; see `noise.continuous_noise`."""
        ...


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class InOneStream:
    """Draws for the cells of a column, by the words of one stream as they come.

    Attributes
    ----------
    source : RandomSource
    """

    source: RandomSource

    def discrete_laplace(self, scale: int, n_cells: int) -> Whole:
        """See `noise.discrete_laplace`."""
        return discrete_laplace(np.full(n_cells, scale, dtype=np.int64), self.source)

    def uniform(self, bounds: Whole) -> Whole:
        """See `noise.uniform`."""
        return uniform(bounds, self.source)

    def continuous(self, law: str, delta: float, n_cells: int) -> NDArray[np.float64]:
        """See `noise.continuous_noise`."""
        return continuous_noise(law, delta, n_cells, self.source)


class InParts:
    """Draws for the cells of a column that come some after others, from one stream.

    What is drawn is what a draw for all of them at once would give: words and draws that some
    cells leave are the next ones'.

    Parameters
    ----------
    source : RandomSource
        For nothing else.
    n_cells : int
        How many there are in all.
    room : Room
        For numbers that come before others in the stream, and are needed beside them.

    Examples
    --------
    >>> at_once = uniform(np.array([9, 7, 8]), RandomSource.seeded(1))
    >>> draws = InParts(RandomSource.seeded(1), 3)
    >>> parts = [draws.uniform(np.array([9, 7])), draws.uniform(np.array([8]))]
    >>> np.array_equal(np.concatenate(parts), at_once)
    True
    """

    def __init__(self, source: RandomSource, n_cells: int, room: Room = IN_MEMORY) -> None:
        self._source, self._n_cells, self._room = source, n_cells, room
        self._noise = np.empty(0, dtype=np.int64)
        self._words = np.empty(0, dtype=np.uint64)
        self._done = 0

    def discrete_laplace(self, scale: int, n_cells: int) -> Whole:
        """Draw as `perturbed_means` does for clusters of one, which must be of this scale all.

        It throws the words away that a batch of draws leaves: so many are drawn at a time here.
        """
        n_batches = max(0, -(-(n_cells - len(self._noise)) // BATCH))
        scales = np.full(BATCH, scale, dtype=np.int64)
        fresh = (discrete_laplace(scales, self._source) for _ in range(n_batches))
        noise = np.concatenate([self._noise, *fresh])
        self._noise = noise[n_cells:].copy()
        return noise[:n_cells]

    def uniform(self, bounds: Whole) -> Whole:
        """See `noise.uniform`."""
        drawn, self._words = uniform_and_rest(bounds, self._source, self._words)
        return drawn

    def continuous(self, law: str, delta: float, n_cells: int) -> NDArray[np.float64]:
        """See `noise.continuous_noise`: the first number of every cell comes before the others."""
        cells = slice(self._done, self._done + n_cells)
        self._done += n_cells
        units = [self._first.read(cells)] if REALS[law] > 1 else []
        units.append(uniform_reals(n_cells, self._source))
        return noise_of_reals(law, delta, units)

    @cached_property
    def _first(self) -> Filling:
        """The first uniform number of every cell."""
        first = self._room.filling(self._n_cells, np.float64)
        for cells in pieces(self._n_cells):
            first.write(cells.start, uniform_reals(cells.stop - cells.start, self._source))
        return first


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class OfRecords:
    """Draws for the cells of records, each by the words of its own stream; see `RecordStreams`.

    Attributes
    ----------
    key : uint32 array (8,)
    records : int64 array (n_cells,)
        The number of each cell's record.
    """

    key: NDArray[np.uint32]
    records: Whole

    def discrete_laplace(self, scale: int, n_cells: int) -> Whole:
        """Draw for each record the same whenever it is asked for."""
        out = np.zeros(n_cells, dtype=np.int64)
        if scale:
            kernel.discrete_laplace(np.int64(scale), self._for(n_cells), self.key, out)
        return out

    def uniform(self, bounds: Whole) -> Whole:
        """Draw for each record the same whenever it is asked for."""
        out = np.empty(len(bounds), dtype=np.int64)
        kernel.uniform(bounds, self._for(len(bounds)), self.key, out)
        return out

    def words(self) -> NDArray[np.uint64]:
        """Return a word of each record's stream, the same whenever it is asked for."""
        out = np.empty(len(self.records), dtype=np.uint64)
        kernel.first_words(self.records, self.key, out)
        return out

    def _for(self, n_cells: int) -> Whole:
        if len(self.records) != n_cells:
            raise ValueError("there must be a record for each cell")
        return self.records

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled: a key must not travel."""
        raise TypeError(NOT_PICKLED)
