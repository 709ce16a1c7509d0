"""The archive: WARC records appended to compound files (segments)."""
