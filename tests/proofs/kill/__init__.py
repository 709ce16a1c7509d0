"""Proves that a crawl that is killed at any moment loses nothing, and that its archive is intact."""
