"""The report of a crawl or of one host, as an HTML page and as JSON, computed from the store alone."""
