"""The verb that attacks a release, as an intruder with partial knowledge would."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from microveil.errors import DataError, RequestError, stands_alone
from microveil.measures.attacks.membership import closest_record, membership
from microveil.measures.attacks.outcome import AttackOutcome, AttackReport, Setting
from microveil.measures.attacks.rows import inference, interval_disclosure, linkability, linkage
from microveil.measures.attacks.singling_out import singling_out
from microveil.measures.linkage import checked_sample
from microveil.measures.opening import MOST_CATEGORIES, Opened, coded, named, opened
from microveil.measures.values import Floats
from microveil.schema import Role
from microveil.table import Table, numbers_of
from microveil.table.blocks import LARGEST_VALUE

CONSTANT = "it is constant in the original: there is nothing to infer"


@stands_alone
def attack(
    original: Any,
    protected: Any,
    *,
    known: Iterable[str] | None = None,
    secret: Iterable[str] | None = None,
    recipe: str | Path | Mapping[str, Any] | None = None,
    control: Any = None,
    parts: tuple[Iterable[str], Iterable[str]] | None = None,
    attributes: Iterable[str] | None = None,
    paired: bool = True,
    n_attacks: int = 2000,
    tolerance: float = 0.05,
    neighbours: int = 1,
    confidence: float = 0.95,
    sample: int | None = None,
    seed: int = 0,
    missing_codes: Mapping[str, Any] | None = None,
    missing_values: Iterable[str] | None = None,
) -> AttackReport:
    """Attack a release as an intruder with partial knowledge would, and say what came of it.

    Works on any two tables of the same people, also another tool's output, and on a synthetic one.

    Parameters
    ----------
    original, protected : pandas.DataFrame, polars.DataFrame, pyarrow.Table or dict of arrays
        The table before and after. The protected one may be a `Release`: whether its records
        stand in the order of the original's is then known.
    known : sequence of str, optional
        What the intruder knows of people, exactly; by default all attributes but the secret.
    secret : str or sequence of str, optional
        What the intruder wants to know; by default every attribute in turn that is not
        among the known ones named, or simply every attribute in turn.
    recipe : str, Path or dict, optional
        Whose roles say what is known (quasi-identifiers) and what secret (confidential), where
        neither is named, of the attributes that take part, and what is dropped (identifiers),
        where no attributes are named.
    control : table, optional
        People drawn like those of the original, who are not in it: a part that was held out
        before the release was made. Without it success includes what the population reveals
        about anybody, and membership cannot be attacked.
    parts : pair of sequences of str, optional
        What each of two lists knows, for linkability; by default the first and the second
        half of the known attributes.
    attributes : sequence of str, optional
        The attributes that take part; by default all numeric ones that the tables have in
        common, and text of at most 1000 categories.
    paired : bool
        False where the records are not in the same order, or are nobody's: record linkage and
        interval disclosure are then left out.
    n_attacks : int
        How many people, at most, are attacked where it is not everybody; but see ``sample``.
    tolerance : float
        How near a guess of a number has to come: in standard deviations of the original, or
        as a share of all ranks. Categories have to be equal.
    neighbours : int
        How many nearest rows count for linkability.
    confidence : float
        Of every interval, above 0.5 and below 1.
    sample : int, optional
        So many people are looked for by record linkage, each in the whole release. By default
        everybody of up to 50,000, and of more 10,000.
    seed : int
        Decides who is attacked, and what baselines draw; the same seed gives the same report.
    missing_codes : dict of lists, optional
        What stands for a missing value, by column, in any of the tables: {"INCOME": [-9]}.
        Those that a `Release` brings with it are known.
    missing_values : sequence of str, optional
        Text that stands for a missing value in every column of text.

    Returns
    -------
    AttackReport
        For the custodian: it depends on the original.

    Raises
    ------
    MicroveilError
        If the tables do not correspond, or an argument names or asks for what is not there.

    Notes
    -----
    O(n log n) for up to ten or so attributes, and up to O(n_attacks n) vectorised steps.

    Examples
    --------
    >>> before = {"AGE": np.array([20, 31, 45, 58]), "INCOME": np.array([1, 4, 3, 2])}
    >>> after = {"AGE": np.array([25, 25, 52, 52]), "INCOME": np.array([1, 4, 3, 2])}
    >>> report = attack(before, after, known=["AGE"], secret="INCOME")
    >>> outcome = report.outcomes[0]
    >>> outcome.attack, outcome.success.value, outcome.baseline.value
    ('record linkage by distance', 0.5, 0.25)
    """
    _check_numbers(n_attacks, tolerance, neighbours, confidence, seed)
    both = opened(
        original,
        protected,
        paired=paired,
        missing_codes=missing_codes,
        missing_values=missing_values,
        recipe=recipe,
        control=control,
    )
    columns = _columns(both, attributes)
    names = list(columns)
    if known is None and secret is None:
        known, secret = (
            [name for name in names if both.roles.get(name) is role] or None
            for role in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
        )
    roles = _roles(names, known, secret, parts)
    tables = zip(both.tables, *columns.values(), strict=True)
    setting = Setting(
        names=tuple(names),
        is_category=np.array([not both.original.kind(name).is_numeric for name in names]),
        **{side: np.column_stack(values) for side, *values in tables},
        n_attacks=n_attacks,
        tolerance=tolerance,
        neighbours=neighbours,
        confidence=confidence,
        seed=seed,
        sample=checked_sample(sample),
    )
    outcomes, not_carried_out = _carried_out(setting, roles, paired=both.paired)
    return AttackReport(
        n_original=len(setting.original),
        n_protected=len(setting.protected),
        n_control=None if setting.control is None else len(setting.control),
        paired=both.paired,
        tolerance=tolerance,
        confidence=confidence,
        seed=seed,
        outcomes=tuple(outcomes),
        not_carried_out=not_carried_out,
        left_out=tuple(name for name in both.original.names if name not in names),
    )


class _Roles(NamedTuple):
    """What the intruder knows and wants to know, of the attributes that take part."""

    known: list[str]
    secrets: list[str]
    parts: tuple[list[str], list[str]]
    beside: list[str]  # what is known beside a secret, but for that


def _roles(
    names: list[str],
    known: Iterable[str] | None,
    secret: Iterable[str] | None,
    parts: tuple[Iterable[str], Iterable[str]] | None,
) -> _Roles:
    given = [] if known is None else _part(names, known, "known")
    secrets = [] if secret is None else _part(names, secret, "secret")
    for name in secrets:
        if name in given:
            rule = "it cannot be known and secret"
            raise RequestError(f"attribute '{name}'", rule, "name it once")
    all_known = given or [name for name in names if name not in secrets] or names
    half = (len(all_known) + 1) // 2
    return _Roles(
        known=all_known,
        secrets=secrets or [name for name in names if name not in given] or names,
        parts=_checked(names, parts) if parts else (all_known[:half], all_known[half:]),
        beside=given or names,
    )


def _checked(
    names: list[str], parts: tuple[Iterable[str], Iterable[str]]
) -> tuple[list[str], list[str]]:
    rule = "it must be two lists of attributes that have none in common"
    if isinstance(parts, str) or not isinstance(parts, Sequence) or len(parts) != 2:
        raise RequestError("parts", rule, 'pass for example (["AGE"], ["INCOME"])')
    one, other = (_part(names, part, "parts") for part in parts)
    if set(one) & set(other):
        raise RequestError("parts", rule, "name every attribute in one of them")
    return one, other


def _carried_out(
    setting: Setting, roles: _Roles, *, paired: bool
) -> tuple[list[AttackOutcome], dict[str, str]]:
    """Carry out the attacks that the tables and roles allow; say why for the others."""
    outcomes: list[AttackOutcome] = []
    reasons: dict[str, str] = {}
    why_not = {secret: _unknowable(setting, secret) for secret in roles.secrets}
    if paired:
        outcomes += [linkage(setting, roles.known, by_rank=ranks) for ranks in (False, True)]
        outcomes += _disclosed(setting, why_not, reasons)
    else:
        reasons["record linkage, interval disclosure"] = "they need records in the same order"
    outcomes += [singling_out(setting, roles.known, together=both) for both in (False, True)]
    if roles.parts[1]:
        outcomes.append(linkability(setting, *roles.parts))
    else:
        reasons["linkability"] = "it takes two known attributes or more"
    for secret, why in why_not.items():
        known = [name for name in roles.beside if name != secret]
        if why or not known:
            reasons[f"inference of {secret}"] = why or "no other attribute is known"
        else:
            outcomes.append(inference(setting, known, secret))
    if setting.control is not None:
        outcomes += [membership(setting, setting.names), closest_record(setting, setting.names)]
    else:
        for name in ("membership inference", "distance to the closest record"):
            reasons[name] = "it needs people who were not in the original: control"
    return outcomes, reasons


def _disclosed(
    setting: Setting, why_not: Mapping[str, str], reasons: dict[str, str]
) -> list[AttackOutcome]:
    """Disclose intervals of every secret, or say why there are none."""
    outcomes = []
    for secret, constant in why_not.items():
        is_category = setting.of([secret]).is_category[0]
        if why := "categories have no intervals" if is_category else constant:
            reasons[f"interval disclosure of {secret}"] = why
        else:
            outcomes += [interval_disclosure(setting, secret, by_rank=by) for by in (False, True)]
    return outcomes


def _unknowable(setting: Setting, name: str) -> str:
    """Say why there is nothing to infer of an attribute; empty where there is."""
    values = setting.of([name]).original
    return CONSTANT if len(np.unique(values[~np.isnan(values)])) < 2 else ""


def _columns(both: Opened, wanted: Iterable[str] | None) -> dict[str, list[Floats]]:
    """Read the attributes that take part, of every table; being without a category is one more."""
    found = {}
    for name in both.attributes(wanted):
        if both.original.kind(name).is_numeric:
            found[name] = [_numbers(table, name, side) for side, table in both.tables.items()]
        elif (codes := _codes(both, name, wanted)) is not None:
            found[name] = codes
    if not found:
        raise DataError(
            "tables", "they have no attribute in common to attack", "pass a table and its release"
        )
    return found


def _codes(both: Opened, name: str, wanted: Iterable[str] | None) -> list[Floats] | None:
    """Read text of every table as codes; None where it cannot or should not take part."""
    try:
        most = MOST_CATEGORIES if wanted is None else sys.maxsize
        found = coded(both.tables.values(), name, most)
    except DataError:
        if wanted is not None:
            raise
        return None
    return None if found is None else [codes.astype(np.float64) for codes in found[0]]


def _numbers(table: Table, name: str, side: str) -> Floats:
    values = numbers_of(table, name)
    if np.any(np.abs(values) > LARGEST_VALUE):
        rule = "numbers must be finite and at most 1e140 in size"
        raise DataError(f"attribute '{name}' of the {side} table", rule, "leave such records out")
    return values


def _part(names: list[str], part: Iterable[str], place: str) -> list[str]:
    """Return named attributes, each once, that take part in the attacks."""
    chosen = list(dict.fromkeys(named(part)))
    if not chosen:
        raise RequestError(place, "it must name an attribute", "name one, or leave it out")
    for name in chosen:
        if name not in names:
            rule = "it is not among the attributes that all tables have and that take part"
            remedy = "check its spelling, or name it in attributes"
            raise RequestError(f"{place}, attribute '{name}'", rule, remedy)
    return chosen


def _check_numbers(
    n_attacks: int, tolerance: float, neighbours: int, confidence: float, seed: int
) -> None:
    """Refuse numbers that no attack can be carried out with."""
    for name, value, least in (
        ("n_attacks", n_attacks, 1),
        ("neighbours", neighbours, 1),
        ("seed", seed, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            rule = f"it must be a whole number of {least} or more"
            raise RequestError(name, rule, f"pass {name}={least}")
    for name, share, low in (("tolerance", tolerance, 0.0), ("confidence", confidence, 0.5)):
        number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
        if not number or not low <= share < 1:
            rule = f"it must be a number from {low:g} to below 1"
            raise RequestError(name, rule, "pass 0.05 or 0.95")
