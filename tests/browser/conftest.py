"""Chromium for the tests of the page: one for all, with fresh windows for each."""

import pytest

from steward import ARGUMENTS, Page, Program, chromium


@pytest.fixture(scope="session")
def browser():
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def start(tmp_path):
    """Start programs, and end them."""
    started = []

    def one(folder, *words):
        started.append(Program.start(folder, tmp_path / f"tmp-{len(started)}", *words))
        return started[-1]

    yield one
    for program in started:
        program.end()


@pytest.fixture
def opened(browser, start):
    """Open the page of a program of its own for a folder, in a browser of its own."""
    contexts = []

    def one(folder, **given):
        shown = Page(_context(folder, given).new_page())
        shown.page.goto(start(folder).opening)
        shown.page.wait_for_selector("header nav")
        return shown

    def _context(_folder, given):
        contexts.append(
            browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **given})
        )
        return contexts[-1]

    yield one
    for context in contexts:
        context.close()
