"""What stands on the page for the words of recipes."""

from collections.abc import Mapping

ROLES: Mapping[str, str] = {
    "identifier": "leave out: names people",
    "quasi-identifier": "protect: known to others",
    "confidential": "protect: confidential",
    "weight": "leave out: survey weight",
    "non-confidential": "publish as it is",
}
KINDS: Mapping[str, str] = {
    "whole number": "whole numbers",
    "decimal": "decimals",
    "yes/no": "yes or no",
    "date": "dates",
    "text": "text",
}
MODELS: Mapping[str, str] = {
    "none": "nothing formal",
    "k-anonymity": "k-anonymity",
    "dp": "differential privacy",
    "idp": "individual differential privacy",
}
STRONG = (
    "The release would be almost as likely if a person's whole row were another one. This is the "
    "strongest promise."
)
WEAKER = (
    "Groups are formed anew for every table that is compared. Rows still follow people, and "
    "whoever knows a person may find them."
)
WEAKEST = (
    "Groups are taken as given. This is the least noise and the weakest promise: for use under a "
    "contract or in a safe room."
)
# What is covered: for a choice, what it means, and for a sentence.
SCOPES: Mapping[str, tuple[str, str, str]] = {
    "row": ("Everything: whole rows, all columns together", STRONG, "whole rows"),
    "vector": ("All values of a column, without rows", WEAKER, "values of columns without rows"),
    "cluster": ("The values that groups of people share", WEAKEST, "values that groups share"),
}
MISSING: Mapping[str, str] = {
    "": "As the method proposes",
    "error": "There are none: refuse the table if there are",
    "keep": "They stay empty, and everybody sees whose they are",
    "protect": "Protect them: having no value is a value like another",
}
# What words mean: docs/glossary.md says the same, by docs/made.py.
GLOSSARY: Mapping[str, str] = {
    "attribute": (
        "A column of the table. Identifiers and weights are left out of a release; what others "
        "know of a person (a quasi-identifier) and what is confidential is protected."
    ),
    "domain": (
        "The values an attribute can have: bounds or categories, declared as publicly known or "
        "learnt within the budget. Not the least and greatest value of the table."
    ),
    "resolution": "The step to which an attribute's values are rounded: 1, or 0.01 for cents.",
    "unit": (
        "All records with one value of a column, such as those of a household: protected "
        "together. Else a unit is a record."
    ),
    "epsilon": (
        "The budget: what one person's data can change in what is published, any probability by "
        "a factor of at most e^epsilon. What is spent on the same people adds up."
    ),
    "delta": (
        "By how much a probability may exceed what epsilon allows: a little for a new table, 0 "
        "for all other methods."
    ),
    "scope": (
        "What may be looked at. Row: the released rows. Vector: all values of each attribute, "
        "without knowing which row is whose. Cluster: the values of groups that are taken as "
        "given."
    ),
    "condition": (
        "What an epsilon takes as given or leaves out, the noise scales of this table for "
        "example. The guarantee lists every one."
    ),
    "k": "The least number of records that are represented together.",
    "guarantee": (
        "What a release promises: the model, epsilon, scopes and conditions. It holds nothing "
        "that depends on the data."
    ),
    "release": "The protected table with its guarantee.",
    "custodian": (
        "Whoever holds the original table and answers for its release. The custodian's folder "
        "holds what depends on the data and is not for publication."
    ),
    "recipe": (
        "A file that says what is to be done with a table of a certain form, so that every "
        "month's table is treated alike."
    ),
}
