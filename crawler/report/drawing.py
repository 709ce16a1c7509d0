"""The SVG elements from which charts are made."""

from __future__ import annotations

from crawler.report.markup import Content, Markup, element

WIDE, NARROW = 640, 330  # pixels
LETTER = 7.2  # approximate width of a letter


def svg_image(width: int, height: float, title: str, description: str, *content: Content) -> Markup:
    """Make an image with a title and a description for screen readers."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        content,
        class_="wide" if width == WIDE else "narrow",
        role="img",
        aria_label=f"{title}. {description}",
        viewBox=f"0 0 {width} {height:g}",
        width=width,
        height=f"{height:g}",
    )


def svg_text(x: float, y: float, text: str, anchor: str = "start", class_: str = "tick") -> Markup:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_)


def grid_line(x1: float, y1: float, x2: float, y2: float) -> Markup:
    return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_="grid")


def swatch(place: int, kind: str) -> Markup:
    """Make the sample of a series that a legend shows."""
    if kind == "line":
        shape = element("line", x1=0, y1=6, x2=24, y2=6, class_=f"line s{place}")
    else:
        shape = element("rect", x=0, y=1, width=24, height=10, class_=f"bar s{place}")
    return element("svg", shape, width=24, height=12, viewBox="0 0 24 12", aria_hidden="true")
