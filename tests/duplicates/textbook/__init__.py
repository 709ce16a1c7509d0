"""Promises of crawler/duplicates/textbook."""
