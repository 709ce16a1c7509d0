"""Fingerprinting methods as textbooks describe them, for study and comparison; the crawl does not use them."""
