"""The commands that Orbweaver adds to scrapy."""
