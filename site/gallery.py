"""A gallery of reports, made as the site is built: of invented people, by the released functions.

mkdocs calls the functions named on_*.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import microveil as mv
from microveil.report import comparison_report, custodian_report, publishable_report

PAGE = """# Gallery of reports

Reports of invented people, as `protect` and `compare` write them. Each was made anew when these
pages were built, by the call under its title. They open without a network.
"""
ENTRY = """
## [{title}](gallery/{name}.html)

```python
{call}
```

{said}
{picture}
"""


def _reports() -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield name, title, call, what to look at, picture and page of each."""
    people = mv.invented_people(3000, kind="survey")
    codes = {"HOUSEHOLD_INCOME": [99999998, 99999999]}
    columns = ["REGION", "AGE", "SEX", "MARITAL", "STATUS", "HOUSEHOLD_INCOME", "HEALTH"]
    drawn = mv.protect(
        people, epsilon=3, delta=1e-9, attributes=columns, missing="protect", missing_codes=codes
    )
    call = "mv.protect(people, epsilon=3, delta=1e-9, attributes=[...], missing_codes={...})"
    yield (
        *("survey", "A survey for the public", call),
        "For the custodian. The first screen says what is promised and what was kept.",
        "survey",
        custodian_report(drawn, people),
    )
    yield (
        *("survey-public", "The same survey, for its readers", call),
        "It shows the release and the guarantee, and nothing that depends on the original.",
        "",
        publishable_report(drawn),
    )
    grouped = mv.protect(
        people,
        method="mdav",
        k=5,
        unit="HOUSEHOLD",
        attributes=["AGE", "EDUCATION", "SEX"],
        categories={"SEX": ["female", "male"]},
        missing="protect",
        missing_codes={"EDUCATION": [-9, -8]},
    )
    yield (
        *("research-file", "k-anonymity for a research file"),
        'mv.protect(people, method="mdav", k=5, unit="HOUSEHOLD", attributes=[...])',
        "Rows follow people here, so the first screen says how many were re-identified.",
        "research-file",
        custodian_report(grouped, people),
    )
    found = mv.compare(
        mv.invented_people(500),
        methods=["laplace", "dp-um", "idp-cbls", "mdav"],
        k=[5, 20],
        epsilon=[0.5, 2],
        runs=3,
        attributes=["AGE"],
        bounds={"AGE": (16, 110)},
        exact_cells="allow",
    )
    yield (
        *("comparison", "A comparison of methods"),
        'mv.compare(people, methods=[...], k=[5, 20], epsilon=[0.5, 2], attributes=["AGE"], ...)',
        "The map shows loss against linkage, for each method, k and epsilon.",
        "",
        comparison_report(found),
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page and its reports."""
    made = partial(File.generated, config)
    text = PAGE
    for name, title, call, said, picture, page in _reports():
        shown = f"![The first screen of this report](pictures/{picture}.png)" if picture else ""
        told: dict[str, Any] = {"name": name, "title": title, "call": call, "said": said}
        text += ENTRY.format(**told, picture=f"\n{shown}" if shown else "")
        files.append(made(f"gallery/{name}.html", content=page))
    files.append(made("gallery.md", content=text))
    return files
