"""Promises of urls."""
