"""Read the collection back: archived answers, the change feed, exports, the search index, near-duplicates."""
