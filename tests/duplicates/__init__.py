"""Promises of duplicates."""
