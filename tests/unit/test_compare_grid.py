"""A grid is read exactly, and the seed of a run is its name's."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.compare.grid import read_choice, read_epsilons, read_grid, read_sizes
from microveil.errors import RequestError


@given(start=st.integers(1, 300), step=st.integers(1, 50), count=st.integers(0, 30))
def test_a_range_holds_its_end_in_exact_decimals(start, step, count):
    """START:END:STEP holds every START + i STEP up to END, END itself included."""
    end = start + count * step
    expected = tuple(Fraction(start + i * step, 100) for i in range(count + 1))
    text = ":".join(f"{part / 100:.2f}" for part in (start, end, step))
    assert read_epsilons(text) == expected
    short = f"{start / 100:.2f}:{(end + step - 1) / 100:.2f}:{step / 100:.2f}"
    assert read_epsilons(short) == expected


def test_lists_and_ranges_mix_in_any_order():
    """The same numbers make the same grid, however they are written."""
    expected = (3, 5, 10, 20, 30)
    assert read_sizes("10:30:10, 5,3,3") == expected
    assert read_sizes([30, 20, 10, 5, 3]) == expected
    assert read_sizes("3:5:2,10,20,30") == expected
    assert read_sizes(7) == read_sizes("7") == (7,)
    assert read_sizes("2:4") == (2, 3, 4)
    assert read_epsilons([0.1, 1]) == read_epsilons("1,0.1") == (Fraction(1, 10), Fraction(1))


@pytest.mark.parametrize(
    "text",
    ["", "3,,5", "a", "5:3", "1:2:0", "1:2:-1", "1:2:3:4", "1:2:", ":2", "0", "-3", "1e999",
     "1e-999", "1:1000000", "nan", "1_0", "1/2"],
)  # fmt: skip
def test_what_is_no_list_of_numbers_is_refused(text):
    """A slip in a list of k or epsilon is an error that shows how it is written."""
    for read in (read_sizes, read_epsilons):
        with pytest.raises(RequestError, match="pass for example"):
            read(text)


@pytest.mark.parametrize("given", ["2.5", "3:4:0.5", [2.5], [True], [None], ["x"]])
def test_k_is_a_whole_number(given):
    """A k of 2.5, or no number at all, is refused."""
    with pytest.raises(RequestError, match=r"^k: "):
        read_sizes(given)


def test_steps_are_read_in_any_order():
    """A choice is named the same in whatever order its steps are written."""
    one = read_choice("kanon-dp:sensitivity=global:composition=sequential")
    other = read_choice("kanon-dp:composition=sequential:sensitivity=global")
    assert str(one) == str(other) == "kanon-dp:composition=sequential:sensitivity=global"
    assert one.arguments(5, Fraction(1)) == {
        "method": "kanon-dp", "composition": "sequential", "sensitivity": "global",
        "k": 5, "epsilon": 1, "delta": None,
    }  # fmt: skip
    isotonic = read_choice("dp-um:isotonic=true").arguments(5, None)["isotonic"]
    assert isotonic is True
    assert read_choice("k-noise:width=2.5").arguments(None, None)["width"] == Fraction(5, 2)


@pytest.mark.parametrize(
    "text",
    ["nothing", "", "dp-um:partition=ranking", "idp-vector:partition=mdav", "idp-vector:partition",
     "idp-vector:nothing=1", "laplace:isotonic=true", "dp-um:exact_cells=allow",
     "idp-cbls:isotonic=yes", "k-noise:width=0", "k-noise:width=wide",
     "idp-vector:partition=ranking:partition=ranking", "dp-um:k=5"],
)  # fmt: skip
def test_a_step_that_a_method_does_not_offer_is_refused(text):
    """What would be passed over silently is refused instead."""
    with pytest.raises(RequestError, match=r"method|step"):
        read_choice(text)


@pytest.mark.parametrize(
    ("methods", "arguments"),
    [("record-dp,record-dp:partition=mdav", {}), ("dp-um:isotonic=false,dp-um", {}),
     ("idp-cbls:exact_cells=refuse,idp-cbls", {}), ("k-noise:width=2,k-noise:width=2.0", {}),
     ("idp-cbls:isotonic=true,idp-cbls", {"isotonic": True}),
     ("k-noise:width=2,k-noise", {"width": 2}),
     ("record-dp:partition=optimal,record-dp", {"partition": "optimal"})],
)  # fmt: skip
def test_two_names_of_one_method_are_refused(methods, arguments):
    """A step named at its default is the bare method: as two they would differ by luck alone."""
    with pytest.raises(RequestError, match="are the same"):
        read_grid(methods, 3, 1, 2, arguments)
    for alone in methods.split(","):
        assert read_grid(f"laplace,{alone}", 3, 1, 2, arguments).configurations


def test_a_default_that_is_overruled_is_another_method():
    """What the request sets for all cells is the default that a step is held against."""
    apart = [("record-dp,record-dp:partition=mdav", {"partition": "optimal"}),
             ("dp-um,dp-um:isotonic=false", {"isotonic": True}),
             ("k-noise,k-noise:width=2,k-noise:width=3", {}),
             ("record-dp,record-dp:partition=optimal", {})]  # fmt: skip
    for methods, arguments in apart:
        assert len(read_grid(methods, 3, 1, 2, arguments).choices) == methods.count(",") + 1


def test_what_draws_nothing_has_all_runs_where_an_analysis_is_seeded():
    """A classifier has a seed for each run, also on a release that is always the same."""
    assert [cell.runs for cell in read_grid("mdav,dp-um", 3, 1, 4, seeded=True).configurations] == [
        4,
        4,
    ]


def test_cells_leave_out_what_a_method_has_no_use_for():
    """No k without clusters, no epsilon without a budget, one run where nothing is random."""
    grid = read_grid("laplace,mdav,dp-um,k-noise:width=3", "3,5", "1,2", 4)
    found = {}
    for cell in grid.configurations:
        found.setdefault(cell.choice.method.id, []).append((cell.k, cell.epsilon, cell.runs))
    assert found == {
        "laplace": [(None, 1, 4), (None, 2, 4)],
        "mdav": [(3, None, 1), (5, None, 1)],
        "dp-um": [(3, 1, 4), (3, 2, 4), (5, 1, 4), (5, 2, 4)],
        "k-noise": [(None, None, 4)],
    }
    assert [cell.number for cell in grid.configurations] == list(range(9))
    by_argument = read_grid("k-noise", (), (), 4, {"width": 3})
    assert [cell.k for cell in by_argument.configurations] == [None]


@pytest.mark.parametrize(
    ("methods", "k", "epsilon", "runs", "place"),
    [([], 3, 1, 2, "methods"), (7, 3, 1, 2, "methods"), ("dp-um", (), 1, 2, "k"),
     ("dp-um", 3, (), 2, "epsilon"), ("dp-um", 3, 1, 0, "runs"), ("dp-um", 3, 1, True, "runs"),
     ("dp-um", 3, 1, 2.0, "runs")],
)  # fmt: skip
def test_a_grid_that_lacks_something_is_refused(methods, k, epsilon, runs, place):
    """What every cell would lack is an error of the grid."""
    with pytest.raises(RequestError) as refusal:
        read_grid(methods, k, epsilon, runs)
    assert refusal.value.place == place


def test_seeds_follow_from_names_alone():
    """A run has the same seed in every grid that holds it, and no other run has it."""
    small = read_grid("dp-um", "5", "1", 2)
    large = read_grid("laplace,idp-vector:partition=noise-aware,dp-um", "3:9:2", "0.1,1,2", 3)

    def seeds(grid, seed=7):
        return {
            (str(cell.choice), cell.k, cell.epsilon, run): cell.seed(seed, run)
            for cell in grid.configurations
            for run in range(1, cell.runs + 1)
        }

    few, many = seeds(small), seeds(large)
    assert few.items() <= many.items()
    assert len({*many.values(), *seeds(large, 8).values()}) == 2 * len(many)
    assert all(0 <= seed < 1 << 63 for seed in many.values())
    assert few["dp-um", 5, Fraction(1), 1] == 2662070987166245866
    assert read_grid("mdav", 3, (), 1).configurations[0].seed(7, 1) is None
