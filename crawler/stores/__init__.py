"""The store of a crawl: its contract by role, and the engines that implement it."""
