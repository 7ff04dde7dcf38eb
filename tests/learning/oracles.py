"""Contrastive losses written from their published formulas in numpy float64 loops.

q holds m queries and d their m positive documents, row by row. hard is None or an (m, h, dimension) array; each of its
entries is an extra negative for every query. The candidates of a query are numbered: 0 .. m - 1 are the documents, then
come hard[0, 0], hard[0, 1], .. hard[1, 0], ... masked holds the pairs (query, candidate) that are no negatives.
"""

import numpy as np


def scored(x, g):
    """x_i / |x_i|^g for every row."""
    return np.array([vector / np.linalg.norm(vector) ** g for vector in np.asarray(x, dtype=np.float64)])


def candidates(d, hard):
    """The documents, then the hard negatives of query 0, of query 1, and so on."""
    rows = list(d)
    if hard is not None:
        for of_query in hard:
            rows.extend(of_query)
    return np.array(rows)


def across_view(q, d, gq, gd, hard, masked):
    """s(q_i, candidate_j) for all j != i with (i, j) not masked."""
    queries, others = scored(q, gq), scored(candidates(d, hard), gd)
    return [
        queries[i] @ others[j]
        for i in range(len(queries))
        for j in range(len(others))
        if j != i and (i, j) not in masked
    ]


def within_view(x, g):
    """s(x_i, x_j) for all i != j."""
    vectors = scored(x, g)
    m = len(vectors)
    return [vectors[i] @ vectors[j] for i in range(m) for j in range(m) if i != j]


def mean(values):
    """Sum of the values over their number."""
    return sum(values) / len(values)


def anchor_loss(positive, across, within, scale, c1, c2, log1p):
    """psi(c1 Sum exp(scale (across - positive)) + c2 Sum exp(scale (within - positive))).

    psi is log(1 + x) or log x. The sum is kept as its logarithm, so large scores do not overflow.
    """
    total = 0.0 if log1p else -np.inf
    for weight, scores in ((c1, across), (c2, within)):
        if weight > 0:
            for score in scores:
                total = np.logaddexp(total, np.log(weight) + scale * (score - positive))
    return total


def infonce_family(q, d, scale, gq, gd, c1, c2, log1p, directions, hard=None, masked=frozenset()):
    """mean_i psi(c1 Sum_j exp(scale (s(q_i, d_j) - s_ii)) + c2 Sum_j exp(scale (s(q_i, q_j) - s_ii))), j != i.

    With directions "both", the mean of that and of the same with queries and documents exchanged. Lee et al. 2025,
    arXiv 2506.09781; hard negatives count among the d_j of the first direction alone.
    """
    queries, documents, others = scored(q, gq), scored(d, gd), scored(candidates(d, hard), gd)
    m = len(queries)
    from_queries, from_documents = [], []
    for i in range(m):
        positive = queries[i] @ documents[i]
        across = [queries[i] @ others[j] for j in range(len(others)) if j != i and (i, j) not in masked]
        within = [queries[i] @ queries[j] for j in range(m) if j != i]
        from_queries.append(anchor_loss(positive, across, within, scale, c1, c2, log1p))
        across = [documents[i] @ queries[j] for j in range(m) if j != i and (j, i) not in masked]
        within = [documents[i] @ documents[j] for j in range(m) if j != i]
        from_documents.append(anchor_loss(positive, across, within, scale, c1, c2, log1p))
    if directions == "query":
        return mean(from_queries)
    if directions == "both":
        return (mean(from_queries) + mean(from_documents)) / 2
    raise ValueError(directions)


def additive_family(q, d, gq, gd, phi, psi, c1, c2, hard=None, masked=frozenset()):
    """- mean_i phi(s_ii) + c1 mean psi(across-view negatives) + c2 mean psi(within-view negatives of both views).

    Lee et al. 2025, arXiv 2506.09781; hard negatives are across-view, and only across-view pairs can be masked.
    """
    queries, documents = scored(q, gq), scored(d, gd)
    loss = -mean([phi(queries[i] @ documents[i]) for i in range(len(queries))])
    if c1 > 0:
        loss += c1 * mean([psi(score) for score in across_view(q, d, gq, gd, hard, masked)])
    if c2 > 0:
        loss += c2 * mean([psi(score) for score in within_view(q, gq) + within_view(d, gd)])
    return loss


def siglip(q, d, scale, bias, gq, gd):
    """- 1/m Sum_ij log sigmoid(z_ij (scale s_ij + bias)), z = 1 if i == j else -1 (Zhai et al. 2023, 2303.15343)."""
    queries, documents = scored(q, gq), scored(d, gd)
    m = len(queries)
    total = 0.0
    for i in range(m):
        for j in range(m):
            label = 1 if i == j else -1
            logit = scale * (queries[i] @ documents[j]) + bias
            total += np.logaddexp(0.0, -label * logit)
    return total / m


def spectral(q, d, gq, gd):
    """- mean_i s_ii + 1/(m(m - 1)) Sum_{i != j} s_ij^2."""
    queries, documents = scored(q, gq), scored(d, gd)
    m = len(queries)
    positives, negatives = 0.0, 0.0
    for i in range(m):
        for j in range(m):
            score = queries[i] @ documents[j]
            if i == j:
                positives += score
            else:
                negatives += score**2
    return -positives / m + negatives / (m * (m - 1))


def vrns(q, d, n, hard=None, masked=frozenset()):
    """mean over the counted negatives of (cos(q_i, d_j) + 1/(n - 1))^2, n the size of the training set."""
    return mean([(score + 1 / (n - 1)) ** 2 for score in across_view(q, d, 1, 1, hard, masked)])


def uniformity(x):
    """log mean_{i != j} exp(-2 |x_i - x_j|^2) on unit vectors (Wang & Isola 2020, arXiv 2005.10242)."""
    units = scored(x, 1)
    m = len(units)
    squares = [np.sum((units[i] - units[j]) ** 2) for i in range(m) for j in range(m) if i != j]
    return np.log(mean([np.exp(-2 * square) for square in squares]))


def alignment(q, d):
    """mean_i |q_i - d_i|^2 on unit vectors."""
    queries, documents = scored(q, 1), scored(d, 1)
    return mean([np.sum((queries[i] - documents[i]) ** 2) for i in range(len(queries))])


def lengths(x):
    """|x_i| for every row."""
    return [np.sqrt(np.sum(np.asarray(vector, dtype=np.float64) ** 2)) for vector in x]


def length_target(x, target):
    """mean_i (|x_i| - target)^2."""
    return mean([(length - target) ** 2 for length in lengths(x)])


def length_variance(x):
    """mean_i (|x_i| - mu)^2 / mu^2, mu the mean length."""
    centre = mean(lengths(x))
    return mean([(length - centre) ** 2 for length in lengths(x)]) / centre**2


def calibrated_scale(q, d, alpha, gq, gd):
    """alpha / ((mean|q|)^(1 - gq) (mean|d|)^(1 - gd))."""
    return alpha / (mean(lengths(q)) ** (1 - gq) * mean(lengths(d)) ** (1 - gd))


def numeric_gradient(function, x, step=1e-6):
    """(f(x + step e_k) - f(x - step e_k)) / (2 step) for every entry k of x."""
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[k] += step
        below[k] -= step
        gradient[k] = (function(above) - function(below)) / (2 * step)
    return gradient


def nt_xent(q, d, temperature):
    """mean over 2m views of - log(exp(cos(z_i, z_p)/t) / Sum_{k != i} exp(cos(z_i, z_k)/t)), p the other view of i.

    Chen et al. 2020, arXiv 2002.05709.
    """
    m = len(q)
    views = [np.asarray(vector, dtype=np.float64) for vector in (*q, *d)]
    losses = []
    for i in range(2 * m):
        partner = i + m if i < m else i - m
        denominator = 0.0
        for k in range(2 * m):
            cosine = views[i] @ views[k] / (np.linalg.norm(views[i]) * np.linalg.norm(views[k]))
            if k != i:
                denominator += np.exp(cosine / temperature)
            if k == partner:
                numerator = np.exp(cosine / temperature)
        losses.append(-np.log(numerator / denominator))
    return mean(losses)
