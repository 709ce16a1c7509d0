"""Which URLs start a crawl, and what a page yields."""
