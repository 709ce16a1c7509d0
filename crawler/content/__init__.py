"""Examine answers: links, text, metadata, sketch and WARC records, found in processes with limits."""
