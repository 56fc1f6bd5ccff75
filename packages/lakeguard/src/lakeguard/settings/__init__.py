"""Settings of a project: ``lakeguard.toml``, one environment at a time."""

from lakeguard.settings.hidden_variables import hide_secrets
from lakeguard.settings.load import (
    ENV_KEYS,
    ENV_VARIABLE,
    LONGEST_SCHEMA,
    SERVER_FILES,
    SERVER_OPTIONS,
    SETTINGS_FILE,
    TOP_KEYS,
    find_project,
    load_settings,
)
from lakeguard.settings.settings import (
    AlertChannel,
    ChannelSettings,
    ChannelType,
    DatabaseSettings,
    DispatchSettings,
    EventChannel,
    InboxSettings,
    MaintenanceSettings,
    SecretReference,
    Settings,
)

__all__ = [
    "ENV_KEYS",
    "ENV_VARIABLE",
    "LONGEST_SCHEMA",
    "SERVER_FILES",
    "SERVER_OPTIONS",
    "SETTINGS_FILE",
    "TOP_KEYS",
    "AlertChannel",
    "ChannelSettings",
    "ChannelType",
    "DatabaseSettings",
    "DispatchSettings",
    "EventChannel",
    "InboxSettings",
    "MaintenanceSettings",
    "SecretReference",
    "Settings",
    "find_project",
    "hide_secrets",
    "load_settings",
]
