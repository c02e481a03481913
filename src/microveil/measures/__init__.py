"""What a protected table lost and what an intruder could link, of any two tables; no release."""
