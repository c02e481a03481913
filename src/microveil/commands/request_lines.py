"""What a proposed recipe asks for above its columns, and values as its TOML has them."""

import datetime
from collections.abc import Iterable, Mapping
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
