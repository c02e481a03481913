"""Plans by which records are drawn for wherever they are: figures and draws are as in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.engines.local import LocalEngine
from microveil.noise.keyed import RecordStreams
from microveil.noise.noise import RandomSource
from microveil.methods.centroids import CentroidPlan
from microveil.release.planning import plan_prepared
from microveil.release.selection import settle

FIGURES = ("n_clusters", "n_cells", "exact_cells", "share", "vector_loss")
TABLE = {"x": np.array([3.5, 0, np.nan, 19, 7.5, 7.5, 20, np.nan, 1, 0])}

# The less a value is, the more it shows.
OWN = [[0.1 + 0.3 * (row == column) * (7 - row) / 7 for column in range(7)] for row in range(7)]
OWN = [[chance / sum(row) for chance in row] for row in OWN]


class Elsewhere(LocalEngine):
    """Plans as if the records were in no process."""

    def holds_records(self, column):
        del column
        return False


def planned(engine, method="laplace", table=TABLE, **more):
    asked = {"method": method, "epsilon": 1, "attributes": ["x"], "bounds": {"x": (0, 20)},
             "resolution": {"x": 0.5}, "missing": "keep", **more}  # fmt: skip
    request, prepared = settle(table, asked, engine)
    (part,) = plan_prepared(prepared, request, engine).attributes
    return part


values = st.lists(st.integers(0, 40), min_size=2, max_size=30)


@given(values, st.sampled_from([0.01, 1, 30]))
def test_noise_on_values_is_planned_alike_whether_the_plan_holds_them_or_not(found, epsilon):
    """Scale, losses and what is expected are those of clusters of one."""
    table = {"x": np.array(found) / 2}
    here, there = (
        planned(engine, table=table, epsilon=epsilon) for engine in (LocalEngine(), Elsewhere())
    )
    assert (type(here), type(there)) == (CentroidPlan, RecordNoisePlan)
    assert all(getattr(here, name) == getattr(there, name) for name in FIGURES)
    assert there.to_dict() == here.to_dict()
    for one, other in (
        (here.total_squares, there.total_squares),
        (here.squares_about_published_mean, there.squares_about_published_mean),
        (here.expected_error(isotonic=False), there.expected_error(isotonic=False)),
    ):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("method", ["laplace", "pram"])
def test_from_one_stream_the_cells_are_the_same(method):
    """The law that goes to where records are is the one of memory; missing cells stay so."""
    cells = []
    for engine in (LocalEngine(), Elsewhere()):
        part = planned(engine, method)
        cells.append(part.draw(RandomSource.seeded(5), engine, isotonic=False))
    assert cells[0].values[[0, 1, 3]].tolist() == cells[1].values[[0, 1, 3]].tolist()
    assert np.array_equal(cells[0].missing, cells[1].missing)
    assert np.array_equal(cells[0].missing, np.isnan(TABLE["x"]))


@pytest.mark.parametrize("method", ["laplace", "pram"])
def test_by_a_key_cells_are_on_the_grid_and_within_the_bounds(method):
    """Whatever the key; one draw a record, and the same whatever other records there are."""
    part = planned(Elsewhere(), method)
    present = np.flatnonzero(~np.isnan(TABLE["x"]))
    drawn = part.law.drawn(part.column, RecordStreams.keyed(bytes(32), "x", "x").of(present))
    cells = drawn.values[present]
    assert ((cells >= 0) & (cells <= 20)).all()
    assert (cells * 2 == np.round(cells * 2)).all()
    assert len({*cells.tolist()}) > 2


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=30),
    st.sampled_from([("keep", {}), ("protect", {}), ("keep", {"matrix": {"x": OWN}})]),
    st.integers(0, 3),
)
def test_figures_of_a_transition_follow_from_the_counts_of_categories(found, how, n_missing):
    """They are those of the values, added up one by one; losses, those of values that occur."""
    table = {"x": np.array([*found, *[np.nan] * n_missing])}
    missing_is, more = how
    protects = missing_is == "protect"
    part = planned(LocalEngine(), "pram", table=table, bounds={"x": (0, 6)}, resolution={"x": 1},
                   missing=missing_is, **more)  # fmt: skip
    own = np.array(found)
    missing = [7] * n_missing if protects else []
    logs = np.log(part.weights / part.weights.sum(axis=1, keepdims=True))
    apart = [abs(logs[one] - other).max() for one in {*found, *missing} for other in logs]
    assert part.vector_loss == pytest.approx(max(apart))
    assert (
        part.category_counts.tolist()
        == np.bincount([*found, *missing], minlength=8 if protects else 7).tolist()
    )
    assert part.total_squares == pytest.approx(((own - own.mean()) ** 2).sum(), abs=1e-9)
    about = ((own - round(own.mean())) ** 2).sum()
    assert part.squares_about_published_mean == pytest.approx(about, abs=1e-9)
    stays = (part.weights.diagonal() / part.weights.sum(axis=1))[[*found, *missing]]
    assert part.differing == pytest.approx(1 - stays.mean())
    of_values = part.weights[:7, :7]
    chances = of_values / of_values.sum(axis=1, keepdims=True)  # of those that stay values
    apart = np.abs(np.arange(7)[:, None] - np.arange(7)) ** 2
    expected = sum((chances[one] * apart[one]).sum() for one in found)
    assert part.expected_error(isotonic=False) == pytest.approx(expected)


def test_what_is_drawn_by_a_key_goes_through_protect_as_any_other():
    """In memory nothing is keyed: the guarantee names the operating system alone."""
    release = mv.protect({"x": TABLE["x"]}, method="laplace", epsilon=1, attributes=["x"],
                         bounds={"x": (0, 20)}, resolution={"x": 0.5}, missing="keep")  # fmt: skip
    assert release.guarantee.randomness == "os"
