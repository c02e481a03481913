"""SPSS files whose data are compressed."""

from functools import partial

from microveil.files import spss_format

__all__ = ["batches", "opened"]

opened = spss_format.opened
batches = partial(spss_format.batches, is_packed=True)
