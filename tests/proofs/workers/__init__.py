"""Several workers on one crawl, while some of them are killed and stopped."""
