"""Crawl directories written by an older version must open, go on and export as they did there."""
