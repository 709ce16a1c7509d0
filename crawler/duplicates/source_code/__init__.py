"""Copies of source code, found whatever its names, comments and layout."""
