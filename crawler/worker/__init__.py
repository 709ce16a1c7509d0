"""One crawl process: it leases partitions and URLs, commits visits, shares the work and recovers from crashes."""
