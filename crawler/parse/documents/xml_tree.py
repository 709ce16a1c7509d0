"""XML without its dangers: no entities, nothing fetched, no more depth than libxml2 allows by itself."""

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
    """The root element, of as much as can be read; None if that is nothing."""
    return parse_xml_with_problem(data)[0]


def parse_xml_with_problem(data: bytes) -> tuple[Any, Problem]:
    """Also what is wrong with it. That an entity means nothing is not: we would not have believed it anyway."""
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
    """The elements of these local names, one at a time, each forgotten afterwards: memory is not that of the tree."""
    try:
        for _, element in etree.iterparse(BytesIO(data), ("end",), tag=[f"{{*}}{name}" for name in names], **_SAFE):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError:
        return


def local_name(element: Any) -> str:
    """Its local name."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """By its local name, whatever the namespace."""
    value = element.get(name)
    if value is not None:
        return str(value)
    return next((str(value) for key, value in element.attrib.items() if key.endswith(f"}}{name}")), "")


def text_of(element: Any) -> str:
    """All of it, without entities."""
    return "".join(element.itertext(etree.Element))


def first(element: Any, name: str) -> Any:
    """The first element of this local name below; None if there is none."""
    return next(element.iter(f"{{*}}{name}"), None) if element is not None else None
