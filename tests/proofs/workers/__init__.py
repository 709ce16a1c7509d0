"""Proves that several workers crawl without loss and politely while some of them are killed and stopped."""
