"""Manifest: how a release was made, for its custodian."""

import datetime
import functools
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from microveil.errors import RequestError
from microveil.protect.plan import Plan

__all__ = ["Manifest"]

COMPONENTS = ("microveil", "numpy", "scipy", "numba", "polars", "narwhals", "cryptography")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """How a release was made: for its custodian, not for publication.

    Attributes
    ----------
    contents : dict or None
        None where it stayed with the custodian, as of a release that was pickled.
    """

    contents: Mapping[str, Any] | None

    def __repr__(self) -> str:
        """Name the manifest without its figures: notebooks print it."""
        if self.contents is None:
            return "Manifest(stayed with the custodian)"
        return f"Manifest({self.contents.get('method')}, {self.contents.get('n_records')} records)"

    @classmethod
    def of(
        cls, plan: Plan, found: Mapping[str, Any], custodian_notes: Sequence[str], **entries: Any
    ) -> "Manifest":
        """Describe a plan, what was found out about it and the software that carried it out."""
        return cls(
            contents={
                "schema": 1,
                "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "method": plan.guarantee.method,
                "parameters": dict(plan.parameters),
                "unused_parameters": list(plan.unused),
                "n_records": plan.table.n_records,
                "attributes": {part.attribute.name: part.to_dict() for part in plan.attributes},
                "guarantee": plan.guarantee.to_dict(),
                "notes": list(plan.notes),
                "custodian_notes": list(custodian_notes),
                **found,
                "versions": dict(_versions()),
                **entries,
            }
        )

    def with_entries(self, **entries: Any) -> "Manifest":
        """Return a manifest that says more."""
        return replace(self, contents={**self.to_dict(), **entries})

    @property
    def custodian_notes(self) -> tuple[str, ...]:
        """Warnings in words that depend on the data: for the custodian, not for logs."""
        return tuple(self.to_dict().get("custodian_notes", ()))

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as plain values.

        Raises
        ------
        RequestError
            If it stayed with the custodian.
        """
        if self.contents is None:
            raise RequestError(
                "manifest",
                "a release that was pickled is without its manifest, which stays with the "
                "custodian",
                "write or report the release in the process that made it, and pass on what may be "
                "published",
            )
        return dict(self.contents)


@functools.cache
def _versions() -> Mapping[str, str]:
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in COMPONENTS},
    }
