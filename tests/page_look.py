"""What a page looks like: pictures of it, and what keeps somebody from reading it."""

from pathlib import Path

__all__ = ["PICTURES", "look"]

PICTURES = Path(__file__).parents[1] / "build" / "pictures"
# 640 pixels are a window of 1280 at twice the size of letters.
WIDTHS = (1280, 640, 390)


def violations(page):
    """Return what axe finds, one line each."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


def look(shown, name):
    """Take pictures of a page, wide and narrow, light and dark; say what is wrong with it."""
    page, wrong = shown.page, []
    PICTURES.mkdir(parents=True, exist_ok=True)
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        wrong += [f"{name}, {colours}: {found}" for found in violations(page)]
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            wrong += [f"{name}: {wide} pixels wide in {width}"] if wide > width else []
            if width != 640:
                picture = PICTURES / f"{name}-{width}-{colours}.png"
                page.screenshot(path=picture, full_page=True)
        page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    return wrong
