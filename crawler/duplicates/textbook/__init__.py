"""Fingerprints as textbooks describe them, to study and to compare with; the crawl does not use them."""
