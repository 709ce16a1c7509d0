"""The search engines that can be export targets, by their names in `--to`."""

from __future__ import annotations

from collections.abc import Mapping

from crawler.export.opensearch import OpenSearchSink
from crawler.export.solr import SolrSink
from crawler.export.vespa import VespaSink

ENGINES: Mapping[str, type[OpenSearchSink | SolrSink | VespaSink]] = {
    "opensearch": OpenSearchSink,
    "elasticsearch": OpenSearchSink,
    "solr": SolrSink,
    "vespa": VespaSink,
}
