"""Promises of crawler/parse/metadata."""
