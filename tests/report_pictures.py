"""Pictures of reports for the docs: of the releases that the pages' own commands make.

``make pictures`` runs it. A picture is as wide as a phone's page, so that it is legible there.
"""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import microveil as mv
from docs_commands import COMMANDS, ROOT
from steward import ARGUMENTS, chromium

__all__ = ["main"]

# By picture: the page whose commands are run, and the report that they leave.
SHOWN = {
    "start": ("start.md", "demo/release-custodian/report.html"),
    "survey": ("tutorials/survey.md", "public-custodian/report.html"),
    "research-file": ("tutorials/research-file.md", "research-custodian/report.html"),
    "every-month": ("tutorials/every-month.md", "february-custodian/report.html"),
}
WIDTH = 480


def main() -> None:
    """Write all pictures into docs/pictures, or those that are named."""
    from playwright.sync_api import sync_playwright  # of the extra `browser`

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 800}, device_scale_factor=2)
        for name, (source, report) in SHOWN.items():
            if name not in (sys.argv[1:] or SHOWN):
                continue
            with tempfile.TemporaryDirectory() as folder:
                carried_out(ROOT / "docs" / source, Path(folder))
                page.goto(Path(folder, report).as_uri())
                page.wait_for_timeout(1000)
                height = page.locator("details").first.bounding_box()["y"]
                clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
                place = ROOT / "docs" / "pictures" / f"{name}.png"
                page.screenshot(path=place, full_page=True, clip=clip)
        browser.close()


def carried_out(page: Path, folder: Path) -> None:
    """Run the commands of a page in a folder, where invented people lie."""
    mv.invented_people(5000).write_csv(folder / "people.csv")
    programs = {"microveil": [sys.executable, "-m", "microveil"], "python": [sys.executable]}
    for command in COMMANDS[page]:
        program, *words = shlex.split(command)
        subprocess.run([*programs.get(program, [program]), *words], cwd=folder, check=True)


if __name__ == "__main__":
    main()
