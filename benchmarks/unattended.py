"""asv plugin: note this machine under asv's own defaults, so that a first run asks nothing."""

from asv.machine import Machine, MachineCollection
from asv.util import UserError


def setup():
    """Called by asv when it loads the plugin."""
    name = Machine.get_unique_machine_name()
    try:
        MachineCollection.load(name)
    except UserError:
        MachineCollection.save(name, Machine.get_defaults())
