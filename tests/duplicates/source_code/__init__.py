"""Promises of crawler/duplicates/source_code."""
