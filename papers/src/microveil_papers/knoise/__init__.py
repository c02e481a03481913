"""KNOISE: Figures 2, 3 and 5, Table 1, and what sections 2.3 to 3 and 5 say of them."""

from microveil_papers.knoise.ages import ADULT, HIGHEST, LOWEST, N_RECORDS, WIDTH, ages_of
from microveil_papers.knoise.error_claims import error_claims
from microveil_papers.knoise.experiments import carry_out
from microveil_papers.knoise.figures import figures_of
from microveil_papers.knoise.listings import listings_of
from microveil_papers.knoise.risk_claims import risk_claims
from microveil_papers.paper import Experiment, Paper, Reproduction

__all__ = ["KNOISE"]


def reproduce(experiment: Experiment) -> Reproduction:
    """Carry out section 3 on ages of UCI Adult."""
    ages = ages_of(experiment.tables[ADULT.name])
    found = carry_out(experiment, ages)
    claims = (*error_claims(found), *risk_claims(found))
    sizes = ages.intervals.sizes
    return Reproduction(
        claims=tuple(sorted(claims, key=lambda claim: claim.section)),
        figures=figures_of(found),
        listings=listings_of(found),
        given=found.given,
        settings={
            "ages": f"the first {N_RECORDS} records of the file with an age from {LOWEST} to "
            f"{HIGHEST}, as many as the paper's table has; which table that is, it does not say",
            "intervals": f"{len(sizes)} of {ages.intervals.width:g} years, as many as fill the "
            "range, the last one closed: the paper speaks of 12 on the same range, which they are "
            f"if age {HIGHEST} has one of its own; records: {', '.join(map(str, sizes))}",
            "k": f"{ages.average_size} is the size of an interval on average, rounded down, as the "
            "paper asks for k in expectation; the size of a record's own interval and that of the "
            "smallest are checked besides",
            "noise": f"uniform within delta = {ages.delta:g} years, half of {WIDTH}, in steps of "
            "0.001 years; k-pram draws with replacement",
            "nearness": "Figure 5 counts within delta of noised records, taken for originals near "
            "them; Theorem 1 counts noised records within 2 delta",
            "seeds": "one to each run, the same for all methods",
            "quick": "fewer runs of the same",
        },
    )


KNOISE = Paper(
    id="knoise",
    title="Disclosure metrics born from statistical evaluations of data utility",
    citation="Biswal, Arbuckle and Kulik.",
    data=(ADULT,),
    reproduce=reproduce,
    runs=1000,
    quick_runs=100,
)
