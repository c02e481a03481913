"""Everything that a request lacks is said in one error, with what closes it."""

import ast
import re
import shlex
import tomllib

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.errors import Problems
from microveil.files.writing import write_data
from microveil.table import Labels

N = 60
BY = {
    "method": "dp-synthetic",
    "structure": "independent",
    "domains": "declared",
    "epsilon": 5000,
    "delta": 1e-9,
    "seed": 1,
}
SECRET = "zzqx"  # a category that no list has: no message may hold it


def people():
    """Make sixty columns: a third whole numbers, a third decimals, a third text."""
    random = np.random.default_rng(5)
    columns = {}
    for number in range(N // 3):
        columns[f"count{number}"] = random.integers(0, 9, 40)
        columns[f"amount{number}"] = random.integers(0, 900, 40) / 100
        columns[f"word{number}"] = random.choice(["north", "south", SECRET], 40)
    return pl.DataFrame(columns)


def filled(block):
    """Fill in the dots of a block, as somebody does who knows what is public."""
    known = {"bounds": (0, 9), "resolution": 0.01, "categories": ["north", "south", SECRET]}
    return {name: dict.fromkeys(entries, known[name]) for name, entries in block.items()}


def block_of(message):
    """Read the keyword arguments that a message ends with."""
    _, _, lines = message.partition("Fill in the dots, and pass:\n")
    return ast.literal_eval("{" + re.sub(r"^  (\w+)=", r"'\1': ", lines, flags=re.MULTILINE) + "}")


def test_sixty_gaps_of_a_request_are_closed_in_one_edit():
    """Each column is named for each thing that it lacks, and what closes them is Python."""
    table = people()
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(table, **BY, attributes=table.columns)
    message = str(refused.value)
    assert len(refused.value.problems) == N + N // 3  # decimals lack two things
    assert "40 columns need bounds" in message
    assert re.search(r"need bounds, [^:]*: \w+, \w+, \w+, \w+, \w+ and 35 more\. ", message)
    assert "20 columns need a resolution" in message
    assert "20 columns need a list of all their categories" in message
    assert SECRET not in message
    block = block_of(message)
    with pytest.raises(mv.RequestError) as again:
        mv.protect(table, **BY, attributes=table.columns, **block)
    assert block_of(str(again.value)) == block  # dots are no values
    released = mv.protect(table, **BY, attributes=table.columns, **filled(block))
    assert released.data.columns == table.columns


def test_every_kind_of_problem_stands_in_one_error():
    """Arguments, rules between them, names, types, domains, and too large a k."""
    table = people()
    entry = {"role": "confidential", "type": "whole number"}
    recipe = {
        "microveil": "0.2", "method": "dp-um", "epsilon": -1, "k": 1000, "isotonic": True,
        "delta": 0.1, "attributes": {
            "count0": entry,
            "count1": {"role": "confidential"},
            "amount1": {"role": "confidential", "type": "decimal", "resolution": "fine"},
            "word0": {"role": "confidential", "type": "text", "ordered": True},
            "amount0": entry,
            "absent": entry,
        },
    }  # fmt: skip
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(table, recipe=recipe, bounds={"missing": (0, 1)}, keep=["count2", "gone"])
    lines = str(refused.value).splitlines()
    for said in (
        "resolution of 'amount1'", "epsilon",
        "delta", "columns 'absent', 'gone', 'missing'", "column 'amount0'",
        "bounds, the domain of their values as publicly known: count0, amount0, count1, amount1",
        "a resolution, the step to which values are rounded: amount0",
        "fewer records than k", "attributes.word0.ordered", "bounds.count0 =",
    ):  # fmt: skip
        assert any(said in line for line in lines), (said, lines)
    said = [line for line in lines if not line.startswith(" ")]
    assert len(said) == len(set(said))


def test_gaps_of_all_parts_stand_together():
    """Each once, and a column that the table lacks too, though the table is opened for all."""
    parts = [
        mv.part(["count0", "absent"], method="dp-um", k=3, epsilon=1),
        mv.part(["amount0"], method="laplace", epsilon=1),
    ]
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(people(), parts=parts)
    assert [line.partition(". ")[0] for line in str(refused.value).splitlines()[1:]] == [
        "2 columns need bounds, the domain of their values as publicly known: count0, amount0",
        "1 column needs a resolution, the step to which values are rounded: amount0",
        "Fill in the dots, and pass:",
        "  bounds={'count0': (..., ...), 'amount0': (..., ...)},",
        "  resolution={'amount0': ...},",
    ]
    assert "'absent': the table has no such column" in str(refused.value).splitlines()[0]


def test_what_closes_the_gaps_of_a_recipe_is_toml(tmp_path):
    """By the command line too; left as it is it is refused with the same words."""
    table = people().select("count0", "amount0", "amount1")
    table.write_csv(tmp_path / "people.csv")
    entries = {
        name: {"role": "confidential", "type": "whole number" if name == "count0" else "decimal"}
        for name in table.columns
    }
    top = 'microveil = "0.2"\nmethod = "dp-synthetic"\nepsilon = 5000\ndomains = "declared"\n'

    def asked(entries):
        lines = [
            f"[attributes.{name}]\n" + "".join(f"{key} = {value!r}\n" for key, value in one.items())
            for name, one in entries.items()
        ]
        (tmp_path / "recipe.toml").write_text(top + "".join(lines))
        return run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "out", folder=tmp_path)

    first = asked(entries)
    assert first.returncode == 2
    by_argument = tomllib.loads(first.stderr.partition("top of the recipe:\n")[2])
    assert by_argument["resolution"] == {"amount0": "...", "amount1": "..."}
    block = {
        name: {key: dots[name] for key, dots in by_argument.items() if name in dots}
        for name in table.columns
    }
    assert block["amount0"] == {"bounds": ["...", "..."], "resolution": "..."}
    left = asked({name: one | block[name] for name, one in entries.items()})
    assert (left.returncode, left.stderr) == (2, first.stderr)
    known = {"bounds": [0, 9], "resolution": 0.01}
    done = asked(
        {name: one | {key: known[key] for key in block[name]} for name, one in entries.items()}
    )
    assert done.returncode == 0, done.stderr


def test_the_block_is_pasted_into_a_recipe_as_it_is(tmp_path):
    """Sixty gaps of a recipe that inspect wrote: the block goes on top, and dots become values."""
    people().select(pl.exclude("^word.*$")).write_csv(tmp_path / "people.csv")
    asked = ["--method", "laplace", "--epsilon", "5000", "-o", "recipe.toml"]
    done = run("inspect", "people.csv", *asked, folder=tmp_path)
    assert "60 entries are left to type" in done.stdout
    recipe = tmp_path / "recipe.toml"
    command = ["protect", "people.csv", "--recipe", "recipe.toml", "-o", "out"]
    first = run(*command, folder=tmp_path)
    block = first.stderr.partition("top of the recipe:\n")[2]
    assert block.count("...") == 2 * 40 + 20
    proposed = recipe.read_text()
    recipe.write_text(block + proposed)
    assert run(*command, folder=tmp_path).stderr == first.stderr
    known = block.replace('["...", "..."]', "[0, 9]").replace('"..."', "0.01")
    recipe.write_text(known + proposed)
    done = run(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    terms = mv.Guarantee.read(tmp_path / "out" / "guarantee.json").attributes
    assert {tuple(own.domain) for own in terms} == {(0, 9)}
    recipe.write_text("[attributes.count0]\n" + proposed)
    twice = run(*command, "--overwrite", folder=tmp_path)
    assert "recipe.toml, line" in twice.stderr
    assert "Cannot declare ('attributes', 'count0') twice" in twice.stderr


def test_what_a_recipe_says_by_column_at_its_top_is_what_arguments_say():
    """Of columns that have an entry below, and of a recipe without entries."""
    table = people().select("count0", "amount0", "word0")
    top = {"microveil": "0.3", "method": "pram", "epsilon": 5, "seed": 1,
           "bounds": {"count0": [0, 9], "amount0": [0, 9]}, "resolution": {"amount0": 0.01},
           "categories": {"word0": ["north", "south", SECRET]}}  # fmt: skip
    entry = {"role": "confidential"}
    entries = {"count0": entry, "amount0": {**entry, "resolution": "..."}, "word0": entry}
    by_name = mv.protect(table, recipe={**top, "attributes": entries})
    assert by_name.data.equals(mv.protect(table, recipe=top, attributes=table.columns).data)
    assert by_name.data.columns == table.columns


def test_what_closes_many_gaps_at_once_is_said_first(tmp_path):
    """Learning, where a delta is all that lacks; the file's own lists, until they are accepted."""
    table = people().select("count0", "count1", "amount0")
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(table, epsilon=3)
    assert "--delta 1e-9" in str(refused.value).splitlines()[0]
    for more in ({"method": "laplace"}, {"domains": "declared"}):
        with pytest.raises(mv.RequestError) as refused:
            mv.protect(table, epsilon=3, **more)
        assert "--delta 1e-9" not in str(refused.value)
    labels = {name: Labels(codes=dict.fromkeys(range(9), "of it")) for name in ("count0", "count1")}
    write_data(table, tmp_path / "people.sav", text=None, labels=labels)
    listed = mv.read(tmp_path / "people.sav")
    asked = {"method": "pram", "epsilon": 3, "resolution": {"amount0": 0.01}}
    asked["attributes"] = table.columns
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(listed, **asked)
    first = str(refused.value).splitlines()[0]
    assert "declares the values of 2 of the 3 columns" in first
    assert "--accept file" in first
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(listed, **asked, accept="file")
    assert "accept" not in str(refused.value)
    assert (
        mv.protect(listed, **asked, accept="file", bounds={"amount0": (0, 9)}).data.columns
        == table.columns
    )


def test_missing_cells_stand_beside_gaps_and_one_gap_is_worded_as_two():
    """Nobody mends the one to meet the other in the next run."""
    table = people().select(
        pl.when(pl.col("amount0") > 1).then("amount0"),
        pl.when(pl.col("count0") > 1).then("count0"),
        "amount1",
    )
    lines = []
    for names in (["amount0", "count0"], ["amount0", "amount1", "count0"]):
        with pytest.raises(mv.RequestError) as refused:
            mv.protect(table, method="mdav", k=3, attributes=names)
        lines.append(str(refused.value).splitlines())
    one, two = lines
    assert one[0].startswith("1 column needs a resolution, the step to which values are rounded")
    assert two[0].startswith("2 columns need a resolution, the step to which values are rounded")
    for said in lines:
        assert re.search(
            r"attributes 'amount0' \(.*\), 'count0' \(.*\): a value is missing", said[1]
        )
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(table, method="mdav", k=3, attributes=["amount1"])
    assert str(refused.value).splitlines() == [
        one[0].replace("amount0", "amount1"), *one[2:-1], "  resolution={'amount1': ...},",
    ]  # fmt: skip


def test_flags_close_the_gaps_and_values_outside_are_named_on_request_alone(tmp_path):
    """All columns at once; the values on the terminal, never in the error, nor in any file."""
    table = people().select("count0", "amount0", "word0", "word1").rename({"word1": "a 'b' c"})
    table.write_csv(tmp_path / "people.csv")
    names = [part for name in table.columns for part in ("--attributes", name)]
    command = ["protect", "people.csv", "--method", "dp-synthetic", "--epsilon", "1", "--delta",
               "1e-9", "--domains", "declared", *names, "-o", "out"]  # fmt: skip
    first = run(*command, folder=tmp_path)
    flags = shlex.split(first.stderr.splitlines()[-1])
    assert len(flags) == 2 * 5
    narrow = {"...:...": "0:1", "...": "north,south"}
    told = []
    for flag in flags:
        name, equals, dots = flag.rpartition("=")
        value = "0.01" if name == "amount0" and dots == "..." else narrow.get(dots, "")
        told.append(f"{name}={value}" if equals else flag)
    quiet = run(*command, *told, "--outside", "error", folder=tmp_path)
    assert quiet.returncode == 2
    for name in table.columns:
        assert re.search(
            rf"'{re.escape(name)}' \(\d+ records, the first record \d+\)", quiet.stderr
        )
    assert SECRET not in quiet.stderr
    shown = run(*command, *told, "--outside", "error", "--show-values", folder=tmp_path)
    assert shown.stderr.endswith(quiet.stderr)
    assert f"categories of word0: {SECRET}" in shown.stderr
    assert re.search(r"bounds of count0: 2, 3, .*8", shown.stderr)
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]


def test_epsilon_and_k_stand_in_the_block_that_closes_all_gaps(tmp_path):
    """In arguments, in a recipe and in flags; left as they are they are asked for again."""
    table = people().select("count0")
    asked = {"method": "dp-um", "attributes": ["count0"]}
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(table, **asked)
    block = block_of(str(refused.value))
    assert block == {"epsilon": ..., "k": ..., "bounds": {"count0": (..., ...)}}
    with pytest.raises(mv.RequestError) as again:
        mv.protect(table, **asked, **block)
    assert block_of(str(again.value)) == block
    table.write_csv(tmp_path / "people.csv")
    recipe = tmp_path / "recipe.toml"
    column = '[attributes.count0]\nrole = "confidential"\ntype = "whole number"\n'
    recipe.write_text(f'microveil = "0.2"\nmethod = "dp-um"\n{column}')
    command = ["protect", "people.csv", "-o", "out"]
    first = run(*command, "--recipe", recipe, folder=tmp_path)
    top = tomllib.loads(first.stderr.partition("top of the recipe:\n")[2])
    assert top == {"epsilon": "...", "k": "...", "bounds": {"count0": ["...", "..."]}}
    recipe.write_text(f'microveil = "0.2"\nmethod = "dp-um"\nepsilon = "..."\nk = "..."\n{column}')
    assert run(*command, "--recipe", recipe, folder=tmp_path).stderr.endswith(
        first.stderr.partition("Fill in")[2]
    )
    flags = run(*command, "--method", "dp-um", "--attributes", "count0", folder=tmp_path)
    assert flags.stderr.splitlines()[-1] == "  --epsilon ... --k ... --bounds count0=...:..."
    told = flags.stderr.splitlines()[-1].replace("k ...", "k 3").replace("=...:...", "=0:9")
    done = run(
        *command, "--method", "dp-um", "--attributes", "count0",
        *shlex.split(told.replace("epsilon ...", "epsilon 1")), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_epsilon_of_a_part_is_not_asked_for_above_all():
    parts = [mv.part(["count0"], method="dp-um", k=3), mv.part(["amount0"], method="laplace")]
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(people(), parts=parts)
    assert "epsilon" not in block_of(str(refused.value))
    assert "part 1 (count0), epsilon: this method draws noise" in str(refused.value)


@pytest.mark.parametrize(
    ("scope", "lacks"),
    [("row", {"epsilon", "bounds", "resolution"}), ("vector", {"epsilon", "resolution"})],
)
def test_a_method_left_to_advice_lists_what_columns_lack_too(scope, lacks):
    table = people().select("count0", "amount0", "amount1")
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(table, method="auto", scope=scope, attributes=table.columns, seed=True)
    assert block_of(str(refused.value)).keys() == lacks
    assert "seed" in str(refused.value)
    assert "no method at hand" not in str(refused.value)


def places(**asked):
    """Return what a request of two columns is refused for."""
    table = {"x": np.arange(60) ** 2 % 97, "y": np.arange(60) % 7}
    with pytest.raises(mv.RequestError) as refused:
        mv.plan(table, **asked)
    return [problem.place for problem in refused.value.problems]


def test_what_is_wrong_with_a_single_part_is_said_once():
    """In the words of a request: there is no other part to be told from."""
    part = {"attributes": ["x"], "method": "dp-um", "k": 0, "epsilon": -1}
    assert places(parts=[part]) == ["epsilon", "k", "attribute 'x'"]


def test_a_wrong_argument_hides_no_rule_between_others():
    """That units need a number of records is said beside what is wrong by itself."""
    asked = {"method": "laplace", "epsilon": 1, "bounds": {"x": (0, 100)}, "attributes": ["x"]}
    assert places(**asked, unit="y", unit_attributes=[1]) == ["unit_attributes", "max_rows"]


def test_an_argument_without_its_name_is_refused():
    """It is not passed over: a method that was asked for so would be another's release."""
    with pytest.raises(TypeError, match="positional"):
        mv.protect({"x": np.arange(60)}, "dp-um")


def test_of_many_columns_that_break_one_rule_the_first_are_named_and_all_are_counted():
    """Ten are all named; a column that breaks another rule has a line of its own."""
    table = people().with_columns(pl.Series("count7", [None, *range(39)]))
    words = [f"word{number}" for number in range(N // 3)]
    asked = {"method": "optimal", "k": 3}
    with pytest.raises(mv.MicroveilError) as refused:
        mv.protect(table, **asked, attributes=[*words, "count7"])
    assert len(refused.value.problems) == len(words) + 1
    others, missing, *_ = sorted(str(refused.value).splitlines(), reverse=True)
    named = ", ".join(f"'{name}'" for name in words[:5])
    assert others.startswith(f"attributes {named} and 15 more: it must hold numbers")
    assert missing.startswith("attribute 'count7', record 1: a value is missing")
    with pytest.raises(mv.MicroveilError, match="'word8', 'word9': it must hold numbers"):
        mv.protect(table, **asked, attributes=words[:10])


def test_columns_of_one_rule_with_remedies_of_their_own_are_said_apart():
    """But for the name of the column in an example."""
    remedies = {"A": "write A=1", "B": "write B=1", "C": "leave it out"}
    wrong = Problems(
        mv.DataError(f"column '{name}'", "it is wrong", own) for name, own in remedies.items()
    )
    with pytest.raises(mv.DataError) as refused:
        wrong.refuse()
    assert str(refused.value).splitlines() == [
        "columns 'A', 'B': it is wrong; write A=1.",
        "column 'C': it is wrong; leave it out.",
    ]
