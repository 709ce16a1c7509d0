"""Promises of focus."""
