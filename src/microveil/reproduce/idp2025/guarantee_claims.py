"""What IDP-2025, section 3, says that its methods guarantee, held against the exact loss."""

import polars

from microveil.reproduce.idp2025.experiments import DATA
from microveil.reproduce.paper import Case, Claim

__all__ = ["guarantee_claims"]

# Rounding of scales to a grid takes a little of epsilon at most.
ROUNDING = 1e-6


def guarantee_claims(errors: polars.DataFrame) -> tuple[Claim, ...]:
    """Check the guarantees by the exact loss of these tables at vector scope."""
    return (
        _claim(
            errors,
            "3.1",
            ("dp-um",),
            "dp-um releases a data set with epsilon-differential privacy (Algorithm 1).",
            "On these tables; that no table loses more is a theorem, and bounds have to be known "
            "before.",
        ),
        _claim(
            errors,
            "3.2",
            ("idp-ls", "idp-cbls"),
            "idp-ls and idp-cbls release data sets with epsilon-individual differential privacy "
            "(Propositions 8 and 9).",
            "The proofs hold the partition fixed: each published mean keeps epsilon while "
            "everybody stays in their cluster, which is our cluster scope. When the clusters are "
            "formed anew one record shifts many of them, and the losses add up.",
        ),
    )


def _claim(
    errors: polars.DataFrame, section: str, names: tuple[str, ...], text: str, remark: str
) -> Claim:
    cases = []
    for name in names:
        for data in DATA:
            own = errors.filter(
                polars.col("name") == name,
                polars.col("data") == data.name,
                polars.col("vector_loss").is_not_null(),
            ).with_columns(ratio=polars.col("vector_loss") / polars.col("epsilon"))
            most, fewest = (
                own.sort("ratio", descending=d).row(0, named=True) for d in (True, False)
            )
            cases.append(
                Case(
                    where=f"{name}: {data.title}",
                    holds=most["ratio"] <= 1 + ROUNDING,
                    measured=f"loss over epsilon at most {most['ratio']:.4g} (k {most['k']}), at "
                    f"least {fewest['ratio']:.4g} (k {fewest['k']})",
                )
            )
    return Claim(
        section=section,
        text=text,
        criterion="at every k, epsilon and alpha the exact loss of this table is at most epsilon, "
        "when one record is replaced by any of the domain, the rest of the table and the bounds "
        "held, and the clusters formed anew",
        cases=tuple(cases),
        remark=remark,
    )
