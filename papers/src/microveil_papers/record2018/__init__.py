"""RECORD-2018: what its first two pages claim, and its three partitions compared."""

from microveil_papers.data import census
from microveil_papers.given import given_in
from microveil_papers.kanon2013 import KANON_2013
from microveil_papers.paper import Experiment, Paper, Reproduction
from microveil_papers.record2018.claims import claims_of
from microveil_papers.record2018.experiments import EPSILONS, SETTINGS, carry_out
from microveil_papers.record2018.figures import figures_of, guarantees_of

__all__ = ["RECORD_2018"]

(CENSUS,) = KANON_2013.data


def reproduce(experiment: Experiment) -> Reproduction:
    """Compare the partitions with one another and with KANON-2013."""
    found = carry_out(experiment)
    sizes = sorted({k for k in found.noisy["k"].to_list() if k is not None})
    return Reproduction(
        claims=claims_of(found),
        figures=figures_of(found),
        listings=(guarantees_of(found),),
        given=given_in(found.noisy, found.vector),
        settings={
            "pages": "the first two of thirteen: abstract, introduction, sections 2.1 and 2.2. Its "
            "own experiments (section 8) could not be read; which data, k and epsilons it has is "
            "our guess, after KANON-2013 and IDP-2025",
            **{
                f"attributes, {setting.title}": ", ".join(setting.attributes)
                for setting in SETTINGS
            },
            "epsilon": ", ".join(f"{epsilon:g}" for epsilon in EPSILONS)
            + ", split evenly over the attributes",
            "k": ", ".join(map(str, sizes)),
            "bounds": "from 0 to 1.5 times the largest value of the data",
            "error": "squared error over variance, the mean of the attributes; raw sums are in the "
            "tables",
            "noise": "discrete Laplace noise on whole numbers, one draw for a cluster, means "
            "clamped to the domain",
            "partitions": "mdav (multivariate), ranking and optimal (each attribute by itself); "
            "noise-aware is our reading of the reformulated optimal one: least sum of squares "
            "plus expected squared noise",
        },
    )


RECORD_2018 = Paper(
    id="record-2018",
    title="Differentially private data publishing via optimal univariate microaggregation and "
    "record perturbation",
    citation="Soria-Comas and Domingo-Ferrer, Knowledge-Based Systems (2018), "
    "doi:10.1016/j.knosys.2018.04.027.",
    data=(census(tuple(dict.fromkeys(name for s in SETTINGS for name in s.attributes))),),
    reproduce=reproduce,
)
