"""The commands that Orbweaver adds to `scrapy`; each module is one command, named as its file."""
