"""lakeguard.state.migrations.versions"""
