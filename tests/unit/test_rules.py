"""Rules between columns: how they are read, and who breaks them."""

import datetime
import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.errors import DataError, RequestError
from microveil.measures.rules import check_rules
from microveil.schema import Kind
from microveil.table.record_rules import comparable, parse_rule

KINDS = {
    "TAX": Kind.WHOLE,
    "INCOME": Kind.DECIMAL,
    "NET INCOME": Kind.DECIMAL,
    "A": Kind.WHOLE,
    "A <= B": Kind.WHOLE,
    "EMPLOYED": Kind.BOOLEAN,
    "BORN": Kind.DATE,
    "HIRED": Kind.DATE,
    "REGION": Kind.OTHER,
    "HOME": Kind.OTHER,
}
SIGNS = {"<": operator.lt, "<=": operator.le, "=": operator.eq, "!=": operator.ne,
         ">=": operator.ge, ">": operator.gt}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "column", "sign", "other", "constant"),
    [
        ("TAX <= INCOME", "TAX", "<=", "INCOME", None),
        ("  TAX<NET INCOME ", "TAX", "<", "NET INCOME", None),
        ("NET INCOME!=INCOME", "NET INCOME", "!=", "INCOME", None),
        ("A <= B", "A", "<=", None, "refused"),
        ("A <= B > 3", "A <= B", ">", None, 3.0),
        ("A<=A <= B", "A", "<=", "A <= B", None),
        ("TAX >= -1.5e3", "TAX", ">=", None, -1500.0),
        ("EMPLOYED = true", "EMPLOYED", "=", None, 1.0),
        ("EMPLOYED != False", "EMPLOYED", "!=", None, 0.0),
        ("EMPLOYED <= TAX", "EMPLOYED", "<=", "TAX", None),
        ("BORN < 1970-01-11", "BORN", "<", None, 10.0),
        ("BORN < HIRED", "BORN", "<", "HIRED", None),
        ("REGION = North East", "REGION", "=", None, "North East"),
        ("REGION != 'HOME'", "REGION", "!=", None, "HOME"),
        ('REGION = "<=50K"', "REGION", "=", None, "<=50K"),
        ("REGION = HOME", "REGION", "=", "HOME", None),
    ],
)
def test_a_rule_is_cut_behind_the_longest_column_name(text, column, sign, other, constant):
    """Columns with spaces and signs in their names included; the rest is a column or constant."""
    if constant == "refused":
        with pytest.raises(RequestError):
            parse_rule(text, KINDS)
        return
    rule = parse_rule(text, KINDS)
    own = rule.comparison
    assert (own.column, own.sign) == (column, sign)
    if other is None:
        assert (own.others, own.constant) == ((), constant)
    else:
        assert own.others == ((other, 1),)
    assert rule.condition is None
    assert parse_rule(str(rule), KINDS) == rule


@pytest.mark.parametrize(
    ("text", "others", "constant"),
    [
        ("TAX == INCOME - A", (("INCOME", 1), ("A", -1)), 0),
        ("TAX<=NET INCOME+INCOME - 5", (("NET INCOME", 1), ("INCOME", 1)), -5),
        ("TAX >= -A + 1.5e3", (("A", -1),), 1500),
        ("TAX = 1 + 2", (), 3),
        ("TAX < HIRED - BORN", (("HIRED", 1), ("BORN", -1)), 0),
        ("TAX < HIRED - 1970-01-11", (("HIRED", 1),), -10),
        ("HIRED >= BORN + 365", (("BORN", 1),), 365),
        ("HIRED >= BORN + TAX - 1", (("BORN", 1), ("TAX", 1)), -1),
        ("A == A <= B - A", (("A <= B", 1), ("A", -1)), 0),
    ],
)
def test_a_sum_of_columns_and_constants_may_stand_on_the_right(text, others, constant):
    """Dates less dates are days, and dates and days are dates."""
    rule = parse_rule(text, KINDS)
    assert (rule.comparison.others, rule.comparison.constant) == (others, constant)
    assert parse_rule(str(rule), KINDS) == rule


def test_a_comparison_may_imply_another():
    """The rule is then about the columns of both, the condition's first."""
    rule = parse_rule("A  <  16   implies TAX == 0", KINDS)
    assert str(rule) == "A < 16 implies TAX = 0"
    assert rule.columns == ("A", "TAX")
    assert parse_rule(str(rule), KINDS) == rule
    words = parse_rule("REGION == North implies HOME != 'South'", KINDS)
    assert (words.condition.constant, words.comparison.constant) == ("North", "South")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "begin with a column's name and a comparison"),
        ("0 <= TAX", "begin with a column's name and a comparison"),
        ("TAX", "begin with a column's name and a comparison"),
        ("NOBODY < 3", "begin with a column's name and a comparison"),
        ("TAX <=", "nothing to compare with"),
        ("TAX === 3", "must be a column or a number"),
        ("TAX <= A + REGION", "must be a column or a number"),
        ("TAX <= A + ", "must be a column or a number"),
        ("TAX <= A 5", "must be a column or a number"),
        ("TAX <= HIRED + 5", "its sides are not of one kind"),
        ("HIRED >= BORN + HIRED", "its sides are not of one kind"),
        ("HIRED >= TAX + 5", "its sides are not of one kind"),
        ("TAX = 1 implies", "must be a column or a number"),
        ("implies TAX = 1", "begin with a column's name and a comparison"),
        ("A = 1 implies TAX = 1 implies A = 2", "one comparison implies one other"),
        ("A = 1 implies NOBODY = 1", "begin with a column's name and a comparison"),
        ("TAX <= INCOM", "must be a column or a number"),
        ("TAX < inf", "must be a column or a number"),
        ("BORN < 3", "must be a column or a date"),
        ("EMPLOYED = maybe", "must be a column or true or false"),
        ("TAX < REGION", "'TAX' and 'REGION' are not of one kind"),
        ("TAX < BORN", "not of one kind: whole number and date"),
        ("REGION < HOME", "'REGION' is text, which has no order"),
        ("REGION = =North", "begins with a sign stands in quotes"),
    ],
)
def test_what_is_no_rule_is_refused_with_place_rule_and_remedy(text, why):
    """The place is the rule itself, the remedy how one is written."""
    with pytest.raises(RequestError, match=why) as caught:
        parse_rule(text, KINDS)
    assert caught.value.place == f"rule '{text}'"
    assert caught.value.remedy


def test_a_rule_that_is_no_text_is_refused():
    """A list within the list, for example."""
    with pytest.raises(RequestError, match="must be text"):
        parse_rule(["TAX", "INCOME"], KINDS)


cells = st.one_of(st.none(), st.integers(-3, 3))


@given(
    st.lists(st.tuples(cells, cells), min_size=1),
    st.lists(st.tuples(cells, cells), min_size=1),
    st.sampled_from(sorted(SIGNS)),
    st.one_of(st.none(), st.integers(-3, 3)),
)
def test_violations_are_counted_record_by_record(before, after, sign, constant):
    """A record with a missing side is not counted, and how many are not is said."""
    right = "INCOME" if constant is None else str(constant)
    rule = parse_rule(f"TAX {sign} {right}", KINDS)
    tables = [
        {
            name: np.array([math.nan if record[a] is None else record[a] for record in records])
            for a, name in enumerate(("TAX", "INCOME"))
        }
        for records in (before, after)
    ]
    (found,) = check_rules(*tables, rules=[rule])
    for records, counted in ((before, found.original), (after, found.protected)):
        sides = [(x, y if constant is None else constant) for x, y in records]
        whole = [(x, y) for x, y in sides if x is not None and y is not None]
        broken = sum(not SIGNS[sign](x, y) for x, y in whole)
        assert (counted.count, counted.n_records) == (broken, len(whole))
        assert counted.n_left_out == len(records) - len(whole)
        assert counted.share == (
            broken / len(whole) if whole else pytest.approx(math.nan, nan_ok=True)
        )


def test_implications_and_sums_are_counted_where_all_their_columns_have_values():
    """A record without a value in the condition, or behind it, does not break the rule."""
    table = {"AGE": [9, 9, 30, math.nan, 9], "WAGE": [0, 5, 5, 5, math.nan]}
    sums = {"A": [0.3, 0.4, 7.0], "B": [0.1, 0.1, math.nan], "C": [0.2, 0.2, 1.0]}
    kinds = dict.fromkeys("ABC", Kind.DECIMAL) | dict.fromkeys(("AGE", "WAGE"), Kind.WHOLE)
    implied = parse_rule("AGE < 16 implies WAGE == 0", kinds)
    summed = parse_rule("A == B + C", kinds)
    (found,) = check_rules(table, table, rules=[implied])
    assert (found.original.count, found.original.n_records, found.original.n_left_out) == (1, 3, 2)
    (found,) = check_rules(sums, sums, rules=[summed])
    # 0.1 + 0.2 is 0.30000000000000004 to a float.
    assert (found.original.count, found.original.n_records, found.original.n_left_out) == (1, 2, 1)


def test_text_and_dates_are_compared_as_they_are():
    """Categories by their text, dates by their days; tables of any length."""
    before = {
        "BORN": np.array(["1980-05-01", "1990-01-01", "NaT"], "datetime64[D]"),
        "HIRED": np.array(["2000-05-01", "1989-01-01", "2001-01-01"], "datetime64[D]"),
        "REGION": np.array(["East", "West", ""]),
        "HOME": np.array(["East", "East", "East"]),
    }
    after = {name: column[:2] for name, column in before.items()}
    rules = ["BORN < HIRED", "BORN >= 1985-01-01", "REGION = HOME", "HOME = West"]
    found = mv.assess(before, after, paired=False, rules=rules)
    assert [(one.original.count, one.original.n_records) for one in found.rules] == [
        (1, 2), (1, 2), (1, 2), (3, 3),
    ]  # fmt: skip
    assert [one.protected.count for one in found.rules] == [1, 1, 1, 2]
    assert [one["original"]["n_left_out"] for one in found.to_dict()["rules"]] == [1, 1, 1, 0]


def test_a_rule_wants_columns_of_both_tables_and_of_one_kind():
    """A column that was not released is named, and so is one that was released as text."""
    people = mv.invented_people(30, seed=1)
    release = people.select("AGE", "SINCE").with_columns(SINCE=people["SINCE"].cast(str))
    with pytest.raises(RequestError, match="'TAX': the protected table has no such column"):
        mv.assess(people, release, paired=False, rules="TAX <= INCOME")
    with pytest.raises(DataError, match="'SINCE': it must hold values of one kind in both tables"):
        mv.assess(people, release, paired=False, rules=["SINCE > 2000-01-01"])
    assert not comparable(Kind.DATE, Kind.WHOLE)


def test_errors_of_rules_hold_no_value_of_the_table():
    """What is shown is the rule as it was typed, columns and kinds."""
    table = {"DAY": np.array([datetime.date(1987, 6, 5)] * 3, dtype="datetime64[D]"),
             "WORD": np.array(["secret"] * 3)}  # fmt: skip
    for rule in ("DAY > 3", "WORD < 1", "DAY = WORD", "X = 1"):
        with pytest.raises(RequestError) as caught:
            mv.assess(table, table, rules=[rule])
        assert "1987" not in str(caught.value)
        assert "secret" not in str(caught.value)
