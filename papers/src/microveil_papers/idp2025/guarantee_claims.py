"""What IDP-2025, section 3, says that its methods guarantee, held against the exact loss."""

from collections.abc import Iterator

import polars

from microveil_papers.given import SEE
from microveil_papers.idp2025.reading import of_methods, over_data
from microveil_papers.paper import Case, Claim, claimed

__all__ = ["guarantee_claims"]

# Rounding of scales to a grid takes a little of epsilon at most.
ROUNDING = 1e-6
CRITERION = (
    "at every k, epsilon and alpha the exact loss of this table is at most epsilon, when one "
    "record is replaced by any of the domain and the clusters are formed anew, with the rest of "
    "the table and whatever the epsilon takes as given held"
)


def guarantee_claims(errors: polars.DataFrame) -> tuple[Claim, ...]:
    """Check the guarantees by the exact loss of these tables at vector scope."""
    return _differential_privacy(errors), _individual_privacy(errors)


@claimed(
    section="3.1",
    text="dp-um releases a data set with epsilon-differential privacy (Algorithm 1).",
    criterion=CRITERION,
    remark="On these tables; that no table loses more is a theorem, for bounds that were known "
    f"before. {SEE}",
)
def _differential_privacy(errors: polars.DataFrame) -> Iterator[Case]:
    return _losses(errors, "dp-um")


@claimed(
    section="3.2",
    text="idp-ls and idp-cbls release data sets with epsilon-individual differential privacy "
    "(Propositions 8 and 9).",
    criterion=CRITERION,
    remark="The proofs hold the partition fixed: each published mean keeps epsilon while "
    "everybody stays in their cluster, which is our cluster scope, and what the epsilon takes as "
    "given stays as it is. When the clusters are formed anew one record shifts many of them, and "
    f"the losses add up. {SEE}",
)
def _individual_privacy(errors: polars.DataFrame) -> Iterator[Case]:
    return _losses(errors, "idp-ls", "idp-cbls")


def _losses(errors: polars.DataFrame, *names: str) -> Iterator[Case]:
    for where, at in of_methods(names, over_data()):
        own = errors.filter(polars.col("vector_loss").is_not_null(), **at).with_columns(
            ratio=polars.col("vector_loss") / polars.col("epsilon")
        )
        most, fewest = (own.sort("ratio", descending=d).row(0, named=True) for d in (True, False))
        yield Case(
            where=where,
            holds=most["ratio"] <= 1 + ROUNDING,
            measured=f"loss over epsilon at most {most['ratio']:.4g} (k {most['k']}), at "
            f"least {fewest['ratio']:.4g} (k {fewest['k']})",
        )
