"""Formulas of linear models, in the notation of Wilkinson and Rogers (1973)."""

import re
from dataclasses import dataclass

from microveil.errors import RequestError

__all__ = ["Factor", "Formula", "Term", "parse_formula"]

WORD = r"[^\W\d][\w.]*"
NAME = rf"(?:`[^`]+`|{WORD})"
FACTOR = rf"(?:C\(\s*{NAME}\s*\)|{NAME})"
ITEM = rf"(?:[01]|{FACTOR}(?:\s*[:*]\s*{FACTOR})*)"
FORMULA = re.compile(rf"\s*({NAME})\s*~\s*([-+]?\s*{ITEM}(?:\s*[-+]\s*{ITEM})*)\s*")
# A product of m attributes by * stands for 2^m - 1 terms, and of m with categories for 2^m codings.
MOST_FACTORS, MOST_TERMS = 8, 200
REMEDY = 'write it as "Y ~ A + B + A:B", C(A) for categories, `quotes` around names of two words'


@dataclass(frozen=True, slots=True)
class Factor:
    """An attribute within a term.

    Parameters
    ----------
    name : str
        Of the attribute.
    categorical : bool
        Whether its numbers stand for categories; text always does.
    """

    name: str
    categorical: bool = False

    def __str__(self) -> str:
        name = self.name if re.fullmatch(WORD, self.name) else f"`{self.name}`"
        return f"C({name})" if self.categorical else name


Term = tuple[Factor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A linear model: an outcome, and terms that are products of attributes.

    Parameters
    ----------
    outcome : str
        Name of the attribute that is explained.
    terms : tuple of tuple of Factor
        Single attributes first, then products of two, and so on.
    intercept : bool
        Whether the model has a constant.
    """

    outcome: str
    terms: tuple[Term, ...]
    intercept: bool = True

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes needed, the outcome first."""
        names = (factor.name for term in self.terms for factor in term)
        return tuple(dict.fromkeys((self.outcome, *names)))

    def __str__(self) -> str:
        terms = [":".join(map(str, term)) for term in self.terms]
        constant = ([] if terms else ["1"]) if self.intercept else ["0"]
        return f"{Factor(self.outcome)} ~ {' + '.join([*constant, *terms])}"


def parse_formula(text: str) -> Formula:
    """Read a formula in the notation of Wilkinson and Rogers (1973), as R has it.

    Parameters
    ----------
    text : str
        ``Y ~ A + B``; ``A:B`` is the product, ``A*B`` is ``A + B + A:B``, ``C(A)`` takes the
        numbers of A for categories, ``0`` or ``-1`` leaves the intercept out. A name that is
        more than a word stands in backquotes.

    Returns
    -------
    Formula

    Raises
    ------
    RequestError
        If it cannot be read, has no term, a product in it stands for more than 200, or the
        outcome explains itself.

    Examples
    --------
    >>> str(parse_formula("TAX ~ INCOME*C(SEX) - 1"))
    'TAX ~ 0 + INCOME + C(SEX) + INCOME:C(SEX)'
    >>> parse_formula("quality ~ `fixed acidity`").attributes
    ('quality', 'fixed acidity')
    """
    found = FORMULA.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise _unreadable(text)
    intercept = True
    terms: dict[frozenset[Factor], Term] = {}
    for sign, item in re.findall(rf"([-+]?)\s*({ITEM})", found[2]):
        if item in {"0", "1"}:
            intercept = (item == "1") == (sign != "-")
        elif sign == "-":
            raise RequestError("formula", "nothing but 1 can be taken away", REMEDY)
        else:
            for term in _expanded(item):
                terms.setdefault(frozenset(term), term)
    formula = Formula(
        outcome=found[1].strip("`"),
        terms=tuple(sorted(terms.values(), key=len)),
        intercept=intercept,
    )
    if not (terms or intercept) or formula.outcome in (f.name for t in formula.terms for f in t):
        raise RequestError("formula", "it needs terms, and none with the outcome in it", REMEDY)
    return formula


def _unreadable(text: object) -> RequestError:
    if isinstance(text, str) and ("``" in text or text.count("`") % 2):
        return RequestError(
            "formula",
            "it cannot be read: quotes around a name come in pairs, and a name with a quote ` in "
            "it cannot be written",
            "close the quotes, or rename the column",
        )
    return RequestError("formula", "it cannot be read", REMEDY)


def _expanded(item: str) -> list[Term]:
    """Return the one term of A:B, or all that A*B stands for; : binds closer than *."""
    parts: list[Term] = [()]
    for written, operator in re.findall(rf"({FACTOR})\s*([:*]?)", item):
        categorical = re.fullmatch(r"C\(\s*(.*?)\s*\)", written)
        name = categorical[1] if categorical else written
        parts[-1] = (*parts[-1], Factor(name.strip("`"), categorical is not None))
        if operator == "*":
            parts.append(())
    return [
        tuple(dict.fromkeys(factor for part in chosen for factor in parts[part]))
        for chosen in _combined([frozenset(part) for part in parts])
    ]


def _combined(parts: list[frozenset[Factor]]) -> list[tuple[int, ...]]:
    """Return for each product of parts the fewest and first of them that make it up.

    Products are told apart part by part, so that A*B*B never has more than those of A and B.
    """
    found: dict[frozenset[Factor], tuple[int, ...]] = {frozenset(): ()}
    for j, part in enumerate(parts):
        for product, chosen in list(found.items()):
            longer, known = (*chosen, j), found.get(product | part)
            if known is None or _order(longer) < _order(known):
                found[product | part] = longer
        if max(map(len, found)) > MOST_FACTORS or len(found) - 1 > MOST_TERMS:
            raise RequestError(
                "formula",
                f"a product may have at most {MOST_FACTORS} attributes, and stand for at most "
                f"{MOST_TERMS} terms",
                "write out the terms that matter: A + B + A:B",
            )
    return sorted((chosen for chosen in found.values() if chosen), key=_order)


def _order(chosen: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(chosen), chosen
