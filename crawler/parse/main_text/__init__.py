"""Which parts of a page are what it is about?"""
