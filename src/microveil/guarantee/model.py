"""The privacy models that a release's claim is stated in."""

from enum import StrEnum

__all__ = ["Model"]


class Model(StrEnum):
    """The privacy model that a release's claim is stated in, the weakest first.

    >>> Model.DIFFERENTIAL_PRIVACY.at_most(Model.INDIVIDUAL)
    <Model.INDIVIDUAL: 'idp'>
    """

    NONE = "none"
    K_ANONYMITY = "k-anonymity"
    INDIVIDUAL = "idp"
    DIFFERENTIAL_PRIVACY = "dp"

    @property
    def strength(self) -> int:
        """Its place among the models: 0 promises nothing."""
        return _STRENGTHS[self]

    def at_most(self, other: "Model") -> "Model":
        """Return the weaker of two models."""
        return min(self, other, key=lambda model: model.strength)

    @property
    def in_words(self) -> str:
        """The model's name in words."""
        return {
            Model.DIFFERENTIAL_PRIVACY: "differential privacy (DP)",
            Model.INDIVIDUAL: "individual differential privacy (iDP)",
            Model.K_ANONYMITY: "k-anonymity",
            Model.NONE: "none: nothing formal is promised",
        }[self]

    @property
    def of_centroids(self) -> str:
        """The model's name where it speaks of centroids and not of the rows they stand in."""
        return {
            Model.DIFFERENTIAL_PRIVACY: "DP of the centroids",
            Model.INDIVIDUAL: "iDP of the centroids",
        }.get(self, self.in_words)


# Looked up for every pair of a comparison's configurations.
_STRENGTHS = {model: place for place, model in enumerate(Model)}
