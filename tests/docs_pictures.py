"""Pictures of the steps for the docs: light, 480 pixels wide, no longer than a reader scrolls."""

from page_look import PICTURES

__all__ = ["STEPS", "picture"]

# By the state of the way that a step is shown in.
STEPS = {
    "1-file": "file",
    "2-data": "data",
    "3-promise": "promise",
    "4-trade-off": "trade-off",
    "5-release": "release",
}
LONGEST = 1200
# Puts another folder in the place of the one that the tests made, in text alone.
RENAME = """([own, other]) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.data.includes(own)) node.data = node.data.replaceAll(own, other);
  }
}"""


def picture(page, state, folder):
    """Take the picture of a step, of whose folder a steward's stands there; others have none."""
    if state not in STEPS:
        return
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size({"width": 480, "height": 300})
    page.evaluate(RENAME, [f"{folder}", "/home/ada/people-of-2026"])
    height = page.evaluate("document.documentElement.scrollHeight")
    (PICTURES / "docs").mkdir(parents=True, exist_ok=True)
    page.screenshot(
        path=PICTURES / "docs" / f"{STEPS[state]}.png",
        full_page=True,
        clip={"x": 0, "y": 0, "width": 480, "height": min(height, LONGEST)},
    )
