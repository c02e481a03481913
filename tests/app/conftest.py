"""Tables and work for tests of the app's pages."""

import pytest

from visited import PEOPLE, Instantly


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path


@pytest.fixture
def instantly(monkeypatch):
    """Do without processes where a test is about pages alone."""
    monkeypatch.setattr("microveil.app.pages.Works", Instantly)
