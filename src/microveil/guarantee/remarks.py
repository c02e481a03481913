"""Remarks of a guarantee that depend on its model, or on the stream that it was drawn from."""

from microveil.guarantee.model import Model

__all__ = ["FURTHER", "IN_ONE_STREAM", "drawn_by_key", "without_draws"]

FURTHER = {
    Model.DIFFERENTIAL_PRIVACY: "Every further release of the same people, a rerun of this one "
    "included, adds its epsilon to this one's: to count them is what the custodian's ledger of "
    "releases is for.",
    Model.INDIVIDUAL: "Every further release of the same people, a rerun of this one included, "
    "can be put beside this one. Epsilons of individual differential privacy bound no such pair: "
    "the custodian's ledger of releases counts them, where it is kept, and adds nothing up.",
}
IN_ONE_STREAM = "an AES-256 stream keyed by the operating system's randomness."
KEYED = (
    "a ChaCha20 stream for each record, keyed by the operating system's randomness and named by "
    "the record's number."
)
# Of a new table only the jitter is a record's; cuts and noise are of the one stream as ever.
KEYED_JITTER = (
    f"{IN_ONE_STREAM} The jitter that spreads equal values before they are cut comes from {KEYED}"
)


def drawn_by_key(remarks: tuple[str, ...], *, is_synthetic: bool) -> tuple[str, ...]:
    """Return remarks as those of a release where a key draws for each record."""
    drawn = KEYED_JITTER if is_synthetic else KEYED
    return tuple(remark.replace(IN_ONE_STREAM, drawn) for remark in remarks)


def without_draws(remarks: tuple[str, ...], caveats: tuple[str, ...]) -> tuple[str, ...]:
    """Return remarks as those of a release from a seed: without caveats, and without streams."""
    streams = (IN_ONE_STREAM, KEYED)
    return tuple(own for own in remarks if own not in caveats and not own.endswith(streams))
