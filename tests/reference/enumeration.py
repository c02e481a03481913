"""The exact law of a program that asks for every choice it makes: it is run by each answer."""

from collections import defaultdict
from fractions import Fraction


class _ForkError(Exception):
    """A choice that the answers given so far do not reach."""

    def __init__(self, shares):
        super().__init__()
        self.shares = shares


class Answers:
    """Answers to the choices of one run: those given, then a fork."""

    def __init__(self, given):
        self.given, self.asked, self.probability = given, 0, Fraction(1)

    def draw(self, weights):
        """Answer with an index in proportion to whole weights."""
        return self._answer([Fraction(weight, sum(weights)) for weight in weights])

    def below(self, bound):
        """Answer with a whole number from 0 to below a bound."""
        return self._answer([Fraction(1, bound)] * bound)

    def _answer(self, shares):
        if self.asked == len(self.given):
            raise _ForkError(shares)
        answer = self.given[self.asked]
        self.asked += 1
        self.probability *= shares[answer]
        return answer


def exact_law(program):
    """Probability of every outcome of ``program(answers)``."""
    law, waiting = defaultdict(Fraction), [()]
    while waiting:
        answers = Answers(waiting.pop())
        try:
            outcome = program(answers)
        except _ForkError as fork:
            waiting += [
                (*answers.given, answer) for answer, share in enumerate(fork.shares) if share
            ]
        else:
            law[outcome] += answers.probability
    return dict(law)
