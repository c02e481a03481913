"""How long work still takes, in words: by the step it is at, or by what of it is done."""

__all__ = ["in_words", "time_left", "time_left_of"]

# What part of the time that a release takes is behind when a step begins, by its first word:
# measured of dp-um, idp-vector and dp-synthetic on files of 10^7 records and 15 or 20 attributes.
BEHIND = {
    "partitioning": 0.15,
    "auditing": 0.25,
    "randomising": 0.4,
    "counting": 0.3,
    "choosing": 0.32,
    "drawing": 0.35,
    "comparing": 0.55,
    "linking": 0.7,
    "writing": 0.75,
}
# Seconds before which nobody wants to know.
LONG = 5.0


def time_left(step: str, elapsed: float) -> str | None:
    """Estimate at the beginning of a step how long a release still takes, in words.

    Parameters
    ----------
    step : str
    elapsed : float
        Seconds since the first one.

    Returns
    -------
    str or None
        None where it is too early to say, or soon done.

    Examples
    --------
    >>> time_left("comparing distributions", 150.0), time_left("reading AGE", 150.0)
    ('about 2 min left', None)
    """
    share = BEHIND.get(step.partition(" ")[0])
    if share is None or elapsed < LONG:
        return None
    return in_words(elapsed * (1 - share) / share)


def time_left_of(done: int, total: int, elapsed: float) -> str | None:
    """Estimate how long the rest takes of what is counted, in words.

    Parameters
    ----------
    done, total : int
    elapsed : float
        Seconds since none was done.

    Returns
    -------
    str or None
        None where it is too early to say, or all is done.

    Examples
    --------
    >>> time_left_of(10, 30, 60.0), time_left_of(0, 30, 60.0)
    ('about 2 min left', None)
    """
    if not 0 < done < total or elapsed < LONG:
        return None
    return in_words(elapsed * (total - done) / done)


def in_words(seconds: float) -> str:
    """Say in whole minutes or seconds how much time is left.

    >>> in_words(45.2)
    'about 45 s left'
    """
    return f"about {seconds / 60:.0f} min left" if seconds >= 60 else f"about {seconds:.0f} s left"
