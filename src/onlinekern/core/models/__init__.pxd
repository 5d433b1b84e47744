# Models as the stream loop sees them: what is scored, measured and updated.
