"""Metadata of a page: title, authors, dates, description, and JSON-LD."""
