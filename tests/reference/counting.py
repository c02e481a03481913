"""A counter of records as its definition says: lists, and a loop for each count."""

import numpy as np


class PlainCodes:
    """Codes of records in a list, counted and sorted anew at each look."""

    def __init__(self, codes):
        self.codes = codes

    def below(self, code):
        return sum(one < code for one in self.codes)

    def ranked(self, start, stop):
        return np.array(sorted(self.codes)[start:stop], dtype=np.int64)


class PlainCounter:
    """Counts columns record by record; None stands for no value."""

    n_candidates = 1 << 40

    def __init__(self, columns):
        self.domains = [column.attribute.grid_bounds for column in columns]
        self.cells = []
        for column in columns:
            values = iter(column.values.tolist())
            absent = [False] * column.n_present if column.missing is None else column.missing
            self.cells.append([None if gone else next(values) for gone in absent])
        self.n_records = len(self.cells[0])
        self.bins = [None] * len(columns)

    def histogram(self, column):
        cells, (lower, upper) = self.cells[column], self.domains[column]
        return np.array([cells.count(value) for value in [*range(lower, upper + 1), None]])

    def coded(self, column, candidates, source):
        cells = self.cells[column]
        words = source.words(len(cells))
        codes = [
            int(candidates.codes(np.array([cell]), words[[place]])[0])
            for place, cell in enumerate(cells)
            if cell is not None
        ]
        return PlainCodes(codes)

    def set_bins(self, column, axis, codes):
        own = iter([] if codes is None else list(codes.codes))
        lower, _ = self.domains[column]
        found = []
        for cell in self.cells[column]:
            if cell is None:
                found.append(axis.n_bins - 1 if axis.groups is None else int(axis.groups[-1]))
            elif axis.groups is None:
                code = next(own)
                found.append(sum(edge <= code for edge in axis.edges.tolist()))
            else:
                found.append(int(axis.groups[cell - lower]))
        self.bins[column] = found, axis.n_bins

    def pairs(self, scopes):
        found = []
        for scope in scopes:
            counts = np.zeros([self.bins[one][1] for one in scope], dtype=np.int64)
            for cell in zip(*(self.bins[one][0] for one in scope), strict=True):
                counts[cell] += 1
            found.append(counts)
        return found
