"""scrapy parse: refused."""

from __future__ import annotations

from crawler.engine.refusals import RefusedCommand


class ParseCommand(RefusedCommand):
    why = "`scrapy parse` would visit a host without robots.txt and politeness."
    instead = "`scrapy shell URL` or `scrapy inspect URL` for what is archived, `scrapy check` to test a spider"
