"""The wiring diagram: components in the order of the flow, then every setting with its unit and reason.

Set them here, in a settings module of your own, or for one run with `-s NAME=VALUE`. Lists are comma-separated text.
Times are seconds, sizes bytes. The comments become docs/settings.md: `python -m tests.generated_docs`.
"""

from crawler.system import usable_cores

BOT_NAME = "orbweaver"  # Scrapy's name of the project; the name in User-Agent and robots.txt does not depend on it
SPIDER_MODULES = ["crawler.spiders"]  # packages in which `scrapy crawl NAME` looks for spiders
NEWSPIDER_MODULE = "crawler.spiders"  # where `scrapy genspider` writes a new one
COMMANDS_MODULE = "crawler.commands"  # package of our commands: one file each, named like the command

# ── The flow ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# 1. The frontier releases a visit when its host may be visited.
SCHEDULER = "crawler.engine.scheduler.FrontierScheduler"
# Scrapy's own middlewares are off: redirects, retries and robots.txt are visits of the frontier.
DOWNLOADER_MIDDLEWARES_BASE: dict[str, int] = {}
# 2. Middlewares judge it; they never download. Answers pass them in reverse: sitemaps are found after robots.txt was
# read.
DOWNLOADER_MIDDLEWARES = {
    "crawler.middlewares.sitemaps.SitemapsMiddleware": 100,
    "crawler.middlewares.robots.RobotsMiddleware": 200,
    "crawler.middlewares.head.HeadMiddleware": 300,
    "crawler.middlewares.conditional.ConditionalMiddleware": 400,
}
# 3. The handler fetches it, from a checked address.
DOWNLOADER = "crawler.engine.downloader.FrontierDownloader"
DOWNLOAD_HANDLERS_BASE: dict[str, str] = {}  # none of Scrapy's: no file:, data:, ftp: or s3: can ever be fetched
# The handler of each scheme; what has none is not fetched.
DOWNLOAD_HANDLERS = {"http": "crawler.engine.handler.CurlHandler", "https": "crawler.engine.handler.CurlHandler"}
# 4. The spider yields the visit's result; the scheduler makes sure that there is exactly one, whatever happens.
# Scrapy's own spider middlewares are off.
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
SPIDER_MIDDLEWARES = {"crawler.middlewares.start.StartMiddleware": 100}  # what a spider starts with are seeds
# 5. The page is examined, judged by the topic of a focused crawl, marked for the search for near-duplicates, and
# stored. Without the third pipeline only exact copies are found.
ITEM_PIPELINES = {
    "crawler.pipelines.extract.ExtractPipeline": 100,
    "crawler.pipelines.relevance.RelevancePipeline": 300,
    "crawler.pipelines.duplicates.DuplicatesPipeline": 500,
    "crawler.pipelines.store.StorePipeline": 900,
}
# Of Scrapy's own only feed exports, for `scrapy crawl web -O pages.jsonl` and FEEDS.
EXTENSIONS_BASE = {"scrapy.extensions.feedexport.FeedExporter": 0}
# Pages in JSON lines are encoded as `scrapy export` does, in a fifth of the time; Scrapy's exporters do the rest.
FEED_EXPORTERS = dict.fromkeys(("jsonl", "jsonlines", "jl"), "crawler.engine.item_exporters.JsonLinesExporter")
# 6. Extensions show how the run goes.
EXTENSIONS = {
    "crawler.extensions.progress.Progress": 100,
    "crawler.extensions.metrics.Metrics": 200,
}

# ── The crawl ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# Directory that holds all state of one crawl: the store, the archive, locks, exports, the search index.
CRAWL_DIR = "data/crawl"
STORE = ""  # address of the store; empty = the SQLite file crawl.db in CRAWL_DIR
# URL or e-mail address that tells site owners who you are; it is sent in the User-Agent header. While it is empty, only
# OWN_HOSTS are crawled.
CONTACT = ""
CRAWL_MAX_PAGES = 0  # pages after which the crawl stops, counted over all workers; 0 = no limit
CRAWL_MAX_SECONDS = 0.0  # seconds after which the crawl stops; 0 = no limit
CRAWL_HORIZON = 60.0  # seconds: the crawl is done when no URL is due within this time; inf = it never ends by itself
# How far from the seeds links are followed: any = the whole web; domains, hosts or prefixes = the registered domains,
# the hosts or the directories of the seeds.
SCOPE = "domains"
# Which URLs come first: priority = by depth, links, hints and changes; fifo = in the order found, to compare with.
# Fixed when a crawl is created; empty = as it was created, and priority for a new one.
ORDER = ""
CRAWL_MAX_DEPTH = 0  # links between a seed and a page, at most; 0 = no limit

# ── URLs: which are the same (`scrapy urls --rules`) ──────────────────────────────────────────────────────────────────
URL_RULES = ""  # path of a file with rules for single sites, one a line: SITE drop|keep|only|on|off NAMES
URL_UNESCAPE = True  # undo percent-escapes of letters, digits and -._~
URL_DROP_SESSIONS = True  # remove session identifiers from path and query
URL_DROP_TRACKING = True  # remove parameters that only say where a visitor came from
URL_DROP_EMPTY = True  # remove empty parameters, and a "?" without parameters
URL_SORT_QUERY = True  # sort parameters by name
URL_MERGE_SLASHES = True  # write several slashes in a row as one
URL_DROP_INDEX_PAGE = False  # remove index.html and the like; off, because it is wrong on some sites
URL_ADD_TRAILING_SLASH = False  # add a slash to what looks like a directory; off, because it is wrong on some sites

# ── URLs: which are visited ───────────────────────────────────────────────────────────────────────────────────────────
# Path of a file with patterns, one a line: the beginning of a URL, or a regular expression behind "~". If it is given,
# one pattern must match.
URL_INCLUDE = ""
URL_EXCLUDE = ""  # path of a file with patterns like those of URL_INCLUDE; none may match
URL_PORTS = "80,443,8000,8080,8443"  # ports that are visited, besides those of the seeds
URL_MAX_LENGTH = 2048  # characters of a URL
URL_MAX_SEGMENTS = 20  # segments of a path; deeper paths are usually traps
URL_MAX_REPEATS = 3  # occurrences of one segment in a path; more are usually a trap
URL_MAX_PARAMETERS = 16  # parameters of a query
# File name endings that are not visited, because such files hold no text.
URL_SKIP_TYPES = (
    "7z,aac,apk,avi,avif,bin,bmp,bz2,deb,dmg,eot,exe,flac,flv,gif,gz,heic,ico,img,iso,jar,jpeg,jpg,lzma,m4a,m4v,"
    "mid,mkv,mov,mp3,mp4,mpeg,mpg,msi,ogg,ogv,opus,otf,pkg,png,psd,rar,rpm,svgz,swf,tar,tgz,tif,tiff,ttf,wav,"
    "webm,webp,wma,wmv,woff,woff2,xz,zip,zst"
)
URL_SKIP_ACTIONS = True  # skip URLs that change something: log out, add to cart, delete, export a calendar
URL_SKIP_APIS = True  # skip URLs of interfaces for programs

# ── Pages: what is read of them ──────────────────────────────────────────────────────────────────────────────────────
# Method that finds the main text: trees, weighed, slope, windows, filters, turbohtml, resiliparse, trafilatura or
# everything.
EXTRACTOR = "trees"
# A second method for pages on which the first is unsure; empty = none. For those of weighed trafilatura is right more
# often; for those of trees no method is.
EXTRACTOR_SECOND = ""
LINKS_SKIP_REL = "nofollow,sponsored"  # words of a link's rel attribute; links with one of them are not followed
LINKS_IN_DATA = False  # follow URLs that occur only in JSON-LD
LINKS_IN_TEXT = False  # follow URLs that stand in the text without being links

# ── Duplicates ────────────────────────────────────────────────────────────────────────────────────────────────────────
# Share of common shingles (runs of words) from which two pages are near-duplicates, 0.5 to 1; 0 = exact copies only.
DUPLICATE_THRESHOLD = 0.9
DUPLICATE_SHINGLE = 5  # words of a shingle
DUPLICATE_LINKS = True  # follow the links of duplicates; they may lead to something new

# ── Focused crawling: `scrapy crawl focused -a topic=NAME` stays on a topic (`scrapy topic train`) ────────────────────────
# Relevance from 0 to 1 from which a page is on topic. Pages below are not exported; .5 = as likely on topic as not.
FOCUS_KEEP = 0.5
# What is archived of pages below: all, or with kept only their digests, links and relevance. They are fetched in full at
# each visit, because the topic may have changed.
FOCUS_ARCHIVE = "all"
# A host of which 100 pages are less relevant than this share of the mean of the crawl gets few visits for links that
# promise as little; 0 = all hosts are visited alike, each with its best links first.
FOCUS_FOLLOW = 0.5
FOCUS_EXPLORE = 0.05  # share of the visits that goes to such links while better ones wait

# ── Politeness ────────────────────────────────────────────────────────────────────────────────────────────────────────
POLITENESS_MIN_DELAY = 5.0  # seconds that a host rests at least after each answer; less than 1 only for OWN_HOSTS
POLITENESS_LATENCY_FACTOR = 5.0  # a host also rests so many times as long as its last answer took: a slow host is busy
POLITENESS_LATENCY_CAP = 30.0  # seconds; slowness alone never makes a host rest longer than this
POLITENESS_GROUPS = ""  # host patterns, such as *.example.com; all hosts that match one of them count as one host
POLITENESS_ADDRESS_CONNECTIONS = 4  # connections to one IP address at the same time, whatever the host names
# Seconds between the end of an answer and the next request to the same IP address; none for OWN_HOSTS.
POLITENESS_ADDRESS_GAP = 0.5
OWN_HOSTS = ""  # host patterns that you run yourself: they allow short delays and need no CONTACT
# Seconds that OWN_HOSTS rest after each answer; POLITENESS_LATENCY_FACTOR does not hold for them. If this is 0, a
# POLITENESS_MIN_DELAY under 1 is meant for them: then that and the factor hold as for any host.
OWN_MIN_DELAY = 0.0
BANDWIDTH_LIMIT = 0.0  # bytes a second from all hosts to all workers together; 0 = no limit
BANDWIDTH_HOST_LIMIT = 0.0  # bytes a second from one host, its rests included; 0 = no limit

# ── Revisits, retries, sitemaps, feeds ────────────────────────────────────────────────────────────────────────────────
REVISIT_INTERVAL = 7 * 86_400.0  # seconds after which a fetched page is due again
# Seconds after which a missing or private page is tried again; then after 7, 30 and 90 times as long.
REVISIT_MISSING = 86_400.0
REVISIT_FULL_EVERY = 10  # one visit in so many fetches the whole page, whatever its validators say
SITEMAPS = True  # read the sitemaps that robots.txt names, or /sitemap.xml
SITEMAP_INTERVAL = 86_400.0  # seconds after which a sitemap is read again
NEWSFEEDS = True  # follow the RSS, Atom and JSON feeds that pages name
NEWSFEED_INTERVAL = 3_600.0  # seconds after which a feed is read again if it does not say how often it changes
RETRY_DELAY = 30.0  # seconds before a failed visit is tried again; doubled for the next try
ROBOTS_RETRY_DELAY = 3_600.0  # seconds before an unreachable robots.txt is tried again; doubled up to a day
ROBOTS_MIN_LIFETIME = 3_600.0  # seconds that a robots.txt is cached at least; Cache-Control may say more, up to a day

# ── The network ───────────────────────────────────────────────────────────────────────────────────────────────────────
INTRANET_HOSTS = ""  # host patterns whose private addresses may be contacted, if INTRANET_NETWORKS has the address
INTRANET_NETWORKS = ""  # networks such as 10.0.0.0/8 in which such addresses must lie
DNS_HOSTS = ""  # path of a file in the format of hosts(5) that is consulted before DNS
DNS_SERVERS = ""  # name servers, as 192.0.2.1 or [2001:db8::1]:5353; empty = those of the system
DNS_TIMEOUT = 5.0  # seconds after which a lookup has failed
DNS_MIN_TTL = 60.0  # seconds that an answer is cached at least; shorter TTLs only spread load
DNS_MAX_TTL = 86_400.0  # seconds that an answer is cached at most: a site that moves is found within a day
DNS_NEGATIVE_TTL = 60.0  # seconds that "no such name" is cached; a failed lookup for 5 s at most
# Lookups at the same time where only the system's resolver can answer; half as many are made ahead of need.
DNS_THREADS = 64
# A proxy for all requests, as http://HOST:PORT, https://… or socks5://…, perhaps with NAME:PASSWORD@. It opens a tunnel
# to the address that was checked here (CONNECT), and never resolves a name. Proxies of the environment are ignored.
PROXY_URL = ""
FETCH_CONNECT_TIMEOUT = 10.0  # seconds to connect, TLS handshake included
FETCH_FIRST_BYTE_TIMEOUT = 20.0  # seconds until the answer begins
FETCH_TIMEOUT = 60.0  # seconds for the whole request
FETCH_MIN_BYTES_PER_SECOND = 1024  # bytes a second; an answer that stays slower for FETCH_MIN_RATE_TIME is given up
FETCH_MIN_RATE_TIME = 10.0  # seconds over which that speed is measured
FETCH_MAX_BODY = 8 * 1024 * 1024  # bytes; a longer page is cut, and marked as cut
FETCH_MAX_DOCUMENT = 32 * 1024 * 1024  # the same for PDF, office files and the like, of which a part is of little use
FETCH_MAX_HEAD = 64 * 1024  # bytes of status line and headers
# Media types that hold no text: the connection is closed when the headers name one of them.
FETCH_SKIP_TYPES = (
    "image/,audio/,video/,font/,application/octet-stream,application/zip,application/gzip,application/x-gzip,"
    "application/x-tar,application/x-bzip2,application/x-xz,application/zstd,application/x-7z-compressed,"
    "application/vnd.rar,application/x-rar-compressed,application/java-archive,"
    "application/vnd.android.package-archive,application/vnd.debian.binary-package,application/x-debian-package,"
    "application/x-rpm,application/x-iso9660-image,application/x-apple-diskimage,application/x-msdownload,"
    "application/x-msi,application/x-shockwave-flash,application/wasm"
)
HEAD_POLICY = "auto"  # auto, always or never: when a HEAD request comes before the GET
# Pages of a host after which a made-up URL of it is requested once, to recognize its soft 404s; 0 = never.
PROBE_AFTER = 5
FETCH_MAX_BUFFERED = 128 * 1024 * 1024  # bytes of answers in memory; above it, no new request is released
FETCH_VERIFY_TLS = False  # check certificates; off, because a page with a bad one is still a page and no secret is sent

# ── Budgets: so that one site does not take the whole crawl; 0 = no limit ─────────────────────────────────────────────
BUDGET_HOST = 0  # URLs of a host that are visited in all
BUDGET_HOST_DAY = 0  # visits to a host a day; days begin at midnight UTC
BUDGET_DOMAIN = 0  # URLs of a registered domain that are visited in all
BUDGET_DOMAIN_DAY = 100_000  # visits to a registered domain a day; one polite host cannot reach it, a host farm can
# Visits a day to a registered domain that has no seed and to which fewer than two other domains link.
BUDGET_STRANGER_DAY = 10_000
BUDGET_GROWTH = 0.1  # share by which each other domain that links to a domain raises its budgets

# ── The frontier in memory ────────────────────────────────────────────────────────────────────────────────────────────
FRONTIER_ACTIVE_HOSTS = 2_000  # hosts with a back queue in memory
FRONTIER_MOST_HOSTS = 20_000  # the same, at most: more are added while connections are free and no host is ready
FRONTIER_QUEUE_LENGTH = 32  # URLs in a back queue; fewer when there are more hosts
# Seconds before a host's time at which its visit is leased at the earliest, so that a commit does not delay it.
FRONTIER_LEASE_AHEAD = 0.5
# Seconds that a worker keeps its partitions without renewing; it renews every 2 s. Another worker takes them after this
# time and the longest request.
PARTITION_LEASE = 60.0
CONCURRENT_REQUESTS = 1_000  # requests in flight, at most; visits wait in the frontier, not here

# ── Archive and commit ────────────────────────────────────────────────────────────────────────────────────────────────
WARC_SEGMENT_BYTES = 1024**3  # bytes after which an archive file is closed and a new one begun
COMMIT_VISITS = 100  # visits after which a batch is committed
COMMIT_INTERVAL = 0.5  # seconds after which it is committed in any case, or sooner if nothing else can be visited
COMMIT_STEP_HOOK = ""  # module:function called with the name of each step of a commit, in the store's thread; for tests

# ── Content ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Content processes, which examine pages: one for each core that the crawl may use; 0 = the crawl process does it.
CONTENT_PROCESSES = usable_cores()
CONTENT_CPU_TIME = 10  # seconds of CPU time that one page may cost
CONTENT_TIMEOUT = 20.0  # seconds by the clock; a process that takes longer is ended
CONTENT_MAX_MEMORY = 1024**3  # bytes of address space of a content process
CONTENT_HOOK = ""  # module:function called in the content process with each visit, before its page; for tests

# ── Items ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Pages are items for feeds, `item_scraped` and pipelines behind the storage, as dicts with the fields of an exported
# document. False = only what your spider yields.
PAGE_ITEMS = True
FEED_EXPORT_ENCODING = "utf-8"  # of feeds; Scrapy's default escapes all but ASCII in JSON

# ── Metrics ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Port of 127.0.0.1 where Prometheus reads the metrics; 0 = off. Worker n listens on this port + n.
METRICS_PORT = 0
# Path of a .prom file for node_exporter, kept after the run; empty = none. Several workers write name.0.prom and so on.
METRICS_FILE = ""

# ── Scrapy's own settings ─────────────────────────────────────────────────────────────────────────────────────────────
ASYNCIO_EVENT_LOOP = "uvloop.Loop"  # the event loop under libcurl's sockets
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"  # needed by uvloop
CONCURRENT_ITEMS = 1  # Scrapy starts so many tasks for each response, and a visit has one item
WARN_ON_GENERATOR_RETURN_VALUE = False  # the check reads the callback's source for every page
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"  # filters nothing: the store knows every URL
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 64 * 1024 * 1024  # bytes of answers that wait for their commit before new requests stop
TELNETCONSOLE_ENABLED = False  # Scrapy would open a port through which the process can be controlled
REMOTE_CONTROL_ENABLED = False  # likewise: no other program controls the crawl
COOKIES_ENABLED = False  # cookies are neither stored nor sent
REFERER_ENABLED = False  # no Referer header is sent
ROBOTSTXT_OBEY = False  # Scrapy's own check; here robots.txt is a visit of the frontier and a middleware
LOG_LEVEL = "INFO"  # DEBUG adds details for developers
LOG_FORMATTER = "crawler.engine.logs.QuietLogFormatter"  # does not log every item
STATS_DUMP = False  # the summary takes its place
