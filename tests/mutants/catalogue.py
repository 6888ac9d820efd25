"""All mutants."""

from mutants import in_buses, in_supervisors, in_workers

MUTANTS = (*in_workers.MUTANTS, *in_supervisors.MUTANTS, *in_buses.MUTANTS)
