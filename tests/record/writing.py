"""The command line of a record, this one or another: written anew, or as texts to look at."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from record.keeping import Case, Record, texts_of, write_texts

__all__ = ["Sections", "write_record"]

Sections = Mapping[str, Callable[[], Iterable[Case]]]


def write_record(path: Path, sections: Sections) -> None:
    """Write a record's file; with --texts the texts themselves, and the file stays as it is."""
    parser = argparse.ArgumentParser(description=write_record.__doc__)
    parser.add_argument("--texts", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    found = {name: texts_of(cases()) for name, cases in sections.items()}
    if asked.texts is None:
        Record.of(found).write(path)
        return
    for name, texts in found.items():
        write_texts(texts, asked.texts / name)
