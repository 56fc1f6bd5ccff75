from tests.contract.client.test_client import *  # noqa: F403 - the same suite
