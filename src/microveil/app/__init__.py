"""The steward's page: what a choice costs and covers, before anything is drawn."""
