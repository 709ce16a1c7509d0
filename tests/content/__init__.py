"""Promises of content."""
