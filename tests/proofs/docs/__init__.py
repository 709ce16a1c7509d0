"""Real documentation sites: is every linked page fetched, and once?"""
