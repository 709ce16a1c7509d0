"""What was collected, read back: the archive, the change feed, exports, search, duplicates."""
