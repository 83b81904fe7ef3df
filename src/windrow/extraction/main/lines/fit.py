"""Train the three classifiers with scikit-learn, which the extra `train` brings; deciding does not need it.

Each function takes discretised lines, whether each is topical, and weights; it returns the plain record that svm,
bayes or tree decide with. Nothing depends on chance: the same lines give the same record.
"""

from collections.abc import Callable

import numpy as np

from windrow.config import ConfigError
from windrow.extraction.main.lines.bayes import Bayes
from windrow.extraction.main.lines.features import SCOPES
from windrow.extraction.main.lines.source import Array, Codes, Flags
from windrow.extraction.main.lines.svm import Svm
from windrow.extraction.main.lines.tree import DecisionTree, Leaf, Split

try:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier
except ImportError:
    raise ConfigError("training needs scikit-learn; install it with: pip install 'windrow-corpus[train]'") from None

GAMMA = 1.0  # of the kernel exp(-γ |x - y|²)
COST = 3.0  # C
BASIS = 160  # lines of the basis, divided among the combinations of scopes; a rare combination gets one in addition
_RARE = 1 / 20_000  # of all lines: a combination with a smaller share gets no line of the basis
_MAX_LINES = 80_000  # that the machine is trained on; 120,000 take half as long again and give no better F1
_MIN_LEAF = 8  # lines
_MAX_DEPTH = 16
_PRUNING = 0.001  # entropy that a split must gain per leaf it adds
_DIGITS = 4  # of weights in the model: enough to decide, and few enough to hide rounding errors


def svm(rows: Array, topical: Flags, weights: Array | None = None) -> Svm:
    """Train a support vector machine on a basis of a few lines.

    The decision function is a sum over the basis instead of over all lines: it decides in microseconds. The
    training minimises the usual sum: the norm of the function plus C times the squared hinge loss over the training
    lines. The basis has a line of every combination of scopes that is not very rare: the kernel is local, and where
    the basis has no line near, the machine knows little but its bias.
    """
    weights = np.ones(len(rows)) if weights is None else weights
    distinct, labels, counts = _distinct(rows, topical, weights)
    space = _basis(distinct, counts)
    transform = Nystroem(gamma=GAMMA, n_components=len(space), random_state=0).fit(space)
    if len(distinct) > _MAX_LINES:  # choose in the order of the pages, so that each page gives its share
        chosen = _spread(np.arange(len(rows)), weights, _MAX_LINES)
        distinct, labels = np.round(rows[chosen], 2), topical[chosen]
        counts = np.full(_MAX_LINES, weights.sum() / _MAX_LINES)
    # LinearSVC minimises half of the norm. Its bias is part of the norm too, unless it is scaled.
    machine = LinearSVC(C=COST / 2, dual=False, intercept_scaling=10.0, tol=1e-3, max_iter=10_000)
    machine.fit(transform.transform(distinct), labels, sample_weight=counts)
    solution = np.round(transform.normalization_.T @ machine.coef_[0], _DIGITS)
    bias = round(float(machine.intercept_[0]), _DIGITS)
    return Svm(GAMMA, bias, solution.tolist(), transform.components_.tolist())


def bayes(rows: Array, topical: Flags, weights: Array | None = None) -> Bayes:
    """Train naive Bayes on the scopes. Each scope counts one line more than was seen: none has probability 0."""
    scopes = rows.reshape(len(rows), -1, len(SCOPES)).argmax(axis=2)
    table = CategoricalNB(alpha=1.0, min_categories=len(SCOPES)).fit(scopes, topical, sample_weight=weights)
    evidence = [np.round(rows[1] - rows[0], _DIGITS).tolist() for rows in table.feature_log_prob_]
    return Bayes(round(float(table.class_log_prior_[1] - table.class_log_prior_[0]), _DIGITS), evidence)


def tree(rows: Array, topical: Flags, weights: Array | None = None) -> DecisionTree:
    """Train a decision tree: splits by entropy, pruned by cost complexity."""
    options = {"max_depth": _MAX_DEPTH, "min_samples_leaf": _MIN_LEAF, "ccp_alpha": _PRUNING}
    grown = DecisionTreeClassifier(criterion="entropy", random_state=0, **options)
    grown.fit(np.round(rows, 2), topical, sample_weight=weights)
    nodes = grown.tree_

    def node(number: int) -> Leaf | Split:
        if nodes.children_left[number] < 0:
            return Leaf(bool(grown.classes_[nodes.value[number][0].argmax()]))
        below, above = node(nodes.children_left[number]), node(nodes.children_right[number])
        threshold = round(float(nodes.threshold[number]), _DIGITS)
        return Split(int(nodes.feature[number]), threshold, below, above)

    return DecisionTree(node(0))


CLASSIFIERS: dict[str, Callable[[Array, Flags, Array | None], Svm | Bayes | DecisionTree]] = {
    "svm": svm,
    "bayes": bayes,
    "tree": tree,
}


def _distinct(rows: Array, topical: Flags, weights: Array) -> tuple[Array, Flags, Array]:
    """Return lines, labels and weights, one line for all that are equal to two digits: a tenth as many in a site."""
    table = np.column_stack([np.round(rows, 2), topical])
    distinct, index = np.unique(table, axis=0, return_inverse=True)
    counts = np.asarray(np.bincount(index.ravel(), weights=weights), dtype=np.float64)
    return distinct[:, :-1], distinct[:, -1] > 0, counts


def _basis(rows: Array, counts: Array) -> Array:
    """Choose lines of each combination of scopes, in proportion to the root of its frequency, evenly spread."""
    scopes = rows.reshape(len(rows), -1, len(SCOPES)).argmax(axis=2)
    _, member = np.unique(scopes, axis=0, return_inverse=True)
    frequency = np.bincount(member.ravel(), weights=counts)
    share = np.sqrt(frequency)
    wanted = np.maximum(np.rint(BASIS * share / share.sum()), frequency >= _RARE * counts.sum()).astype(int)
    chosen = [
        _spread(np.flatnonzero(member.ravel() == kind), counts, number) for kind, number in enumerate(wanted) if number
    ]
    return np.unique(rows[np.concatenate(chosen)], axis=0)


def _spread(members: Codes, counts: Array, number: int) -> Codes:
    """Choose so many of the members, at even distances by their counts."""
    reached = np.cumsum(counts[members])
    return np.asarray(members[np.searchsorted(reached, (np.arange(number) + 0.5) / number * reached[-1])])
