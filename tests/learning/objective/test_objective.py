"""Laws of contrastive learning that hold whatever the code: gradients, optima, bounds, step counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from offsphere.geometry.negatives import minibatch_bounds
from offsphere.learning.objective.batch import Batch
from offsphere.learning.objective.gradient_control import cut_initialize, grad_scale
from offsphere.learning.objective.normalization import Normalization
from offsphere.learning.objective.objective import Objective
from offsphere.learning.objective.regularizers import VRNS
from offsphere.vectors.powered import powered


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(
    ("first", "second"), [("both", "document"), ("none", "query"), ((0.3, 0.7), (1.0, 0.7))], ids=str
)
def test_a_ranking_depends_on_the_document_exponent_alone(first, second):
    q, d = random(20, 6), random(50, 6, seed=1)
    orders = []
    for normalize in (first, second):
        scored = Objective(normalize)
        orders.append((scored.scored_vectors(q, "query") @ scored.scored_vectors(d, "document").T).argsort(dim=1))
    assert torch.equal(*orders)


def test_the_exponent_has_the_gradient_of_the_paper():
    q, d = random(5), random(5, seed=1)
    exponents = torch.tensor([0.4, 0.8], dtype=torch.float64, requires_grad=True)
    score = powered(q[None], exponents[0]) @ powered(d[None], exponents[1]).T
    score.backward()
    expected = -torch.stack([q.norm().log(), d.norm().log()]) * score.detach()
    assert torch.allclose(exponents.grad, expected.flatten(), rtol=1e-12)


@pytest.mark.parametrize("name", ["infonce", "simclr", "siglip"])
def test_normalisation_leaves_no_radial_gradient(name):
    q, d = random(8, 6).requires_grad_(), random(8, 6, seed=1).requires_grad_()
    Objective("query", name, scale="fixed").double()(Batch(q, d)).backward()
    radial = lambda x: float((x.grad * x.detach()).sum(dim=1).abs().max())  # noqa: E731
    assert radial(q) < 1e-12
    assert radial(d) > 1e-3  # the side that is not normalised


def test_the_gradient_through_a_normalisation_is_turned_by_its_jacobian():
    """``(I - u u^T) / |x|`` times the gradient on the direction u, written out."""
    x, towards = random(6), random(6, seed=1)
    given = x.clone().requires_grad_()
    (Normalization("both").double()(given[None], "query")[0] @ towards).backward()
    unit = x / x.norm()
    jacobian = (torch.eye(6, dtype=torch.float64) - torch.outer(unit, unit)) / x.norm()
    assert torch.allclose(given.grad, jacobian @ towards, rtol=1e-12)


@pytest.mark.parametrize("length", [0.5, 1.0, 4.0])
def test_normalising_documents_alone_divides_the_temperature_by_the_querys_length(length):
    q, d = powered(random(7, 5), 1.0), random(7, 5, seed=1)
    documents = Objective("document", temperature=0.4, scale="fixed").double()(Batch(length * q, d))
    cosine = Objective("both", temperature=0.4 / length, scale="fixed").double()(Batch(length * q, d))
    assert float(documents) == pytest.approx(float(cosine), rel=1e-12)


def test_where_documents_alone_are_normalised_each_query_pulls_as_strongly_as_it_is_long():
    """The gradient on document j, written out: ``alpha/m (I - v v^T)/|d| Sum_q (p_qj - [q = j]) |q| u_q``."""
    lengths, alpha, m = torch.tensor([0.5, 1.0, 2.0, 4.0], dtype=torch.float64), 2.5, 4
    directions = powered(random(m, 5), 1.0)
    d = random(m, 5, seed=1).requires_grad_()
    loss = Objective("document", temperature=1 / alpha, scale="fixed").double()
    loss(Batch(lengths[:, None] * directions, d)).backward()
    units = d.detach() / d.detach().norm(dim=1, keepdim=True)
    chances = torch.softmax(alpha * lengths[:, None] * (directions @ units.T), dim=1)
    for j in range(m):
        pull = sum((chances[i, j] - float(i == j)) * lengths[i] * directions[i] for i in range(m))
        jacobian = (torch.eye(5, dtype=torch.float64) - torch.outer(units[j], units[j])) / d[j].detach().norm()
        assert torch.allclose(d.grad[j], alpha / m * jacobian @ pull, rtol=1e-10)


def test_learned_exponents_start_at_one_half_with_a_rate_of_their_own_and_no_decay():
    objective = Objective("learn")
    assert objective.normalization.exponents.query == 0.5
    (group,) = objective.parameter_groups(0.01)
    assert (group["lr"], group["weight_decay"]) == (0.01, 0.0)
    q, d = random(16, 6), random(16, 6, seed=1) * 3
    optimizer = torch.optim.AdamW([group])
    for _ in range(50):
        optimizer.zero_grad()
        objective(Batch(q, d)).backward()
        optimizer.step()
    assert abs(objective.normalization.exponents.document - 0.5) > 0.05


def trained(objective, u, v, batches):
    """Free vectors, one a point, trained with fixed batches until nothing moves: by quasi-Newton steps, a few dozen."""
    u, v = u.clone().requires_grad_(), v.clone().requires_grad_()
    free = [u, v, *(parameter for parameter in objective.parameters() if parameter.requires_grad)]
    optimizer = torch.optim.LBFGS(
        free, max_iter=500, tolerance_grad=1e-10, tolerance_change=1e-14, line_search_fn="strong_wolfe"
    )

    def value():
        optimizer.zero_grad()
        total = sum(objective(Batch(u[rows], v[rows])) for rows in batches)
        total.backward()
        return total

    optimizer.step(value)
    return powered(u.detach(), 1.0), powered(v.detach(), 1.0)


@pytest.mark.parametrize(
    ("name", "within"),
    [("clip", None), ("simclr", None), ("dcl", None), ("dhel", None), ("siglip", True)],
)
def test_the_full_batch_optimum_is_a_simplex(name, within):
    n = 6
    objective = Objective("both", name, within=within, temperature=0.5, scale="fixed").double()
    if objective.bias is not None:  # part of the loss here, so it stays; at -10 the loss is too flat to descend
        objective.bias.requires_grad_(requires_grad=False).fill_(0.0)
    u, v = trained(objective, random(n, n - 1), random(n, n - 1, seed=1), [torch.arange(n)])
    cosines = u @ v.T
    assert torch.allclose(cosines.diagonal(), torch.ones(n, dtype=torch.float64), atol=1e-5)
    apart = cosines[~torch.eye(n, dtype=torch.bool)]
    assert torch.allclose(apart, torch.full_like(apart, -1 / (n - 1)), atol=1e-5)


def test_the_spectral_loss_reaches_the_value_of_the_simplex():
    """It does not single the simplex out: any tight frame has the same value (its psi is no rising function)."""
    n = 6
    objective = Objective("both", "spectral", scale="fixed").double()
    u, v = trained(objective, random(n, n - 1), random(n, n - 1, seed=1), [torch.arange(n)])
    value = float(objective(Batch(u, v)))
    assert value <= -1 + 1 / (n - 1) ** 2 + 1e-9


def negatives(u, v):
    return (u @ v.T)[~torch.eye(len(u), dtype=torch.bool)]


def test_mini_batches_scatter_negatives_between_the_bounds_and_reach_both():
    n, m = 12, 4
    batches = list(torch.arange(n).split(m))
    objective = Objective("both", "clip", temperature=0.5, scale="fixed").double()
    (bound,) = minibatch_bounds(n, [m])
    # batches in subspaces of their own: negatives of different batches are orthogonal
    apart = torch.zeros(n, n, dtype=torch.float64)
    for number, rows in enumerate(batches):
        apart[rows, number * m : (number + 1) * m] = random(m, m, seed=number)
    u, v = trained(objective, apart, apart.clone(), batches)
    assert float(negatives(u, v).var(correction=0)) == pytest.approx(bound.low, rel=1e-6)
    # every batch the same simplex
    same = random(m, n).repeat(3, 1)
    u, v = trained(objective, same, same.clone(), batches)
    assert float(negatives(u, v).var(correction=0)) == pytest.approx(bound.high, rel=1e-6)
    # from anywhere: between them
    u, v = trained(objective, random(n, n), random(n, n, seed=1), batches)
    assert bound.low * 0.99 < float(negatives(u, v).var(correction=0)) < bound.high * 1.01


def test_vrns_lowers_the_variance_of_negatives_in_small_batches():
    n, m = 16, 4
    variances = {}
    for weight in (0.0, 30.0):
        added = [VRNS(n, weight)] if weight else []
        objective = Objective("both", "clip", temperature=0.5, scale="fixed", regularizers=added).double()
        u, v = random(n, n).requires_grad_(), random(n, n, seed=1).requires_grad_()
        optimizer = torch.optim.Adam([u, v], lr=0.02)
        generator = torch.Generator().manual_seed(0)
        for _ in range(300):
            for rows in torch.randperm(n, generator=generator).split(m):
                optimizer.zero_grad()
                objective(Batch(u[rows], v[rows])).backward()
                optimizer.step()
        variances[weight] = float(negatives(powered(u.detach(), 1.0), powered(v.detach(), 1.0)).var(correction=0))
    assert variances[30.0] < 0.5 * variances[0.0]


def steps_to_align(length, power=0.0, decay=0.0):
    """500 pairs in 20 dimensions of one length, gradient descent at rate 10 on minus the mean cosine, until 0.999."""
    u, v = (powered(random(500, 20, seed=seed), 1.0).mul(length).requires_grad_() for seed in (0, 1))
    for step in range(1, 10_000):
        cosines = (powered(grad_scale(u, power), 1.0) * powered(grad_scale(v, power), 1.0)).sum(dim=1)
        if float(cosines.detach().mean()) > 0.999:
            return step
        u.grad = v.grad = None
        (-cosines.mean()).backward()
        with torch.no_grad():
            u -= 10 * (u.grad + decay * u)
            v -= 10 * (v.grad + decay * v)
    raise AssertionError("never aligned")


def test_steps_of_cosine_grow_as_the_square_of_the_length():
    for length in (1, 2, 4):
        assert steps_to_align(length) == pytest.approx(96 * length**2, rel=0.1)


def test_grad_scale_makes_steps_independent_of_the_length():
    assert steps_to_align(4, power=2.0) == pytest.approx(steps_to_align(1, power=2.0), rel=0.05)


def test_weight_decay_shortens_what_cosine_can_only_lengthen():
    """A hundredth a step halves a length of 4 in 70 steps, and a quarter of the steps is left after each halving."""
    assert steps_to_align(4, decay=1e-3) < steps_to_align(4) / 4


def test_grad_scale_changes_nothing_but_the_gradient():
    x = random(6, 4).requires_grad_()
    assert torch.equal(grad_scale(x, 1.5), x)
    grad_scale(x, 1.5).sum().backward()
    assert torch.allclose(x.grad, x.detach().norm(dim=1, keepdim=True).expand_as(x) ** 1.5)


def test_cut_initialisation_divides_weights_and_speeds_cosine_up():
    layer = torch.nn.Linear(20, 20)
    before = layer.weight.detach().clone()
    cut_initialize(layer, 3.0)
    assert torch.allclose(layer.weight * 3, before)
    assert steps_to_align(1 / 3) < steps_to_align(1)


def test_normalisation_of_a_vector_without_length_is_a_vector_without_length():
    for normalize in ("both", "half", "learn"):
        divided = Normalization(normalize)(torch.zeros(2, 3), "query")
        assert not divided.any()
        assert np.isfinite(divided.detach().numpy()).all()
