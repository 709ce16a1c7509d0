"""Main-text extraction: separate the content of a page from navigation, advertising and other boilerplate."""
