"""The boundary between code of users and the process that measures and publishes.

A build process runs the code and ends with staged files. The process of the gate never imports the
code, nor shares its JVM; it reads the files, measures them, and submits the evidence.
"""
