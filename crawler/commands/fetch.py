"""scrapy fetch: refused."""

from __future__ import annotations

from crawler.engine.refusals import RefusedCommand


class FetchCommand(RefusedCommand):
    why = "`scrapy fetch` would visit a host without robots.txt and politeness."
    instead = "`scrapy show URL` for what is archived, `scrapy seed --now FILE` and `scrapy crawl web` to visit it"
