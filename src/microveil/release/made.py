"""Plans that were made to weigh a request: whoever asks for the same is handed them."""

from dataclasses import dataclass

from microveil.methods import Choices, Method
from microveil.plans import AttributePlan

__all__ = ["Made"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """Plans of some columns, and what they hang on beside these.

    Attributes
    ----------
    method : str
        Its id.
    choices : Choices
    attributes : tuple of AttributePlan
        In the order of the columns.
    """

    method: str
    choices: Choices
    attributes: tuple[AttributePlan, ...]

    def serves(self, method: Method, choices: Choices) -> bool:
        """Whether a method would plan the same by these choices: a plan hangs on nothing else."""
        return self.method == method.id and self.choices == choices
