"""Record linkage: how many records an intruder who holds the originals finds again.

The intruder takes every protected record to the original at the least distance, and guesses among
the set G of originals at exactly that distance. Soria-Comas, Domingo-Ferrer, Sanchez and Martinez
(2013), section V: 100/n times the sum over protected records of 1/|G| where the true original, the
one in the same position, is in G, of 0 where it is not.

Distances are float64 in attribute order, and ties are exact: whole numbers tie as on paper, as
standardised ones divide squares by the variance. Over numbers and categories at once an attribute's
squared difference counts by its mean over all pairs of originals, and one that is missing lies from
every value as far as two originals' values do on average; by the same distance MDAV clusters mixed
records (Domingo-Ferrer and Torra 2005).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import mixed_linkage as kernel
from microveil.measures.base import (
    COMPLETE,
    Compared,
    Figure,
    Group,
    Measure,
    Measured,
    Takes,
    figures,
)
from microveil.measures.nearest import (
    LEAF_SIZE,
    Scale,
    category_weight,
    distinct_records,
    own_distances,
    reciprocal_variances,
)
from microveil.measures.opening import Tables
from microveil.measures.values import Flags, Floats, Whole, drawn
from microveil.protect.reading import whole_number
from microveil.table import Numbers
from microveil.table.blocks import (
    AttributeMatrix,
    Matrix,
    average_ranks,
    blocks_of,
    lacks_some,
)
from microveil.table.threads import in_threads
from microveil.text.document import Block

Positions = NDArray[np.intp]

# All of up to so many records are looked for, which takes about as long as sorting their
# attributes; of more, so many at random: a 95 % interval is then at most two points wide.
MOST_RECORDS, SAMPLED = 50_000, 10_000
QUERIES_PER_TASK = 256
# Originals that a sample is looked for among at a time, but for the first block.
PIECE_RECORDS = 1 << 18


def checked_sample(size: Any) -> int | None:
    """Read how many records are looked for; None leaves that to their number."""
    rule, remedy = "it must be a whole number of 1 or more", f"pass sample={SAMPLED}"
    read = whole_number(rule, f"{remedy} (--sample {SAMPLED})", 1)
    return None if size is None else int(read(size, "sample"))


def sampled(n_records: int, size: int | None = None, seed: int = 0) -> Positions:
    """Return the positions of the records to look for: so many, or as many as the limits say.

    The same seed takes the same records: no secret from whoever holds the original.
    """
    most = size or (n_records if n_records <= MOST_RECORDS else SAMPLED)
    return drawn(n_records, most, np.random.Generator(np.random.PCG64(seed)))


def _records(table: Matrix, rows: Positions | slice, is_category: Flags) -> Floats:
    """Return some records; a category that is missing is one more, the same in both tables."""
    # A matrix of its own: what was read may be the table's.
    matrix = np.array(table[rows], dtype=np.float64)
    for a in np.flatnonzero(is_category):
        matrix[np.isnan(matrix[:, a]), a] = -1.0
    return matrix


def candidates(original: Matrix, protected: Matrix, chosen: Positions, scale: Scale) -> Whole:
    """Count the originals nearest to each chosen record; 0 where its own is not among them."""
    asked_for = _records(protected, chosen, scale.is_category)
    own = own_distances(_records(original, chosen, scale.is_category), asked_for, scale)
    # Equal ones ask the same question once.
    asked_first, which_query = distinct_records(asked_for)
    queries = asked_for[asked_first]
    radii = np.full(len(queries), np.inf)
    np.minimum.at(radii, which_query, own)
    weighed = scale.is_category, scale.weights, scale.gaps

    def count(block: slice, asked: Positions) -> Whole:
        records = np.ascontiguousarray(_records(original, block, scale.is_category).T)
        # The distance that half of the queries reach no farther than.
        reach = float(np.median(radii[asked]))
        tree = kernel.build_tree(records, weighed, reach, LEAF_SIZE)[1:]

        def among(task: Positions) -> Whole:
            return np.asarray(kernel.count_at_radius(tree, weighed, queries[task], radii[task]))

        tasks = np.split(asked, range(QUERIES_PER_TASK, len(asked), QUERIES_PER_TASK))
        return np.concatenate(in_threads(among, tasks))

    # Most noise leaves a nearer original in the first block; others are asked of larger ones.
    first = blocks_of(len(original))[0]
    counts = count(first, np.arange(len(queries)))
    still = np.flatnonzero(counts >= 0)
    starts = range(first.stop, len(original), PIECE_RECORDS) if len(still) else ()
    for found in in_threads(
        lambda start: count(slice(start, start + PIECE_RECORDS), still), starts
    ):
        counts[still] = np.where((counts[still] < 0) | (found < 0), -1, counts[still] + found)
    return np.where(own == radii[which_query], np.maximum(counts, 0)[which_query], 0)


NORMAL_QUANTILE = 1.959963984540054  # of 0.975


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLinkage:
    """Share of the protected records that are linked to their true original."""

    # Expected percentage of right links; 100 where every record is found, lower is safer.
    percent: float
    baseline_by_chance: float  # what blind guessing links: 100/n percent, n the originals
    n_records: int  # number of records that were linked
    is_of_sample: bool  # whether there were more
    # 95 % Wilson interval for ``percent``. Where every record was linked ``percent`` is exact for
    # this very release, and the interval speaks of releases of other people drawn like these; of a
    # sample it covers the luck of sampling too. It treats records as independent, with |G| > 1
    # counted no surer than a toss: cautious where ties are many, too narrow where clusters share
    # one draw of noise.
    interval: tuple[float, float]

    @property
    def n_compared(self) -> int:
        """How many records each is looked for among: by numbers, those that have every value."""
        return round(100 / self.baseline_by_chance)


def record_linkage(
    original: Matrix, protected: Matrix, *, sample: int | None = None
) -> RecordLinkage:
    """Measure record linkage in raw units, as the paper does; no cell is missing."""
    return _linked(original, protected, sample, _raw(original))


def record_linkage_standardised(
    original: Matrix, protected: Matrix, *, sample: int | None = None
) -> RecordLinkage:
    """Measure it in units of the original's deviations; what is constant counts as 0."""
    scale = replace(_raw(original), weights=reciprocal_variances(original))
    return _linked(original, protected, sample, scale)


def record_linkage_by_rank(
    original: Matrix, protected: Matrix, *, sample: int | None = None
) -> RecordLinkage:
    """Measure it between ranks within either table, so that noise must change their order."""
    ranks = average_ranks(original), average_ranks(protected)
    return _linked(*ranks, sample, _raw(original))


def record_linkage_mixed(
    original: Matrix, protected: Matrix, is_category: Flags, *, sample: int | None = None
) -> RecordLinkage:
    """Measure it over numbers and ranks, NaN where missing, and codes of categories."""
    weights, gaps = np.zeros(len(is_category)), np.zeros(len(is_category))
    for a, values in enumerate(original.T):
        missing = np.isnan(values)
        if is_category[a]:
            weights[a] = category_weight(np.where(missing, -1.0, values))
            continue
        present = values[~missing, np.newaxis]
        if len(present):
            weights[a] = reciprocal_variances(present)[0]
            gaps[a] = 2 * ((len(present) - 1) / len(present))
    scale = Scale(is_category=is_category, weights=weights, gaps=gaps)
    return _linked(original, protected, sample, scale)


def _mixed(tables: Tables) -> tuple[AttributeMatrix, AttributeMatrix, Flags]:
    """Return numbers, ranks of text that has an order, and codes of other text."""
    sides = []
    for side, matrix in enumerate((tables.original, tables.protected)):
        if isinstance(matrix, AttributeMatrix) and matrix.rows is None:
            columns = [*matrix.numbers]  # none is made anew
        else:
            columns = [Numbers(values=column, missing=None) for column in matrix.T]
        for name, (*codes, _) in tables.texts.items():
            columns.append(Numbers(values=tables.ranks.get(name, codes)[side], missing=None))
        sides.append(AttributeMatrix(numbers=columns))
    is_category = [name in tables.nominal for name in tables.names]
    is_category += [name not in tables.ranks for name in tables.texts]
    return sides[0], sides[1], np.array(is_category)


def _is_mixed(tables: Tables) -> bool:
    """Say whether records are more than numbers that all of them have."""
    sides = tables.original, tables.protected
    return bool(tables.texts or tables.nominal) or any(map(lacks_some, sides))


def candidate_counts(original: Floats, protected: Floats) -> Whole:
    """Count the originals tied as nearest in raw units, 0 without the true one: the custodian's."""
    return candidates(original, protected, np.arange(len(original)), _raw(original))


def _raw(table: Matrix) -> Scale:
    """Return the scale of complete numbers in raw units."""
    nothing = np.zeros(table.shape[1])
    return Scale(is_category=nothing > 0, weights=nothing + 1, gaps=nothing)


def _linked(original: Matrix, protected: Matrix, sample: int | None, scale: Scale) -> RecordLinkage:
    """Link the protected records of a sample, and summarise: the expected share of right links."""
    chosen = sampled(len(original), sample)
    counts = candidates(original, protected, chosen, scale)
    sizes, n_linked = np.unique(counts[counts > 0], return_counts=True)
    n_links = math.fsum(n_linked / sizes)
    return RecordLinkage(
        percent=100.0 * n_links / len(counts),
        baseline_by_chance=100.0 / len(original),
        n_records=len(counts),
        is_of_sample=len(counts) < len(original),
        interval=_wilson_interval(n_links / len(counts), len(counts)),
    )


def _wilson_interval(share: float, n_records: int) -> tuple[float, float]:
    """Return the 95 % interval in percent of Wilson (1927), doi:10.2307/2276774."""
    square = NORMAL_QUANTILE**2 / n_records
    centre = share + square / 2
    half = math.sqrt(square * (share * (1 - share) + square / 4))
    lower = max(0.0, min(share, (centre - half) / (1 + square)))
    upper = min(1.0, max(share, (centre + half) / (1 + square)))
    return 100.0 * lower, 100.0 * upper


CHANCE = "record_linkage_by_chance"


def n_linked_at_most(found: Iterable[Measured]) -> int:
    """Return how many records there are: a linkage that takes gaps compares all of them."""
    linked = (one.result for one in found if isinstance(one.result, RecordLinkage))
    return max((own.n_compared for own in linked), default=0)


def looked_for(n_looked: int, n_compared: int, n_all: int) -> str:
    """Say how many records are looked for, and among which, where some lack a value."""
    whole = f"{n_compared:,} of {n_all:,} records that have every value in both tables"
    if n_looked < n_compared:
        among = "" if n_compared == n_all else f" of the {whole}"
        return f"{n_looked:,} sampled{among or ' records'}"
    return f"all {n_all:,} records" if n_compared == n_all else f"the {whole}"


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show each linkage beside chance, and how many records were looked for."""
    linked = [one.result for one in found if isinstance(one.result, RecordLinkage)]
    n_all = n_linked_at_most(found)
    each = (looked_for(own.n_records, own.n_compared, n_all) for own in linked)
    looked = ", or ".join(dict.fromkeys(each))
    said = f"What an intruder who holds the originals finds again, of {looked}." if looked else ""
    return figures(found, said)


RECORD_LINKAGE = Group(title="Record linkage", beside="by chance", show=_show)


def _figure(linked: RecordLinkage) -> Figure:
    return Figure(value=linked.percent, interval=linked.interval, beside=linked.baseline_by_chance)


_measure = partial(
    Measure,
    in_blocks=True,
    needs_pairs=True,
    unit="%",
    highest=100.0,
    explanation="lower is safer",
    group=RECORD_LINKAGE,
    asked_by="linkage",
)
_linkage = partial(
    _measure,
    takes=COMPLETE,
    figure=_figure,
    arguments=("sample",),
    compared=Compared(on_frontier=True, baseline=CHANCE),
)
MEASURES = (
    _linkage(
        id="record_linkage",
        function=record_linkage,
        label="record linkage in raw units",
        short="raw units",
    ),
    _linkage(
        id="record_linkage_standardised",
        function=record_linkage_standardised,
        label="record linkage, standardised",
        short="standardised",
    ),
    _linkage(
        id="record_linkage_by_rank",
        function=record_linkage_by_rank,
        label="record linkage by rank",
        short="by rank",
    ),
    _measure(
        id="record_linkage_mixed",
        function=record_linkage_mixed,
        takes=Takes(_mixed, fits=_is_mixed),
        label="record linkage over all attributes",
        short="all attributes",
        figure=_figure,
        arguments=("sample",),
    ),
    _measure(
        id=CHANCE,
        takes=COMPLETE,
        function=lambda original, _: 100.0 / len(original),
        label="record linkage by chance",
        short="by chance",
        tabulated=False,
        compared=Compared(varies=False, tabulated=False),
    ),
)
