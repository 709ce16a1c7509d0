"""How a page's bytes are encoded: declared names, the prescan of HTML, UTF-16 and UTF-32, detection."""
