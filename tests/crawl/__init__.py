"""Promises of crawl."""
