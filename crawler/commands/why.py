"""scrapy why: explain the state of a URL: how it was found, what happened to it, and what it waits for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scrapy.exceptions import UsageError

from crawler.clock import steady_clock
from crawler.engine.command import OrbweaverCommand, as_called, exit_code_of, lines_on_settings
from crawler.fetch.robots import RobotsRules
from crawler.frontier.budgets import Budgets
from crawler.frontier.politeness import HOLD_AFTER_FAILURES, HostClock, Politeness
from crawler.frontier.priority import LEVELS, Order, PriorityInputs, level_parts
from crawler.items import NOT_ASKED, ROBOTS_TOKEN, Kind, Reason, State, Tier
from crawler.monitor.host import trust_lines
from crawler.monitor.text import date_of, in_directory, span_of
from crawler.monitor.unreachable import no_answer
from crawler.options import Options
from crawler.parse.charset import SOURCE_DESCRIPTIONS
from crawler.report.url_topic import UrlTopic
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import HostRow, UrlRow
from crawler.stores.open import open_store
from crawler.urls.canonical import RuleStep, resolve
from crawler.urls.hosts import host_of, origin_of
from crawler.urls.keys import key_of
from crawler.urls.scope import SCOPE_REASONS
from crawler.worker.startup import last_politeness, spider_of

_SHOWN = 5  # duplicates


class WhyCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] URL"

    def short_desc(self) -> str:
        return "Explain the state of a URL: what happened to it, and what it waits for"

    def long_desc(self) -> str:
        return (
            "Print how a URL was found, in which state it is and why, its hints (sitemaps, feeds, validators) and how "
            "reliable they are, what robots.txt says of it, how its last visit ended, its priority and what it waits "
            "for, its budgets, where it is archived, and of what it is a duplicate; in a focused crawl also how relevant "
            "it is and by which words, or what the links to it are worth. The command only reads; a running crawl is "
            "not disturbed. Example: scrapy why http://www.example.com/"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one URL", print_help=False)
        self.exitcode = exit_code_of(lambda: self._why(args[0]))

    def _why(self, text: str) -> int:
        options = self.options_of_crawl()
        assert self.settings is not None
        policy = options.urls.new_policy()
        url = policy.canonicalize(text)
        if url is None:
            print(f"{text}\n  {_not_crawled(text)}")
            return 0
        store = open_store(options.store, read_only=True)
        try:
            lines = [*explain(store, options, policy.trace(text), url)]
            lines += lines_on_settings(self.settings, store.crawl.facts())
            print("\n".join([url, *(f"  {as_called(line)}" for line in lines)]))
        finally:
            store.close()
        return 0


def explain(store: Store, options: Options, steps: Sequence[RuleStep], url: str) -> Iterator[str]:
    """Yield the lines of the explanation, by the politeness of the last crawl."""
    now = steady_clock()()
    options = replace(options, politeness=last_politeness(store, options.politeness))
    if steps:
        yield f"is the canonical form of {steps[0].before}"
        yield from (f"  {step.rule:18} → {step.after}" for step in steps)
    row = store.urls.find(key_of(url))
    if row is not None and row.url != url:
        was_found = url in store.urls.collisions(row.key)
        yield (
            f"{'' if was_found else 'is not known, and '}cannot be kept: it has the same key as {row.url}, which was "
            "found first."
        )
        return
    if row is None:
        yield from _unknown(store, options, url)
        return
    yield _how_found(row)
    yield from _hints(store, row)
    yield _state(row, now)
    if row.visited is not None:
        yield _last_visit(row)
    yield from _robots(store, url, now)
    yield from _no_answer(store, row)
    topic = UrlTopic(store, options)
    if row.state is State.WAITING:
        yield from _why_then(store, topic, row)
        yield from _waits_for(store, options, row, now)
    if row.reason is Reason.OVER_BUDGET:
        yield from _budgets(store, options.budgets, row, now)
    yield from topic.relevance_lines(row)
    yield from _archived(store, row)


def _not_crawled(text: str) -> str:
    resolved = resolve(text)
    if resolved is None:
        return "is not a URL by the URL Standard, so it is never crawled."
    return f"is never crawled: only http and https URLs with a host are, and this is {resolved.partition(':')[0]}."


def _unknown(store: Store, options: Options, url: str) -> Iterator[str]:
    yield "is not known: it is not a seed, and no fetched page links to it."
    scope = options.new_scope()
    for _, seed in store.urls.seeds():
        scope.add(seed)
    refusal = scope.rejection(url)
    if refusal is not None:
        yield f"If it were found, it would be parked: {refusal}."
    else:
        yield "It is inside the scope; `scrapy seed` can add it."


def _how_found(row: UrlRow) -> str:
    if row.kind is Kind.ROBOTS:
        return "a robots.txt, visited whenever a page of its origin needs it"
    when = date_of(row.found)
    if row.kind is Kind.PROBE:
        return f"a soft-404 probe, invented at {when} to see how its host answers for a page that does not exist"
    if row.via is None:
        return f"known since {when}, as a seed"
    how = "as a link on" if row.lister is None or row.lister != row.via else "as listed in"
    if row.hops > 0:
        how = f"by {row.hops} redirects or preferred hosts, the last from"
    if row.kind is not Kind.PAGE:
        how = f"as a {row.kind.name.lower()}, named by"
    return f"known since {when}, {how} {row.via}; {row.depth} links from a seed"


def _hints(store: Store, row: UrlRow) -> Iterator[str]:
    """Yield what sitemaps, feeds and validators say of a URL, and how reliable the hints of its host are."""
    if row.lister is not None and (row.lastmod is not None or row.interval is not None):
        facts = [f"changed at {date_of(row.lastmod)}"] if row.lastmod is not None else []
        facts += [f"changes every {span_of(row.interval)}"] if row.interval is not None else []
        yield f"{row.lister} says that it {' and '.join(facts)}"
    for announced in store.urls.announcements(row.key)[:3]:
        when = f", dated {date_of(announced.dated)}" if announced.dated is not None else ""
        yield f"announced as {announced.title!r}{when} in {announced.feed}"
    if row.kind is Kind.FEED and row.interval is not None:
        yield f"a feed that is visited every {span_of(row.interval)}, by its ttl or by the rhythm of its entries"
    validators = row.validators
    if validators.length is not None and (validators.etag or validators.last_modified):
        again = f", used by the last {validators.reused} visits" if validators.reused else ""
        yield f"has validators for conditional requests{again}: {' and '.join(filter(None, validators[:2]))}"
    yield from (f"{host_of(row.url)}: {line}" for line in trust_lines(store.urls.trust(row.key.host)))


def _state(row: UrlRow, now: float) -> str:
    text = f"{row.state.name.lower()}: {row.reason.meaning} ({row.reason.name.lower()})"
    if row.reason in (Reason.REDIRECTED, Reason.LOGIN_WALL) and row.detail:
        text += f" → {row.detail}"
    if row.state is State.WAITING:
        text += f"; due {'now' if row.due <= now else 'in ' + span_of(row.due - now) + ', at ' + date_of(row.due)}"
    if (
        row.state is State.PARKED
        and row.reason in {*SCOPE_REASONS, Reason.SAME_PAGE, Reason.PREFERRED_HOST}
        and row.detail
    ):
        text += f" [{row.detail}]"
    if row.missing:
        text += f"; {row.missing} visits in a row did not find it"
    if row.tries:
        text += f"; {row.tries} visits failed"
    if row.crashes:
        text += f"; {row.crashes} crawl processes died while it was in flight"
    return text


def _last_visit(row: UrlRow) -> str:
    assert row.visited is not None
    reason = f": {row.last_reason.meaning} ({row.last_reason.name.lower()})" if row.last_reason is not None else ""
    status = f", status {row.status}" if row.status else ""
    detail = f" [{row.detail}]" if row.detail else ""
    return f"last visit {date_of(row.visited)}{reason}{status}{detail}"


def _robots(store: Store, url: str, now: float) -> Iterator[str]:
    origin = origin_of(url)
    rules = store.urls.find_robots(origin)
    if rules is None:
        yield f"robots.txt of {origin}: not fetched yet"
        return
    age = "fresh" if rules.expires > now else "to be fetched again before the next page"
    if rules.held_until > now:
        verdict = f"could not be fetched; the origin is not visited for {span_of(rules.held_until - now)}"
    elif rules.status == NOT_ASKED:
        verdict = "is refused by a middleware of the project, and so are its pages"
    elif rules.body is None:
        verdict = "has no rules: everything is allowed"
    else:
        allowed = RobotsRules.parse(rules.body).allows(url, ROBOTS_TOKEN)
        verdict = f"{'allows' if allowed else 'forbids'} it"
    yield f"robots.txt of {origin}: {verdict} (status {rules.status}, fetched {date_of(rules.fetched)}, {age})"


def _no_answer(store: Store, row: UrlRow) -> Iterator[str]:
    """Say why the host gave no answer, if it was asked for robots.txt, and what can be done."""
    cause = no_answer(store, row)
    if cause is None:
        return
    if row.last_reason is not cause.reason:
        yield f"  {cause.reason.meaning} ({cause.reason.name.lower()}) [{cause.detail}]"
    if cause.hint:
        yield f"  {cause.hint}"


def _why_then(store: Store, topic: UrlTopic, row: UrlRow) -> Iterator[str]:
    """Say why a waiting URL is visited before or after others."""
    if store.crawl.facts().get("order") == Order.FIFO:
        yield "priority: none; URLs are visited in the order found (ORDER=fifo)"
    elif topic.decides_priority and row.kind is Kind.PAGE:
        yield from topic.priority_lines(row, _priority(row))
    else:
        yield _priority(row)


def _priority(row: UrlRow) -> str:
    """Say the priority level of a URL and the parts from which it is computed."""
    if row.due == 0:
        return "priority: before all others, because of `scrapy seed --now`"
    inputs = PriorityInputs(row.depth, row.inlinks, row.hint, row.visits, row.changes)
    words = {
        "depth": f"{row.depth} links from a seed" if row.depth else "a seed, or what one redirects to",
        "in-links": f"{row.inlinks} other domains link to it",
        "hint": f"its sitemap or spider gives it {row.hint}, where 0.5 is neutral",
        "freshness": f"changed {row.changes} times in {row.visits} visits",
    }
    parts = [f"{words[part]} ({step:+d})" for part, step in level_parts(inputs).items() if step or part == "depth"]
    return f"priority: level {row.level} of 0 to {LEVELS - 1}: {', '.join(parts)}"


def _waits_for(store: Store, options: Options, row: UrlRow, now: float) -> Iterator[str]:
    host = store.urls.find_host(row.key.host, now)
    if host is None or row.due > now:
        return
    name, clock = host_of(row.url), host.clock
    if clock.held_until > now:
        yield (
            f"waits for its host: {name} {_hold_reason(store, options.budgets, host, now)}; not before "
            f"{date_of(clock.held_until)}"
        )
    elif clock.next_visit > now:
        yield f"waits for its host: {name} is in its delay for another {span_of(clock.next_visit - now)}"
    else:
        yield (
            f"waits for its turn: {name} may be visited now (scrapy crawl {spider_of(store.crawl.facts())} "
            f"{in_directory(options.crawl.dir)})"
        )
    yield f"  {name} {_delay_of(name, clock, options.politeness)}"
    if group := options.politeness.group_of(name):
        delay = store.frontier.gates().get(group, 0.0) - now
        yield f"  it shares its delay with all hosts that match {group}" + (
            f", which are not visited for another {span_of(delay)}" if delay > 0 else ""
        )


def _budgets(store: Store, budgets: Budgets, row: UrlRow, now: float) -> Iterator[str]:
    """Yield the budgets of the host and of the domain of a URL, and how much is used."""
    host, site = store.urls.find_host(row.key.host, now), store.urls.find_site(row.key.host, now)
    if host is None or site is None:
        return
    for what, used, limits in (
        (f"the host {host.name}", host, budgets.of_host(site.endorsers)),
        (f"the domain {site.name}", site, budgets.of_site(site.endorsers, seeded=site.seeded)),
    ):
        if limits.total:
            yield f"  {what} has {used.admitted} of {limits.total} URLs; {used.excess} more are parked"
        if limits.daily:
            yield f"  {what} has {used.admitted_today} of {limits.daily} URLs for today; {used.excess} more are parked"
    yield f"  {site.endorsers} other domains link to {site.name}; each raises its budgets by {budgets.growth:.0%}"


def _hold_reason(store: Store, budgets: Budgets, host: HostRow, now: float) -> str:
    clock, hours, site = host.clock, host.clock.crawl_limits.visit_time, store.urls.find_site(host.host, now)
    if site is not None:
        for what, used, limits in (
            ("it", host, budgets.of_host(site.endorsers)),
            (f"its domain {site.name}", site, budgets.of_site(site.endorsers, seeded=site.seeded)),
        ):
            if limits.daily and used.visits_today >= limits.daily:
                return f"is visited again tomorrow: {what} has used its {limits.daily} visits for today"
    if clock.backoff >= HOLD_AFTER_FAILURES:
        return f"has failed {clock.backoff} times in a row"
    if clock.backoff:
        return "failed lately, or sent Retry-After"
    if hours is not None:
        return f"has visiting hours, from {_time_of(hours.start)} to {_time_of(hours.end)} UTC"
    return "sent Retry-After"


def _delay_of(name: str, clock: HostClock, politeness: Politeness) -> str:
    parts = {part: seconds for part, seconds in politeness.rest_parts(name, clock).items() if seconds}
    listed = ", ".join(f"{part} {span_of(seconds)}" for part, seconds in parts.items())
    doubled = f", doubled {clock.backoff} times because of recent failures" if clock.backoff else ""
    return f"has a delay of {span_of(politeness.rest(name, clock))} after each response: {listed}{doubled}"


def _time_of(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _as_read(document: DocumentRow) -> str:
    """Say as which format, encoding and language a document was read."""
    parts = [f"read as {document.format}" if document.format else "not read"]
    if document.encoding:
        parts.append(f"in {document.encoding} {SOURCE_DESCRIPTIONS.get(document.encoding_source, '')}".rstrip())
    if document.language:
        parts.append(f"language {document.language}")
    if document.published is not None:
        parts.append(f"published {date_of(document.published)}")
    if document.problem:
        parts.append(f"not all of it could be read: {document.problem}")
    return ", ".join(parts)


def _duplicate_evidence(tier: Tier, similarity: float | None) -> str:
    """Say how a page was recognised as a duplicate."""
    share = f"; {similarity:.0%} of their shingles in common" if similarity is not None and similarity < 1 else ""
    return f"{tier.meaning}{share} ({tier.name.lower()})"


def _archived(store: Store, row: UrlRow) -> Iterator[str]:
    documents = store.documents.versions(row.key)
    for document in documents[:3]:
        place = document.position
        title = f", title {document.title!r}" if document.title else ""
        yield (
            f"archived {date_of(document.fetched)}: status {document.status}, {document.content_type or 'no type'}, "
            f"{document.body_bytes} bytes{title}, in {place.segment} at {place.offset}"
        )
        if document.format or document.problem:
            yield f"  {_as_read(document)}"
        if document.duplicate_of is not None:
            original = store.documents.find(document.duplicate_of)
            if original is not None and document.tier is not None:
                yield f"  a duplicate of {original.url}: {_duplicate_evidence(document.tier, document.similarity)}"
    if len(documents) > 3:
        yield f"and {len(documents) - 3} older versions"
    duplicates = store.documents.duplicates(row.key)
    if duplicates:
        more = f" and {len(duplicates) - _SHOWN} more" if len(duplicates) > _SHOWN else ""
        yield f"is the original of {', '.join(duplicates[:_SHOWN])}{more}"
