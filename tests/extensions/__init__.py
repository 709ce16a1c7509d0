"""Promises of extensions."""
