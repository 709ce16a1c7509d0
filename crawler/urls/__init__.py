"""Which URLs are the same, which are never visited, and who owns them?"""
