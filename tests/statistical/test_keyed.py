"""Draws of records by a key: the cipher, the law, and that a draw is its record's alone."""

import itertools
import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from microveil.kernels import keyed as kernel
from microveil.kernels import laplace as kernel_laplace
from microveil.noise.keyed import InOneStream, OfRecords, RecordStreams
from microveil.noise.noise import RandomSource
from microveil.noise.transition import drawn_by_rows
from reference import chacha20 as plain_cipher
from reference import laplace as plain
from statistical.test_sampler import fit

DRAWS = 200_000
KEY = bytes(range(32))
numbers = st.integers(0, 2**63 - 1)


def words_of(key, record, n_blocks):
    words = np.zeros(8 * n_blocks, dtype=np.uint64)
    key = np.frombuffer(key, dtype="<u4").astype(np.uint32)
    kernel.words_of_record(key, record, 0, n_blocks, np.empty(16, np.uint32), words)
    return words.tolist()


def streams(purpose="noise", attribute="AGE", key=KEY):
    return RecordStreams.keyed(key, purpose, attribute)


def test_the_cipher_is_that_of_rfc_8439():
    """The block of section 2.3.2, from the kernel and from the plain algorithm."""
    expected = bytes.fromhex(
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    nonce = bytes.fromhex("000000090000004a00000000")
    assert plain_cipher.block(KEY, 1, nonce) == expected
    out = np.empty(16, dtype=np.uint32)
    key, words = (np.frombuffer(part, "<u4").astype(np.uint32) for part in (KEY, nonce))
    kernel.block(key, np.uint32(1), (words[0], words[1], words[2]), out)
    assert out.astype("<u4").tobytes() == expected


def test_a_quarter_round_is_that_of_rfc_8439():
    """The vector of section 2.1.1, from the kernel and from the plain algorithm."""
    before = (0x11111111, 0x01020304, 0x9B8D6F43, 0x01234567)
    after = [0xEA2A92F4, 0xCB1CF8CE, 0x4581472E, 0x5881C4BB]
    assert [int(word) for word in kernel._quarter_round(*map(np.uint32, before))] == after
    state = list(before)
    plain_cipher.quarter_round(state, 0, 1, 2, 3)
    assert state == after


@given(st.binary(min_size=32, max_size=32), numbers)
def test_the_words_of_a_record_are_those_of_the_plain_cipher_and_of_a_peer(key, record):
    """ChaCha20 with the record's number as the nonce and the counter of blocks from 0 on."""
    found = words_of(key, record, 3)
    stream = plain_cipher.words_of_record(key, record)
    assert found == [next(stream) for _ in range(24)]
    nonce = bytes(4) + bytes(4) + record.to_bytes(8, "little")  # counter first, as OpenSSL has it
    peer = Cipher(algorithms.ChaCha20(key, nonce), None).encryptor().update(bytes(192))
    assert np.array(found, dtype="<u8").tobytes() == peer


@given(st.lists(numbers, min_size=1, max_size=20), st.integers(1, 2**62), st.binary(max_size=9))
def test_draws_are_those_of_the_plain_algorithm_on_the_record_s_own_words(records, scale, name):
    """Word for word: noise, and whole numbers below a bound."""
    own = streams(attribute=name.hex())
    key = own.key.astype("<u4").tobytes()
    draws = own.of(np.array(records))
    expected = [
        plain.discrete_laplace(scale, plain_cipher.words_of_record(key, r)) for r in records
    ]
    clipped = [max(-(2**62), min(2**62, draw)) for draw in expected]
    assert draws.discrete_laplace(scale, len(records)).tolist() == clipped
    below = [plain.uniform_below(scale, plain_cipher.words_of_record(key, r)) for r in records]
    assert draws.uniform(np.full(len(records), scale)).tolist() == below


def test_noise_that_needs_many_words_is_made_of_one_stream():
    """Where the first blocks do not do, the same words come again, followed by fresh ones."""
    key = streams().key.astype("<u4").tobytes()
    drawn = streams().of(np.arange(300)).discrete_laplace(3, 300)
    n_long = 0
    for record in range(300):
        used = itertools.count()
        stream = plain_cipher.words_of_record(key, record)
        assert drawn[record] == plain.discrete_laplace(3, (next(stream) for _ in used))
        n_long += next(used) > 8 * kernel._FIRST
    assert n_long > 5


def test_a_number_below_a_bound_that_needs_many_words_is_made_of_one_stream():
    """Where a whole block is rejected, the next one is drawn on."""
    bound, n_records = 2**64 // 3 + 1, 40_000  # a third of all words are rejected
    own = streams()
    key = own.key.astype("<u4").tobytes()
    drawn = own.of(np.arange(n_records)).uniform(np.full(n_records, bound))
    first = np.array([words_of(key, record, 1) for record in range(n_records)], dtype=np.uint64)
    rejected = first * np.uint64(bound) < np.uint64(2**64 % bound)
    (long,) = np.nonzero(rejected.all(axis=1))
    assert 0 < len(long) < 40
    for record in [*range(50), *long.tolist()]:
        own_words = plain_cipher.words_of_record(key, record)
        assert drawn[record] == plain.uniform_below(bound, own_words)


@pytest.mark.parametrize("scale", [1, 3, 33])
def test_draws_of_records_follow_the_discrete_laplace_law(scale):
    """Chi-squared against the true probabilities does not reject (one key, so for good)."""
    draws = streams().of(np.arange(DRAWS)).discrete_laplace(scale, DRAWS)
    assert fit(draws, scale) > 1e-3


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_scale_off_by_five_percent_is_rejected_of_records_too(factor):
    """The same test tells noise that is too small, and noise that is too large."""
    draws = streams().of(np.arange(DRAWS)).discrete_laplace(33, DRAWS)
    assert fit(draws, 33 * factor) < 1e-6


def test_categories_of_records_follow_the_rows_of_the_matrix():
    """Chi-squared against each row does not reject; against another row it does."""
    weights = np.array([[6, 3, 1], [0, 7, 3], [5, 5, 90]])
    codes = np.arange(DRAWS) % 3
    drawn = drawn_by_rows(weights, codes, streams("transition").of(np.arange(DRAWS)).uniform)
    for code, row in enumerate(weights):
        observed = np.bincount(drawn[codes == code], minlength=3)
        possible = row > 0
        assert not observed[~possible].any()
        expected = row / row.sum() * observed.sum()
        assert chisquare(observed[possible], expected[possible]).pvalue > 1e-3
        off = weights[code - 1] / weights[code - 1].sum() * observed.sum() + 1e-9
        assert chisquare(observed, off * observed.sum() / off.sum()).pvalue < 1e-6


@pytest.mark.parametrize(
    "others",
    [
        lambda: streams().of(np.arange(DRAWS) + DRAWS),
        lambda: streams().of((np.arange(DRAWS) << 33) + 1),
        lambda: streams(attribute="PAY").of(np.arange(DRAWS)),
        lambda: streams(purpose="transition").of(np.arange(DRAWS)),
        lambda: streams(key=bytes(32)).of(np.arange(DRAWS)),
    ],
    ids=["records", "records of partitions", "attributes", "purposes", "releases"],
)
def test_draws_of_other_records_attributes_and_releases_are_independent(others):
    """They are not correlated, and their sum past whole numbers is uniform; one's own are not."""
    mine = streams().of(np.arange(DRAWS)).uniform(np.full(DRAWS, 1 << 62)) / 2**62
    theirs = others().uniform(np.full(DRAWS, 1 << 62)) / 2**62
    assert not (mine == theirs).any()
    limit = 5 / DRAWS**0.5
    assert abs(np.corrcoef(mine, theirs)[0, 1]) < limit < np.corrcoef(mine, mine)[0, 1]
    assert kstest((mine + theirs) % 1, "uniform").pvalue > 1e-3
    assert kstest((mine + mine / 2) % 1, "uniform").pvalue < 1e-6


def test_no_two_records_share_a_word():
    """Neighbouring numbers, and those that differ in their upper half alone."""
    records = np.concatenate([np.arange(100_000), np.arange(1, 100_000) << 32])
    words = streams().of(records).uniform(np.full(len(records), 2**62))
    assert len(np.unique(words)) == len(records)


@given(st.data())
def test_a_record_s_draw_hangs_on_no_other_record_and_no_order(data):
    """In batches of any size, and in any order."""
    records = np.array(data.draw(st.lists(numbers, min_size=2, max_size=30, unique=True)))
    order = np.array(data.draw(st.permutations(range(len(records)))))
    cut = data.draw(st.integers(0, len(records)))
    whole = streams().of(records).discrete_laplace(1 << 40, len(records))
    mixed = records[order]
    parts = [streams().of(part).discrete_laplace(1 << 40, len(part)) for part in
             (mixed[:cut], mixed[cut:])]  # fmt: skip
    assert np.concatenate(parts).tolist() == whole[order].tolist()
    codes = np.arange(len(records)) % 2
    weights = np.array([[9, 1], [2, 8]])
    of_all = drawn_by_rows(weights, codes, streams().of(records).uniform)
    of_some = drawn_by_rows(weights, codes[order][:cut], streams().of(mixed[:cut]).uniform)
    assert of_some.tolist() == of_all[order][:cut].tolist()


def test_in_one_stream_draws_are_those_of_the_stream():
    """In memory records take the next words, as they always did."""
    own, same = RandomSource.seeded(2), RandomSource.seeded(2)
    words = iter(same.words(900).tolist())
    drawn = InOneStream(own).discrete_laplace(40, 20)
    assert drawn.tolist() == [plain.discrete_laplace(40, words) for _ in range(20)]


def test_scale_0_draws_0():
    """As of one stream."""
    assert streams().of(np.arange(4)).discrete_laplace(0, 4).tolist() == [0] * 4


def test_a_draw_is_asked_for_each_record_and_no_other():
    """Cells that are fewer or more than the records are an error of ours."""
    with pytest.raises(ValueError, match="a record for each cell"):
        streams().of(np.arange(3)).uniform(np.ones(4, dtype=np.int64))
    with pytest.raises(ValueError, match="a record for each cell"):
        streams().of(np.arange(3)).discrete_laplace(1, 2)


def test_a_key_has_256_bits():
    """A shorter one is an error of ours, and nothing is drawn by it."""
    with pytest.raises(ValueError, match="32 bytes"):
        RecordStreams.keyed(bytes(16), "noise", "AGE")


def test_purpose_and_attribute_do_not_run_together():
    """What ends the one does not begin the other."""
    one, other = streams("noise", "AGE"), streams("nois", "eAGE")
    assert not np.array_equal(one.key, other.key)
    assert not np.array_equal(one.key, np.frombuffer(KEY, "<u4"))


def test_a_key_shows_nowhere():
    """Neither by repr, nor by str, nor in a pickle: that is refused."""
    own = streams()
    for secret in (own, own.of(np.arange(2))):
        said = f"{secret!r} {secret}"
        assert not any(str(int(word)) in said or f"{int(word):x}" in said for word in own.key)
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(secret)
    assert isinstance(own.of(np.arange(2)), OfRecords)


def test_keys_for_records_come_from_the_operating_system(monkeypatch):
    """Each of 32 bytes of its own, of spawned streams too; of a seed they are the same again."""
    asked = []

    def urandom(count):
        asked.append(count)
        return bytes([len(asked)]) * count

    monkeypatch.setattr("microveil.noise.noise.os.urandom", urandom)
    source = RandomSource.system()
    (spawned,) = source.spawn(1)
    keys = [source.key(), source.key(), spawned.key()]
    assert asked == [32] * 4
    assert keys == [bytes([number]) * 32 for number in (2, 3, 4)]
    seeded = [stream.key() for stream in RandomSource.seeded(1).spawn(2)]
    assert asked == [32] * 4
    assert seeded == [stream.key() for stream in RandomSource.seeded(1).spawn(2)]
    assert len({len(key) for key in seeded}) == 1
    assert seeded[0] != seeded[1]


def test_the_kernels_share_one_sampler():
    """What draws for records is what draws in one stream: no second algorithm."""
    assert kernel._discrete_laplace is kernel_laplace._discrete_laplace
    assert kernel._uniform_below is kernel_laplace._uniform_below
