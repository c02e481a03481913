"""What a form of the page sent: text by field, as the page shows it again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from microveil.errors import MicroveilError

# Of a table of thousands of columns, each with its fields.
MOST_FIELDS = 100_000


@dataclass(frozen=True, slots=True)
class Form:
    """Text by field, without spaces around it; a field that was not sent is empty."""

    fields: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name, "").strip()

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def lines(self, name: str) -> list[str]:
        """Return the lines of a field that hold something."""
        return [line.strip() for line in self[name].splitlines() if line.strip()]


def read_form(body: bytes) -> Form:
    """Read the body of a form, of a field that is there twice the last."""
    pairs = parse_qsl(
        body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
    )
    return Form(dict(pairs))


class Errors:
    """Sentences of ours, each beside the field that it is about."""

    def __init__(self) -> None:
        self._sentences: dict[str, str] = {}

    def add(self, name: str, sentence: str) -> None:
        """Put a sentence beside a field: the first stays."""
        self._sentences.setdefault(name, sentence)

    @contextmanager
    def beside(self, name: str) -> Iterator[None]:
        """Catch what breaks a rule, and put its sentence beside a field."""
        try:
            yield
        except MicroveilError as error:
            self.add(name, f"{error}")

    def __getitem__(self, name: str) -> str:
        return self._sentences.get(name, "")

    def __iter__(self) -> Iterator[str]:
        return iter(self._sentences)

    def __len__(self) -> int:
        return len(self._sentences)
