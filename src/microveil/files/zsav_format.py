"""SPSS files whose data are compressed."""

from functools import partial

from microveil.files import spss_format

__all__ = ["batches", "kept", "opened", "outlined"]

opened = spss_format.opened
outlined = spss_format.outlined
kept = spss_format.kept
batches = partial(spss_format.batches, is_packed=True)
