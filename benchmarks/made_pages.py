"""Pages made of nonsense, for learning what labelled pages show too seldom.

The labelled pages hold few lists of jobs, tables of data, and comments below short articles, and their labels do not
agree about them. So we also learn from pages whose parts are known because we put them there: words are random, what
stands around them is built as content management systems do it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

from benchmarks.made_text import MadeText, is_han

T = TypeVar("T")
_PARAGRAPH: Final = re.compile(r"<p\b[^>]*>(.*?)</p\s*>", re.IGNORECASE | re.DOTALL)
_NAMED: Final = re.compile(r"(?:class|id)=(?:'[^']*'|[\w-]+)")
_TAG: Final = re.compile(r"<[^>]*>")
_KNOWN_BY: Final = 40  # first characters of a paragraph by which it is found in a text
_END_OF_CONTENT: Final = re.compile(r"</(?:article|main)\s*>|<footer\b|</body\s*>", re.IGNORECASE)
_BEGIN_OF_BODY: Final = re.compile(r"<body\b[^>]*>", re.IGNORECASE)


@dataclass(kw_only=True)
class MadePage:
    """A page, and the texts of those of its blocks that are known to be content, or not to be."""

    html: str = ""
    content: set[str] = field(default_factory=set)
    other: set[str] = field(default_factory=set)


def put_into(html: str, text: str, *, is_product: bool, seed: str) -> MadePage:
    """Put parts into a page whose main text is known."""
    maker = PageMaker(seed, text)
    return maker.into_product(html, text) if is_product else maker.into_article(html)


def _beginning(markup: str) -> str:
    """Return the beginning of a paragraph; a text that is nowhere if there is little of it."""
    text = " ".join(_TAG.sub(" ", markup).split())
    return text[:_KNOWN_BY] if len(text) >= _KNOWN_BY else "\0"


class PageMaker:
    """Makes pages; the same ones for the same seed."""

    def __init__(self, seed: str, text: str = "") -> None:
        self._random = Random(seed)
        self._text = MadeText(self._random, is_han=is_han(text) if text else self._chance(0.3))
        self.page = MadePage()

    # ── Pages ──

    def whole_page(self) -> MadePage:
        """Make a page of one kind with what stands around it."""
        make = self._one_of((self._article, self._article, self._product, self._list, self._thread, self._notice))
        title = self._text.title()
        main = make(title)
        wrapper = self._one_of(
            ("<main>{}</main>", "<div id=content>{}</div>", "<div class=wrapper><div class=main>{}</div></div>", "{}")
        )
        parts = [self._header(), wrapper.format(main)]
        if make == self._article or self._chance(0.3):
            parts += self._some((self._related, 0.5), (self._sidebar, 0.4), (self._dialog, 0.3))
        parts += [self._footer(), *self._some((self._dialog, 0.1))]
        parts[:0] = self._some((self._dialog, 0.3), (self._advertisement, 0.2))
        html = f"<html><head><title>{title}</title></head><body>{''.join(parts)}</body></html>"
        self.page.html = self._with_other_names(html) if self._chance(0.15) else html
        return self.page

    def into_article(self, html: str) -> MadePage:
        """Put comments, links to other articles, dialogs and advertisements into the page of an article."""
        ends = list(_END_OF_CONTENT.finditer(html))
        if ends:
            at = ends[-1].start() if self._chance(0.3) else ends[0].start()
            added = self._some((self._comments, 0.7), (self._related, 0.5), (self._dialog, 0.1))
            html = html[:at] + "".join(added) + html[at:]
        if (body := _BEGIN_OF_BODY.search(html)) is not None:
            added = self._some((self._dialog, 0.3), (self._advertisement, 0.2))
            html = html[: body.end()] + "".join(added) + html[body.end() :]
        self.page.html = html
        return self.page

    def into_product(self, html: str, text: str) -> MadePage:
        """Put a table of data behind one of the last paragraphs of the content."""
        places = [found.end() for found in _PARAGRAPH.finditer(html) if _beginning(found[1]) in text]
        if places:
            at = self._one_of(places[-3:])
            html = html[:at] + self._data() + html[at:]
        self.page.html = html
        return self.page

    # ── What a page is about ──

    def _article(self, title: str) -> str:
        blocks = [self._content(self._text.paragraph(), "p") for _ in range(self._one_of((2, 3, 4, 5, 8, 12, 20)))]
        for _ in range(len(blocks) // 4):
            extra = self._one_of((self._heading, self._code, self._points, self._banner))
            blocks.insert(self._random.randrange(1, len(blocks)), extra())
        body = self._one_of(
            (
                "<div class=entry-content>{}</div>",
                "<div class=article-body>{}</div>",
                "{}",
                "<section>{}</section>",
                "<div class=post-body>{}</div>",
            )
        ).format("".join(blocks))
        heading = self._one_of((f"<h1>{title}</h1>", f"<h2>{title}</h2>", f"<header><h1>{title}</h1></header>"))
        byline = f"<p class=byline>{self._text.name()}, {self._text.date()}</p>" if self._chance(0.5) else ""
        article = heading + byline + body
        comments = self._comments() if self._chance(0.6) else ""
        related = self._related() if self._chance(0.3) else ""
        inside = self._chance(0.5)
        wrapper = self._one_of(("<article>{}</article>", "<div class=post>{}</div>", "{}"))
        if inside:
            return wrapper.format(article + related + comments)
        return wrapper.format(article) + related + comments

    def _product(self, title: str) -> str:
        text = "".join(self._content(self._text.paragraph(), "p") for _ in range(self._one_of((1, 1, 2, 3))))
        description = self._one_of(("<div class=description>{}</div>", "{}", "<section><h2>About</h2>{}</section>"))
        parts = [description.format(text), self._data() if self._chance(0.85) else ""]
        if self._chance(0.3):
            parts.reverse()
        price = f"<p class=price>{self._text.price()}</p>"
        button = self._one_of(
            ("", f"<button>{self._text.words(2)}</button>", f"<a class=button href=/c>{self._text.words(2)}</a>")
        )
        wrapper = self._one_of(("<div class=product>{}</div>", "<div class=product-page>{}</div>", "{}"))
        return wrapper.format(f"{self._content(title, 'h1')}{price}{button}{''.join(parts)}")

    def _list(self, title: str) -> str:
        container, item = self._one_of(
            (
                ("<ul class=jobs>{}</ul>", "<li class=job>{}</li>"),
                ("<ul>{}</ul>", "<li>{}</li>"),
                ("<div class=list>{}</div>", "<div class=list-item>{}</div>"),
                ("<section class=listing>{}</section>", "<article class=card>{}</article>"),
                ("<div class=grid>{}</div>", "<div class=card>{}</div>"),
                ("<div class=results>{}</div>", "<div class=result>{}</div>"),
                ("<table class=items>{}</table>", "<tr>{}</tr>"),
                ("<ol>{}</ol>", "<li>{}</li>"),
            )
        )
        number = self._one_of((4, 6, 8, 12, 20, 40))
        name = self._one_of(("h2", "h3", "", "", "strong"))
        is_table = "<tr>" in item
        has_excerpt, has_place = self._chance(0.3), self._chance(0.7)
        rows = []
        for place in range(number):
            linked = self._text.title() if self._chance(0.7) else self._text.words(self._random.randint(1, 3))
            link = f"<a href='/item/{place}'>{linked}</a>"
            cells = [self._content(linked, name, link)]
            if has_place:
                cells.append(self._content(f"{self._text.words(1)} · {self._text.date()}", self._one_of(("p", "div"))))
            if has_excerpt:
                cells.append(self._content(self._text.sentence(), "p"))
            if is_table:
                rows.append(item.format("".join(f"<td>{cell}</td>" for cell in cells)))
            else:
                rows.append(item.format("".join(cells)))
        return self._content(title, "h1") + container.format("".join(rows))

    def _thread(self, title: str) -> str:
        container, post = self._one_of(
            (
                (
                    "<div class=thread>{}</div>",
                    "<div class=post><div class=author>{}</div><div class=message>{}</div></div>",
                ),
                (
                    "<div id=posts>{}</div>",
                    "<article class=post><header>{}</header><div class=post-content>{}</div></article>",
                ),
                ("<table class=forum>{}</table>", "<tr><td class=user>{}</td><td class=postbody>{}</td></tr>"),
                (
                    "<ol class=message-list>{}</ol>",
                    "<li class=message><div class=user>{}</div><div class=text>{}</div></li>",
                ),
                ("<div class=topic>{}</div>", "<div class=reply><span class=name>{}</span>{}</div>"),
                ("<div class=replies>{}</div>", "<div class=reply-body><b>{}</b>{}</div>"),
            )
        )
        posts = []
        for _ in range(self._one_of((3, 5, 8, 15, 25))):
            said = "".join(self._content(self._text.paragraph(), "p") for _ in range(self._one_of((1, 1, 1, 2, 3))))
            posts.append(post.format(f"{self._text.name()} {self._text.date()}", said))
        question = title + ("?" if self._chance(0.5) else "")
        return self._content(question, "h1") + container.format("".join(posts))

    def _notice(self, title: str) -> str:
        text = "".join(self._content(self._text.paragraph(), "p") for _ in range(self._one_of((1, 1, 2))))
        heading = f"<h1>{title}</h1>" if self._chance(0.5) else ""
        return heading + self._one_of(("<div class=content>{}</div>", "{}", "<section>{}</section>")).format(text)

    # ── Its parts ──

    def _heading(self) -> str:
        return self._content(self._text.title(), self._one_of(("h2", "h3")))

    def _code(self) -> str:
        lines = [f"{self._text.words(1)} = {self._text.words(1)}({self._random.randrange(100)})" for _ in range(4)]
        code = self._one_of(("<code>{}</code>", "{}")).format("\n".join(lines))
        return self._content("\n".join(lines), "pre", code)

    def _points(self) -> str:
        points = (self._content(self._text.sentence(), "li") for _ in range(self._random.randint(2, 6)))
        return f"<ul>{''.join(points)}</ul>"

    def _data(self) -> str:
        """Return a table of names and values, which is content."""
        container, row = self._one_of(
            (
                ("<table class=specifications>{}</table>", ("<tr>", "th", "td", "</tr>")),
                ("<table>{}</table>", ("<tr>", "th", "td", "</tr>")),
                ("<table class=data><tbody>{}</tbody></table>", ("<tr>", "td", "td", "</tr>")),
                ("<table class=attributes>{}</table>", ("<tr>", "td", "td", "</tr>")),
                ("<dl class=specs>{}</dl>", ("", "dt", "dd", "")),
                ("<dl>{}</dl>", ("", "dt", "dd", "")),
            )
        )
        rows = []
        for _ in range(self._one_of((3, 5, 8, 12))):
            name = self._text.words(self._random.randint(1, 2)).capitalize()
            value = self._one_of(
                (
                    f"{self._random.randrange(1, 999)} {self._text.words(1)[:2]}",
                    self._text.words(self._random.randint(1, 3)),
                )
            )
            rows.append(row[0] + self._content(name, row[1]) + self._content(value, row[2]) + row[3])
        heading = self._content(self._text.words(1).capitalize(), "h2") if self._chance(0.4) else ""
        section = self._one_of(("{}", "<section>{}</section>", "<div class=details>{}</div>"))
        return section.format(heading + container.format("".join(rows)))

    # ── What stands around ──

    def _comments(self) -> str:
        container, comment = self._one_of(
            (
                (
                    "<section id=comments><ol class=comment-list>{}</ol></section>",
                    "<li class=comment><p class=author>{}</p>{}</li>",
                ),
                (
                    "<div class=comments><h2>Comments</h2>{}</div>",
                    "<div class=comment><span class=author>{}</span><div class=comment-body>{}</div></div>",
                ),
                (
                    "<div id=comments class=comments-area>{}</div>",
                    "<article class=comment><footer>{}</footer><div class=comment-content>{}</div></article>",
                ),
                ("<div id=disqus_thread>{}</div>", "<div class=comment><b>{}</b>{}</div>"),
                ("<section class=reader-comments>{}</section>", "<div class=comment-item><cite>{}</cite>{}</div>"),
                ("<div id=kommentare>{}</div>", "<div class=kommentar><p class=name>{}</p>{}</div>"),
                ("<ul class=commentlist>{}</ul>", "<li><div class=comment-author>{}</div>{}</li>"),
                ("<dl class=comments>{}</dl>", "<dt>{}</dt><dd>{}</dd>"),
                ("<table class=comments>{}</table>", "<tr><td>{}</td><td>{}</td></tr>"),
                ("<section class=responses>{}</section>", "<div class=response><p>{}</p><div>{}</div></div>"),
            )
        )
        said = []
        for _ in range(self._one_of((1, 2, 3, 5, 8, 15))):
            text = "".join(self._other(self._text.paragraph(), "p") for _ in range(self._one_of((1, 1, 1, 2))))
            author = self._text.name()
            self.page.other.add(author)
            said.append(comment.format(author, text))
        return container.format("".join(said))

    def _related(self) -> str:
        container = self._one_of(
            (
                "<aside class=related-posts><h2>Related</h2><ul>{}</ul></aside>",
                "<div class=related><h3>More</h3><ul>{}</ul></div>",
                "<section class=recommended><ul>{}</ul></section>",
                "<div class=read-more><ul>{}</ul></div>",
                "<ul class=teasers>{}</ul>",
                "<div class=latest-news><ul>{}</ul></div>",
                "<nav class=related-articles><ul>{}</ul></nav>",
                "<section class=you-may-also-like><ul>{}</ul></section>",
                "<section><div>{}</div></section>",
            )
        )
        has_excerpt, name = self._chance(0.4), self._one_of(("h3", "h4", "", ""))
        item = "li" if "<ul" in container else "article"
        items = []
        for place in range(self._one_of((2, 3, 4, 6, 10))):
            title = self._text.title()
            link = f"<a href='/post/{place}'>{title}</a>"
            excerpt = self._other(self._text.sentence(), "p") if has_excerpt else ""
            items.append(f"<{item}>{self._other(title, name, link)}{excerpt}</{item}>")
        return container.format("".join(items))

    def _dialog(self) -> str:
        container = self._one_of(
            (
                "<div id=cookie-consent class=modal role=dialog>{}</div>",
                "<div class=cookie-banner>{}</div>",
                "<div id=gdpr>{}</div>",
                "<dialog open class=consent>{}</dialog>",
                "<div role=dialog aria-modal=true>{}</div>",
                "<section class=cc-window>{}</section>",
                "<div class=newsletter-popup>{}</div>",
                "<section class=notice-bar>{}</section>",
                "<form class=newsletter>{}</form>",
            )
        )
        said = "".join(self._other(self._text.paragraph(), "p") for _ in range(self._one_of((1, 1, 2))))
        return container.format(said + f"<button>{self._text.words(1)}</button>")

    def _advertisement(self) -> str:
        container = self._one_of(
            ("<div class=ad>{}</div>", "<div class=sponsored-content>{}</div>", "<aside class=promo-box>{}</aside>")
        )
        return container.format(self._other(self._text.paragraph(), "p"))

    def _banner(self) -> str:
        """Return an advertisement between two paragraphs."""
        said = self._text.sentence()
        link = f"<a href=/buy>{said}</a>"
        return self._one_of(("<div class=banner>{}</div>", "<div class=promo>{}</div>", "<aside>{}</aside>")).format(
            self._other(said, self._one_of(("", "p", "b")), link)
        )

    def _sidebar(self) -> str:
        container = self._one_of(("<aside>{}</aside>", "<div class=sidebar>{}</div>", "<div id=right>{}</div>"))
        links = "".join(self._other(self._text.title(), "li", f"<a href=/x>{self._text.title()}</a>") for _ in range(4))
        return container.format(f"<ul>{links}</ul>" + self._other(self._text.sentence(), "p"))

    def _header(self) -> str:
        links = "".join(
            f"<li><a href='/{place}'>{self._other(self._text.words(1), '')}</a></li>"
            for place in range(self._random.randint(3, 8))
        )
        return self._one_of(
            (
                f"<header class=site-header><nav><ul>{links}</ul></nav></header>",
                f"<div id=header><div class=menu><ul>{links}</ul></div></div>",
                f"<nav>{links}</nav>",
                f"<ul class=topnav>{links}</ul>",
            )
        )

    def _footer(self) -> str:
        said = f"© {self._random.randint(2005, 2025)} {self._text.words(2)}. {self._text.words(4)}."
        self.page.other.add(said)
        return self._one_of(
            (
                f"<footer class=site-footer><p>{said}</p></footer>",
                f"<div id=footer>{said}</div>",
                f"<footer>{said}</footer>",
                f"<div class=copyright><p>{said}</p></div>",
            )
        )

    # ── Blocks and names ──

    def _with_other_names(self, html: str) -> str:
        """Replace all classes and ids by names that say nothing, as some programs make them."""
        names: dict[str, str] = {}

        def other(found: re.Match[str]) -> str:
            return f"class={names.setdefault(found[0], f'css-{len(names)}{self._text.letter()}')}"

        return _NAMED.sub(other, html)

    def _content(self, text: str, tag: str, markup: str = "") -> str:
        self.page.content.add(text)
        return f"<{tag}>{markup or text}</{tag}>" if tag else markup or text

    def _other(self, text: str, tag: str, markup: str = "") -> str:
        self.page.other.add(text)
        return f"<{tag}>{markup or text}</{tag}>" if tag else markup or text

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _one_of(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def _some(self, *parts: tuple[Callable[[], str], float]) -> list[str]:
        return [make() for make, probability in parts if self._chance(probability)]
