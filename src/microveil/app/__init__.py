"""The steward's page, over the functions of `commands`; it has no rule of its own."""
