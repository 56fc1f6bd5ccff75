"""The SDK's ports, implemented on the embedded control plane."""
