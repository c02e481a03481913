"""The page that shows a reproduction: HTML that cannot be broken by what is put into it."""
