"""Individual ranking and its summaries, to be read rather than run fast."""


def ranking(values, k):
    """Cluster number of each record: runs of k ranks, the middle run takes the remainder."""
    by_value = sorted(range(len(values)), key=lambda record: (values[record], record))
    n_clusters = len(values) // k
    middle = n_clusters // 2
    labels = [0] * len(values)
    rank = 0
    for cluster in range(n_clusters):
        size = k + (len(values) % k if cluster == middle else 0)
        for _ in range(size):
            labels[by_value[rank]] = cluster
            rank += 1
    return labels


def clusters(values, k):
    """The values of each cluster, sorted."""
    labels = ranking(values, k)
    return [
        sorted(value for value, label in zip(values, labels, strict=True) if label == cluster)
        for cluster in range(len(values) // k)
    ]


def winsorised(cluster):
    """The sum of a sorted cluster with its ends replaced by their neighbours."""
    return sum([cluster[1], *cluster[1:-1], cluster[-2]])
