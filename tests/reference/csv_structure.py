"""The structure of CSV text, told record by record and field by field (RFC 4180)."""

from dataclasses import dataclass, field

SEPARATE, DOUBLED, LINE_ENDS = b",", b'""', (b"\n", b"\r\n")


class BrokenRuleError(Exception):
    """A rule is broken at a byte of the text."""

    def __init__(self, code: str, place: int, found: int = 0) -> None:
        super().__init__(code, place, found)
        self.finding = (code, place, found)


@dataclass
class Structure:
    """What the text holds: its records' raw values, or the first broken rule."""

    records: list[list[bytes]] = field(default_factory=list)
    broken: tuple[str, int, int] | None = None


def structure(data: bytes, separator: bytes, n_fields: int) -> Structure:
    """Read all records; stop at the first broken rule."""
    result = Structure()
    try:
        _read(data, separator, n_fields, result)
    except BrokenRuleError as broken:
        result.broken = broken.finding
    return result


def _read(data: bytes, separator: bytes, n_fields: int, result: Structure) -> None:
    at, blank = 0, None
    while at < len(data):
        start = at
        if end := _line_end(data, at):
            blank = start if blank is None else blank
            at += end
            continue
        values = []
        while True:
            stop = _field_end(data, at, separator)
            values.append(data[at:stop])
            at = stop + 1
            if data[stop : stop + 1] != separator:
                break
        if blank is not None:
            raise BrokenRuleError("blank", blank)
        if n_fields and len(values) != n_fields:
            raise BrokenRuleError("ragged", start, len(values))
        result.records.append(values)
        at = stop + _line_end(data, stop)


def _line_end(data: bytes, at: int) -> int:
    """Length of the line end at ``at``; 0 where there is none."""
    return next((len(end) for end in LINE_ENDS if data.startswith(end, at)), 0)


def _field_end(data: bytes, at: int, separator: bytes) -> int:
    start, quoted = at, data.startswith(b'"', at)
    if quoted:
        at += 1
        while data[at : at + 1] != b'"' or data.startswith(DOUBLED, at):
            if at >= len(data):
                raise BrokenRuleError("unclosed", start)
            at += 2 if data.startswith(DOUBLED, at) else 1
        at += 1
    while at < len(data) and data[at : at + 1] != separator and not _line_end(data, at):
        if data.startswith(b"\r", at):
            raise BrokenRuleError("lone return", at)
        if quoted:
            raise BrokenRuleError("after quote", at)
        if data.startswith(b'"', at):
            raise BrokenRuleError("stray quote", at)
        at += 1
    return at
