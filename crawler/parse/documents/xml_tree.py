"""Parse untrusted XML safely: no entities, no network, libxml2's default limits on depth."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from lxml import etree

from crawler.parse.documents.document import Problem

_ERROR = 2
_AT_THE_END = frozenset({"ERR_TAG_NOT_FINISHED", "ERR_DOCUMENT_END", "ERR_GT_REQUIRED", "ERR_LTSLASH_REQUIRED"})
_HARMLESS = frozenset({"ERR_UNDECLARED_ENTITY", "WAR_UNDECLARED_ENTITY", "NS_ERR_UNDEFINED_NAMESPACE"})
_SAFE = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "recover": True,
    "remove_comments": True,
    "remove_pis": True,
}


def parse_xml(data: bytes) -> Any:
    """Parse as much as possible and return the root element; None if nothing could be parsed."""
    return parse_xml_with_problem(data)[0]


def parse_xml_with_problem(data: bytes) -> tuple[Any, Problem]:
    """Like `parse_xml`, with the problem; undeclared entities are none, since entities are not resolved anyway."""
    parser = etree.XMLParser(**_SAFE)
    try:
        root = etree.fromstring(data, parser) if data.strip() else None
    except etree.XMLSyntaxError:
        root = None
    errors = {entry.type_name for entry in parser.error_log if entry.level >= _ERROR} - _HARMLESS
    if root is None:
        return None, Problem.CORRUPT
    return root, Problem.TRUNCATED if errors & _AT_THE_END else Problem.CORRUPT if errors else Problem.NONE


def iterate_elements(data: bytes, *names: str) -> Iterator[Any]:
    """Iterate over the elements of these local names and free each one afterwards, so memory stays small."""
    try:
        for _, element in etree.iterparse(BytesIO(data), ("end",), tag=[f"{{*}}{name}" for name in names], **_SAFE):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError:
        return


def local_name(element: Any) -> str:
    """The name of an element without its namespace; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """The value of an attribute by its local name, in any namespace; empty if missing."""
    value = element.get(name)
    if value is not None:
        return str(value)
    return next((str(value) for key, value in element.attrib.items() if key.endswith(f"}}{name}")), "")


def text_of(element: Any) -> str:
    """All text of an element and its descendants, without unresolved entities."""
    return "".join(element.itertext(etree.Element))


def first(element: Any, name: str) -> Any:
    """The first element of this local name in a subtree; None if there is none."""
    return next(element.iter(f"{{*}}{name}"), None) if element is not None else None
