"""Write a record anew, or the texts that it is the digests of."""

import argparse
from pathlib import Path

from record.keeping import Record, texts_of, write_texts
from record.sections import HOUSE, PAPERS, RECORDS


def main() -> None:
    """Write record.json, or papers.json; with --texts the texts themselves, to look at."""
    parser = argparse.ArgumentParser(prog="python -m record", description=main.__doc__)
    parser.add_argument("--papers", action="store_true", help="the papers', in minutes")
    parser.add_argument("--texts", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    path = PAPERS if asked.papers else HOUSE
    sections = {name: texts_of(cases()) for name, cases in RECORDS[path].items()}
    if asked.texts is None:
        Record.of(sections).write(path)
        return
    for name, texts in sections.items():
        write_texts(texts, asked.texts / name)


main()
