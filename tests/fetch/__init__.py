"""Promises of fetch."""
