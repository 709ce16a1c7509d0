"""Compound files of WARC records."""
