"""The sections of the record, and the file that it is kept in."""

from pathlib import Path

from record import answers, commands, refusals, releases
from record.writing import Sections

__all__ = ["RECORD", "SECTIONS"]

RECORD = Path(__file__).with_name("record.json")
SECTIONS: Sections = {
    "releases": releases.cases,
    "refusals": refusals.cases,
    "answers": answers.cases,
    "commands": commands.cases,
}
