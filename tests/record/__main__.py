"""Write the record anew, or the texts that it is the digests of."""

import argparse
from pathlib import Path

from record.keeping import Record, texts_of, write_texts
from record.sections import RECORD, SECTIONS


def main() -> None:
    """Write record.json; with --texts the texts themselves, to look at."""
    parser = argparse.ArgumentParser(prog="python -m record", description=main.__doc__)
    parser.add_argument("--texts", type=Path, metavar="FOLDER")
    folder = parser.parse_args().texts
    sections = {name: texts_of(cases()) for name, cases in SECTIONS.items()}
    if folder is None:
        Record.of(sections).write(RECORD)
        return
    for name, texts in sections.items():
        write_texts(texts, folder / name)


main()
