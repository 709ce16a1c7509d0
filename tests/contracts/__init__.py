"""Promises of contracts."""
