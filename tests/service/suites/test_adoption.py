from tests.contract.promotion.test_adoption import *  # noqa: F403 - the same suite
