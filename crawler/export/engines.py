"""The engines we know, by the names that people give them."""

from __future__ import annotations

from collections.abc import Mapping

from crawler.export.opensearch import OpenSearch
from crawler.export.solr import Solr
from crawler.export.vespa import Vespa

ENGINES: Mapping[str, type[OpenSearch | Solr | Vespa]] = {
    "opensearch": OpenSearch,
    "elasticsearch": OpenSearch,
    "solr": Solr,
    "vespa": Vespa,
}
