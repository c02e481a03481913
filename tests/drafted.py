"""Drafts for tests: what a person would have come to by the page."""

from dataclasses import replace

from microveil.app.drafts import Drafts, Proposal, Proposed

ENTRIES = {
    "AGE": {"role": "confidential", "type": "whole number"},
    "INCOME": {"role": "confidential", "type": "decimal"},
    "BORN": {"role": "confidential", "type": "date"},
    "SEX": {"role": "quasi-identifier", "type": "text"},
    "ID": {"role": "identifier", "type": "whole number"},
}


def drafted(entries=ENTRIES, **recipe):
    """Return drafts, and one of a table whose columns are proposed and not declared."""
    drafts = Drafts()
    draft = drafts.new("people.csv")
    proposal = Proposal(
        columns={name: Proposed(entry=entry) for name, entry in entries.items()},
        n_records=100_000,
    )

    def look(one):
        return replace(one.asking(**recipe), proposal=proposal)

    return drafts, drafts.note(draft.id, look)


def fields_of(column):
    """Return the fields of a column as a browser sends its form: lines in its own way."""
    fields = {name: said.replace("\n", "\r\n") for name, said in column.values.items() if said}
    return {"role": "", "type": "", "categories": "", "lower": "", "upper": ""} | fields
