"""Commands on jobs that machines share."""
