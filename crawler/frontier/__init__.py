"""Which URL next, and when?"""
