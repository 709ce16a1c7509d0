"""The wiring diagram: components in the order of the flow, then every knob with its unit and reason.

Set them here, in an environment of your own, or for one run with `-s NAME=VALUE`. Lists are written as comma-separated
text. Times are seconds, sizes bytes.
"""

import os

BOT_NAME = "orbweaver"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"

# ── The flow ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# 1. The frontier releases a visit when its host may be asked.
SCHEDULER = "crawler.engine.scheduler.FrontierScheduler"
# 2. Middlewares judge it; they never download.
DOWNLOADER_MIDDLEWARES_BASE: dict[str, int] = {}  # redirects, retries, robots.txt, cookies are visits of the frontier
DOWNLOADER_MIDDLEWARES = {
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    "crawler.middlewares.conditional.ConditionalMiddleware": 200,
    "crawler.middlewares.head.HeadMiddleware": 300,
}
# 3. The handler fetches it, from a checked address.
DOWNLOADER = "crawler.engine.downloader.FrontierDownloader"
DOWNLOAD_HANDLERS_BASE: dict[str, str] = {}  # no file:, data:, ftp: or s3: can ever be fetched
DOWNLOAD_HANDLERS = {"http": "crawler.engine.handler.CurlHandler", "https": "crawler.engine.handler.CurlHandler"}
# 4. The spider says what became of it; the scheduler sees to it that this is exactly one item, whatever happens.
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
# 5. The page is looked at, then the visit is committed.
ITEM_PIPELINES = {
    "crawler.pipelines.extract.ExtractPipeline": 100,
    "crawler.pipelines.commit.CommitPipeline": 900,
}
EXTENSIONS_BASE: dict[str, int] = {}
EXTENSIONS = {
    "crawler.extensions.progress.Progress": 100,
    "crawler.extensions.metrics.Metrics": 200,
}

# ── The crawl ─────────────────────────────────────────────────────────────────────────────────────────────────────────
CRAWL_DIR = "data/crawl"  # all state of one crawl lives in it
STORE = ""  # empty = an SQLite file in CRAWL_DIR
CONTACT = ""  # a URL or address for the people whose sites are visited; without it only OWN_HOSTS may be
CRAWL_MAX_PAGES = 0  # stop after so many pages; 0 = no limit
CRAWL_MAX_SECONDS = 0.0  # stop after so long; 0 = no limit
CRAWL_HORIZON = 60.0  # the crawl is done when nothing is due within this time; inf = never
SCOPE = "domains"  # any | domains | hosts | prefixes: how far from the seeds a link may lead
CRAWL_MAX_DEPTH = 0  # how many links away from a seed a page may be; 0 = no limit

# ── URLs: which are the same (`scrapy urls --rules`) ──────────────────────────────────────────────────────────────────
URL_RULES = ""  # path of a file with what is known of single sites: SITE drop|keep|only|on|off NAMES
URL_UNESCAPE = True  # escapes of letters and digits are undone
URL_DROP_SESSIONS = True  # session ids in path and query
URL_DROP_TRACKING = True  # parameters that only say where a visitor came from
URL_DROP_EMPTY = True  # empty parameters, and a "?" without any
URL_SORT_QUERY = True  # parameters by name
URL_MERGE_SLASHES = True  # several in a row
URL_DROP_INDEX_PAGE = False  # index.html and the like: right on most sites, wrong on some
URL_ADD_TRAILING_SLASH = False  # to what looks like a directory: the same

# ── URLs: which are visited ───────────────────────────────────────────────────────────────────────────────────────────
URL_INCLUDE = ""  # path of a file with beginnings of URLs, and regular expressions behind "~": one must fit
URL_EXCLUDE = ""  # the same: none may fit
URL_PORTS = "80,443,8000,8080,8443"  # and those of the seeds
URL_MAX_LENGTH = 2048
URL_MAX_SEGMENTS = 20  # of a path
URL_MAX_REPEATS = 3  # of one segment in a path
URL_MAX_PARAMETERS = 16  # of a query
URL_SKIP_TYPES = (  # endings of files that hold no text
    "7z,aac,apk,avi,avif,bin,bmp,bz2,deb,dmg,eot,exe,flac,flv,gif,gz,heic,ico,img,iso,jar,jpeg,jpg,lzma,m4a,m4v,mid,mkv,"
    "mov,mp3,mp4,mpeg,mpg,msi,ogg,ogv,opus,otf,pkg,png,psd,rar,rpm,svgz,swf,tar,tgz,tif,tiff,ttf,wav,webm,webp,wma,wmv,"
    "woff,woff2,xz,zip,zst"
)
URL_SKIP_ACTIONS = True  # URLs that act rather than show: log out, add to cart, delete, export a calendar
URL_SKIP_APIS = True  # URLs meant for programs

# ── Pages: what is read of them ──────────────────────────────────────────────────────────────────────────────────────
EXTRACTOR = "weighed"  # how the main text is found: weighed | slope | windows | filters | turbohtml | resiliparse | trafilatura | everything
EXTRACTOR_SECOND = (
    ""  # the same, for pages of which that one is unsure; trafilatura is right more often and ten times as slow
)
LINKS_SKIP_REL = "nofollow,sponsored"  # words in a link's rel that say that it is not to be followed
LINKS_IN_DATA = False  # follow URLs that stand only in JSON-LD
LINKS_IN_TEXT = False  # follow URLs that stand in the text without being links

# ── Duplicates ────────────────────────────────────────────────────────────────────────────────────────────────────────
DUPLICATE_THRESHOLD = (
    0.9  # share of their runs of words from which two pages are near-duplicates; 0 = only exact copies count
)
DUPLICATE_SHINGLE = 5  # words of such a run
DUPLICATE_LINKS = True  # follow the links of duplicates, too

# ── Politeness ────────────────────────────────────────────────────────────────────────────────────────────────────────
POLITENESS_MIN_DELAY = 5.0  # a host rests at least so long after each answer; under 1 only for OWN_HOSTS
POLITENESS_LATENCY_FACTOR = 5.0  # and so many times as long as it took to answer: who is slow is busy
POLITENESS_LATENCY_CAP = 30.0  # but not longer than this for its slowness
POLITENESS_GROUPS = ""  # host patterns: all hosts that one of them fits count as one host
POLITENESS_ADDRESS_CONNECTIONS = 4  # at the same time to one server, whatever its names
POLITENESS_ADDRESS_GAP = 0.5  # between the end of an answer and the next request to the same server; none for OWN_HOSTS
OWN_HOSTS = ""  # host patterns that the operator runs himself: short delays allowed, no CONTACT needed
BANDWIDTH_LIMIT = 0.0  # bytes a second that all hosts together send us; 0 = no limit
BANDWIDTH_HOST_LIMIT = 0.0  # that one host does, its rests counted; 0 = no limit
REVISIT_INTERVAL = 7 * 86_400.0  # a fetched page is due again after this
REVISIT_MISSING = (
    86_400.0  # what is not found, or private, is looked for again after this, then 7, 30 and 90 times as long
)
REVISIT_FULL_EVERY = 10  # of so many visits one fetches the whole, whatever the host says of changes
SITEMAPS = True  # read what sites list, in the sitemaps that robots.txt names or at /sitemap.xml
SITEMAP_INTERVAL = 86_400.0  # a sitemap is read again after this
NEWSFEEDS = True  # follow the feeds that pages name
NEWSFEED_INTERVAL = 3_600.0  # a feed that does not say how often it changes is read again after this
RETRY_DELAY = 30.0  # a failed visit is tried again after this, then after twice as long
ROBOTS_RETRY_DELAY = 3_600.0  # a robots.txt that cannot be had is asked for again after this, then twice as long, …
ROBOTS_MIN_LIFETIME = 3_600.0  # a robots.txt holds for at least this, and a day at most, as its Cache-Control says

# ── The network ───────────────────────────────────────────────────────────────────────────────────────────────────────
INTRANET_HOSTS = ""  # a non-global address is contacted only if its host matches one of these patterns
INTRANET_NETWORKS = ""  # and the address lies in one of these networks
DNS_HOSTS = ""  # path of a hosts(5) file consulted before DNS
DNS_SERVERS = ""  # name servers that are asked, as 192.0.2.1 or [2001:db8::1]:5353; empty = those of the system
DNS_TIMEOUT = 5.0  # a name that is not resolved by then has failed
DNS_MIN_TTL = 60.0  # an answer holds at least so long, whatever its records say: short ones only spread load
DNS_MAX_TTL = 86_400.0  # and at most so long: a site that moves is found within a day
DNS_NEGATIVE_TTL = 60.0  # that there is no such name holds so long; that nobody could say, 5 s at most
DNS_THREADS = 64  # names asked for at once where only the system can say; half as many are looked up ahead of need
FETCH_CONNECT_TIMEOUT = 10.0  # TLS handshake included
FETCH_FIRST_BYTE_TIMEOUT = 20.0
FETCH_TIMEOUT = 60.0  # the whole request
FETCH_MIN_BYTES_PER_SECOND = 1024  # once the answer has begun
FETCH_MIN_RATE_TIME = 10.0  # slower than that over this span is given up
FETCH_MAX_BODY = 8 * 1024 * 1024  # a longer page is cut and marked
FETCH_MAX_DOCUMENT = 32 * 1024 * 1024  # the same for PDF, office files and the like, of which a part is of little use
FETCH_MAX_HEAD = 64 * 1024
FETCH_SKIP_TYPES = (  # media types that hold no text: the connection is closed when the head names one
    "image/,audio/,video/,font/,application/octet-stream,application/zip,application/gzip,application/x-gzip,application/x-tar,"
    "application/x-bzip2,application/x-xz,application/zstd,application/x-7z-compressed,application/vnd.rar,"
    "application/x-rar-compressed,application/java-archive,application/vnd.android.package-archive,"
    "application/vnd.debian.binary-package,application/x-debian-package,application/x-rpm,application/x-iso9660-image,"
    "application/x-apple-diskimage,application/x-msdownload,application/x-msi,application/x-shockwave-flash,application/wasm"
)
HEAD_POLICY = "auto"  # auto | always | never: when only the head of a document is asked for first
PROBE_AFTER = 5  # a host is asked for a page that it cannot have once it has given so many; 0 = never
FETCH_MAX_BUFFERED = 128 * 1024 * 1024  # while answers on their way hold more than this, nothing new is released
FETCH_VERIFY_TLS = False  # a page with a bad certificate is still a page; nothing secret is ever sent

# ── Budgets: so that one site does not eat the crawl; 0 = no limit ────────────────────────────────────────────────────
BUDGET_HOST = 0  # URLs of a host that are visited in all
BUDGET_HOST_DAY = 0  # and visits to it in a day, which begins at midnight UTC
BUDGET_DOMAIN = 0  # the same for all hosts of a registered domain together
BUDGET_DOMAIN_DAY = 100_000  # more than one host gives at a polite pace, so it is farms of hosts that meet it
BUDGET_STRANGER_DAY = 10_000  # of a domain that is no seed's and to which fewer than two others link
BUDGET_GROWTH = 0.1  # share by which each other domain that links to a domain raises its budgets

# ── The frontier in memory ────────────────────────────────────────────────────────────────────────────────────────────
FRONTIER_ACTIVE_HOSTS = 2_000  # hosts with a back queue in memory
FRONTIER_MOST_HOSTS = 20_000  # and at most so many, if connections are free and none of those is ready
FRONTIER_QUEUE_LENGTH = 32  # URLs of each; the more hosts the fewer
FRONTIER_LEASE_AHEAD = (
    0.5  # a lease is committed so long, or half as long, before its host's time: the commit delays nobody
)
PARTITION_LEASE = 60.0  # extended every 2 s; who does not is taken over after it and the longest request
CONCURRENT_REQUESTS = 1_000  # places in the downloader; waiting is done in the frontier

# ── Archive and commit ────────────────────────────────────────────────────────────────────────────────────────────────
WARC_SEGMENT_BYTES = 1024**3  # a file is closed when it is this long
COMMIT_VISITS = 100  # a batch is committed when it has so many visits
COMMIT_INTERVAL = 0.5  # or when its first visit has waited so long, or nothing else can be visited before
COMMIT_STEP_HOOK = ""  # module:function called with the name of each step of a commit, in its thread

# ── Content ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Processes that look at pages, one for each core that we may use; 0 = the crawl process does.
CONTENT_PROCESSES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
CONTENT_CPU_TIME = 10  # seconds of computing that one page may cost
CONTENT_TIMEOUT = 20.0  # and seconds by the clock; a process that takes longer is ended
CONTENT_MAX_MEMORY = 1024**3  # address space of a content process
CONTENT_HOOK = ""  # module:function called in the content process with each visit, before its page is looked at

# ── Metrics ───────────────────────────────────────────────────────────────────────────────────────────────────────────
METRICS_PORT = (
    0  # Prometheus reads there on 127.0.0.1; each worker has its own, this one and its number (0, 1, …); 0 = off
)
METRICS_FILE = (
    ""  # path of a *.prom file for node_exporter, which is kept after the run; name.0.prom, … with several workers
)

# ── Scrapy, with its surprises turned off ─────────────────────────────────────────────────────────────────────────────
ASYNCIO_EVENT_LOOP = "uvloop.Loop"
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
CONCURRENT_ITEMS = 1  # Scrapy starts so many tasks per response; there is one item
WARN_ON_GENERATOR_RETURN_VALUE = False  # a look at the callback's source for every page
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"  # the store knows every URL
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 64 * 1024 * 1024  # answers waiting to be committed before new requests stop
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
COOKIES_ENABLED = False
REFERER_ENABLED = False
ROBOTSTXT_OBEY = False  # by Scrapy; ours is a visit and a middleware
LOG_LEVEL = "INFO"
LOG_FORMATTER = "crawler.engine.logs.QuietLogFormatter"
STATS_DUMP = False
