"""A file of JSON lines, one a release, which only its owner may read; and what they add up to."""

import datetime
import hmac
import json
import os
import re
import secrets
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from microveil.errors import FileError, RequestError, refused_by_system, stands_alone
from microveil.files.disk import check_name, locked, written_whole
from microveil.guarantee import Guarantee, Model, Scope
from microveil.guarantee.budget import six_digits
from microveil.text import one_line, readable
from microveil.text.document import Items, plain

NAME = "microveil-ledger.jsonl"
HEAD = {"microveil": "ledger of releases", "schema": 1}
LONGEST_HEAD = 1000  # bytes; a first line is far shorter
PUBLISHED, CUSTODIANS = ("guarantee.json", "guarantee.md"), "manifest.json"  # of a release
SCOPES = tuple(scope.value for scope in Scope)
# What a line holds; one about the units of a table has "unit", too.
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "schema": int, "event": str, "time": str, "population": str, "folder": str, "method": str,
    "model": str, "seeded": bool, "budget": (dict, type(None)), "scopes": dict, "kept": int,
    "input": (str, type(None)),
}  # fmt: skip
LONGEST_SHOWN = 24  # a longer exact fraction is not shown beside its decimals


def _checked(line: bytes) -> dict[str, Any]:
    """Read a line; raise ValueError unless it is as a `Recording` makes them."""
    try:
        written = json.loads(line.decode())
        unit, scopes = written.get("unit", {"column": "", "max_rows": 1}), written["scopes"]
        spent = [one for one in (written["budget"], *scopes.values()) if one is not None]
        exact = [[Fraction(one[f"{name}_exact"]) for name in ("epsilon", "delta")] for one in spent]
        holds = (
            all(isinstance(written[name], kinds) for name, kinds in _KINDS.items()),
            written.keys() <= {*_KINDS, "unit"},
            (written["schema"], written["event"]) == (1, "announced"),
            written["model"] in {model.value for model in Model},
            scopes.keys() == set(SCOPES),
            # A negative one would take back what was spent.
            all(min(pair) >= 0 for pair in exact),
            spent == [_exactly(*pair) for pair in exact],
            unit == {"column": str(unit["column"]), "max_rows": int(unit["max_rows"])},
            unit["max_rows"] > 0,
        )
    except (AttributeError, KeyError, TypeError, ArithmeticError, RecursionError):
        raise ValueError from None
    if not all(holds):
        raise ValueError
    return dict(written)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """When a ledger was begun, the key of its digests, and the lines of its releases in order."""

    begun: str
    key: bytes = field(repr=False)
    lines: tuple[Mapping[str, Any], ...] = ()

    def digest(self, sha256: str | None) -> str | None:
        """Turn the digest of a file into one that says nothing without the key."""
        return sha256 and hmac.new(self.key, sha256.encode("ascii"), "sha256").hexdigest()

    def totals(self, population: str, *, sha256: str | None = None) -> dict[str, Any]:
        """Add up the releases of a population, in figures and words; count those of a file, too."""
        from microveil.text.templates import document_of

        ours = [line for line in self.lines if line["population"] == population]
        # By the model in force, those drawn from a seed apart.
        models = Counter("seed" if line["seeded"] else Model(line["model"]) for line in ours)
        units = [one_line(line["unit"]["column"]) for line in ours if "unit" in line]
        same = [
            line["population"] == population
            for line in self.lines
            if sha256 is not None and line["input"] == self.digest(sha256)
        ]
        found = {
            "population": population,
            "begun": self.begun,
            "n_releases": len(ours),
            "sums": {name: _sum_at(name, ours) for name in SCOPES},
            "n_differential_privacy": models[Model.DIFFERENTIAL_PRIVACY],
            "n_individual": models[Model.INDIVIDUAL],
            "n_k_anonymity": models[Model.K_ANONYMITY],
            "n_none": models[Model.NONE],
            "n_seeded": models["seed"],
            "n_with_kept_columns": sum(line["kept"] > 0 for line in ours),
            **({"n_of_units": len(units)} if units else {}),  # all records of a unit together
            "n_same_file": same.count(True),
            "n_same_file_elsewhere": same.count(False),  # under other populations
            "n_populations": len({line["population"] for line in self.lines}),
        }
        (told,) = document_of("ledger/totals.jinja", **found, units=units, figure=_figure).blocks
        assert isinstance(told, Items)  # noqa: S101 -- as the template has it
        return {**found, "in_words": [*map(plain, told.items)]}


def _sum_at(scope: str, lines: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up at a scope what is covered by differential privacy: sequential composition."""
    formal = [line for line in lines if line["model"] == Model.DIFFERENTIAL_PRIVACY.value]
    spent = [own for line in formal if not line["seeded"] and (own := line["scopes"][scope])]
    epsilon, delta = (
        sum((Fraction(one[f"{name}_exact"]) for one in spent), Fraction(0))
        for name in ("epsilon", "delta")
    )
    return {"n_releases": len(spent), **_exactly(epsilon, delta)}


def _exactly(epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    """Write an epsilon and a delta as numbers, and exactly as fractions in text."""
    return {
        "epsilon": float(epsilon),
        "epsilon_exact": str(epsilon),
        "delta": float(delta),
        "delta_exact": str(delta),
    }


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _figure(exact: str) -> str:
    """Write six digits, rounded up, and the fraction where they are not all of it."""
    shown = six_digits(Fraction(exact))
    is_all = Fraction(shown) == Fraction(exact) or len(exact) > LONGEST_SHOWN
    return shown if is_all else f"{shown} (exactly {exact})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A release on its way into the ledger at a place; `sha256` is that of its file."""

    place: Path
    guarantee: Guarantee
    population: str
    folder: str
    sha256: str | None

    def expected(self) -> dict[str, Any]:
        """Return what the population's releases come to once this one is among them."""
        before = _found(self.place)
        ledger = _parsed(_begun() if before is None else before, self.place)
        ledger = replace(ledger, lines=(*ledger.lines, self._line(ledger)))
        return ledger.totals(self.population, sha256=self.sha256)

    def announce(self) -> str:
        """Bring the line to the disk; return what an error from now on has to say of it.

        A whole file takes the ledger's place: a process that is killed leaves it as it was.
        """
        place = self.place
        try:
            with locked(place.with_name(f".{place.name}.lock"), wait=True):
                before = _found(place)
                contents = _begun() if before is None else before
                line = _written(self._line(_parsed(contents, place)))

                def write(part: Path) -> None:
                    # An editor may have taken the last end of line.
                    part.write_bytes(contents.removesuffix(b"\n") + b"\n" + line)
                    if _found(place) != before:
                        rule = "the ledger was replaced meanwhile"
                        raise FileError(f"{place}", rule, "run it again")

                written_whole(place, write, private=True)
        except OSError as error:
            raise _refused(place, error) from None
        return f"the release's line is in the ledger {place} already, which counts it all the same"

    def _line(self, ledger: Ledger) -> dict[str, Any]:
        """Make the line of a release that is about to appear; a seed protects nobody."""
        promised = self.guarantee
        seeded = promised.randomness == "seeded"
        # Clusters count records, whose epsilons do not add up to a unit's.
        of_unit = promised.unit.column is not None and not promised.has_clusters

        def spent(epsilon: Fraction | None, delta: Fraction) -> dict[str, Any] | None:
            return None if seeded or epsilon is None else _exactly(epsilon, delta)

        return {
            "schema": 1,
            "event": "announced",  # it counts, whether or not the release did appear
            "time": _now(),
            "population": self.population,
            "folder": readable(self.folder),
            "method": promised.method,
            "model": (Model.NONE if seeded else promised.model).value,
            "seeded": seeded,
            "budget": spent(promised.epsilon, promised.delta),
            "scopes": {
                scope.value: spent(cover.exact_epsilon, cover.exact_delta)
                for scope, cover in promised.scopes.by_scope.items()
            },
            "kept": len(promised.kept),
            "input": ledger.digest(self.sha256),
            **({"unit": asdict(promised.unit)} if of_unit else {}),
        }


@stands_alone
def ledger_place(
    folder: str | Path, population: str | None, ledger: str | Path | None = None
) -> Path | None:
    """Say which file a release is recorded in, if any, and refuse one that cannot be used."""
    if population is None:
        if ledger is None:
            return None
        rule = "it counts the releases of a population, and none is named"
        remedy = "name it: population='...' (--population NAME), or leave the ledger out"
        raise RequestError("ledger", rule, remedy)
    public = Path(os.path.abspath(folder))  # noqa: PTH100 - a link is refused, not followed
    place = Path(os.path.abspath(ledger or public.with_name(NAME)))  # noqa: PTH100
    check_name(place)
    _check_outside(place, public)
    if os.path.lexists(place):
        read_ledger(place)
    elif not (os.path.isdir(place.parent) and os.access(place.parent, os.W_OK | os.X_OK)):  # noqa: PTH112 -- never raises
        rule = "the folder around a ledger must exist and be writable for you"
        raise FileError(f"{place}", rule, "make the folder, or name another file with --ledger")
    return place


@stands_alone
def read_ledger(place: str | Path) -> Ledger:
    """Read a ledger, which only its owner can read, and each line of which is as it was written."""
    try:
        return _parsed(_contents(Path(place)), Path(place))
    except OSError as error:
        raise _refused(place, error) from None


def _parsed(contents: bytes, place: Path) -> Ledger:
    """Read contents; refuse a line that cannot be read, whose release would not be counted."""
    first, *lines = contents.removesuffix(b"\n").split(b"\n")
    head = _head(first, place)
    rule = "each line must be as microveil wrote it, and this one is not"
    remedy = "restore it from a copy: a line that cannot be read is a release that is not counted"
    if not re.fullmatch(r"[0-9a-f]{64}", f"{head.get('key')}"):
        raise FileError(f"{place}, line 1", rule, remedy)
    found = []
    for number, line in enumerate(lines, start=2):
        try:
            found.append(_checked(line))
        except ValueError:
            if number > len(lines) and not contents.endswith(b"\n"):
                rule = (
                    "the last line must be whole, and it is cut short, as when a process is killed "
                    "while it writes it, before its release appears"
                )
                remedy = "remove what is left of it if no release came of it, else restore it"
            raise FileError(f"{place}, line {number}", rule, remedy) from None
    return Ledger(begun=f"{head['begun']}", key=bytes.fromhex(head["key"]), lines=tuple(found))


def _head(line: bytes, place: Path) -> dict[str, Any]:
    """Read the first line of a ledger; refuse another file's."""
    try:
        head = dict(json.loads(line[:LONGEST_HEAD].decode()))
        is_ours = head["microveil"] == HEAD["microveil"] and {"schema", "begun"} <= head.keys()
    except (ValueError, TypeError, KeyError, RecursionError):
        is_ours = False
    if not is_ours:
        rule = "it must be a ledger of releases that microveil began, and it is something else"
        remedy = "name another file with --ledger, or restore the ledger from a copy"
        raise FileError(f"{place}", rule, remedy)
    if head["schema"] != HEAD["schema"]:
        rule = "it was written by a version of microveil that this one does not know"
        raise FileError(f"{place}", rule, "use a newer version")
    return head


def _written(line: dict[str, Any]) -> bytes:
    return f"{json.dumps(line, ensure_ascii=False)}\n".encode()


def _check_outside(place: Path, public: Path) -> None:
    """Refuse a place within a release, where it would be published, or replaced with it."""
    spot, home = (Path(os.path.realpath(path.parent), path.name) for path in (place, public))
    targets = (home, home.with_name(f"{home.name}-custodian"))
    for around in (spot, *spot.parents):
        published = all(os.path.isfile(around / name) for name in PUBLISHED)  # noqa: PTH113 -- never raises
        replaced = around.name.endswith("-custodian") and os.path.isfile(around / CUSTODIANS)  # noqa: PTH113
        if published or replaced or any(_same(around, target) for target in targets):
            rule = (
                "a ledger must not lie within the folders of a release: it would be published, "
                "or be lost when the release is replaced"
            )
            raise FileError(f"{place}", rule, "name a file beside them with --ledger")


def _same(path: Path, other: Path) -> bool:
    with suppress(OSError):
        return path.samefile(other)
    return path == other


def _begun() -> bytes:
    """Begin a ledger, with a key from the operating system."""
    return _written({**HEAD, "begun": _now(), "key": secrets.token_hex(32)})


def _found(place: Path) -> bytes | None:
    return _contents(place) if os.path.lexists(place) else None


def _contents(place: Path) -> bytes:
    """Read all of a ledger; of another file, however large, only what shows that it is none."""
    mode = place.lstat().st_mode
    if stat.S_ISLNK(mode):
        rule = "a ledger must be a file itself, and this is a link"
        raise FileError(f"{place}", rule, "name the file that it leads to")
    if not stat.S_ISREG(mode):
        rule = "a ledger is a file, and this is something else"
        raise FileError(f"{place}", rule, "name another file with --ledger")
    if mode & 0o077 and os.name == "posix":  # elsewhere the folder's rights hold
        rule = "nobody but its owner may be able to read or write a ledger, and others are"
        raise FileError(f"{place}", rule, f"chmod 600 {place}, if nobody has changed it")
    with place.open("r+b") as file:  # it is to be writable, too
        head = file.readline(LONGEST_HEAD)
        return head + (file.read() if head.endswith(b"\n") else b"")


def _refused(place: str | Path, error: OSError) -> FileError:
    rule = "the ledger must be readable and writable for you"
    remedy = "check its path, its rights and the space left"
    return refused_by_system(place, rule, error, remedy)
