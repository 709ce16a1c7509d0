"""The frontier: which URL is visited next, and when?"""
