"""How a crawl of an older version becomes one of this version: the statements from each version to the next.

Statements stand here as they were when their version came out, whatever the tables are like now. `host_of`, `host_key`
and `site_of` are functions of ours that the connection provides.
"""

from __future__ import annotations

from collections.abc import Mapping

# Codes of states, kinds and reasons are numbers here, not enums: a migration must stay what it was.

_TO_2 = """
CREATE TABLE collisions (               -- URLs that are not in `urls`, because another URL has their key
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    found REAL NOT NULL,
    PRIMARY KEY (host, rest, url)
) WITHOUT ROWID;
"""

_TO_3 = """
CREATE TABLE gates (                    -- clocks of groups of hosts that count as one
    name TEXT PRIMARY KEY,
    next_visit REAL NOT NULL,
    rest REAL NOT NULL
) WITHOUT ROWID;
ALTER TABLE hosts ADD COLUMN request_rate TEXT NOT NULL DEFAULT '';
ALTER TABLE hosts ADD COLUMN visit_time TEXT NOT NULL DEFAULT '';
ALTER TABLE origins ADD COLUMN request_rate TEXT NOT NULL DEFAULT '';
ALTER TABLE origins ADD COLUMN visit_time TEXT NOT NULL DEFAULT '';
"""

# Levels were 0 to 4 by depth alone; a check of a column cannot be changed in place.
_TO_4 = """
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
ALTER TABLE hosts ADD COLUMN site INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN admitted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN excess INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN admitted_today INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN visits_today INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN last_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN levels INTEGER NOT NULL DEFAULT 0;
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
UPDATE hosts SET levels = 255,
    level = coalesce((SELECT min(level) FROM urls WHERE urls.host = hosts.host AND state = 0), 0);
CREATE INDEX urls_waiting ON urls (host, level, due) WHERE state = 0;
CREATE INDEX urls_leased ON urls (host) WHERE state = 1;
CREATE INDEX urls_over_budget ON urls (host, level, due) WHERE state = 2 AND reason = 98;
CREATE VIEW accounting AS
    SELECT (SELECT coalesce(sum(known), 0) FROM hosts) AS known,
           count(*) FILTER (WHERE state = 0) AS waiting,
           count(*) FILTER (WHERE state = 1) AS leased,
           count(*) FILTER (WHERE state = 2) AS parked
    FROM urls;
"""

# Rows lay in the order of their keys, so that each new one was written to a page of its own.
_TO_5 = """
DROP VIEW accounting;
ALTER TABLE urls RENAME TO urls_4;
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,             -- in the order in which they were found
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    url TEXT NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),  -- waiting, leased, parked
    reason INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 7),
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
INSERT INTO urls (host, rest, url, state, reason, kind, level, due, depth, hops, tries, crashes, epoch, asked, found,
                  visited, last_reason, status, detail, etag, last_modified, visits, changes, inlinks, hint)
    SELECT host, rest, url, state, reason, kind, level, due, depth, hops, tries, crashes, epoch, asked, found, visited,
           last_reason, status, detail, etag, last_modified, visits, changes, inlinks, hint FROM urls_4 ORDER BY found;
UPDATE urls SET via = (SELECT v.id FROM urls_4 o JOIN urls v ON v.host = o.via_host AND v.rest = o.via_rest
                       WHERE o.host = urls.host AND o.rest = urls.rest);
DROP TABLE urls_4;
DROP INDEX hosts_front;
CREATE INDEX hosts_front ON hosts (level, due, partition) WHERE due IS NOT NULL;
CREATE INDEX urls_waiting ON urls (host, level, due) WHERE state = 0;
CREATE INDEX urls_leased ON urls (host) WHERE state = 1;
CREATE INDEX urls_over_budget ON urls (host, level, due) WHERE state = 2 AND reason = 98;
CREATE VIEW accounting AS
    SELECT (SELECT coalesce(sum(known), 0) FROM hosts) AS known,
           count(*) FILTER (WHERE state = 0) AS waiting,
           count(*) FILTER (WHERE state = 1) AS leased,
           count(*) FILTER (WHERE state = 2) AS parked
    FROM urls;
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

_TO_6 = """
ALTER TABLE urls DROP COLUMN etag;
ALTER TABLE urls DROP COLUMN last_modified;
ALTER TABLE hosts ADD COLUMN soft404 BLOB;
CREATE INDEX urls_sitemaps ON urls (host) WHERE kind = 2;
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
DROP INDEX changes_of_url;
ALTER TABLE changes RENAME TO changes_5;
CREATE TABLE changes (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    host INTEGER NOT NULL,
    rest INTEGER NOT NULL,
    change TEXT NOT NULL CHECK (change IN ('upsert', 'meta', 'delete')),  -- meta: looked at again, and unchanged
    document INTEGER,
    at REAL NOT NULL
);
CREATE INDEX changes_of_url ON changes (host, rest, version);
INSERT INTO changes SELECT * FROM changes_5;
DROP TABLE changes_5;
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

_TO_7 = """
ALTER TABLE documents ADD COLUMN format TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN encoding_source TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN problem TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN published REAL;
ALTER TABLE documents ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
"""

_TO_8 = """
ALTER TABLE documents ADD COLUMN similarity REAL;
ALTER TABLE documents ADD COLUMN tier INTEGER;
ALTER TABLE hosts ADD COLUMN template BLOB;
UPDATE documents SET similarity = 1.0, tier = (
    SELECT iif(o.body_digest = documents.body_digest, 1, 2) FROM documents o WHERE o.id = documents.duplicate_of)
WHERE duplicate_of IS NOT NULL;
DROP TABLE sketches;
CREATE INDEX documents_copies ON documents (duplicate_of) WHERE duplicate_of IS NOT NULL;
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

_TO_9 = """
ALTER TABLE changes ADD COLUMN reason INTEGER;
ALTER TABLE changes ADD COLUMN detail TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN weights BLOB NOT NULL DEFAULT x'';
CREATE TABLE anchored (                 -- pages that others call something new, of which the feed has yet to tell
    serial INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    targets BLOB NOT NULL               -- host and rest of each, 8 bytes each
);
CREATE TABLE runs (                     -- what crawls said of themselves when they ended
    id INTEGER PRIMARY KEY,
    ended REAL NOT NULL,
    summary TEXT NOT NULL               -- JSON
);
INSERT INTO crawl VALUES ('identity', lower(hex(randomblob(8))));   -- versions of one crawl say nothing about another
"""

_TO_10 = """
ALTER TABLE told RENAME TO url_facts;
ALTER TABLE errands RENAME TO remote_robots;
ALTER TABLE lessons RENAME TO template_jobs;
ALTER TABLE anchored RENAME TO pending_anchors;
ALTER TABLE trust RENAME COLUMN witness TO source;
ALTER TABLE urls RENAME COLUMN asked TO leased_host;
ALTER TABLE urls ADD COLUMN step INTEGER NOT NULL DEFAULT 0 CHECK (step BETWEEN 0 AND 7);
DROP INDEX urls_waiting;
CREATE INDEX urls_waiting ON urls (host, level, step, due) WHERE state = 0;
INSERT INTO crawl SELECT 'politeness_settings', json_object(
    'min_delay', value -> 'floor', 'latency_factor', value -> 'factor', 'latency_cap', value -> 'cap',
    'own_hosts', value -> 'own_hosts', 'groups', value -> 'groups',
    'address_connections', value -> 'address_connections', 'address_gap', value -> 'address_gap',
    'bandwidth_host_limit', value -> 'bandwidth'
) FROM crawl WHERE name = 'politeness' AND json_valid(value);
INSERT INTO crawl SELECT 'groups_digest', '' FROM crawl WHERE name = 'groups';    -- hosts are assigned again
DELETE FROM crawl WHERE name IN ('politeness', 'groups');
"""

_TO_11 = """
ALTER TABLE documents ADD COLUMN extractor TEXT NOT NULL DEFAULT '';
"""

_TO_12 = """
ALTER TABLE documents ADD COLUMN relevance REAL;
ALTER TABLE documents ADD COLUMN has_body INTEGER NOT NULL DEFAULT 1;
CREATE INDEX documents_relevance ON documents (relevance, reason) WHERE relevance IS NOT NULL;
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
"""

# Version → the statements that lead to it. A crawl that is older is brought forward when it is opened for writing.
MIGRATIONS: Mapping[int, str] = {
    2: _TO_2,
    3: _TO_3,
    4: _TO_4,
    5: _TO_5,
    6: _TO_6,
    7: _TO_7,
    8: _TO_8,
    9: _TO_9,
    10: _TO_10,
    11: _TO_11,
    12: _TO_12,
}
