"""asv plugin: record this machine with asv's defaults, so that the first run asks no question."""

from asv.machine import Machine, MachineCollection
from asv.util import UserError


def setup():
    """Called by asv when it loads the plugin."""
    name = Machine.get_unique_machine_name()
    try:
        MachineCollection.load(name)
    except UserError:
        MachineCollection.save(name, Machine.get_defaults())
