"""A crawl that is killed at any moment loses nothing, and what it keeps is whole."""
