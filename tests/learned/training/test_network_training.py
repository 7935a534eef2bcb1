"""Training: it learns, is repeatable to the last bit, and keeps the best epoch; numpy computes the same scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from captious.errors import MissingExtraError, ParameterError, UnknownNameError
from captious.learned.networks import INITIALIZATIONS, RECIPES, Network, Recipe, as_feature_set, as_recipe
from captious.learned.training import networks as training
from captious.learned.training.networks import Outcome, tau, train_network

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.models

RECIPE = replace(as_recipe("lceval"), epochs=12, batch_size=20)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 16))
Y = X[:, 0] + X[:, 3] > 0.5 * RNG.normal(size=300)
V, TARGET = RNG.normal(size=(80, 16)), RNG.normal(size=80)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small sums in several threads of a busy machine take longer than in one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(recipe: Recipe = RECIPE) -> Outcome:
    return train_network(recipe, X, Y, V, V[:, 0] + V[:, 3])


def test_network_training_learns_and_keeps_the_best_epoch() -> None:
    outcome = run(replace(RECIPE, learning_rate=0.01))
    assert ((outcome.network.human(X) > 0.5) == Y).mean() > 0.8
    assert outcome.best_tau > 0.6
    assert outcome.best_tau == max(outcome.taus) == tau(outcome.network.human(V), V[:, 0] + V[:, 3])
    assert outcome.taus.index(max(outcome.taus)) + 1 == outcome.best_epoch


@pytest.mark.parametrize("threads", [1, 2])
def test_network_training_repeats_to_the_bit(threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    first, again = run(), run()
    assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    assert first.taus == again.taus
    for ours, theirs in zip(first.network.weights, again.network.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert run(replace(RECIPE, seed=1)).taus != first.taus


def test_numpy_scores_what_torch_trained() -> None:
    network = run().network
    layers = [torch.from_numpy(np.array(array)) for array in (*network.weights, *network.biases)]
    weights, biases = layers[:2], layers[2:]
    expected = torch.softmax(training._logits(torch.from_numpy(X), weights, biases), -1)[:, 1]
    np.testing.assert_allclose(network.human(X), expected.numpy(), rtol=1e-13)


def test_the_loss_has_a_penalty_on_weights_but_not_on_biases() -> None:
    """With a large penalty the weights vanish, and the bias still says how many captions are human."""
    recipe = replace(RECIPE, l2=10.0, hidden=(), epochs=60, learning_rate=0.01, batch_size=50)
    last = [*training._epochs(recipe, X, Y, np.random.default_rng(1))][-1]
    assert np.abs(last.weights[0]).max() < 0.05
    assert last.human(np.zeros(16)) == pytest.approx(Y.mean(), abs=0.05)


@pytest.mark.parametrize("initialization", INITIALIZATIONS)
def test_initial_weights_have_the_spread_of_their_scheme(initialization: str) -> None:
    recipe = replace(RECIPE, hidden=(300,), initialization=initialization)
    weight = training._initial(recipe, np.random.default_rng(0), torch)[0].detach().numpy()
    expected = (2 / 16) ** 0.5 if initialization == "he-normal" else (2 / 316) ** 0.5
    assert weight.std() == pytest.approx(expected, rel=0.05)
    if initialization == "glorot-uniform":
        assert np.abs(weight).max() <= (6 / 316) ** 0.5


def test_training_stops_without_improvement(monkeypatch: pytest.MonkeyPatch) -> None:
    taus = iter([0.1, 0.3, 0.2, 0.3, 0.1, 0.9])
    monkeypatch.setattr(training, "tau", lambda scores, target: next(taus))
    outcome = run(replace(RECIPE, patience=3))
    assert outcome.taus == (0.1, 0.3, 0.2, 0.3, 0.1)
    assert outcome.best_epoch == 2
    assert not outcome.interrupted


def test_an_interrupt_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    real, taus = training.tau, []

    def interrupted(scores: np.ndarray, target: np.ndarray) -> float:
        if len(taus) == 3:
            raise KeyboardInterrupt
        taus.append(real(scores, target))
        return taus[-1]

    monkeypatch.setattr(training, "tau", interrupted)
    outcome = run()
    assert outcome.interrupted
    assert outcome.taus == tuple(taus)
    assert outcome.best_tau == max(taus)
    taus[:] = [0.0, 0.0, 0.0]
    with pytest.raises(KeyboardInterrupt):
        run()


def test_training_without_torch_or_examples_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="all training examples are of one kind"):
        train_network(RECIPE, X, np.ones(300, bool), V, TARGET)
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match="training needs torch"):
        run()


def test_constant_scores_have_no_tau() -> None:
    assert tau(np.zeros(5), np.arange(5.0)) == 0


def test_named_recipes_match_papers_and_repository() -> None:
    assert [as_recipe(name).sizes for name in RECIPES] == [(8, 72, 72, 2), (16, 12, 2), (16, 2)]
    assert [as_recipe(name).batch_size for name in RECIPES] == [6650, 75, 13300]
    assert {as_recipe(name).learning_rate for name in RECIPES} == {5e-4}
    assert {as_recipe(name).l2 for name in RECIPES} == {1e-4}
    assert {field.name for field in fields(Recipe)} == {*as_recipe("lceval").to_dict()}


def test_recipes_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "lceval"\nfeatures = "lceval-mean"\nhidden = [24, 6]\nepochs = 3\n')
    recipe = as_recipe(path)
    assert (recipe.name, recipe.metric, recipe.sizes, recipe.epochs) == ("mine", "lceval", (16, 24, 6, 2), 3)
    assert recipe.features == as_feature_set("lceval-mean")
    path.write_text('base = "nneval"\nfeatures = {name = "two", features = ["bleu-1", "rouge-l"]}\n')
    assert as_recipe(path).sizes == (2, 72, 72, 2)


def test_names_that_are_no_recipes() -> None:
    with pytest.raises(UnknownNameError, match="no recipe 'lcevil'") as refused:
        as_recipe("lcevil")
    assert "lceval" in refused.value.hint


def test_networks_of_epochs_do_not_change_afterwards() -> None:
    steps: list[Network] = [*training._epochs(replace(RECIPE, epochs=2), X, Y, np.random.default_rng(1))]
    assert (steps[0].weights[0] != steps[1].weights[0]).any()
