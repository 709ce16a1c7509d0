"""The tables of a crawl, in one place.

Read as a table of rows with column groups: the row is the URL (`host`, `rest`: fingerprints, so a host's rows lie
together); its groups are what the frontier knows (`urls`), what was archived and when (`documents`, several versions a
URL) and what others say of it (`anchors`). `changes` is the feed: who has seen version v never later sees a new row
below v.
"""

from __future__ import annotations

from collections.abc import Mapping

from crawler.frontier.priority import LEVELS
from crawler.items import Reason

APPLICATION_ID = 0x4F524257  # "ORBW": says of a database file that it is ours
SCHEMA_VERSION = 9
PARTITIONS = 64  # work is divided by these; fixed when a crawl is created

_GATES = """
CREATE TABLE gates (                    -- clocks of groups of hosts that count as one
    name TEXT PRIMARY KEY,
    next_visit REAL NOT NULL,
    rest REAL NOT NULL
) WITHOUT ROWID;
"""

_COLLISIONS = """
CREATE TABLE collisions (               -- URLs that are not in `urls`, because another URL has their key
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    found REAL NOT NULL,
    PRIMARY KEY (host, rest, url)
) WITHOUT ROWID;
"""

# Apart from `urls`, because most URLs have none of it and each column costs every row a byte.
_TOLD = """
CREATE TABLE told (                     -- what a server and a site's lists have said of a URL
    id INTEGER PRIMARY KEY,             -- as in urls
    etag TEXT NOT NULL DEFAULT '',      -- of its last document
    last_modified TEXT NOT NULL DEFAULT '',
    length INTEGER,                     -- of that, as on the wire
    reused INTEGER NOT NULL DEFAULT 0,  -- visits in a row that took the server's word for it
    missing INTEGER NOT NULL DEFAULT 0, -- visits in a row that did not find it
    lister INTEGER,                     -- the sitemap or feed that lists it
    lastmod REAL,                       -- when it changed, says that
    interval REAL                       -- between two changes, says that; of a feed, between two visits
);
"""

# New rows are appended; only the narrow index by key is entered at random, and fits into memory for long.
_URLS_5 = f"""
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,             -- in the order in which they were found
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),  -- waiting, leased, parked
    reason INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND {LEVELS - 1}),
    due REAL NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER,                      -- while leased
    asked INTEGER,                      -- while leased: the host that is asked
    via INTEGER,                        -- on whose page it was found; NULL = somebody asked for it, 0 = unknown
    found REAL NOT NULL,
    visited REAL,
    last_reason INTEGER,
    status INTEGER,
    detail TEXT NOT NULL DEFAULT '',
    etag TEXT,
    last_modified TEXT,
    visits INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0, -- how often it was found changed
    inlinks INTEGER NOT NULL DEFAULT 0, -- other sites that link to it, when they were last counted
    hint REAL,                          -- from 0 to 1: how important others say it is
    UNIQUE (host, rest)
);
"""
_URLS = _URLS_5.replace("    etag TEXT,\n    last_modified TEXT,\n", "")

_URL_INDEXES = f"""
CREATE INDEX urls_waiting ON urls (host, level, due) WHERE state = 0;
CREATE INDEX urls_leased ON urls (host) WHERE state = 1;
CREATE INDEX urls_over_budget ON urls (host, level, due) WHERE state = 2 AND reason = {int(Reason.OVER_BUDGET)};
"""

_SITEMAP_INDEX = "CREATE INDEX urls_sitemaps ON urls (host) WHERE kind = 2;"

_ACCOUNTING = """
CREATE VIEW accounting AS
    SELECT (SELECT coalesce(sum(known), 0) FROM hosts) AS known,
           count(*) FILTER (WHERE state = 0) AS waiting,
           count(*) FILTER (WHERE state = 1) AS leased,
           count(*) FILTER (WHERE state = 2) AS parked
    FROM urls;
"""

_SITES = """
CREATE TABLE sites (                    -- registered domains; a host without one is a site by itself
    site INTEGER PRIMARY KEY,           -- fingerprint of the name
    name TEXT NOT NULL,
    seeded INTEGER NOT NULL DEFAULT 0,  -- whether a seed lies in it
    endorsers INTEGER NOT NULL DEFAULT 0,   -- other sites that link to it
    admitted INTEGER NOT NULL DEFAULT 0,    -- URLs that its budget let in
    excess INTEGER NOT NULL DEFAULT 0,  -- URLs that it did not, and are parked
    day INTEGER NOT NULL DEFAULT 0,     -- days since the epoch, for the next two
    admitted_today INTEGER NOT NULL DEFAULT 0,
    visits_today INTEGER NOT NULL DEFAULT 0,
    review REAL                         -- when what is parked is looked at again; NULL = nothing is
);
CREATE INDEX sites_to_review ON sites (review) WHERE review IS NOT NULL;
CREATE TABLE site_links (               -- who endorses whom
    target INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (target, source)
) WITHOUT ROWID;
"""

_WORKERS = """
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
    limited_by TEXT NOT NULL DEFAULT '' -- what keeps it from being faster
);
CREATE TABLE addresses (                -- servers, once there are several workers: their hosts are in one partition
    address TEXT PRIMARY KEY,
    partition INTEGER NOT NULL,
    wanted INTEGER                      -- the partition of a group of hosts that needs it
) WITHOUT ROWID;
CREATE TABLE errands (                  -- a robots.txt that lies on another host, for whoever may ask that one
    origin TEXT PRIMARY KEY,            -- whose rules it has
    host INTEGER NOT NULL,              -- that is to be asked
    url TEXT NOT NULL,
    hops INTEGER NOT NULL
) WITHOUT ROWID;
"""

_CHANGES_8 = """
CREATE TABLE changes (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    change TEXT NOT NULL CHECK (change IN ('upsert', 'meta', 'delete')),  -- meta: looked at again, and unchanged
    document INTEGER,
    at REAL NOT NULL
);
CREATE INDEX changes_of_url ON changes (host, rest, version);
"""
_CHANGES = _CHANGES_8.replace(
    "    at REAL NOT NULL\n",
    """    at REAL NOT NULL,                   -- when the document was last seen as it is told of here, or not at all
    reason INTEGER,                     -- of a deletion: how it is known that the document is gone
    detail TEXT NOT NULL DEFAULT ''     -- and where it has moved
""",
)

_FEED = """
CREATE TABLE anchored (                 -- pages that others call something new, of which the feed has yet to tell
    serial INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,           -- the last of the feed when they were found: what came later tells of it already
    targets BLOB NOT NULL               -- host and rest of each, 8 bytes each
);
CREATE TABLE runs (                     -- what crawls said of themselves when they ended
    id INTEGER PRIMARY KEY,
    ended REAL NOT NULL,
    summary TEXT NOT NULL               -- JSON
);
INSERT INTO crawl VALUES ('identity', lower(hex(randomblob(8))));   -- versions of one crawl say nothing about another
"""

_SAYINGS = """
CREATE TABLE trust (                    -- how often what a host says of its pages was true, as far as we have seen
    host INTEGER NOT NULL,
    witness INTEGER NOT NULL,           -- by which it says so
    changed_right INTEGER NOT NULL,
    changed_wrong INTEGER NOT NULL,
    same_right INTEGER NOT NULL,
    same_wrong INTEGER NOT NULL,
    PRIMARY KEY (host, witness)
) WITHOUT ROWID;
CREATE TABLE announcements (            -- entries of feeds
    feed INTEGER NOT NULL,              -- the feed's number in `urls`
    guid INTEGER NOT NULL,              -- fingerprint of what the entry calls itself
    host INTEGER NOT NULL,              -- the URL that it announces
    rest INTEGER NOT NULL,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    dated REAL,
    found REAL NOT NULL,
    PRIMARY KEY (feed, guid)
) WITHOUT ROWID;
CREATE INDEX announcements_of_url ON announcements (host, rest);
CREATE TABLE vouchers (                 -- hosts whose robots.txt names a sitemap that lies elsewhere
    host INTEGER NOT NULL,              -- the sitemap
    rest INTEGER NOT NULL,
    voucher TEXT NOT NULL,
    PRIMARY KEY (host, rest, voucher)
) WITHOUT ROWID;
"""

_COPIES = "CREATE INDEX documents_copies ON documents (duplicate_of) WHERE duplicate_of IS NOT NULL;"

_SKETCHES = """
CREATE TABLE sketches (                 -- of pages that may have near-duplicates: what each URL has now
    id INTEGER PRIMARY KEY,             -- as in urls
    document INTEGER NOT NULL,
    host INTEGER NOT NULL,
    template INTEGER NOT NULL,          -- fingerprint of the template that was taken out of it before; 0 = none
    indexed INTEGER NOT NULL,           -- it stands in bands: it is no duplicate of another
    sketch BLOB NOT NULL                -- MinHash, 200 marks of 2 bytes, and simhash, 8 bytes
);
CREATE INDEX sketches_of_host ON sketches (host);
CREATE TABLE bands (                    -- which pages are worth comparing: those that share a key
    band INTEGER NOT NULL,              -- of a part of a sketch
    id INTEGER NOT NULL,                -- as in urls
    PRIMARY KEY (band, id)
) WITHOUT ROWID;
CREATE TABLE lessons (                  -- hosts whose template is to be learned, or taken out of sketches that have it
    host INTEGER PRIMARY KEY
);
"""

_FRONT = "CREATE INDEX hosts_front ON hosts (level, due, partition) WHERE due IS NOT NULL;"

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
    next_visit REAL NOT NULL DEFAULT 0, -- the clock: not asked before
    held_until REAL NOT NULL DEFAULT 0, -- nor before, by the host's wish or for its failures
    crawl_delay REAL,                   -- what its robots.txt asks for
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
    soft404 BLOB,                       -- words of the page that it shows for what it does not have; empty = it says 404, or was not asked yet; NULL = nor is about to be
    template BLOB                       -- shingles that are on most of its pages, of 8 bytes each; NULL = none are known
);
CREATE INDEX hosts_by_name ON hosts (reversed);
{_FRONT}
CREATE INDEX hosts_in_excess ON hosts (site) WHERE excess > 0;
{_SITES}
CREATE TABLE origins (
    origin TEXT PRIMARY KEY,            -- scheme://host:port
    host INTEGER NOT NULL,
    status INTEGER NOT NULL,
    body BLOB,                          -- robots.txt; NULL = no rules
    fetched REAL NOT NULL,
    expires REAL NOT NULL,
    held_until REAL NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    location TEXT NOT NULL DEFAULT '',  -- where a redirect says robots.txt is
    hops INTEGER NOT NULL DEFAULT 0,
    crawl_delay REAL,
    request_rate TEXT NOT NULL DEFAULT '',
    visit_time TEXT NOT NULL DEFAULT '',
    preferred TEXT NOT NULL DEFAULT ''  -- the origin of the mirror that it likes best
) WITHOUT ROWID;
CREATE INDEX origins_of_host ON origins (host);
CREATE INDEX origins_by_preferred ON origins (preferred) WHERE preferred <> '';

{_URLS}{_URL_INDEXES}{_SITEMAP_INDEX}{_TOLD}
{_COLLISIONS}
{_GATES}
{_WORKERS}
CREATE TABLE seeds (
    serial INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    added REAL NOT NULL
);

CREATE TABLE segments (                 -- archive files, and how far each is good
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
    duplicate_of INTEGER,               -- the document of another URL that had this content first
    format TEXT NOT NULL DEFAULT '',    -- as it turned out: html, pdf, docx, text …; empty = nothing that is read
    encoding_source TEXT NOT NULL DEFAULT '',   -- how its encoding is known: bom, header, meta, xml, utf-8, detected, fallback
    problem TEXT NOT NULL DEFAULT '',   -- what kept us from reading all of it: encrypted, corrupt, bomb …
    published REAL,                     -- when it was, as it says itself
    metadata TEXT NOT NULL DEFAULT '{{}}', -- JSON: what else it says of itself
    similarity REAL,                    -- to the document that it is a duplicate of
    tier INTEGER,                       -- how that is known
    weights BLOB NOT NULL DEFAULT x''   -- what each piece of its text is worth: its main text is had again by them
);
-- Only whole pages can be copies, or have them.
CREATE INDEX documents_by_body ON documents (body_digest) WHERE kind = 0 AND reason = 20 AND body_bytes > 0;
CREATE INDEX documents_by_text ON documents (text_digest) WHERE kind = 0 AND reason = 20 AND text_digest <> x'';
CREATE INDEX documents_of_url ON documents (host, rest, fetched);
{_COPIES}
CREATE TABLE anchors (
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    source INTEGER NOT NULL,            -- the host on which the link stands
    text TEXT NOT NULL,                 -- empty: a link without words
    site INTEGER NOT NULL DEFAULT 0,    -- the site of the source
    PRIMARY KEY (host, rest, source, text)
) WITHOUT ROWID;

{_SKETCHES}
{_CHANGES}{_SAYINGS}{_FEED}{_ACCOUNTING}"""

REASONS = [(reason.value, reason.name, reason.meaning) for reason in Reason]

# Levels were 0 to 4 by depth alone; a check of a column cannot be changed in place. `site_of` and `host_key` are ours.
_TO_4 = (
    "".join(
        f"ALTER TABLE hosts ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0;"
        for column in ("site", "admitted", "excess", "day", "admitted_today", "visits_today", "last_bytes", "levels")
    )
    + """
ALTER TABLE origins ADD COLUMN preferred TEXT NOT NULL DEFAULT '';
UPDATE hosts SET site = host_key(site_of(name));
CREATE INDEX hosts_in_excess ON hosts (site) WHERE excess > 0;
CREATE INDEX origins_by_preferred ON origins (preferred) WHERE preferred <> '';
INSERT INTO sites (site, name) SELECT DISTINCT site, site_of(name) FROM hosts;
UPDATE sites SET seeded = 1 WHERE name IN (SELECT site_of(host_of(url)) FROM seeds);
ALTER TABLE anchors ADD COLUMN site INTEGER NOT NULL DEFAULT 0;
UPDATE anchors SET site = coalesce((SELECT site FROM hosts WHERE hosts.host = anchors.source), 0);
DROP VIEW accounting;
CREATE TABLE urls_4 (
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
    reason INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 7),
    due REAL NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER,
    asked INTEGER,
    via_host INTEGER,
    via_rest INTEGER,
    found REAL NOT NULL,
    visited REAL,
    last_reason INTEGER,
    status INTEGER,
    detail TEXT NOT NULL DEFAULT '',
    etag TEXT,
    last_modified TEXT,
    visits INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,
    inlinks INTEGER NOT NULL DEFAULT 0,
    hint REAL,
    PRIMARY KEY (host, rest)
) WITHOUT ROWID;
INSERT INTO urls_4 SELECT *, 0, NULL FROM urls;
DROP TABLE urls;
ALTER TABLE urls_4 RENAME TO urls;
UPDATE urls SET inlinks = min(255, (
    SELECT count(DISTINCT a.site) FROM anchors a
    WHERE a.host = urls.host AND a.rest = urls.rest AND a.site <> (SELECT site FROM hosts h WHERE h.host = urls.host)));
UPDATE urls SET level = min(7, max(0, iif(depth > 0, depth + 2, 0) - (
    (inlinks >= 1) + (inlinks >= 3) + (inlinks >= 7) + (inlinks >= 15) + (inlinks >= 31) + (inlinks >= 63)
    + (inlinks >= 127) + (inlinks >= 255))));
UPDATE hosts SET levels = 255, level = coalesce((SELECT min(level) FROM urls WHERE urls.host = hosts.host AND state = 0), 0);
"""
    + _URL_INDEXES
    + _ACCOUNTING
)

# Rows lay in the order of their keys, which made a new one cost a page of its own.
_TO_5 = (
    """
DROP VIEW accounting;
ALTER TABLE urls RENAME TO urls_4;
"""
    + _URLS_5
    + """
INSERT INTO urls (host, rest, url, state, reason, kind, level, due, depth, hops, tries, crashes, epoch, asked, found, visited,
                  last_reason, status, detail, etag, last_modified, visits, changes, inlinks, hint)
    SELECT host, rest, url, state, reason, kind, level, due, depth, hops, tries, crashes, epoch, asked, found, visited,
           last_reason, status, detail, etag, last_modified, visits, changes, inlinks, hint FROM urls_4 ORDER BY found;
UPDATE urls SET via = (SELECT v.id FROM urls_4 o JOIN urls v ON v.host = o.via_host AND v.rest = o.via_rest
                       WHERE o.host = urls.host AND o.rest = urls.rest);
DROP TABLE urls_4;
DROP INDEX hosts_front;
"""
    + _FRONT
    + _URL_INDEXES
    + _ACCOUNTING
    + _WORKERS
)

_TO_6 = (
    """
ALTER TABLE urls DROP COLUMN etag;
ALTER TABLE urls DROP COLUMN last_modified;
ALTER TABLE hosts ADD COLUMN soft404 BLOB;
"""
    + _SITEMAP_INDEX
    + _TOLD
    + """
DROP INDEX changes_of_url;
ALTER TABLE changes RENAME TO changes_5;
"""
    + _CHANGES_8
    + """
INSERT INTO changes SELECT * FROM changes_5;
DROP TABLE changes_5;
"""
    + _SAYINGS
)

_TO_7 = """
ALTER TABLE documents ADD COLUMN format TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN encoding_source TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN problem TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN published REAL;
ALTER TABLE documents ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
"""

_TO_8 = (
    """
ALTER TABLE documents ADD COLUMN similarity REAL;
ALTER TABLE documents ADD COLUMN tier INTEGER;
ALTER TABLE hosts ADD COLUMN template BLOB;
UPDATE documents SET similarity = 1.0, tier = (
    SELECT iif(o.body_digest = documents.body_digest, 1, 2) FROM documents o WHERE o.id = documents.duplicate_of)
WHERE duplicate_of IS NOT NULL;
DROP TABLE sketches;
"""
    + _COPIES
    + _SKETCHES
)

_TO_9 = (
    """
ALTER TABLE changes ADD COLUMN reason INTEGER;
ALTER TABLE changes ADD COLUMN detail TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN weights BLOB NOT NULL DEFAULT x'';
"""
    + _FEED
)

# What leads from one version to the next: version → statements. A crawl that is older is brought forward on open.
MIGRATIONS: Mapping[int, str] = {
    2: _COLLISIONS,
    3: _GATES
    + "".join(
        f"ALTER TABLE {table} ADD COLUMN {column} TEXT NOT NULL DEFAULT '';"
        for table in ("hosts", "origins")
        for column in ("request_rate", "visit_time")
    ),
    4: _SITES + _TO_4,
    5: _TO_5,
    6: _TO_6,
    7: _TO_7,
    8: _TO_8,
    9: _TO_9,
}
