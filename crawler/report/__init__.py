"""What a crawl was, on one page: made from the store alone, for people and for programs."""
