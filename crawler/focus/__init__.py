"""Focused crawling: judge whether a page is on topic, and what a link is worth before it is fetched."""
