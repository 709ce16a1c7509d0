"""Compare our tracking parameters with the lists of other projects."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.urls.canonical import canonicalize
from crawler.urls.hosts import host_of
from crawler.urls.sites import SiteRules, packaged_lines
from tests.conformance.compare import Case, Incomparable
from tests.conformance.data import read
from tests.conformance.samples import samples

Rows = Iterator[Case | Incomparable]


def tracking_params_global() -> Rows:
    for row in read("tracking_params_global"):
        rule = row["param"].strip("/").removeprefix("(?:%3F)?")  # an escaped "?", from malformed URLs
        yield Case(row["param"], _fate(rule, "http://example.com/"), "dropped")


def clearurls_providers() -> Rows:
    sites = SiteRules(packaged_lines())
    for row in read("clearurls_providers"):
        site = _site_of(row["urlPattern"])
        lines = {"lines": sites.of(host_of(site))}
        for rule in row["rules"]:
            yield Case(f"{row['provider']} {rule}", _fate(rule, site), "dropped", lines)
        if row["completeProvider"]:
            yield Incomparable(row["provider"], "blocks all of a site of advertisements; that is a matter of scope")
        for redirection in row["redirections"]:
            yield Incomparable(redirection, "takes the target out of a redirect; we follow it, and note it")
        for rule in row["referralMarketing"] + row["rawRules"]:
            yield Incomparable(rule, "pays a referrer, or is no parameter: off in their program too")


def _fate(rule: str, site: str) -> str:
    """Return "dropped" if all parameters that a rule matches are dropped on a site, else "kept"."""
    urls = [canonicalize(f"{site}?{name}{'' if '=' in name else '=v'}") for name in samples(rule)]
    return "dropped" if all(url == canonicalize(site) for url in urls) else "kept"


def _site_of(expression: str) -> str:
    """Return a URL that matches an expression for the URLs of a site."""
    url = canonicalize(samples(expression)[0])
    assert url is not None, f"no URL fits {expression}"
    return url.partition("?")[0]
