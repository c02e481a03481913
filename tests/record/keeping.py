"""The record as a file: a line for each case, written, read and compared."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from microveil.errors import MicroveilError
from record.canonical import digest, text_of

__all__ = ["Case", "Record", "Texts", "difference", "digests_of", "texts_of", "write_texts"]

# Their versions may change a help text, a stream of random numbers or the name of a type.
MADE_WITH = ("numpy", "scipy", "scikit-learn", "polars", "pandas", "pyarrow", "typer", "rich")
Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing the house does, and what it gives, part by part."""

    name: str
    parts: Callable[[], Mapping[str, Any]]

    def texts(self) -> dict[str, str]:
        """Return the text of each part; of what is refused the message.

        What the operating system would give as random is known: a release without a seed, the
        only one whose guarantee covers somebody, repeats too.
        """
        try:
            with patch("os.urandom", _known), patch("secrets.token_bytes", _known):
                return {name: text_of(part) for name, part in self.parts().items()}
        except MicroveilError as error:
            return {"refused": str(error)}


def _known(count: int) -> bytes:
    return hashlib.shake_256(b"the record").digest(count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the house did when it was last written down: digests by section, case and part.

    Messages of what is refused stand in full: they are read in a diff as they are.
    """

    made_with: Mapping[str, str]
    sections: Mapping[str, Mapping[str, Mapping[str, str]]]

    @classmethod
    def read(cls, path: Path) -> "Record":
        """Read a record; one that is not there yet is empty."""
        if not path.exists():
            return cls(made_with={}, sections={})
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def of(cls, sections: Mapping[str, Texts]) -> "Record":
        """Make a record of texts, with the versions of this process."""
        return cls(
            made_with={name: version(name) for name in MADE_WITH},
            sections={name: digests_of(texts) for name, texts in sections.items()},
        )

    def write(self, path: Path) -> None:
        """Write the record with a line for each case, so that a diff shows which changed."""
        lines = ["{", f'"made_with": {json.dumps(self.made_with)},', '"sections": {']
        for section, cases in self.sections.items():
            lines.append(f"{json.dumps(section)}: {{")
            lines += [
                f"  {json.dumps(name)}: {json.dumps(parts, ensure_ascii=False)},"
                for name, parts in cases.items()
            ]
            lines[-1] = lines[-1].removesuffix(",")
            lines.append("},")
        lines[-1] = "}"
        path.write_text("\n".join([*lines, "}", "}"]) + "\n", encoding="utf-8")


def texts_of(cases: Iterable[Case]) -> dict[str, dict[str, str]]:
    """Carry out cases.

    Raises
    ------
    ValueError
        If two have one name.
    """
    found: dict[str, dict[str, str]] = {}
    for case in cases:
        if case.name in found:
            raise ValueError(f"two cases are named {case.name}")
        found[case.name] = case.texts()
    return found


def digests_of(texts: Texts) -> dict[str, dict[str, str]]:
    """Return the digest of each part of each case."""
    return {
        name: {part: text if part == "refused" else digest(text) for part, text in parts.items()}
        for name, parts in texts.items()
    }


def difference(record: Record, section: str, texts: Texts, *, target: str = "record") -> str:
    """Say where a section departs from the record and how to look; empty where nowhere.

    The texts of the cases that differ are written to a folder of their own. ``target`` of make
    writes the record.
    """
    before, now = record.sections.get(section, {}), digests_of(texts)
    lines = []
    for name in sorted({*before, *now}):
        if name not in before:
            lines.append(f"{name}: not in the record")
        elif name not in now:
            lines.append(f"{name}: in the record, and no case any more")
        elif before[name] != now[name]:
            parts = [
                part
                for part in {**before[name], **now[name]}
                if before[name].get(part) != now[name].get(part)
            ]
            lines.append(f"{name}: {', '.join(parts)}")
    if not lines:
        return ""
    folder = Path(tempfile.mkdtemp(prefix="microveil-record-"))
    differing = {line.rpartition(": ")[0] for line in lines}
    write_texts({name: parts for name, parts in texts.items() if name in differing}, folder)
    return "\n".join(
        [
            f"{len(lines)} cases of '{section}' are not as the record has them:",
            *(f"  {line}" for line in lines),
            f"As they are now: {folder}",
            f"As they were: make {target} TEXTS=FOLDER, at the commit before.",
            f"Where that is meant: make {target}, and say so in the commit.",
            *_other_versions(record),
        ]
    )


def write_texts(texts: Texts, folder: Path) -> None:
    """Write each part of each case to a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, parts in texts.items():
        for part, text in parts.items():
            file = f"{name}, {part}.txt".replace("/", "_")
            (folder / file).write_text(text, encoding="utf-8")


def _other_versions(record: Record) -> list[str]:
    now = Record.of({}).made_with
    return [
        f"The record was made with {name} {record.made_with.get(name, '(none)')}, this is {here}: "
        "that alone may change help texts, types and random numbers."
        for name, here in now.items()
        if record.made_with.get(name) != here
    ]
