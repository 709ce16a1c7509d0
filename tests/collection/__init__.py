"""Promises of collection."""
