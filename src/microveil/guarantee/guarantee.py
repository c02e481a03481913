"""The guarantee of a release: a value that holds nothing that depends on the data."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from microveil.errors import FileError
from microveil.guarantee.budget import exact_text, rounded_up, shown, six_digits
from microveil.guarantee.condition import Condition, in_short
from microveil.guarantee.reading import fields_of, with_repeated_people
from microveil.guarantee.terms import AttributeTerms, Model, PartTerms, Scopes, Unit
from microveil.schema import Kind
from microveil.text import enumerated, listed, one_line
from microveil.text.document import Document, heading, items, paragraph
from microveil.text.notebook import as_html

# What is to be known of an epsilon whose randomness is keyed, in a few words.
COMPUTATIONAL = "as far as nobody can tell ChaCha20 from chance (a computational claim)"
# Beyond this an epsilon says nothing to anybody: e**14 is over a million.
MEANINGLESS, OVER_A_MILLION = 14, "over a million"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a release promises, under which conditions.

    Attributes
    ----------
    method, title, source, deed : str
        The method's id, its name in words, where it was published, and what it did.
    model : Model
    epsilon : Fraction or None
        The nominal budget over all attributes; None where the method spends none.
    delta : Fraction
    rho : Fraction or None
        The budget of zero-concentrated DP, where the method accounts in it.
    k : int or None
        The least cluster size; None where records form no clusters.
    n_records : int
    unit : Unit
    scopes : Scopes
        What holds for this release, from figures that need no data.
    conditions : tuple of Condition
        What the epsilon takes as given and what it leaves out, the gravest first.
    attributes : tuple of AttributeTerms
    parts : tuple of PartTerms
        What each of several parts promises, with the columns of the others counted as kept:
        `scopes` are those of all together, and `k` is None.
    randomness : str
        "os", "keyed" or "seeded". Keyed: a secret key from the operating system drew for each
        record, and the claim is a computational one. A seed covers nothing.
    kept : tuple of str
        Columns released unprotected.
    shuffle : {"rows", "columns", "parts"} or None
        What was put in random order; of columns each by itself, and of parts at least one.
    is_synthetic : bool
        Whether rows were drawn anew, and follow nobody.
    remarks : tuple of str
        What else is to be known, a sentence or two each.
    """

    method: str
    title: str
    source: str
    deed: str
    model: Model
    epsilon: Fraction | None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    k: int | None
    n_records: int
    unit: Unit = field(default_factory=Unit)
    scopes: Scopes
    conditions: tuple[Condition, ...]
    attributes: tuple[AttributeTerms, ...]
    parts: tuple[PartTerms, ...] = ()
    randomness: str
    kept: tuple[str, ...]
    shuffle: str | None = None
    is_synthetic: bool = False
    remarks: tuple[str, ...]

    @classmethod
    def read(cls, path: str | Path) -> "Guarantee":
        """Read the guarantee.json of a release.

        Parameters
        ----------
        path : str or Path
            Of the file, written by this version or by an earlier one (schema 1): what an earlier
            one did not say of its claims is then added as conditions.

        Raises
        ------
        FileError
            If the file cannot be read or is no guarantee.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import microveil as mv
        >>> ages = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
        >>> release = mv.protect(ages, method="mdav", k=3, attributes="AGE")
        >>> with tempfile.TemporaryDirectory() as place:
        ...     folder, _ = release.write(pathlib.Path(place) / "release")
        ...     Guarantee.read(folder / "guarantee.json") == release.guarantee
        True
        """
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError:
            rule, remedy = "the guarantee cannot be read", "check path and rights"
        except (
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ):
            rule = "it must be the guarantee.json of a release, of schema 1 or 2"
            remedy = "pass the file as microveil wrote it"
        raise FileError(f"{path}", rule, remedy)

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "Guarantee":
        """Make a guarantee of the plain values that `to_dict` gives, of schema 1 or 2."""
        fields = fields_of(contents)
        # What is shown and what is exact must be one and the same.
        if contents["schema"] == 2 and cls(**fields).to_dict() != contents:
            raise ValueError
        return cls(**with_repeated_people(fields))

    @property
    def missing_codes(self) -> dict[str, tuple[int | float | str, ...]]:
        """The codes that stand in the release for why a cell is missing, by attribute."""
        return {terms.name: terms.reasons for terms in self.attributes if terms.reasons}

    @property
    def notes(self) -> tuple[str, ...]:
        """The conditions and everything else that is to be known, in whole sentences."""
        return (*(own.text for own in self.conditions), *self.remarks)

    @property
    def leaves_rows_out(self) -> bool:
        """Whether an epsilon is spent and row scope is not covered."""
        return self.epsilon is not None and self.scopes.row.exact_epsilon is None

    @property
    def follows_individuals(self) -> bool:
        """Whether rows are left out, and each follows one person."""
        return self.leaves_rows_out and self.shuffle != "columns" and not self.is_synthetic

    @property
    def has_clusters(self) -> bool:
        """Whether records form clusters, in some part at least."""
        return self.k is not None or any(part.k is not None for part in self.parts)

    @property
    def in_place(self) -> tuple[str, ...]:
        """The attributes whose rows stand where the original's do; see `has_pairs`."""
        if self.shuffle == "parts":
            still = (part.attributes for part in self.parts if part.shuffle is None)
            return tuple(name for names in still for name in names)
        return tuple(terms.name for terms in self.attributes) if self.has_pairs else ()

    @property
    def has_pairs(self) -> bool:
        """Whether rows stand where the original's do, but for records of units that are left out.

        Of these `has_new_numbers` alone says that there may be some.
        """
        return self.shuffle is None and not self.is_synthetic

    @property
    def has_new_numbers(self) -> bool:
        """Whether the column of the unit is released, with new numbers in a secret order."""
        keeps_rows = self.shuffle != "columns" and not self.is_synthetic
        # A new number would join the rows of a person, which nobody else may have alike.
        return self.unit.column is not None and keeps_rows and not self.has_clusters

    @property
    def model_in_words(self) -> str:
        """The privacy model: of centroids where rows that follow individuals are not covered."""
        is_of_centroids = self.leaves_rows_out and self.has_clusters
        return self.model.of_centroids if is_of_centroids else self.model.in_words

    @property
    def model_with_k(self) -> str:
        """The privacy model, of k-anonymity with k, and with whom it counts where that is said."""
        if self.model is not Model.K_ANONYMITY or self.k is None:
            return self.model.in_words
        return f"k-anonymity with k = {self.unit.least(self.k)}"

    @property
    def provisos(self) -> tuple[str, ...]:
        """What the scopes depend on and what they leave out, in a few words each."""
        if self.randomness == "seeded":
            return ()
        return (*in_short(self.conditions), *([COMPUTATIONAL] if self.is_computational else []))

    @property
    def is_computational(self) -> bool:
        """Whether an epsilon is claimed of whoever cannot tell a keyed stream from chance."""
        return self.randomness == "keyed" and self.epsilon is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain values, for JSON; `exact` says what floats round."""
        delta = None if self.epsilon is None else self.delta
        budget = {"epsilon": self.epsilon, "delta": delta, "rho": self.rho}
        attributes, shares, kinds = {}, {}, {}
        for terms in self.attributes:
            attributes[terms.name] = terms.to_dict()
            shares[terms.name] = exact_text(terms.share)
            kinds[terms.name] = terms.kind.value
        return {
            "schema": 2,
            "method": self.method,
            "title": self.title,
            "source": self.source,
            "deed": self.deed,
            "n_records": self.n_records or None,
            "model": self.model.value,
            **{name: shown(number) for name, number in budget.items()},
            "k": self.k,
            "unit": asdict(self.unit),
            "scopes": self.scopes.to_dict(),
            "conditions": [own.to_dict() for own in self.conditions],
            "attributes": attributes,
            **({"parts": [part.to_dict() for part in self.parts]} if self.parts else {}),
            "randomness": self.randomness,
            "kept": list(self.kept),
            "notes": list(self.notes),
            "shuffle": self.shuffle,
            **({"synthetic": True} if self.is_synthetic else {}),
            "exact": {
                **{name: exact_text(number) for name, number in budget.items()},
                "scopes": self.scopes.exact(),
                "shares": shares,
            },
            "kinds": kinds,
        }

    def summary(self) -> str:
        """Return what is covered in a few lines, for a terminal.

        The first says whether rows are covered, or which k and what is left out of it.
        """
        if self.randomness == "seeded":
            return "drawn from a seed: protects nobody"
        if self.epsilon is None:
            return "; ".join([f"privacy model: {self.model_with_k}", *self.provisos])
        but = " but for what is kept" if self.kept else ""
        rows = "rows are not covered" if self.leaves_rows_out else f"rows are covered{but}"
        delta = f", delta {six_digits(self.delta)}" if self.delta else ""
        whose = "" if self.unit.column is None else f" for {self.unit.in_words}"
        budget = f"epsilon {six_digits(self.epsilon)}{delta}{whose}"
        first = f"{budget}, {self.model_in_words}, {rows}:"
        covers = {scope: cover.exact_epsilon for scope, cover in self.scopes.by_scope.items()}
        if {*covers.values()} == {self.scopes.row.exact_epsilon} != {None}:
            lines = [f"{first} cluster, vector and row scope"]
        else:
            said = {
                s: f"epsilon {six_digits(e)}" if e else "not covered" for s, e in covers.items()
            }
            lines = [first, *(f"  {scope} scope: {own}" for scope, own in said.items())]
        return "\n".join([*lines, *(f"  {proviso}" for proviso in self.provisos)])

    @property
    def in_a_line(self) -> str:
        """Method, model, what is covered and under which conditions, as `summary` has them."""
        lines = self.summary().splitlines()
        said = "; ".join(line.strip().removesuffix(":") for line in lines)
        return f"{one_line(self.method)}, {self.n_records or 'unknown number of'} records: {said}"

    def __repr__(self) -> str:
        """Say in a line what is promised: notebooks print it."""
        return f"Guarantee({self.in_a_line})"

    def _repr_html_(self) -> str:
        """Say for a notebook what is promised, as `summary` does."""
        first, *others = self.summary().splitlines()
        blocks = heading(1, f"{self.title} ({self.method})"), paragraph(first)
        return as_html((*blocks, items(others)) if others else blocks)

    def statement(self) -> str:
        """Return the guarantee as a page (Markdown) for whoever must answer for the release."""
        return statement_of(self.to_dict()).to_markdown()


def statement_of(contents: Mapping[str, Any]) -> Document:
    """Return the statement of a guarantee: all that it says follows from its plain values."""
    # Templates take as long to load as the rest of a release.
    from microveil.text.templates import document_of

    return document_of(
        "guarantee/statement.jinja",
        **{"parts": [], "synthetic": False, **contents},
        believed=_believed,
        capitalised=lambda text: text[0].upper() + text[1:],
        counted=lambda number, noun: f"{number:,} {noun}{'' if number == 1 else 's'}",
        enumerated=enumerated,
        factor=_factor,
        figure=lambda exact: "" if exact is None else six_digits(Fraction(exact)),
        is_numeric=lambda kind: Kind(kind).is_numeric,
        listed=listed,
        one_in=lambda exact: f"1 in {math.floor(1 / Fraction(exact)):,}",
        model_in_words=lambda name, *, of_centroids=False: (
            Model(name).of_centroids if of_centroids else Model(name).in_words
        ),
        over_a_million=OVER_A_MILLION,
        published=lambda source: f" ({source})" if source else "",
        shared_by=lambda unit, k: Unit(**unit).shared_by(k),
        unit_named=lambda unit: Unit(**unit).named,
    )


def _factor(exact: str | None, times: int = 1) -> str:
    """Write e to so many times the epsilon, rounded up; nothing where there is no epsilon."""
    if exact is None or Fraction(exact) * times > MEANINGLESS:
        return "" if exact is None else OVER_A_MILLION
    epsilon = rounded_up(Fraction(exact) * times)
    with localcontext() as context:
        context.prec, context.rounding = (3 if epsilon >= 0.1 else 5), ROUND_CEILING
        return f"{+Decimal(repr(math.exp(epsilon))):f}"


def _believed(exact: str, before: int) -> int:
    """Bound how likely something is afterwards, of 100: its odds grow by the factor at most."""
    odds = Fraction(before, 100 - before) * Fraction(_factor(exact))
    return math.ceil(100 * odds / (1 + odds))
