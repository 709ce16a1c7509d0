"""The tables of a crawl, in one place.

Read as a table of rows with column groups: the row is the URL (`host`, `rest`: fingerprints, so a host's rows lie
together); its groups are what the frontier knows (`urls`, `url_facts`), what was archived and when (`documents`,
several versions a URL) and the text of links to it (`anchors`). `changes` is the change feed: a reader that has version
v never finds a new row below v later.
"""

from __future__ import annotations

from crawler.frontier.priority import LEVELS, STEPS
from crawler.items import ChangeEvent, Kind, Reason, State

APPLICATION_ID = 0x4F524257  # "ORBW": marks a database file as one of Orbweaver
SCHEMA_VERSION = 12

# The condition of partial indexes of documents: SQLite uses them for statements that repeat it with the same literals.
COMPLETE_PAGE = f"kind = {Kind.PAGE:d} AND reason = {Reason.OK:d}"
_OVER_BUDGET = f"state = {State.PARKED:d} AND reason = {Reason.OVER_BUDGET:d}"

TABLES = f"""
CREATE TABLE crawl (
    name TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

CREATE TABLE reasons (                  -- the codes used everywhere below, for readers outside
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    meaning TEXT NOT NULL
);

CREATE TABLE partitions (
    id INTEGER PRIMARY KEY,
    owner TEXT,
    slot INTEGER,
    epoch INTEGER NOT NULL DEFAULT 0,   -- grows with each owner: a commit under an old one is refused
    lease_end REAL NOT NULL DEFAULT 0
);

CREATE TABLE hosts (
    host INTEGER PRIMARY KEY,           -- fingerprint of the name
    name TEXT NOT NULL,
    reversed TEXT NOT NULL,             -- com.example.www: a site is a range
    politeness_key TEXT NOT NULL,       -- hosts that share one count as one
    partition INTEGER NOT NULL,         -- hash of the politeness key
    level INTEGER NOT NULL DEFAULT 0,   -- in which the host waits: of the most important URL that was due first
    levels INTEGER NOT NULL DEFAULT 0,  -- bit n is set if URLs of level n wait, and perhaps if none does any more
    due REAL,                           -- none is due earlier; NULL = none waits
    next_visit REAL NOT NULL DEFAULT 0, -- the clock: not visited before
    held_until REAL NOT NULL DEFAULT 0, -- nor before this: Retry-After, failures, the budget of a day
    crawl_delay REAL,                   -- from its robots.txt, like the next two
    request_rate TEXT NOT NULL DEFAULT '',  -- requests, seconds; and from, to in minutes of the day UTC
    visit_time TEXT NOT NULL DEFAULT '',    -- from, to
    backoff INTEGER NOT NULL DEFAULT 0,
    latency REAL NOT NULL DEFAULT 0,
    last_end REAL NOT NULL DEFAULT 0,   -- when its last answer ended
    last_bytes INTEGER NOT NULL DEFAULT 0,  -- and how long it was
    address TEXT NOT NULL DEFAULT '',
    known INTEGER NOT NULL DEFAULT 0,   -- URLs
    visits INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    site INTEGER NOT NULL DEFAULT 0,
    admitted INTEGER NOT NULL DEFAULT 0,    -- as of sites
    excess INTEGER NOT NULL DEFAULT 0,
    day INTEGER NOT NULL DEFAULT 0,
    admitted_today INTEGER NOT NULL DEFAULT 0,
    visits_today INTEGER NOT NULL DEFAULT 0,
    soft404 BLOB,                       -- sketch of its page for missing URLs; empty = a true 404, or not probed yet;
                                        -- NULL = no probe is due
    template BLOB                       -- shingles that are on most of its pages, 8 bytes each; NULL = none known
);
CREATE INDEX hosts_by_name ON hosts (reversed);
CREATE INDEX hosts_front ON hosts (level, due, partition) WHERE due IS NOT NULL;
CREATE INDEX hosts_in_excess ON hosts (site) WHERE excess > 0;

CREATE TABLE sites (                    -- registered domains; a host without one is a site by itself
    site INTEGER PRIMARY KEY,           -- fingerprint of the name
    name TEXT NOT NULL,
    seeded INTEGER NOT NULL DEFAULT 0,  -- whether a seed lies in it
    endorsers INTEGER NOT NULL DEFAULT 0,   -- other sites that link to it
    admitted INTEGER NOT NULL DEFAULT 0,    -- URLs that its budget admitted
    excess INTEGER NOT NULL DEFAULT 0,  -- URLs that are parked over budget
    day INTEGER NOT NULL DEFAULT 0,     -- days since the epoch, for the next two
    admitted_today INTEGER NOT NULL DEFAULT 0,
    visits_today INTEGER NOT NULL DEFAULT 0,
    review REAL                         -- when parked URLs are reviewed; NULL = there are none
);
CREATE INDEX sites_to_review ON sites (review) WHERE review IS NOT NULL;
CREATE TABLE site_links (               -- which site links to which
    target INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (target, source)
) WITHOUT ROWID;

CREATE TABLE origins (
    origin TEXT PRIMARY KEY,            -- scheme://host:port
    host INTEGER NOT NULL,
    status INTEGER NOT NULL,
    body BLOB,                          -- robots.txt; NULL = no rules
    fetched REAL NOT NULL,
    expires REAL NOT NULL,
    held_until REAL NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    location TEXT NOT NULL DEFAULT '',  -- target of a redirect of the robots.txt
    hops INTEGER NOT NULL DEFAULT 0,
    crawl_delay REAL,
    request_rate TEXT NOT NULL DEFAULT '',
    visit_time TEXT NOT NULL DEFAULT '',
    preferred TEXT NOT NULL DEFAULT ''  -- the origin that its robots.txt names as the preferred host
) WITHOUT ROWID;
CREATE INDEX origins_of_host ON origins (host);
CREATE INDEX origins_by_preferred ON origins (preferred) WHERE preferred <> '';

-- New rows are appended; only the narrow index by key is entered at random, and fits into memory for long.
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,             -- in the order in which they were found
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    state INTEGER NOT NULL CHECK (state IN ({State.WAITING:d}, {State.LEASED:d}, {State.PARKED:d})),
    reason INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND {LEVELS - 1}),
    due REAL NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER,                      -- while leased
    leased_host INTEGER,                -- while leased: the host that is visited, which may differ for a robots.txt
    via INTEGER,                        -- the page on which it was found; NULL = a seed or requested, 0 = unknown
    found REAL NOT NULL,
    visited REAL,
    last_reason INTEGER,
    status INTEGER,
    detail TEXT NOT NULL DEFAULT '',
    visits INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0, -- how often it was found changed
    inlinks INTEGER NOT NULL DEFAULT 0, -- other sites that link to it, when they were last counted
    hint REAL,                          -- importance by a sitemap or a spider, from 0 to 1
    step INTEGER NOT NULL DEFAULT 0 CHECK (step BETWEEN 0 AND {STEPS - 1}),  -- order inside a level; less is sooner
    UNIQUE (host, rest)
);
CREATE INDEX urls_waiting ON urls (host, level, step, due) WHERE state = {State.WAITING:d};
CREATE INDEX urls_leased ON urls (host) WHERE state = {State.LEASED:d};
CREATE INDEX urls_over_budget ON urls (host, level, due) WHERE {_OVER_BUDGET};
CREATE INDEX urls_sitemaps ON urls (host) WHERE kind = {Kind.SITEMAP:d};

-- Apart from `urls`, because most URLs have none of it and each column costs every row a byte.
CREATE TABLE url_facts (                -- validators of a URL's document, and facts from sitemaps and feeds
    id INTEGER PRIMARY KEY,             -- as in urls
    etag TEXT NOT NULL DEFAULT '',      -- of its last document
    last_modified TEXT NOT NULL DEFAULT '',
    length INTEGER,                     -- of that, as on the wire
    reused INTEGER NOT NULL DEFAULT 0,  -- visits in a row that found it unchanged by its validators
    missing INTEGER NOT NULL DEFAULT 0, -- visits in a row that did not find it
    lister INTEGER,                     -- the sitemap or feed that lists it
    lastmod REAL,                       -- when it changed, by that list
    interval REAL                       -- between two changes, by that list; of a feed, between two visits
);

-- Of focused crawls. What is known of URLs that wait for their first visit: where they were found, and by which words.
CREATE TABLE link_evidence (
    id INTEGER PRIMARY KEY,             -- as in urls
    score REAL NOT NULL,                -- when it was last computed
    evidence BLOB NOT NULL
);
CREATE TABLE focus (                    -- what each worker has learned of links and topic; later rewards are below
    slot INTEGER NOT NULL,              -- of the worker
    part TEXT NOT NULL,                 -- links or topic
    state BLOB NOT NULL,
    PRIMARY KEY (slot, part)
) WITHOUT ROWID;
CREATE TABLE rewards (                  -- what fetched URLs turned out to be, since the state of the worker was stored
    id INTEGER PRIMARY KEY,
    slot INTEGER NOT NULL,
    evidence BLOB NOT NULL,
    reward REAL NOT NULL
);

CREATE TABLE collisions (               -- URLs that are not in `urls`, because another URL has their key
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    found REAL NOT NULL,
    PRIMARY KEY (host, rest, url)
) WITHOUT ROWID;

CREATE TABLE gates (                    -- clocks of groups of hosts that count as one
    name TEXT PRIMARY KEY,
    next_visit REAL NOT NULL,
    rest REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE workers (                  -- the processes of this crawl
    slot INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    pid INTEGER NOT NULL,
    since REAL NOT NULL,
    lease_end REAL NOT NULL,            -- it is alive if this lies ahead
    visits INTEGER NOT NULL DEFAULT 0,  -- since then
    pages INTEGER NOT NULL DEFAULT 0,
    new_urls INTEGER NOT NULL DEFAULT 0,
    late INTEGER NOT NULL DEFAULT 0,    -- visits whose commit was refused
    rate REAL NOT NULL DEFAULT 0,       -- visits a second, lately
    store_share REAL NOT NULL DEFAULT 0,    -- of the time, lately, in which its thread for the store worked
    limited_by TEXT NOT NULL DEFAULT '' -- its bottleneck
);
CREATE TABLE addresses (                -- IP addresses, if there are several workers: hosts of one are in one partition
    address TEXT PRIMARY KEY,
    partition INTEGER NOT NULL,
    wanted INTEGER                      -- the partition of a group of hosts that needs it
) WITHOUT ROWID;
CREATE TABLE remote_robots (            -- robots.txt files that lie on another host than their origin's, to be fetched
    origin TEXT PRIMARY KEY,            -- whose rules it has
    host INTEGER NOT NULL,              -- on which it lies
    url TEXT NOT NULL,
    hops INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE seeds (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    added REAL NOT NULL
);

CREATE TABLE segments (                 -- archive files with their committed lengths
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    slot INTEGER NOT NULL,
    length INTEGER NOT NULL,
    records INTEGER NOT NULL,
    closed INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    fetched REAL NOT NULL,
    segment INTEGER NOT NULL REFERENCES segments (id),
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    status INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    encoding TEXT NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    payload_digest BLOB NOT NULL,
    body_digest BLOB NOT NULL,
    text_digest BLOB NOT NULL,
    links_digest INTEGER NOT NULL,
    body_bytes INTEGER NOT NULL,
    started REAL NOT NULL,              -- as in the record's WARC-Date
    body_of INTEGER,                    -- the document whose record holds the body, if this one's does not
    duplicate_of INTEGER,               -- the original: a document of another URL
    format TEXT NOT NULL DEFAULT '',    -- as detected: html, pdf, docx, text …; empty = not read
    encoding_source TEXT NOT NULL DEFAULT '',   -- bom, header, meta, xml, utf-8, detected, fallback
    problem TEXT NOT NULL DEFAULT '',   -- what could not be read: encrypted, corrupt, bomb …
    published REAL,                     -- publication date, by the document
    metadata TEXT NOT NULL DEFAULT '{{}}', -- JSON: author, description …
    similarity REAL,                    -- to the document that it is a duplicate of
    tier INTEGER,                       -- how the duplicate was found
    weights BLOB NOT NULL DEFAULT x'',  -- of the blocks of its text, for extracting its main text again
    extractor TEXT NOT NULL DEFAULT '', -- method and version by which that was found; empty = not recorded
    relevance REAL,                     -- to the topic of the crawl, from 0 to 1; NULL = it had none
    has_body INTEGER NOT NULL DEFAULT 1 -- 0 = the archive has only facts and links of it
);
-- Only complete pages can be copies, or have copies.
CREATE INDEX documents_by_body ON documents (body_digest) WHERE {COMPLETE_PAGE} AND body_bytes > 0;
CREATE INDEX documents_by_text ON documents (text_digest) WHERE {COMPLETE_PAGE} AND text_digest <> x'';
CREATE INDEX documents_of_url ON documents (host, rest, fetched);
CREATE INDEX documents_copies ON documents (duplicate_of) WHERE duplicate_of IS NOT NULL;
CREATE INDEX documents_relevance ON documents (relevance, reason) WHERE relevance IS NOT NULL;
CREATE TABLE anchors (
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    source INTEGER NOT NULL,            -- the host on which the link stands
    text TEXT NOT NULL,                 -- empty = a link without anchor text
    site INTEGER NOT NULL DEFAULT 0,    -- the site of the source
    PRIMARY KEY (host, rest, source, text)
) WITHOUT ROWID;

CREATE TABLE sketches (                 -- of pages that may have near-duplicates: what each URL has now
    id INTEGER PRIMARY KEY,             -- as in urls
    document INTEGER NOT NULL,
    host INTEGER NOT NULL,
    template INTEGER NOT NULL,          -- fingerprint of the template removed before sketching; 0 = none
    indexed INTEGER NOT NULL,           -- whether it is in bands: originals only
    sketch BLOB NOT NULL                -- MinHash, 200 marks of 2 bytes, and simhash, 8 bytes
);
CREATE INDEX sketches_of_host ON sketches (host);
CREATE TABLE bands (                    -- which pages are worth comparing: those that share a key
    band INTEGER NOT NULL,              -- of a part of a sketch
    id INTEGER NOT NULL,                -- as in urls
    PRIMARY KEY (band, id)
) WITHOUT ROWID;
CREATE TABLE template_jobs (            -- hosts whose template is to be extracted, or removed from older sketches
    host INTEGER PRIMARY KEY
);

CREATE TABLE changes (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    -- upsert: new content or another original; meta: a new visit or new anchors only
    change TEXT NOT NULL CHECK (change IN ('{ChangeEvent.UPSERT}', '{ChangeEvent.META}', '{ChangeEvent.DELETE}')),
    document INTEGER,
    at REAL NOT NULL,                   -- when a visit last confirmed the entry
    reason INTEGER,                     -- of a deletion: why the document was deleted
    detail TEXT NOT NULL DEFAULT ''     -- of a deletion: the URL to which it has moved
);
CREATE INDEX changes_of_url ON changes (host, rest, version);

CREATE TABLE trust (                    -- how often each source of a host was right about changes of its pages
    host INTEGER NOT NULL,
    source INTEGER NOT NULL,            -- validators, HEAD, lastmod, changefreq or a feed
    changed_right INTEGER NOT NULL,
    changed_wrong INTEGER NOT NULL,
    same_right INTEGER NOT NULL,
    same_wrong INTEGER NOT NULL,
    PRIMARY KEY (host, source)
) WITHOUT ROWID;
CREATE TABLE announcements (            -- entries of feeds
    feed INTEGER NOT NULL,              -- the feed's number in `urls`
    guid INTEGER NOT NULL,              -- fingerprint of the entry's identifier
    host INTEGER NOT NULL,              -- the URL that it announces
    rest INTEGER NOT NULL,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    dated REAL,
    found REAL NOT NULL,
    PRIMARY KEY (feed, guid)
) WITHOUT ROWID;
CREATE INDEX announcements_of_url ON announcements (host, rest);
CREATE TABLE vouchers (                 -- hosts whose robots.txt names a sitemap of another host
    host INTEGER NOT NULL,              -- the sitemap
    rest INTEGER NOT NULL,
    voucher TEXT NOT NULL,
    PRIMARY KEY (host, rest, voucher)
) WITHOUT ROWID;

CREATE TABLE pending_anchors (          -- pages with new anchor text that the change feed has yet to publish
    serial INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,           -- of the feed when they were found: later entries include them already
    targets BLOB NOT NULL               -- host and rest of each, 8 bytes each
);
CREATE TABLE runs (                     -- summaries of ended runs
    id INTEGER PRIMARY KEY,
    ended REAL NOT NULL,
    summary TEXT NOT NULL               -- JSON
);
INSERT INTO crawl VALUES ('identity', lower(hex(randomblob(8))));   -- versions of different crawls are not comparable

CREATE VIEW accounting AS
    SELECT (SELECT coalesce(sum(known), 0) FROM hosts) AS known,
           count(*) FILTER (WHERE state = {State.WAITING:d}) AS waiting,
           count(*) FILTER (WHERE state = {State.LEASED:d}) AS leased,
           count(*) FILTER (WHERE state = {State.PARKED:d}) AS parked
    FROM urls;
"""

REASONS = [(reason.value, reason.name, reason.meaning) for reason in Reason]
