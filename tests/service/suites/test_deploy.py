from tests.contract.scheduler.test_deploy import *  # noqa: F403 - the same suite
