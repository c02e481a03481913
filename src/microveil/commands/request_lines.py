"""What a proposed recipe asks for above its columns, and values as its TOML has them."""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from microveil.commands.coverage import coverage, refusal
from microveil.errors import RequestError
from microveil.guarantee import Scope
from microveil.methods import METHODS, Method
from microveil.protect.arguments import arguments
from microveil.protect.parts import AUTO

# What is proposed by scope where no method was named, beside epsilon; where no scope was, what
# covers most.
BY_SCOPE: Mapping[Scope, Mapping[str, Any]] = {
    Scope.CLUSTER: {"method": "idp-cbls", "k": 10},
    Scope.VECTOR: {"method": "idp-vector", "partition": "noise-aware", "k": 3},
    Scope.ROW: {"method": "dp-synthetic"},
}
# Of these alone all records of a person are protected together, whatever is covered.
OF_UNITS = {"method": "laplace"}
COMMENTS: Mapping[str, str] = {
    "scope": "what the epsilon must cover, or the request is refused",
    "k": "how many people share a value at least",
    "epsilon": "the budget: the smaller, the stronger the promise, and the larger the error",
    "delta": "the chance left to events that epsilon does not bound: stay far below 1/n,\n"
    "n the number of records. Take the line out for pure differential\n"
    "privacy (delta 0), which keeps less of the table.",
    "partition": 'or "ranking": clusters all of one size, whatever noise they need',
    "accept": "the file's code lists and missing codes are publicly known",
    "outside": 'or "clamp": move values outside the bounds to the nearer one',
    "exact_cells": "clusters of equal values are merged with their neighbours; or\n"
    '"refuse", or "allow": publish them as they are',
    "shuffle": 'or "rows"; "columns": each attribute by itself, in random order',
    "unit": "records with one value of this column are protected together",
    "max_rows": "how many records one unit has at most, as publicly known",
}
BY_METHOD: Mapping[str, str] = {
    "idp-cbls": "means of people alike, with the least noise: fitted to the clusters",
    "idp-vector": "means of people alike; one epsilon is shared out over all clusters",
    "dp-synthetic": "a new table, drawn from noisy counts: its rows are nobody's",
    "laplace": "each value with noise of its own",
    "mdav": "means of k people alike over all columns; no noise",
}
CLAMPED = 'move values outside the bounds to the nearer one; or "error": refuse,\n'
CLAMPED += "which shows that there are some"
MISSING: Mapping[str, str] = {
    "error": 'cells without a value are refused; or "{other}":\n{meaning}',
    "keep": 'missing cells stay missing; or "error": refuse them',
    "protect": 'having no value is a value like another; or "error": refuse it',
}
MEANINGS = {
    "keep": "they stay missing",
    "protect": "having no value is then a value like another",
}
FOLLOWS = """\
# Each row of the release follows a person, and row scope is not covered: protect prints how many
# are found again. microveil inspect --scope row proposes a new table, whose rows are nobody's.
"""
INDENT, GAP = 25, 27  # where comments stand


def method_asked(asked: Mapping[str, Any]) -> Method | None:
    """Return the method asked for, or the one proposed; None where advice chooses."""
    named = asked.get("method") or _proposed(asked)["method"]
    return None if named == AUTO else METHODS[named]


def _proposed(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    scope = Scope(asked.get("scope") or Scope.ROW)
    return OF_UNITS if asked.get("unit") is not None and scope != Scope.ROW else BY_SCOPE[scope]


def check_scope(asked: Mapping[str, Any], n_records: int) -> None:
    """Refuse a method that does not cover the scope that is asked for, and name those that do."""
    method, scope = asked.get("method"), asked.get("scope")
    if method is None or scope is None or method == AUTO:
        return
    why = refusal({**asked}, n_records)
    if why is not None:
        able = ", ".join(coverage({**asked, "method": None}, n_records)[Scope(scope)].methods)
        raise RequestError("scope", why, f"leave out --scope, or choose {able}")


def request_for(scope: Scope | None, **asked: Any) -> dict[str, Any]:
    """Return what a proposed recipe asks for at a scope, with what else is asked."""
    asked = {name: value for name, value in asked.items() if value is not None}
    if scope is not None:
        asked["scope"] = f"{scope}"
    own = arguments()
    flat = {n: v for n, v in asked.items() if n in own and not own[n].column}
    method = method_asked(asked)
    start = {"method": asked["method"]} if asked.get("method") else {**_proposed(asked)}
    found = {**start, **({} if method is None else _of_method(method)), **start, **flat}
    if not found.get("delta") or found.get("domains") == "declared":
        return found
    # Being missing is one more value that is learnt.
    return {**found, "missing": flat.get("missing", "protect")}


def _of_method(method: Method) -> dict[str, Any]:
    """Return what a method needs or has a step for, and a person is shown, at its default."""
    found: dict[str, Any] = {"k": 10} if "k" in method.needs else {}
    if "epsilon" in method.needs:
        found["epsilon"] = 1.0
    if "delta" in method.can:
        found["delta"] = 1e-9
    found["outside"] = "clamp" if "new table" in method.can else "error"
    found["missing"] = "error"
    if "exact cells" in method.can:
        found["exact_cells"] = "widen"
    if "isotonic" in method.can:
        found["isotonic"] = False
    if method.uses("shuffle"):
        found["shuffle"] = False
    return found


def request_lines(found: Mapping[str, Any], method: Method | None) -> Iterator[str]:
    """Yield the lines of what a recipe asks for, each with what it means."""
    scope = found.get("scope")
    if scope is not None and scope != Scope.ROW and (method is None or method.uses("shuffle")):
        yield from FOLLOWS.splitlines()
    order = ["method", "partition", "scope", *arguments(), "missing"]
    for name in sorted(found, key=order.index):
        yield from _line(f"{name} = {written(found[name])}", _comment(name, found, method))
    if method is not None and method.uses("target") and "target" not in found:
        comment = "the attribute that the others are to predict, if there is one"
        yield from _line('# target = "..."', comment)
    if "population" not in found:
        comment = "who the people are: a ledger then counts all releases of theirs"
        yield from _line('# population = "..."', comment)


def _comment(name: str, found: Mapping[str, Any], method: Method | None) -> str:
    value = found[name]
    if name == "method":
        return BY_METHOD.get(value, "")
    if name == "outside" and value == "clamp":
        return CLAMPED
    if name == "missing":
        other = "protect" if method is not None and "missing" in method.can else "keep"
        return MISSING[value].format(other=other, meaning=MEANINGS[other])
    if name == "partition" and value != "noise-aware":
        return ""
    return COMMENTS.get(name, "")


def _line(entry: str, comment: str) -> Iterator[str]:
    """Write an entry and its comment, over as many lines as that has."""
    first, *others = comment.split("\n")
    yield f"{entry:{INDENT - 1}} # {first}" if first else entry
    for line in others:
        yield f"{'':{INDENT}}# {line}"


def quoted(name: str) -> str:
    """Write a key of TOML: in quotes unless it is plain."""
    is_bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if is_bare else written(name)


def written(value: Any) -> str:
    """Write a value as TOML has it; what is not printable is escaped."""
    if isinstance(value, Mapping):
        entries = (f"{quoted(name)} = {written(part)}" for name, part in value.items())
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(map(written, value))}]"
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
        return f'"{plain}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return str(int(value) if value.denominator == 1 else float(value))
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
