"""The spider that crawls for a topic: the pages that are probably about it come first."""

from __future__ import annotations

from crawler.spiders.web import WebSpider


class FocusedSpider(WebSpider):
    """Fetches the pages inside the scope in the order of what the links to them are probably worth for a topic.

    The topic is one of `scrapy topic train`; `-a topic=NAME` names it when the crawl begins. Derive your own spider
    from this one as from `WebSpider`.
    """

    name = "focused"
    topic = ""
    has_topic = True  # its crawl is about a topic
