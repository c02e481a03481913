"""What a new table promises beyond its budget: streams apart, types and notes that say enough."""

import numpy as np
import pytest

import microveil as mv
from microveil.noise.noise import RandomSource
from microveil.synthesis.measuring import Counter
from microveil.synthesis.plan import SyntheticPlan

RANDOM = np.random.Generator(np.random.PCG64(3))


def asked(columns, **more):
    """Ask for a new table of ages and yes-or-no codes."""
    bounds = {name: (0, 1) if name.startswith("CODE") else (0, 100) for name in columns}
    return {"method": "dp-synthetic", "epsilon": 1, "attributes": list(columns), "bounds": bounds,
            "structure": "independent", **more}  # fmt: skip


@pytest.mark.parametrize("make", [RandomSource.system, lambda: RandomSource.seeded(1)])
def test_no_two_attributes_share_their_randomness(make):
    """Of equal columns jitter, cuts and noise differ: differences of noise would be exact."""
    ages, codes = RANDOM.integers(0, 101, 2000), RANDOM.integers(0, 2, 2000)
    columns = {"AGE": ages, "AGE2": ages, "CODE": codes, "CODE2": codes}
    planned = mv.plan(columns, **asked(columns, epsilon=4))
    found = planned.synthetic.measured(Counter(planned.prepared.columns), make()).attributes
    cuts = [one.cuts.codes for one in found if one.cuts is not None]
    counts = [one.levels.counts for one in found if one.cuts is None]
    assert len(cuts) == len(counts) == 2
    assert not np.isin(cuts[0], cuts[1]).any()
    assert (counts[0] != counts[1]).all()


def test_records_are_drawn_by_a_stream_that_never_asked(monkeypatch):
    """What shows of the stream of the records is nothing of that of the noise."""
    columns = {"AGE": RANDOM.integers(0, 101, 500)}
    planned = mv.plan(columns, **asked(columns))
    first = {}
    for name in ("measured", "drawn"):
        step = getattr(SyntheticPlan, name)

        def watched(plan, *given, name=name, step=step):
            source = next(one for one in given if isinstance(one, RandomSource))
            first[name] = source.spawn(1)[0].words(4).tolist()
            return step(plan, *given)

        monkeypatch.setattr(SyntheticPlan, name, watched)
    planned.synthetic.draw(Counter(planned.prepared.columns), RandomSource.seeded(1))
    assert set(first) == {"measured", "drawn"}
    assert not set(first["measured"]) & set(first["drawn"])


def test_the_least_tables_and_the_depths_are_those_of_the_rule():
    """At epsilon 1 a hundred records have quarters, 99 are refused, and eighths begin at 418."""
    depths = {}
    for n in (99, 100, 417, 418):
        columns = {"AGE": RANDOM.integers(0, 101, n)}
        if n == 99:
            with pytest.raises(mv.RequestError, match="too small for a distribution"):
                mv.plan(columns, **asked(columns))
            continue
        depths[n] = len(mv.plan(columns, **asked(columns)).synthetic.attributes[0].rates)
    assert depths == {100: 2, 417: 2, 418: 3}


@pytest.mark.parametrize(("delta", "warned"), [(1e-9, False), (0.0009, False), (0.001, True)])
def test_a_delta_of_one_in_n_or_more_is_warned_of(delta, warned):
    """Publishing one person's record would keep it."""
    columns = {"AGE": RANDOM.integers(0, 101, 1000)}
    notes = mv.plan(columns, **asked(columns, delta=delta)).notes
    assert any("delta is 1/n or more" in note for note in notes) == warned


def test_advice_takes_a_column_without_values_where_being_without_is_protected():
    """A refusal would show it."""
    columns = {"AGE": np.full(900, np.nan), "CODE": RANDOM.integers(0, 2, 900)}
    more = {key: value for key, value in asked(columns).items() if key != "structure"}
    release = mv.protect(
        columns, **{**more, "method": "auto", "scope": "row", "missing": "protect", "epsilon": 20},
        resolution={"AGE": 1},
    )  # fmt: skip
    assert release.guarantee.method == "dp-synthetic"
