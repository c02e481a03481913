"""From a request and a table to a plan: everything about a release short of its noise."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from microveil.engines import Engine, in_threads
from microveil.errors import DataError, ExactCellsError, RequestError
from microveil.methods import Choices, Setting
from microveil.plans import AttributePlan
from microveil.privacy import AttributeTerms, Guarantee, Scope, Scopes, split
from microveil.privacy.conditions import Circumstances, conditions
from microveil.release import Plan
from microveil.request import Request, read_bounds, read_categories, read_resolution
from microveil.schema import Attribute, Bounds, Kind, Source
from microveil.table import GridColumn, Table, likely_identifier, on_grid, open_table

__all__ = ["make_plan"]

YES_NO = Bounds(lower=Fraction(0), upper=Fraction(1), source=Source.TYPE)
# The dates that there are names for: 0001-01-01 to 9999-12-31.
CALENDAR = Bounds(lower=Fraction(-719_162), upper=Fraction(2_932_896), source=Source.TYPE)
# Beyond this many grid units nothing of a domain fits 64 bits.
WIDEST = 1 << 61


def make_plan(
    table: Any,
    request: Request,
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
) -> Plan:
    """Carry out the deterministic steps of a request on an engine."""
    opened = open_table(table)
    names, left_out = _chosen(opened, request)
    for name in request.keep:
        opened.check_kept(name)
    if opened.n_records < request.k:
        raise DataError("table", "it has fewer records than k", "choose a smaller k")
    choices = _choices(names, request)
    attributes = [_attribute(opened, name, request) for name in names]

    def gridded(attribute: Attribute) -> GridColumn:
        progress(f"reading {attribute.name}")
        return _column(opened, attribute, request)

    columns = in_threads(gridded, attributes)
    progress("partitioning")
    parts = tuple(request.method.plan(columns, choices, engine))
    _refuse_exact(parts, request)
    return Plan(
        table=opened,
        attributes=parts,
        guarantee=_guarantee(opened, request, parts, choices),
        notes=_notes(request, parts, left_out),
        parameters=request.parameters(),
        unused=request.unused,
        isotonic=request.isotonic,
        shuffle=request.shuffle,
        seed=request.seed,
    )


def _choices(names: list[str], request: Request) -> Choices:
    blocks: tuple[tuple[str, ...], ...] = (tuple(names),)
    if request.blocks is not None and "blocks" not in request.unused:
        blocks = request.blocks
    members = {name for block in blocks for name in block}
    if "blocks" in request.method.offers and members != set(names):
        odd = min(members ^ set(names))
        raise RequestError(
            f"column '{odd}'",
            "blocks must hold every protected attribute and no other column",
            "name it in one block, or leave it out of all",
        )
    for name in request.matrix:
        if name not in names:
            raise RequestError(
                f"matrix of '{name}'", "it is no protected attribute", "leave it out"
            )
    epsilon = request.epsilon if request.method.needs_epsilon else None
    return Choices(
        k=request.k,
        shares=_shares(epsilon, names, request),
        partition=request.partition,
        composition=request.composition,
        every=request.every,
        noise=request.noise,
        blocks=blocks,
        width=request.width,
        matrices=request.matrix,
    )


def _shares(epsilon: Fraction | None, names: list[str], request: Request) -> dict[str, Fraction]:
    """Split epsilon over the attributes that have no transition matrix of their own."""
    own = {n for n, given in request.matrix.items() if not isinstance(given, str)}
    sharing = [name for name in names if name not in own or "matrix" not in request.method.offers]
    return {} if epsilon is None or not sharing else split(epsilon, sharing, request.budget)


def _column(table: Table, attribute: Attribute, request: Request) -> GridColumn:
    if attribute.categories is None:
        numbers = table.numbers(attribute.name)
    else:
        numbers = table.codes(attribute.name, attribute.categories)
    column = on_grid(
        numbers,
        attribute,
        keep_missing=request.missing == "keep",
        clamp=request.outside == "clamp",
    )
    if len(column.values) < request.k:
        raise DataError(
            attribute.place, "it has fewer values than k", "choose a smaller k or leave it out"
        )
    return column


def _chosen(table: Table, request: Request) -> tuple[list[str], list[str]]:
    """Return the attributes to protect, in the table's order, and the columns left out."""
    for name in (*(request.attributes or ()), *request.keep, *request.bounds, *request.resolution):
        if name not in table.names:
            raise RequestError(
                f"column '{name}'",
                "the table has no such column",
                f"choose from {', '.join(table.names)}",
            )
    for name, kind in request.types.items():
        if name not in table.names or table.kind(name) is not kind:
            found = table.kind(name).value if name in table.names else "no such column"
            raise DataError(
                f"column '{name}'",
                f"the recipe expects a {kind.value} column, the table has: {found}",
                "mend the table or the recipe",
            )
    if request.attributes is not None:
        # A recipe may name text with its categories, which only some methods protect.
        skipped = {
            name
            for name, kind in request.types.items()
            if kind is Kind.OTHER and not request.method.takes_categories
        }
        names = [name for name in table.names if name in request.attributes and name not in skipped]
    else:
        names = [
            name
            for name in table.names
            if name not in request.keep
            and table.kind(name).is_numeric
            and not likely_identifier(table, name)
        ]
    if not names:
        raise RequestError(
            "attributes",
            "there is no attribute to protect"
            + (
                ": numeric columns of all-different whole numbers are taken for identifiers"
                if request.attributes is None
                else ", in the list given or by the roles of the recipe"
            ),
            "name the attributes to protect",
        )
    return names, [name for name in table.names if name not in names and name not in request.keep]


def _attribute(table: Table, name: str, request: Request) -> Attribute:
    kind = table.kind(name)
    if not kind.is_numeric:
        if not request.method.takes_categories:
            table.numbers(name)  # says why, in the words that fit
        return _categorical(name, request)
    resolution, source = Fraction(1), Source.TYPE
    if name in request.resolution:
        resolution, source = read_resolution(name, kind, request.resolution[name])
    elif kind is Kind.DECIMAL:
        raise RequestError(
            f"attribute '{name}'",
            "decimals need a declared resolution, the step to which values are rounded",
            f"add --resolution {name}=0.01 (resolution={{{name!r}: 0.01}}); to take the decimals "
            "seen in the data, which reveals them, ask for --resolution-from-data",
        )
    bounds = YES_NO if kind is Kind.BOOLEAN else None
    if name in request.bounds:
        bounds = read_bounds(name, kind, request.bounds[name])
    elif bounds is None and request.method.needs_bounds:
        raise RequestError(
            f"attribute '{name}'",
            f"{request.method.id} needs its bounds, the domain of its values as publicly known",
            f"add {_example(name, kind)}; reading them from the data (--bounds-from-data 1.5) "
            "shows the largest value to everybody, and gives none where all values are 0",
        )
    elif bounds is None and kind is Kind.DATE:
        bounds = CALENDAR
    attribute = Attribute(
        name=name, kind=kind, resolution=resolution, resolution_source=source, bounds=bounds
    )
    if any(abs(bound) > WIDEST for bound in attribute.grid_bounds or ()):
        raise RequestError(
            f"bounds of '{name}'",
            "they would not fit 64 bits at this resolution",
            "declare tighter bounds or a coarser resolution",
        )
    return attribute


def _example(name: str, kind: Kind) -> str:
    if kind is Kind.DATE:
        pair = ("1900-01-01", "2020-12-31")
        return f"--bounds {name}={pair[0]}:{pair[1]} (bounds={{{name!r}: {pair}}})"
    return f"--bounds {name}=0:100000 (bounds={{{name!r}: (0, 100_000)}})"


def _categorical(name: str, request: Request) -> Attribute:
    if name not in request.bounds:
        raise RequestError(
            f"attribute '{name}'",
            f"{request.method.id} needs the list of categories that there are",
            f"add --bounds {name}=North:South (bounds={{{name!r}: ['North', 'South']}})",
        )
    categories = read_categories(name, request.bounds[name])
    return Attribute(
        name=name,
        kind=Kind.OTHER,
        resolution=Fraction(1),
        resolution_source=Source.TYPE,
        bounds=Bounds(
            lower=Fraction(0), upper=Fraction(len(categories) - 1), source=Source.DECLARED
        ),
        categories=categories,
    )


def _refuse_exact(parts: tuple[AttributePlan, ...], request: Request) -> None:
    if request.exact_cells == "allow" or not request.method.may_be_exact:
        return
    found = [part for part in parts if part.exact_cells]
    if not found:
        return
    told = ", ".join(
        f"'{part.attribute.name}' {part.exact_cells} of {part.n_cells}" for part in found
    )
    raise ExactCellsError(
        f"cells of {told}",
        "their clusters hold equal values, need no noise by the method's rule and would be "
        "published exactly as they are",
        "choose a larger k, another method, or allow it with exact_cells='allow' "
        "(--exact-cells allow)",
    )


def _guarantee(
    table: Table, request: Request, parts: tuple[AttributePlan, ...], choices: Choices
) -> Guarantee:
    method = request.method
    attributes = [part.attribute for part in parts]
    kept = tuple(name for name in table.names if name in request.keep)
    promise = method.promise(
        Setting(
            shares=tuple(
                (part.share or Fraction(0), max(1, table.n_records // request.k)) for part in parts
            ),
            spends_epsilon=all(part.share is not None for part in parts),
            choices=choices,
            bounds_from_data=any(
                a.bounds is not None and a.bounds.source is Source.DATA for a in attributes
            ),
            resolution_from_data=any(a.resolution_source is Source.DATA for a in attributes),
            keeps_missing=request.missing == "keep",
            shuffled=request.shuffle,
            keeps=bool(kept),
        )
    )
    seeded = request.seed is not None and (method.randomness is not None or request.shuffle)
    given = Circumstances(
        seeded=seeded,
        shuffled=request.shuffle,
        isotonic=request.isotonic,
        keeps_missing=request.missing == "keep",
        clamps=request.outside == "clamp" and any(a.bounds is not None for a in attributes),
        chosen_from_data=request.attributes is None,
        exact_cells=request.exact_cells if method.may_be_exact else None,
        randomness=method.randomness,
        spends_epsilon=promise.epsilon is not None,
        kept=kept,
    )
    nothing = Scope.none()
    return Guarantee(
        method=method.id,
        title=method.title,
        source=method.source,
        deed=method.deed.format(k=request.k),
        model=promise.model,
        epsilon=promise.epsilon,
        k=request.k if method.needs_k and "k" not in request.unused else None,
        n_records=table.n_records,
        scopes=Scopes(cluster=nothing, vector=nothing, row=nothing) if seeded else promise.scopes,
        attributes=tuple(AttributeTerms(attribute=p.attribute, share=p.share) for p in parts),
        randomness="seeded" if seeded else "os",
        kept=kept,
        notes=conditions(f"{method.id}, {method.title}", attributes, given, promise.caveats),
    )


def _notes(
    request: Request, parts: tuple[AttributePlan, ...], left_out: list[str]
) -> tuple[str, ...]:
    """Warnings for whoever publishes; they never refuse."""
    notes = []
    if request.matrix and request.epsilon is not None and "matrix" in request.method.offers:
        notes.append(
            "Attributes with a transition matrix of their own spend what it spends, beside the "
            "epsilon asked for: the guarantee holds the sum."
        )
    if request.unused:
        notes.append(f"{request.method.id} has no use for: {', '.join(request.unused)}.")
    if left_out:
        notes.append(f"Not released: {', '.join(left_out)}.")
    attributes = [part.attribute for part in parts]
    read = [a.name for a in attributes if a.bounds and a.bounds.source is Source.DATA]
    if read:
        notes.append(
            f"Bounds read from the data ({', '.join(read)}): the release shows them, and the "
            "people who hold the largest and smallest values are not protected."
        )
    if request.isotonic:
        notes.append(
            "Isotonic regression invites linkage: rows that follow individuals show every "
            "record's rank block, and an intruder who knows people's values can find far more "
            "of them. Use it to publish distributions."
        )
    exact = sum(part.exact_cells for part in parts)
    if exact:
        cells = sum(part.n_cells for part in parts)
        notes.append(f"{exact} of {cells} cells are published exactly as they are.")
    if request.seed is not None:
        notes.append("Noise from a seed protects nobody: do not publish this release.")
    return tuple(notes)
