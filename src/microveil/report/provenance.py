"""How the release was made: parameters, versions and digests."""

import json
from typing import Any

from microveil.report.markup import Child, element, fragment
from microveil.report.sections import Section, Subject
from microveil.report.tables import definitions

__all__ = ["provenance_section"]


def provenance_section(subject: Subject) -> Section:
    """Tabulate what was asked for, with what software, on and into which files."""
    manifest = subject.manifest
    parameters = {
        name: value
        for name, value in manifest.get("parameters", {}).items()
        if value is not None and value not in ([], {})
    }
    unused = manifest.get("unused_parameters") or []
    versions = manifest.get("versions", {})
    return Section(
        identifier=subject.identify("provenance"),
        title="Parameters, versions, digests",
        body=fragment(
            definitions(
                "Parameters; those not listed were not given",
                ((name, _code(value)) for name, value in parameters.items()),
                heads=("parameter", "value"),
                identifier=subject.identify("parameters-table"),
            ),
            element("p", f"The method has no step for: {', '.join(unused)}.") if unused else None,
            definitions(
                "Files and their SHA-256 digests",
                _files(manifest),
                heads=("what", "value"),
                identifier=subject.identify("digests-table"),
            ),
            definitions(
                "Versions of the software",
                versions.items(),
                heads=("software", "version"),
                identifier=subject.identify("versions-table"),
            ),
        ),
    )


def _files(manifest: dict[str, Any]) -> list[tuple[Child, Child]]:
    rows: list[tuple[Child, Child]] = [
        ("made at (UTC)", str(manifest.get("created", "")).replace("T", " "))
    ]
    for entry, what, otherwise in (
        ("input", "original", "not a file"),
        ("output", "release", "in manifest.json, once the release is written"),
    ):
        file = manifest.get(entry)
        shown = fragment(file["name"], ", ", element("code", file["sha256"])) if file else otherwise
        rows.append((what, shown))
    return rows


def _code(value: object) -> Child:
    return element(
        "code", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    )
