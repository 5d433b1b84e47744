"""Jobs of Flink that tests run: what they are told, read and write, and who dies in them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest
from spread import wait_for_death, who_comes

from onlinekern.distributed.keyed import KeyLearner

# When a job is over, Flink closes the streams that two threads of Beam read in this process, which
# end by an error if they come too late to see it. The threads of nobody else may.
BROKEN_STREAMS = (
    "ignore:Exception in thread read_(grpc_client_inputs|state)\\b"
    ":pytest.PytestUnhandledThreadExceptionWarning"
)


def needed():
    """Skip the test where Flink cannot run."""
    pytest.importorskip("pyflink", reason="pyflink is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")


def configuration(parallelism=2, **more):
    """Return what a job is told; the workers can import what the tests define."""
    from pyflink.common import Configuration

    found = Configuration()
    given = {
        "python.executable": sys.executable, "python.pythonpath": str(Path(__file__).parent),
        "parallelism.default": parallelism, "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": 3, "restart-strategy.fixed-delay.delay": "100 ms",
    }  # fmt: skip
    for name, value in {**given, **more}.items():
        found.set_string(name, str(value))
    return found


def checkpointed(place, **more):
    """Return what a job with checkpoints is told, whose bundles are small."""
    return configuration(**{
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.dir": (place / "checkpoints").as_uri(),
        "python.fn-execution.bundle.size": 5, "python.fn-execution.bundle.time": 100, **more,
    })  # fmt: skip


def environment_of(configuration):
    """Return an environment."""
    from pyflink.datastream import StreamExecutionEnvironment

    return StreamExecutionEnvironment.get_execution_environment(configuration)


class Cluster:
    """A job manager and task managers: processes of this machine, each with what it begins.

    Parameters
    ----------
    place : Path
        Where they write their logs.
    """

    def __init__(self, place):
        from pyflink.find_flink_home import _find_flink_home

        self.home, self.place = Path(_find_flink_home()), place
        self.rpc, self.rest = free_port(), free_port()
        self.managers = []

    def begin(self, script, **more):
        """Begin a manager in a session of its own, with which its workers can be ended, too."""
        given = {
            "jobmanager.rpc.port": self.rpc, "rest.port": self.rest,
            "taskmanager.numberOfTaskSlots": 1, "taskmanager.memory.process.size": "1g",
            # One that is killed is missed at once.
            "heartbeat.interval": 500, "heartbeat.timeout": 5000, **more,
        }  # fmt: skip
        options = [word for pair in given.items() for word in ("-D", "{}={}".format(*pair))]
        command = [self.home / "bin" / script, "start-foreground", *options]
        environment = {**os.environ, "FLINK_LOG_DIR": str(self.place)}
        with (self.place / f"{script}.{len(self.managers)}.txt").open("w") as log:
            process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self.managers.append(process)

    def environment(self, configuration):
        """Return an environment whose jobs run here."""
        from pyflink.datastream import StreamExecutionEnvironment
        from pyflink.java_gateway import get_gateway

        jvm = get_gateway().jvm
        jars = get_gateway().new_array(jvm.String, 1)
        jars[0] = str(next((self.home / "opt").glob("flink-python-*.jar")))
        java = jvm.org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
        return StreamExecutionEnvironment(
            java.createRemoteEnvironment(
                "localhost", self.rest, configuration._j_configuration, jars
            )
        )

    def wait(self, number):
        """Wait until there are so many task managers."""
        url, until = f"http://localhost:{self.rest}/taskmanagers", time.monotonic() + 120
        while time.monotonic() < until:
            with suppress(OSError), urlopen(url) as answer:
                if len(json.load(answer)["taskmanagers"]) == number:
                    return
            time.sleep(0.1)
        raise TimeoutError(f"there are not {number} task managers; {self.place} has their logs")

    def kill_who_comes(self, marks):
        """Kill the task manager, with its workers, one of whom waits for it; another one comes."""
        os.killpg(os.getsid(who_comes(marks)), signal.SIGKILL)
        self.begin("taskmanager.sh")


@contextmanager
def cluster(place):
    """Yield a cluster with two task managers of one slot each."""
    place.mkdir()
    found = Cluster(place)
    try:
        found.begin("jobmanager.sh")
        for _ in range(2):
            found.begin("taskmanager.sh")
        found.wait(2)
        yield found
    finally:
        for process in found.managers:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_port():
    """Return a port that nobody listens to."""
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


def stopped(job, folder):
    """Stop a job, and return its savepoint."""
    from pyflink.java_gateway import get_gateway

    # JobClient.stop_with_savepoint of PyFlink 2.3 calls a method that Java's has no longer.
    kind = get_gateway().jvm.org.apache.flink.core.execution.SavepointFormatType.CANONICAL
    return job._j_job_client.stopWithSavepoint(False, folder.as_uri(), kind).get()


def kind_of(table):
    """Return Flink's type of the rows of a table of pandas."""
    from pyflink.common import Types

    kinds = {"i": Types.LONG, "f": Types.DOUBLE, "O": Types.STRING}
    columns = {name: kinds[table[name].dtype.kind]() for name in table}
    return Types.ROW_NAMED(list(columns), list(columns.values()))


def rows_of(environment, table, folder):
    """Return the rows of a table, from a file that is read again from where a checkpoint was.

    The second half comes slowly, so that there are checkpoints, until somebody `came`.
    """
    from pyflink.common import WatermarkStrategy
    from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

    folder.mkdir(exist_ok=True)
    lines = [json.dumps(row) for row in table.astype(object).to_numpy().tolist()]
    (folder / "rows.json").write_text("\n".join(lines))
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), str(folder / "rows.json")
    ).build()
    lines = environment.from_source(source, WatermarkStrategy.no_watermarks(), "rows")
    # One task: the order of the file is that of the stream, and no buffer of rows between the two
    # holds a checkpoint up.
    lines.set_parallelism(1)
    read = partial(row_of, folder, len(table) // 2)
    return lines.map(lambda line: read(line), kind_of(table)).set_parallelism(1)


def row_of(folder, half, line):
    """Return the row that a line stands for."""
    from pyflink.common import Row

    row = json.loads(line)
    if row[1] >= half and not (folder / "came").exists():
        # Rows that wait would keep the checkpoint waiting, too.
        time.sleep(0.1)
    return Row(*row)


def times():
    """Return what gives the rows their timestamps."""
    from pyflink.common.watermark_strategy import TimestampAssigner

    class Times(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value[1]

    return Times()


def write(streams, place):
    """Send answers and models to files, each exactly once."""
    for name, stream in streams._asdict().items():
        write_stream(stream.map(text_of, output_type=text()), place / name)


def text():
    """Return the type of text."""
    from pyflink.common import Types

    return Types.STRING()


def text_of(row):
    """Return a row as a line."""
    return json.dumps([one.hex() if isinstance(one, bytes) else one for one in row])


def write_stream(lines, folder):
    """Send lines to files."""
    from pyflink.common.serialization import Encoder
    from pyflink.datastream.connectors.file_system import FileSink

    sink = FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).build()
    lines.sink_to(sink)


def lines_in(folder):
    """Return the rows in finished files; names of others begin with a point."""
    files = [file for file in folder.rglob("part-*") if not file.name.startswith(".")]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def models_in(folder):
    """Return the models of the keys, as bytes."""
    rows = lines_in(folder)
    found = {key: bytes.fromhex(model) for key, model in rows}
    assert len(found) == len(rows)
    return found


def has_checkpoint(place):
    """Return whether there is a checkpoint after the first, which may be that of no rows."""
    found = place.glob("checkpoints/*/chk-*/_metadata")
    return any(file.parent.name != "chk-1" for file in found)


@dataclass(frozen=True)
class MortalLearner(KeyLearner):
    """Waits to be killed after a checkpoint, unless somebody was killed already.

    Parameters
    ----------
    place : Path
        Where the checkpoints are.
    row : int
        None waits before it.
    """

    place: Path = Path()
    row: int = 0

    def learn(self, model, rows):
        """Learn rows, or wait."""
        if rows["at"].max() >= self.row and has_checkpoint(self.place):
            wait_for_death(self.place)
        return super().learn(model, rows)
