"""What a worker does before its first visit: prepare the directory, recover, and apply settings that have changed.

Everything that takes a store runs in the store's thread.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from xxhash import xxh3_64_hexdigest

from crawler.archive import segments
from crawler.archive.segments import SegmentWriter
from crawler.collection.topics import TOPIC_FACT
from crawler.duplicates.cascade import DuplicateRule
from crawler.errors import AlreadyRunning, DiskTrouble, Misconfigured
from crawler.files import sync_directory, sync_file
from crawler.frontier.politeness import LONGEST_HOLD, Politeness
from crawler.monitor.run_settings import settings_fact
from crawler.options import PRODUCT, VERSION, Options
from crawler.stores.contract.partitions import FullRest
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import Judge, ScopeReview
from crawler.system import ENDED, raise_open_files, state_of
from crawler.urls.hosts import host_of, matches
from crawler.worker.crawl_topic import CrawlTopic
from crawler.worker.focus_learner import FocusLearner
from crawler.worker.slots import SlotLock

logger = logging.getLogger(__name__)

_POLITENESS = "politeness_settings"  # the fact under which the store keeps the politeness of the last crawl
_PLACED_FACT = "topic_placed"  # the topic by which all URLs that waited were placed
PLACED_AT_ONCE, PLACES_SHOWN = 2_000, 200_000  # URLs
_FILES = 65_536  # open files that we ask the system for
_LOOKS, _LOOK_EVERY = 10, 0.1  # at a process that may be ending: how often, and seconds between two looks
_OTHER_FILES = 100  # open files of the store, the archive and name look-ups


# ── the machine ──


def prepare_directory(options: Options) -> None:
    """Make the crawl directory, and check that files can be written and synced in it."""
    directory = options.crawl.dir
    probe = directory / f".probe-{os.getpid()}"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o750)
        options.warc_directory.mkdir(exist_ok=True, mode=0o750)
        with probe.open("wb") as file:
            file.write(b"probe")
            sync_file(file)
        probe.unlink()
        sync_directory(directory)
    except (FileExistsError, NotADirectoryError) as error:
        raise Misconfigured(
            f"CRAWL_DIR={str(directory)!r}: {error.filename} is not a directory; name another."
        ) from error
    except OSError as error:
        raise DiskTrouble(
            f"CRAWL_DIR={str(directory)!r}: cannot be written ({error.strerror}); check its permissions and the disk, "
            "or name another directory."
        ) from error


def connections_possible() -> int:
    """Raise the limit of open files as far as the system allows; return how many connections may then be open."""
    # Each connection in use may have an idle one beside it.
    return max(1, (raise_open_files(_FILES) - _OTHER_FILES) // 2)


def new_archive(options: Options, slot: int, now: Callable[[], float]) -> SegmentWriter:
    """Return the archive writer of a worker, whose file names are unique to this run."""
    started = datetime.fromtimestamp(now(), UTC).strftime("%Y%m%dT%H%M%S")
    return SegmentWriter(
        options.warc_directory,
        prefix=f"{PRODUCT.lower()}-{started}-{secrets.token_hex(3)}",
        slot=slot,
        max_bytes=options.warc_segment_bytes,
        now=now,
        step=options.commit.step_hook,
        facts=[
            ("software", f"{PRODUCT}/{VERSION}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
            ("robots", "obey"),
            ("http-header-user-agent", options.user_agent),
        ],
    )


# ── recovery ──


def recover(store: Store, options: Options, lock: SlotLock, now: float, full_rest: FullRest) -> None:
    """Recover what the dead worker of a slot left: cut its archive file to what is committed, return its leases."""
    committed = store.archive.segments(lock.number)
    complete, cut = segments.recover(options.warc_directory, lock.number, committed)
    for name in complete:
        store.archive.close_segment(name)
    leases = store.partitions.recover([lock.number], now, full_rest)
    if lock.was_unclean or leases.returned or leases.quarantined or cut:
        logger.warning(
            "The last crawl did not end well: %d URLs that were in flight wait again, %d are left alone because "
            "crawls died over them, %d bytes that were never acknowledged were cut off the archive",
            leases.returned,
            leases.quarantined,
            cut,
        )


def refuse_copied_directory(store: Store, options: Options, slot: int, now: float) -> None:
    """Refuse to start beside a living worker with our number: its directory is a copy of ours, or ours of it."""
    for worker in store.partitions.workers():
        host, pid, *_ = worker.owner.split(":")
        is_here = host == socket.gethostname() and int(pid) != os.getpid()
        if worker.slot == slot and worker.lease_end > now and is_here and _is_alive(int(pid)):
            raise AlreadyRunning(
                f"{options.crawl.dir}: process {pid} is worker {slot} in another directory, of which this one is a "
                "copy. Nothing was changed; remove `workers` in the copy, so that it gets numbers of its own."
            )


def _is_alive(pid: int) -> bool:
    """Whether a process lives, and still does after a moment: one that is ending frees its locks first."""
    for _ in range(_LOOKS):
        if state_of(pid) in ("", ENDED):
            return False
        time.sleep(_LOOK_EVERY)
    return True


def check_clock(store: Store, now: float) -> None:
    """If the machine's clock was set back, pull due times back that are now too far ahead."""
    last = store.commits.last()
    if last is not None and now < last - 60:
        logger.warning(
            "The clock of this machine is %.0f s behind the last commit; hosts are not made to wait for it to catch "
            "up, but pages fetched meanwhile are due again by the clock that was",
            last - now,
        )
        store.frontier.clamp_future_times(now + LONGEST_HOLD)


# ── settings that have changed ──


def digest_of(value: object) -> str:
    """Return the digest of a setting's value, by which later runs see that it has changed."""
    return xxh3_64_hexdigest(msgspec.json.encode(value, order="deterministic"))


def apply_groups(store: Store, politeness: Politeness) -> None:
    """Assign hosts that count as one to one partition, if POLITENESS_GROUPS has changed."""
    current = {"groups_digest": digest_of(sorted(politeness.groups))}
    if store.crawl.facts().get("groups_digest", digest_of([])) != current["groups_digest"]:
        if store.partitions.workers():
            raise Misconfigured("POLITENESS_GROUPS is not what the crawl that is running has; give it the same.")
        store.partitions.regroup()
        store.crawl.set_facts(current)


def apply_duplicate_rule(store: Store, rule: DuplicateRule) -> None:
    """Rebuild or forget the sketches, if DUPLICATE_THRESHOLD or DUPLICATE_SHINGLE has changed."""
    if not rule.threshold:
        store.crawl.set_facts({"bands": "0"})  # the index is rebuilt when near-duplicates are looked for again
        return
    current = {"sketches": sketch_kind(rule), "bands": f"{rule.threshold:g}"}
    facts = store.crawl.facts()
    if all(facts.get(name, value) == value for name, value in current.items()):
        store.crawl.set_facts(current)
        return
    if store.partitions.workers():
        raise Misconfigured(
            "DUPLICATE_THRESHOLD or DUPLICATE_SHINGLE is not what the crawl that is running has; give it the same."
        )
    if facts.get("sketches", current["sketches"]) != current["sketches"]:
        logger.warning(
            "DUPLICATE_SHINGLE has changed: pages that were fetched before are met again when they are visited"
        )
        store.similarity.forget_sketches()
    else:
        logger.info("DUPLICATE_THRESHOLD has changed: %d pages are entered anew", store.similarity.rebuild_index())
    store.crawl.set_facts(current)


def apply_scope(
    store: Store,
    options: Options,
    judge: Judge,
    last_seed: int,
    now: float,
    open_scope: Callable[[Sequence[str]], None],
) -> None:
    """Judge URLs again if the scope, the seeds or the budgets have changed; warn if URLs are spelled in another way.

    `open_scope` is called with the seeds that were added since URLs were last judged.
    """
    urls, facts = options.urls, store.crawl.facts()
    current = {
        "spelling_digest": urls.spelling_digest(),
        "scope_digest": urls.scope_digest(),
        "judged_seed": str(last_seed),
        "budgets_digest": digest_of(options.budgets),
    }
    # Crawls before schema 10 stored the scope in another form, as "url_scope".
    is_comparable = "scope_digest" in facts or "url_scope" not in facts
    is_new = is_comparable and "scope_digest" not in facts and store.commits.last() is None
    if not is_new and is_comparable and facts.get("spelling_digest") != current["spelling_digest"]:
        logger.warning(
            "URLs are spelled by other rules than in the last crawl: pages that are known under another spelling are "
            "fetched again under the new one when a link to them is found"
        )
    if not is_new and facts.get("scope_digest") != current["scope_digest"]:
        if is_comparable:
            logger.info("The scope is not that of the last crawl: judging the URLs that were found again")
        log_review(store.urls.review_scope(judge, now))
    elif not is_new and facts.get("judged_seed") != current["judged_seed"]:
        open_scope([url for _, url in store.urls.seeds(int(facts.get("judged_seed", "0")))])
    if facts.get("budgets_digest") != current["budgets_digest"]:
        store.urls.review_budgets(now)
    store.crawl.set_facts(current)


def log_review(review: ScopeReview) -> None:
    if review.opened or review.closed:
        logger.info("%d URLs are in the scope now and wait, %d are not and are parked", review.opened, review.closed)


def topic_of_crawl(store: Store, options: Options, name: str | None) -> CrawlTopic | None:
    """Return the topic of a focused crawl; None for a crawl without.

    `name` is None for a spider that follows all links alike, and empty for the topic that the crawl has.
    """
    stored = store.crawl.facts().get(TOPIC_FACT, "")
    if name is None:
        if stored:
            raise Misconfigured(
                f"This crawl is about the topic {stored}: go on with `scrapy crawl focused`, or end that with "
                f"`scrapy topic remove {stored}`. Nothing was crawled."
            )
        return None
    if stored and name not in ("", stored):
        raise Misconfigured(
            f"-a topic={name}: this crawl is about {stored}, and a crawl has one topic. Nothing was crawled; use another "
            f"CRAWL_DIR, or `scrapy topic remove {stored}` first."
        )
    return CrawlTopic.of(options.crawl.dir, name or stored)


def spider_of(facts: Mapping[str, str]) -> str:
    """Return the spider that goes on with a crawl.

    >>> spider_of({"topic": "birds"}), spider_of({})
    ('focused', 'web')
    """
    return "focused" if facts.get(TOPIC_FACT) else "web"


def begin_focus(store: Store, learner: FocusLearner, slot: int, topic: str, now: float) -> None:
    """Place URLs by what links to them are worth; those that an unfocused crawl has found are placed first."""
    store.focus.begin(learner, slot)
    facts = store.crawl.facts()
    if facts.get(TOPIC_FACT) != topic or facts.get(_PLACED_FACT) != topic:
        store.crawl.set_facts({TOPIC_FACT: topic, _PLACED_FACT: ""})
        place_waiting(store, now)
        store.crawl.set_facts({_PLACED_FACT: topic})


def place_waiting(store: Store, now: float) -> None:
    """Place URLs that were found without a topic, or outside of the scope as it was."""
    after: int | None = 0 if store.urls.count() else None
    placed = 0
    while after is not None:
        after = store.focus.place_waiting(after, PLACED_AT_ONCE, now)
        placed += PLACED_AT_ONCE
        if after is not None and placed % PLACES_SHOWN == 0:
            logger.info("%d URLs that were found before have a place by the topic", placed)


def refuse_foreign_hosts(options: Options, seeds: Sequence[str], option: str = "-s CONTACT=") -> None:
    """Refuse to crawl foreign hosts while CONTACT is not set, with the option that sets it."""
    if options.contact:
        return
    foreign = [url for url in seeds if not matches(host_of(url), options.urls.own_hosts)]
    if foreign:
        raise Misconfigured(
            f"CONTACT is not set, so {host_of(foreign[0])} may not be crawled: the people who run it must be able to "
            f"reach you. Add {option}https://your.site/about-the-bot (or an e-mail address); only hosts in OWN_HOSTS "
            "can do without."
        )


# ── settings that commands read ──


def store_settings(store: Store, options: Options) -> None:
    """Store the settings of this run, for commands that read the crawl and reports about it."""
    politeness = msgspec.json.encode(options.politeness).decode()
    store.crawl.set_facts({_POLITENESS: politeness} | settings_fact(options.values))


def last_politeness(store: Store, default: Politeness) -> Politeness:
    """Return the politeness settings of the last crawl, by which reports judge its requests."""
    try:
        return msgspec.json.decode(store.crawl.facts().get(_POLITENESS, ""), type=Politeness)
    except msgspec.MsgspecError:
        return default


def sketch_kind(rule: DuplicateRule) -> str:
    """Describe what sketches are made of. Sketches of different kinds cannot be compared."""
    return f"runs of {rule.shingle} words"
