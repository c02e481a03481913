"""DDI Codebook 2.5: its variables, as text. https://ddialliance.org/ddi-codebook."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from microveil.errors import FileError
from microveil.schema import Kind

# Where an element keeps its line: no name of XML has a space.
_LINE = "line of it"
# A range of so many missing codes is taken apart.
MOST_CODES = 100


def variables_of_ddi(path: str, text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the variables of a codebook: line, name, and what is said of each, see `_declared`.

    A document type is refused: entities of its own could grow without end, or read files.
    """
    for one in _root(path, text).iter("var"):
        yield int(one.get(_LINE, "0")), one.get("name", ""), _said(one)


def _root(path: str, text: str) -> Element:
    parser, builder = expat.ParserCreate(namespace_separator="}"), TreeBuilder()

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = {_LINE: str(parser.CurrentLineNumber)}
        builder.start(tag.rpartition("}")[2], attributes | line)

    def end(tag: str) -> None:
        builder.end(tag.rpartition("}")[2])

    def refuse(*_type: Any) -> None:
        raise FileError(
            f"{path}, line {parser.CurrentLineNumber}",
            "it declares a document type, which may hold entities without end",
            "take out the declaration (<!DOCTYPE ...>)",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text.encode(), True)  # noqa: FBT003 -- its last part
    except expat.ExpatError as error:
        raise FileError(f"{path}, line {error.lineno}", "it is no XML", "correct it") from None
    return builder.close()


def _said(one: Element) -> dict[str, Any]:
    form, span = one.find("varFormat"), one.find("valrng/range")
    listed = [
        (each.get("missing") == "Y", _text(each, "catValu"), _text(each, "labl"))
        for each in one.findall("catgry")
    ]
    missing = {*_missing(one)}
    listed = [(is_missing or code in missing, code, label) for is_missing, code, label in listed]
    listed += [(True, code, "") for code in sorted(missing - {code for _, code, _ in listed})]
    valid = [code for is_missing, code, _ in listed if not is_missing]
    # Of a quantity, labels name a value or two, and its range is the domain.
    if span is not None and (one.get("intrvl") == "contin" or len(valid) < 2):
        listed = [entry for entry in listed if entry[0]]
        ends = span.get("min", ""), span.get("max", "")
    else:
        ends = "", ""
    decimals = int(one.get("dcml", "0")) if one.get("dcml", "0").isdecimal() else 0
    return {
        "label": _text(one, "labl") or None,
        "kind": Kind.OTHER if form is not None and form.get("type") == "character" else None,
        "ends": ends,
        "step": f"1/{10 ** min(decimals, 15)}" if decimals else "",
        "listed": listed,
        "is_ordered": one.get("nature") == "ordinal",
    }


def _missing(one: Element) -> Iterator[str]:
    """Yield the codes that a variable takes for missing values, those of short ranges too."""
    for item in one.findall("invalrng/item"):
        yield item.get("VALUE", "")
    for span in one.findall("invalrng/range"):
        try:
            first, last = int(span.get("min", "")), int(span.get("max", ""))
        except ValueError:
            yield from (span.get(end, "") for end in ("min", "max") if span.get(end))
            continue
        if last - first < MOST_CODES:
            yield from map(str, range(first, last + 1))
        else:
            yield f"{first} to {last}"  # no code of any kind: refused by its line


def _text(one: Element, tag: str) -> str:
    found = one.find(tag)
    return "" if found is None else " ".join("".join(found.itertext()).split())
