"""Drafts for tests: what a person would have come to by the page."""

from dataclasses import replace

from microveil.app.drafts import Drafts, Proposal

ENTRIES = {
    "AGE": {"role": "confidential", "type": "whole number"},
    "INCOME": {"role": "confidential", "type": "decimal", "resolution": 0.01},
    "BORN": {"role": "confidential", "type": "date"},
    "SEX": {"role": "quasi-identifier", "type": "text"},
    "ID": {"role": "identifier", "type": "whole number"},
}


def drafted(entries=ENTRIES, **recipe):
    """Return drafts, and one of a table whose columns are proposed and not declared."""
    drafts = Drafts()
    draft = drafts.new("people.csv")
    proposal = Proposal(
        kinds={name: entry["type"] for name, entry in entries.items()},
        entries=entries,
        remarks={},
        request={"missing": "error"},
        n_records=100,
    )

    def look(one):
        return replace(one.asking(**recipe), proposal=proposal)

    return drafts, drafts.note(draft.id, look)


def sent(entries=ENTRIES, **changed):
    """Return the fields of the columns as the page sends them, some of them changed."""
    fields = {}
    for number, entry in enumerate(entries.values()):
        for field in ("lower", "upper", "categories", "codes"):
            fields[f"{field}-{number}"] = ""
        fields[f"role-{number}"] = entry["role"]
        fields[f"type-{number}"] = entry["type"]
        fields[f"resolution-{number}"] = str(entry.get("resolution", ""))
    return {**fields, **{name.replace("_", "-"): value for name, value in changed.items()}}
