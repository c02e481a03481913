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
