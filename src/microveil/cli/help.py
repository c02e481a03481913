"""How a command's help is laid out: its flags by what one wants to do, the commonest first."""

from typing import Any

from typer.core import TyperCommand

__all__ = ["GROUPS", "Command"]

# A command's own flags stand behind the commonest; what no group names is one of them.
OWN = "Options"
GROUPS = {
    "Most used": "output recipe epsilon delta k method scope attributes keep unit",
    OWN: "",
    "What columns hold": "bounds categories ordered resolution domains outside accept codebook "
    "budget bounds-from-data resolution-from-data",
    "Missing values": "missing never-missing missing-codes missing-values missing-reasons",
    "A new table (dp-synthetic)": "target structure rule n-records with-measurements",
    "Clusters and noise": "partition composition sensitivity blocks width every noise exact-cells "
    "isotonic max-rows unit-attributes",
    "The release": "overwrite format into public-report custodian-report findings linkage shuffle "
    "shuffle-columns escape-formulas show-values json",
    "Counting releases": "population ledger looked-at",
    "How a file of text is written": "separator decimal encoding dates thousands",
    "Where and how it runs": "memory spark scratch record-id engine seed",
}
_GROUP_OF = {f"--{name}": title for title, names in GROUPS.items() for name in names.split()}


class Command(TyperCommand):
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
