"""Promises of archive."""
