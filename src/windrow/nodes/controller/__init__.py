"""What an operator does with jobs: makes, steers and shows them, starts and ends nodes."""
