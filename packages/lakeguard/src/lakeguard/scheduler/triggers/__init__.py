"""What starts jobs by itself: times, versions, files, events, and the ends of other jobs."""
