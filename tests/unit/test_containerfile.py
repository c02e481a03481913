"""The container's description, read: no engine for containers is needed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def instructions():
    """Each instruction of the Containerfile with what it is given, lines joined."""
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line[:1] not in ("", "#")]
    return [(word, " ".join(given.split())) for word, given in lines]


def of(instructions, word):
    return [given for said, given in instructions if said == word]


def test_the_base_is_pinned_to_a_version_and_is_small(instructions):
    """Of both stages, to the patch release."""
    assert re.fullmatch(r"PYTHON=3\.\d+\.\d+", of(instructions, "ARG")[0])
    bases = {base.split(" AS ")[0] for base in of(instructions, "FROM")}
    assert bases == {"docker.io/library/python:${PYTHON}-slim-bookworm"}


def test_it_runs_as_a_user_who_is_not_root(instructions):
    """Said by number, so that an engine can see it, and after all that needs root."""
    user = ("USER", "1000:1000")
    assert user in instructions
    later = {word for word, _ in instructions[instructions.index(user) + 1 :]}
    assert later == {"WORKDIR", "ENTRYPOINT", "CMD"}


def test_it_installs_from_the_wheelhouse_and_asks_no_index(instructions):
    """With hashes; no other command of the build takes anything from a network."""
    runs = of(instructions, "RUN")
    installing = [run for run in runs if "pip install" in run]
    assert len(installing) == 1
    assert {"--no-index", "--require-hashes"} <= {*installing[0].split()}
    assert not re.search(r"\b(curl|wget|apt-get|ADD|https?:)\b", " ".join(runs))
    assert [c for c in of(instructions, "COPY") if "--from" not in c] == [
        "build/wheelhouse /wheelhouse"
    ]
    assert (ROOT / ".dockerignore").read_text().split() == ["*", "!build/wheelhouse"]
