"""The checks of scikit-learn that need no data."""

import inspect

from cases import case
from sklearn.utils import estimator_checks

_CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
    "check_get_params_invariance",
    "check_set_params",
]


def check_without_data(estimator):
    """Run scikit-learn's checks of parameters, tags and clones."""
    checks, parameters = list(_CHECKS), inspect.signature(type(estimator)).parameters
    if all(each.default is not each.empty for each in parameters.values()):
        checks.append("check_parameters_default_constructible")
    for check in checks:
        with case(check):
            getattr(estimator_checks, check)(type(estimator).__name__, estimator)
