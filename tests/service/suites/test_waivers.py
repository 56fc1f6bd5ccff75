from tests.contract.insight.test_waivers import *  # noqa: F403 - the same suite
