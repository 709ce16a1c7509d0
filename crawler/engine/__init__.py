"""The parts of Scrapy's engine that we replace, and what joins them to a worker."""
