"""Where a learnt number ends if coarse cells are counted: not far beyond the last person's."""

from fractions import Fraction

import numpy as np
import polars
import pytest

import microveil as mv
from microveil.noise.counts import NoisyCounts, gaussian_noise
from microveil.noise.noise import RandomSource
from microveil.synthesis.cells import Cells
from microveil.synthesis.distribution import Counted

# Octaves up to 2**53, and a tail in which no cell stands out by itself.
BORDERS = np.append(0, 1 << np.arange(54))
COUNTS = np.zeros(len(BORDERS) - 1, dtype=np.int64)
COUNTS[0], COUNTS[7:16] = 11_000, (7, 5, 23, 33, 33, 29, 32, 10, 1)
NONE = Counted(*[np.zeros(0, dtype=np.int64)] * 2, *[np.zeros(0)] * 2)


def test_noise_behind_a_faint_tail_takes_it_no_four_octaves_too_far():
    """One release in sixty did: where cells behind the tail went along with what stands out."""
    noise, source = gaussian_noise(Fraction(1, 400)), RandomSource.system()
    far = found = 0
    for _ in range(1500):
        counts = NoisyCounts.of(COUNTS, noise, source)
        ends = Cells(borders=BORDERS, counts=counts).held(NONE, 11_173).ends
        far += int(ends[-1] > BORDERS[16 + 3])
        found += int(ends[-1] > BORDERS[8])
    assert far <= 9
    assert found >= 200  # the tail is seen in one release of six


def test_a_cell_next_to_what_stands_out_needs_less_than_one_far_away():
    """By 3.3 deviations: it is kept in three draws of four, and in few where a gap lies between."""
    noise, source = gaussian_noise(Fraction(1, 400)), RandomSource.system()
    kept = []
    for place in (7, 20):
        counts = np.zeros_like(COUNTS)
        counts[:7], counts[place] = 1000, 66
        ends = (
            Cells(borders=BORDERS, counts=NoisyCounts.of(counts, noise, source)).held(NONE, 7066)
            for _ in range(200)
        )
        kept.append(sum(int(own.ends[-1] == BORDERS[place + 1]) for own in ends))
    assert kept[0] >= 120
    assert kept[1] <= 60


def test_beside_two_codes_noise_makes_no_run_of_others():
    """Of 4,000 columns where the two are all there is; sixteen had one, as far as 30 codes off."""
    of_atoms, of_cells = gaussian_noise(Fraction(1, 9556)), gaussian_noise(Fraction(1, 1686))
    borders, source = np.arange(-31, 33), RandomSource.system()
    counts = np.zeros(len(borders) - 1, dtype=np.int64)
    counts[32:34] = 1500
    codes, runs = np.array([1, 2]), 0
    for _ in range(4000):
        noisy = NoisyCounts.of(counts[32:34], of_atoms, source).counts
        atoms = Counted(codes, codes + 1, noisy, np.full(2, of_atoms.variance**0.5))
        held = Cells(borders=borders, counts=NoisyCounts.of(counts, of_cells, source))
        starts = held.held(atoms, 3000.0).starts
        runs += int(starts[0] < -1 or starts[-1] > 4)
    assert runs <= 6


def test_beside_a_spike_noise_holds_hardly_anybody():
    """In single values that nobody has: noise of a fortieth of the spike put 6 % there."""
    noise, source = gaussian_noise(Fraction(1, 62_500)), RandomSource.system()
    borders = np.append(np.arange(33), 1 << np.arange(6, 54))
    counts = np.zeros(len(borders) - 1, dtype=np.int64)
    counts[0], counts[-45:-42] = 7000, 1600
    shares = []
    for _ in range(200):
        held = Cells(borders=borders, counts=NoisyCounts.of(counts, noise, source))
        masses = held.held(NONE, 11_800.0).masses
        shares.append(masses[1:33].sum() / 11_800)
        assert abs(masses.sum() - 11_800) < 1e-6
    assert np.mean(shares) < 0.03


def test_days_of_one_year_come_out_near_it():
    """Of 800 people at epsilon 1, where cells are counted: a power of 2 of days from 1970 is 45."""
    random = np.random.default_rng(5)
    days = np.datetime64("2021-01-01") + random.integers(0, 364, 800)
    born = np.datetime64("1960-01-01") + random.integers(0, 39 * 365, 800)
    table = polars.DataFrame({"VISIT": days, "BORN": born, "SEX": random.choice(["m", "f"], 800)})
    years = mv.protect(table, epsilon=1, delta=1e-9).data["VISIT"].drop_nulls().dt.year()
    assert years.is_between(2010, 2034).mean() > 0.99


SINGLE = np.concatenate((np.arange(-31, 64), 1 << np.arange(6, 54)))


def visits(n_beyond, noise, source):
    """Hold values of 0 to 11, each of 300 records, and a tail that falls by a fifth each time."""
    counts = np.zeros(len(SINGLE) - 1, dtype=np.int64)
    counts[31:43] = 300
    counts[43:83] = np.rint(n_beyond / 5 * 0.8 ** np.arange(40))
    cells = Cells(borders=SINGLE, counts=NoisyCounts.of(counts, noise, source))
    return cells.held(NONE, float(counts.sum())), counts


def spread(values, masses):
    """Return the standard deviation of values that have so many records each."""
    return float(np.sqrt(np.cov(values, aweights=masses)))


def test_a_number_that_falls_smoothly_keeps_its_spread_behind_the_last_value_that_stands_out():
    """It lost a tenth: of 300 records behind hardly a value stands out of noise of 20."""
    noise, source = gaussian_noise(Fraction(1, 400)), RandomSource.system()
    ratios = []
    for _ in range(200):
        held, counts = visits(300, noise, source)
        middle = (held.starts + held.ends - 1) / 2
        ratios.append(spread(middle, held.masses) / spread(SINGLE[:-1], counts))
        assert abs(held.masses.sum() - counts.sum()) < 1e-6
    assert 0.88 <= np.median(ratios) <= 1.05


def test_noise_makes_a_tail_of_nobody_in_few_draws():
    """In one of 200, and below zero in fewer."""
    noise, source = gaussian_noise(Fraction(1, 400)), RandomSource.system()
    drawn = [visits(0, noise, source)[0] for _ in range(2000)]
    assert sum(int(held.ends[-1] > 16) for held in drawn) <= 24
    assert sum(int(held.starts[0] < -1) for held in drawn) <= 12


def test_a_number_that_shows_no_negative_value_has_no_tail_below_zero():
    """Of cells that show a tail to the other side alike, which one negative value lets through."""
    noise, reached = gaussian_noise(Fraction(1, 400)), []
    for of_one_negative in (24, 300):
        counts = np.zeros(len(SINGLE) - 1, dtype=np.int64)
        counts[20:31], counts[30], counts[31:43] = 24, of_one_negative, 300
        cells = Cells(borders=SINGLE, counts=NoisyCounts(steps=counts << noise.bits, noise=noise))
        reached.append(int(cells.held(NONE, float(counts.sum())).starts[0]))
    assert reached[0] == 0
    assert reached[1] < -8


@pytest.mark.parametrize(("n_far", "n_missing", "is_held"), [
    (100, 200, True), (100, 0, False), (92, 200, False),
])  # fmt: skip
def test_a_faint_cell_far_beyond_codes_is_held_where_records_are_missing(n_far, n_missing, is_held):
    """Of 5 deviations: of 400 columns of codes one had values of thousands by noise."""
    noise = gaussian_noise(Fraction(1, 400))
    counts = np.zeros(len(SINGLE) - 1, dtype=np.int64)
    counts[32:40], counts[-40] = (1500, 1000, 750, 500, 400, 250, 120, 110), n_far
    cells = Cells(borders=SINGLE, counts=NoisyCounts(steps=counts << noise.bits, noise=noise))
    atoms = Counted(np.arange(1, 7), np.arange(2, 8), counts[32:38].astype(float), np.full(6, 20.0))
    end = cells.held(atoms, 4630.0 + n_missing).ends[-1]
    assert end == (SINGLE[-40] if is_held else 9)


def test_fractions_of_few_people_stay_fractions():
    """Of 500 people noise hides 400 that need decimals: in one draw of three all were 0 or 1."""
    random = np.random.default_rng(3)
    table = polars.DataFrame(
        {
            "SHARE": random.random(500).round(2),
            "AGE": random.integers(18, 90, 500),
            "PAY": random.lognormal(8, 0.5, 500).round(2),
            "SEX": random.choice(["m", "f"], 500),
        }
    )
    released = [mv.protect(table, epsilon=2, delta=1e-9).data for _ in range(40)]
    assert sum("SHARE" not in own or own["SHARE"].n_unique() <= 5 for own in released) <= 5


def test_a_number_of_which_nothing_stands_out_is_left_out():
    """All its values were 0 in one release of five."""
    random = np.random.default_rng(0)
    bonus = [int(random.exponential(1500)) if random.random() < 0.4 else None for _ in range(500)]
    columns = {
        "AGE": random.integers(18, 90, 500),
        "BONUS": bonus,
        "SEX": random.choice(["m", "f"], 500),
        "CLASS": random.choice(list("abcd"), 500),
        "PAY": random.lognormal(8, 0.5, 500).round(2),
        "ROOMS": random.integers(0, 9, 500),
        "RENT": random.integers(0, 3000, 500),
    }
    table = polars.DataFrame(columns)
    released = [mv.protect(table, epsilon=3, delta=1e-9).data for _ in range(24)]
    drawn = [own["BONUS"].drop_nulls() for own in released if "BONUS" in own.columns]
    assert all((own > 0).any() for own in drawn)
    assert len(drawn) > 12
