"""Words put in order by some of their bits, in plain Python."""


def by_bits(words: list[int], low: int, high: int) -> list[int]:
    """Sort words by the bits from low up to high; where these are equal they keep their order."""
    return sorted(words, key=lambda word: (word >> low) % (1 << max(high - low, 0)))
