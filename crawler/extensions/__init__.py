"""Tell people and machines how a crawl is going."""
