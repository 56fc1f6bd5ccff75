from tests.contract.client.test_given_values import *  # noqa: F403 - the same suite
