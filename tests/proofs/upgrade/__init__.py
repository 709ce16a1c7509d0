"""Proves that crawl directories of an older version open, are exported and are crawled on as by that version."""
