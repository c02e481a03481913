"""The colours of pages and pictures, by what they are for: a set for light, dark and paper."""

__all__ = ["colour_rules"]

LIGHT = {
    "page": "#ffffff",
    "raised": "#f4f5f7",
    "text": "#1a1c1f",
    "quiet": "#52565c",
    "rule": "#84888e",
    "faint": "#dcdfe3",
    "link": "#0a5796",
    "warning": "#8a1c00",
    "focus": "#0a5796",
    "original": "#0072b2",
    "original-fill": "#b3d5e8",
    "protected": "#d55e00",
    "p1": "#e6f1f7",
    "p2": "#cce3f0",
    "p3": "#b3d5e8",
    "p4": "#99c7e1",
    "m1": "#faeee5",
    "m2": "#f7dfcc",
    "m3": "#f2ceb2",
    "m4": "#eebe99",
    "s0": "#0072b2",
    "s1": "#d55e00",
    "s2": "#007a5a",
    "s3": "#a8478a",
    "s4": "#8a6100",
    "s5": "#000099",
    "s6": "#9955ff",
    "s7": "#000000",
}
DARK = {
    "page": "#131518",
    "raised": "#1d2024",
    "text": "#e9e8e5",
    "quiet": "#b9bbbe",
    "rule": "#82878e",
    "faint": "#33373c",
    "link": "#7cc4f2",
    "warning": "#ffb59e",
    "focus": "#7cc4f2",
    "original": "#56b4e9",
    "original-fill": "#1f4a63",
    "protected": "#e69f00",
    "p1": "#1a2832",
    "p2": "#1f3a4c",
    "p3": "#264d66",
    "p4": "#2d607f",
    "m1": "#2b2313",
    "m2": "#443211",
    "m3": "#5c4210",
    "m4": "#74520c",
    "s0": "#56b4e9",
    "s1": "#e69f00",
    "s2": "#1fc497",
    "s3": "#d98cbc",
    "s4": "#f0e442",
    "s5": "#8855ff",
    "s6": "#cc2233",
    "s7": "#e9e8e5",
}
PAPER = LIGHT | {
    "raised": "#ffffff",
    "text": "#000000",
    "quiet": "#333333",
    "rule": "#666666",
    "faint": "#cccccc",
    "link": "#000000",
}


def colour_rules() -> str:
    """Return the rules by which a page has the colours of its reader's scheme."""
    return (
        f":root {{ color-scheme: light dark; {_declared(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_declared(DARK)} }} }}\n"
        f"@media print {{ :root {{ {_declared(PAPER)} }} }}\n"
    )


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
