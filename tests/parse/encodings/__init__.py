"""Promises of crawler/parse/encodings."""
