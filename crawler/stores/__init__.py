"""Where a crawl is kept: one contract, its schema, its engines."""
