"""Promises of conformance."""
