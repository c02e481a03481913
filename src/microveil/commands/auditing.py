"""What a table's release would guarantee, and what error to expect of it, file by file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from microveil.audit.advice import Advice, advice_and_plan
from microveil.audit.empirical import EmpiricalAudit, empirical_audit
from microveil.audit.exact import audit
from microveil.commands.asking import asked_of, text_of_recipe
from microveil.commands.custodians import original_of, request_of
from microveil.errors import stands_alone
from microveil.files.labelled import labelled
from microveil.files.text import TextFormat
from microveil.protect.exact_audit import Audit, audit_of
from microveil.protect.plan import Plan
from microveil.protect.planning import plan_of
from microveil.protect.request import Advised
from microveil.protect.settling import settle

Progress = Callable[[str], None]


@stands_alone
def audit_file(
    path: str | Path,
    *,
    runs: int | None = None,
    progress: Progress = lambda _step: None,
    **arguments: Any,
) -> tuple[Audit, EmpiricalAudit | None]:
    """Audit what `protect_file` would release; with ``runs`` make the empirical audit too."""
    source, asked = asked_of(path, progress=progress, **arguments)
    progress("auditing")
    table = labelled(source)
    found = audit(table, **asked)
    if runs is None:
        return found, None
    progress("attacking")
    return found, empirical_audit(table, runs=runs, **asked)


@stands_alone
def audit_release(
    folder: str | Path,
    *,
    original: str | Path | None = None,
    runs: int | None = None,
    text: TextFormat | None = None,
    progress: Progress = lambda _step: None,
) -> tuple[Audit, EmpiricalAudit | None]:
    """Audit a release by its manifest; the original is by default beside it or here."""
    released_by = request_of(folder)
    path = original_of(folder, released_by) if original is None else original
    text = text_of_recipe(released_by.recipe, text)
    source, asked = asked_of(path, text=text, progress=progress, **released_by.asked)
    released_by.check_table(source.path, source.digest)
    progress("auditing")
    table = labelled(source)
    prepared = settle(table, asked)
    if prepared.whole is None and released_by.advised is not None:
        chosen = replace(prepared.request, advised=Advised(released_by.advised))
        prepared = prepared.for_request(chosen)
    planned = plan_of(prepared)
    released_by.check_claim(planned.guarantee)
    found = audit_of(planned)
    if runs is None:
        return found, None
    progress("attacking")
    return found, empirical_audit(table, runs=runs, **asked)


@stands_alone
def foresee_file(
    path: str | Path, *, progress: Progress = lambda _step: None, **arguments: Any
) -> tuple[Advice, Plan]:
    """Say what to expect of `protect_file`, and plan it: both depend on the data."""
    source, asked = asked_of(path, progress=progress, **arguments)
    progress("weighing")
    return advice_and_plan(labelled(source), asked)
