"""What several commands take, declared once: files, folders, and the flags of a request."""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from microveil.errors import RequestError
from microveil.files import titles
from microveil.files.text import text_format
from microveil.protect.arguments import DECLARED, arguments

Command = Callable[..., None]
# What a flag takes, as its help shows it.
METAVARS = {str: "TEXT", Path: "PATH", int: "N", float: "NUMBER", list: "A,B", dict: "NAME=X"}

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"A {titles()} file, its URL, or a table of PostgreSQL (docs/files.md), one row per "
        "person.",
    ),
]
Original = Annotated[str, typer.Argument(help="The table before.")]
Protected = Annotated[str, typer.Argument(help="The table after, or its folder.")]
Folder = Annotated[
    Path, typer.Option("-o", "--output", help="Folder for the release.", metavar="FOLDER")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Shuffled = Annotated[bool, typer.Option("--shuffled", help="Rows of the two do not correspond.")]


class Flag(NamedTuple):
    """A flag of a command."""

    name: str
    taken: Any
    words: str
    default: Any = None
    denied: bool = False  # whether it has a --no- of its own
    written: str = ""

    def parameter(self, words: str | None = None) -> inspect.Parameter:
        """Return it as a keyword argument of a command, where another help is better with that."""
        written = self.written or f"--{self.name.replace('_', '-')}"
        default = False if self.taken is bool and not self.denied else self.default
        if self.denied:
            written = f"{written}/--no-{written.removeprefix('--')}"
        kind: Any = list[str] if self.taken in (list, dict) else self.taken
        option = typer.Option(
            written,
            help=words or self.words,
            metavar=METAVARS.get(self.taken),
            show_default=not self.denied,
        )
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind | None if default is None else kind, option],
        )


def takes(
    name: str,
    flags: Sequence[Flag],
    read: Callable[..., Any] = dict,
    *,
    without: Collection[str] = (),
    helps: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Command], Command]:
    """Give a command flags in place of an argument, which gets what is read of them."""
    shared = [one.parameter(helps.get(one.name)) for one in flags if one.name not in without]

    def given(command: Command) -> Command:
        def run(**arguments: Any) -> None:
            chosen = {one.name: arguments.pop(one.name) for one in shared}
            # A flag that may be repeated is an empty list where it is not given.
            said = {n: None if value == [] else value for n, value in chosen.items()}
            command(**arguments, **{name: read(**said)})

        own = inspect.signature(command).parameters.values()
        listed = [one for p in own for one in (shared if p.name == name else [p])]
        keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in listed]
        run.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {}
        return run

    return given


TEXT = (
    Flag("separator", str, "Between fields: a comma unless said."),
    Flag("decimal", str, "The decimal mark: . or ,"),
    Flag("encoding", str, "UTF-8 unless said."),
    Flag("dates", str, "DMY reads 31.12.1990; else YYYY-MM-DD."),
    Flag("thousands", str, "What separates thousands: . , ' or a space."),
    Flag("header", int, "The line that names the columns: 1 unless said."),
)
RECIPE = Flag("recipe", Path, "A recipe; flags come before it.")
# What is read off a file, each shown behind what it spares a person to declare.
READ_OFF = {
    "categories": Flag("bounds_from_data", float, "Read bounds off the data, times this: a leak."),
    "resolution": Flag("resolution_from_data", bool, "Take the decimals seen in the data: a leak."),
}
CODES = tuple(Flag(name, list, DECLARED[name].help) for name in ("missing_codes", "missing_values"))
SAMPLE = Flag("sample", int, "Link so many; by default 10,000 of a large table.")
ANALYSES = (
    Flag("classes", str, "Learn the classes of this column: F-measures."),
    Flag("threshold", float, "Two classes of --classes: up to it, and above."),
    Flag("estimator", str, "A classifier of scikit-learn, by its full name."),
    Flag("formula", str, "A regression to fit twice: 'TAX ~ INCOME + AGE'."),
    Flag("logistic", bool, "Fit log odds of an outcome of 0 and 1."),
    Flag("propensity", bool, "See whether a model tells the tables apart."),
)


def with_text_and_analyses(**given: Any) -> dict[str, Any]:
    """Read how text is written as one argument, and the name of an estimator as what it names."""
    if any(one.name in given for one in TEXT):
        given["text"] = text_format(**{one.name: given.pop(one.name) for one in TEXT})
    if given.get("estimator") is not None:
        from microveil.measures.analyses import named_classifier

        given["estimator"] = named_classifier(given["estimator"])
    return given


def _request() -> Iterator[Flag]:
    """Go through the flags of a request, and of its file; a population is for `protect` alone."""
    yield RECIPE
    for argument in arguments().values():
        if argument.name != "population":
            for name, (taken, words) in argument.flags.items():
                yield Flag(name, taken, words, denied=taken is bool and name == argument.name)
        if argument.name in READ_OFF:
            yield READ_OFF[argument.name]
    yield from TEXT


def _of_many(
    *,
    shuffle: bool | None,
    shuffle_columns: bool | None,
    bounds_from_data: float | None,
    resolution_from_data: bool,
    rule: list[str] | None,
    **given: Any,
) -> dict[str, Any]:
    """Read the flags of a request as what the functions of `commands.files` take."""
    if shuffle_columns and shuffle is not None:
        why = "rows are shuffled with it, and cannot be otherwise"
        raise RequestError("--shuffle-columns", why, "leave out --shuffle and --no-shuffle")
    return {
        **with_text_and_analyses(**given),
        "shuffle": "columns" if shuffle_columns else shuffle,
        "bounds_alpha": bounds_from_data,
        "decimals_from_data": resolution_from_data,
        "rules": rule,
    }


def _of_one(*, k: str | None, **given: Any) -> dict[str, Any]:
    """Read the flags where one release is asked for: --k is no list then."""
    try:
        size = k if k is None or k == "auto" else int(k)
    except ValueError:
        rule, remedy = "k is a whole number or auto", "pass for example --k 10"
        raise RequestError("--k", rule, remedy) from None
    return _of_many(k=size, **given)


REQUEST = tuple(_request())
# Its commands get as the argument `request` how the file is read, and the arguments of `protect`,
# None where a flag was not given.
takes_request = takes("request", REQUEST, _of_one)
# The same for a command that proposes a recipe where no request is made.
takes_inspection = takes(
    "request",
    REQUEST,
    _of_one,
    helps={"scope": "Ask for what covers cluster, vector or row."},
)
# The same for a command that goes through methods, which it has a flag of its own for.
takes_requests = takes(
    "request",
    REQUEST,
    _of_many,
    without=("method",),
    helps={
        "k": "A list with ranges, 3,5,10:100:10.",
        "epsilon": "A list with ranges, 0.1,1:5:1.",
        "seed": "What is drawn; else a fresh one, recorded.",
    },
)

# A command's own flags stand behind the commonest; what no group names is one of them.
OWN = "Options"
GROUPS = {
    "Most used": "output recipe epsilon delta k method scope attributes keep unit",
    OWN: "",
    "Whose records they are": "max-rows unit-attributes",
    "What columns hold": "bounds categories ordered resolution domains outside accept codebook "
    "budget bounds-from-data resolution-from-data",
    "Missing values": "missing never-missing missing-codes missing-values missing-reasons",
    "A new table (dp-synthetic)": "target structure rule n-records with-measurements",
    "Clusters and noise": "partition composition sensitivity blocks width every noise exact-cells "
    "isotonic",
    "The release": "overwrite format into public-report custodian-report findings linkage shuffle "
    "shuffle-columns escape-formulas show-values json",
    "Counting releases": "population ledger looked-at",
    "How a file of text is written": "separator decimal encoding dates thousands header",
    "Where and how it runs": "memory spark scratch record-id engine seed",
}
_GROUP_OF = {f"--{name}": title for title, names in GROUPS.items() for name in names.split()}


class GroupedCommand(TyperCommand):
    """A command whose help has its flags in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and the flags group by group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{g: [] for g in GROUPS}}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None:
                is_flag = one.param_type_name == "option"
                own = (_GROUP_OF[word] for word in one.opts if word in _GROUP_OF)
                sections[next(own, OWN) if is_flag else "Arguments"].append(record)
        width = min(26, max(len(flags) for own in sections.values() for flags, _ in own))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    padded = [(flags.ljust(width), words) for flags, words in rows]
                    formatter.write_dl(padded, col_max=width)
