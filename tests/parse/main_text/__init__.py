"""Main texts: crawler/parse/main_text."""
