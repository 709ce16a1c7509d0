"""Promises of engine."""
