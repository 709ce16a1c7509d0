"""Promises of worker."""
