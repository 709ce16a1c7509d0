"""Parsing: from the bytes of a response to text, links and metadata."""
