"""Files: damaged and foreign ones are refused, and a fault of the disk loses nothing."""

import hashlib
import json
import os
import pickle
import stat

import numpy as np
import pytest
from interpreters import python
from learners import TRANSFORMERS

import onlinekern
from onlinekern import PAClassifier, SPAClassifier, SPAOneClass
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.fitted.save.consistency import complete


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return SPAClassifier(gamma=0.4, random_state=0).fit(X, X[:, 0] > 0)


@pytest.fixture(scope="module")
def data(model):
    return to_bytes(model)


def parts_of(data):
    """Return the header of a file and its data."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header, rest):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + rest


def checksum(header, rest):
    """Return the checksum that docs/files.md describes, written from its text."""
    texts = header["__metadata__"]
    digest = hashlib.sha256()
    for key in ("format_version", "library_version", "class", "tree", "metadata"):
        if key in texts:
            digest.update(texts[key].encode() + b"\n")
    for name in sorted(header.keys() - {"__metadata__"}):
        entry = header[name]
        shape = ",".join(map(str, entry["shape"]))
        digest.update(f"{name} {entry['dtype']} {shape}\n".encode())
        digest.update(rest[slice(*entry["data_offsets"])])
    return digest.hexdigest()


def with_metadata(data, **changes):
    """Return a file with other texts; None drops one. The checksum is made to agree."""
    header, rest = parts_of(data)
    texts = header["__metadata__"]
    texts.update(changes)
    if "sha256" not in changes and None not in changes.values():
        texts["sha256"] = checksum(header, rest)
    header["__metadata__"] = {key: value for key, value in texts.items() if value is not None}
    return joined(header, rest)


def with_node(data, position, **changes):
    """Return a file whose node at a position has other fields."""
    nodes = json.loads(parts_of(data)[0]["__metadata__"]["tree"])
    nodes[position].update(changes)
    return with_metadata(data, tree=json.dumps(nodes))


def refused(data, message):
    with pytest.raises(ValueError, match=message):
        from_bytes(data, "some.okn")


def test_the_checksum_is_the_documented_one(data):
    header, rest = parts_of(data)
    assert checksum(header, rest) == header["__metadata__"]["sha256"]


PLACE = {"offsets": {"rows-0": 750, "rows-1": 2**60}, "refused": [3, None], "é": 0.1, "on": True}


def test_metadata_come_back_with_their_model(tmp_path, model):
    path = tmp_path / "m.okn"
    model.save(path, metadata=PLACE)
    loaded, found = onlinekern.load(path, return_metadata=True)
    assert found == PLACE
    assert to_bytes(loaded) == to_bytes(onlinekern.load(path)) == to_bytes(model)
    header, rest = parts_of(path.read_bytes())
    assert checksum(header, rest) == header["__metadata__"]["sha256"]
    # A model does not keep them: they belong to the state that was saved.
    loaded.save(path)
    assert onlinekern.load(path, return_metadata=True)[1] == {}


@pytest.mark.parametrize(
    "metadata",
    [[1], "offset", {0: 750}, {"offsets": {0: 750}}, {"at": (1, 2)}, {"at": {1}}, {"at": np.nan},
     {"at": np.int64(3)}, {"at": np.zeros(2)}, {"at": b"3"}],
)  # fmt: skip
def test_metadata_that_json_would_change_are_refused(tmp_path, model, metadata):
    path = tmp_path / "m.okn"
    model.save(path, metadata=PLACE)
    before = path.read_bytes()
    with pytest.raises(TypeError, match=r"metadata must .*, got "):
        model.save(path, metadata=metadata)
    assert path.read_bytes() == before


def test_damaged_metadata_are_noticed(data):
    for text, message in {"[1]": "are no dictionary", "{": "JSON", '{"a": NaN}': "NaN"}.items():
        refused(with_metadata(data, metadata=text), message)
    header, rest = parts_of(with_metadata(data, metadata='{"offset": 1}'))
    header["__metadata__"]["metadata"] = '{"offset": 2}'
    refused(joined(header, rest), "its checksum does not agree")


def test_every_cut_is_noticed(data):
    for length in [*range(0, len(data), 97), len(data) - 1]:
        refused(data[:length], "^some.okn (is|has|holds)")
    refused(data + b"\0", "1 bytes too many")


def test_every_flipped_byte_is_noticed(data):
    for place in range(0, len(data), 13):
        broken = bytearray(data)
        broken[place] ^= 1 << place % 8
        # Spaces at the end of the header, and a digit of the checksum in capitals, say the same.
        try:
            from_bytes(bytes(broken), "some.okn")
        except ValueError:
            continue
        assert parts_of(bytes(broken)) == parts_of(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n", "is no safetensors file"),
        (pickle.dumps(PAClassifier()), "may be a pickle"),
        (pickle.dumps(PAClassifier(), protocol=0), "is no safetensors file"),
        (b"1 1:0.5 2:0.25\n" * 100, "is no safetensors file"),
        (b"\x02" + bytes(7) + b"{}", "holds no model of onlinekern"),
        (b"\x02" + bytes(7) + b"[]", "no JSON object"),
        (b"\x03" + bytes(7) + b"{\xff}", "is no JSON"),
        ((200_000).to_bytes(8, "little") + b"[" * 200_000, "is no JSON"),
        (joined({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, bytes(8)), "no mod"),
        (joined({"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 8]}}, bytes(8)), "'a' ma"),
        (joined({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, bytes(7)), "1 byte"),
        (joined({"a": {"dtype": "F64", "shape": [-1], "data_offsets": [8, 0]}}, bytes(8)), "'a'"),
        (joined({"a": {"dtype": "X64", "shape": [1], "data_offsets": [0, 8]}}, bytes(8)), "'a'"),
        (joined({"a": {"dtype": "U8", "shape": [2**62] * 60, "data_offsets": [0, 8]}}, b""), "'a'"),
        (joined({"a": 3, "b": []}, b""), "the array 'a' makes no sense"),
        (joined({"__metadata__": {"format": 3}}, b""), "its metadata are no texts"),
        (b'\x18\0\0\0\0\0\0\0{"a": {}, "a": {}}      ', "a name is given twice"),
    ],
)
def test_a_file_that_is_no_model(content, message, tmp_path):
    path = tmp_path / "thing.okn"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        onlinekern.load(path)
    assert str(caught.value).startswith(f"{path} ")


def test_a_newer_format_says_what_to_do(data):
    newer = with_metadata(data, format_version="2", library_version="9.1", tree="?", sha256="?")
    refused(newer, r"onlinekern 9\.1 in format 2; this onlinekern .* up to 1: upgrade it")
    refused(with_metadata(data, format_version="0"), "its format is '0'")
    refused(with_metadata(data, format_version="one"), "its format is 'one'")


@pytest.mark.parametrize("key", ["format_version", "library_version", "class", "tree", "sha256"])
def test_what_is_missing_is_noticed(key, data):
    refused(with_metadata(data, **{key: None}), "is damaged")


def test_what_a_newer_version_knows_is_named(data):
    refused(with_metadata(data, **{"class": "SPARegressor"}), "the model is no SPARegressor")
    refused(with_node(data, -1, **{"class": "QuantumClassifier"}), "a 'QuantumClassifier'")
    refused(with_node(data, -1, **{"class": "Learner"}), "a 'Learner'")
    refused(with_node(data, -1, kind="spell"), "of no kind that this onlinekern knows")
    refused(with_node(data, -1, parameters={"speed": 3}), "a parameter 'speed'")
    refused(with_node(data, -1, attributes={"predict": 3}), "an attribute 'predict'")
    refused(with_node(data, -1, attributes={"__class__": 3}), "an attribute '__class__'")
    refused(with_node(data, -1, **{"class": "os.system"}), "a 'os.system'")
    refused(with_node(data, -2, **{"object": "os.system"}), "cannot restore")


def test_a_reference_goes_back_only(data):
    nodes = json.loads(parts_of(data)[0]["__metadata__"]["tree"])
    own = [{"kind": "tuple", "items": [[0]]}, *nodes[1:]]
    refused(with_metadata(data, tree=json.dumps(own)), "node 0 refers to node 0")
    last = len(nodes) - 1
    for reference in ([last], [-1], [10**30], [True], [0, 1], [1.0], {"kind": "tuple"}):
        refused(with_node(data, -1, parameters={"alpha": reference}), "holds a damaged model")


def test_nesting_is_bounded():
    nodes = [{"kind": "tuple", "items": [[i - 1]] if i else []} for i in range(5000)]
    nodes.append(
        {"kind": "object", "class": "PAClassifier", "parameters": {"C": [4999]}, "attributes": {}}
    )
    empty = to_bytes(PAClassifier())
    refused(with_metadata(empty, tree=json.dumps(nodes)), "is nested too deep")
    refused(with_metadata(empty, tree="[" * 100_000), "RecursionError")


def test_one_array_is_not_many():
    """A kilobyte in the file is a kilobyte in memory, however many nodes ask for it."""
    data = to_bytes(SPAClassifier(random_state=np.zeros(1000)))
    nodes = json.loads(parts_of(data)[0]["__metadata__"]["tree"])
    nodes.insert(1, nodes[0])
    refused(with_metadata(data, tree=json.dumps(nodes)), "two nodes use it")
    nodes[:2] = []
    nodes[-1]["parameters"]["random_state"] = None
    refused(with_metadata(data, tree=json.dumps(nodes)), "no node uses the array")


def test_parameters_of_a_model_are_checked(data, model):
    nodes = json.loads(parts_of(data)[0]["__metadata__"]["tree"])
    parameters = nodes[-1]["parameters"]
    for wrong in ({"beta": -1.0}, {"gamma": 0.0}, {"n_epochs": 0}, {"kernel": "none"}):
        changed = with_node(data, -1, parameters=parameters | wrong)
        refused(changed, rf"some\.okn holds a damaged model: .*'{next(iter(wrong))}' parameter of")
    # One that has not learnt may have any, as in Python.
    wrong = from_bytes(to_bytes(PAClassifier(C=-1)), "m")
    assert wrong.C == -1


def test_attributes_that_contradict_one_another(model):
    for name, value in [
        ("classes_", np.array([False, True, True])),
        ("classes_", np.array([True, False])),
        ("classes_", np.array([[False, True]])),
        ("classes_", 5),
        ("n_features_in_", 3),
        ("_model", None),
    ]:
        other = SPAClassifier(gamma=0.4)
        vars(other).update(vars(model))
        setattr(other, name, value)
        refused(to_bytes(other), "holds a damaged model: ValueError: ")


def test_a_count_of_scores_can_be_added_to():
    detector = SPAOneClass().fit(np.random.default_rng(0).standard_normal((30, 4)))
    detector._recent.count = 2**63
    refused(to_bytes(detector), "its attribute 'count' is wrong")


@pytest.mark.parametrize(
    ("name", "value"),
    [("parameters", None), ("draws", 7), ("gamma", -1.0), ("samples", ()), ("more", 1)],
)
def test_a_pickle_with_damaged_first_samples(name, value):
    X = np.random.default_rng(0).standard_normal((30, 4))
    model = SPAClassifier(gamma="median").partial_fit(X, X[:, 0] > 0, [False, True])
    vars(model._warm_up)[name] = value
    with pytest.raises(ValueError, match="SPAClassifier does not fit together: it"):
        pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("cls", TRANSFORMERS.values(), ids=TRANSFORMERS)
def test_transformers_whose_attributes_contradict_one_another(cls):
    X = np.random.default_rng(0).standard_normal((30, 4))
    other = cls().fit(X, X[:, 0])
    for width in (3, None):
        other.n_features_in_ = width
        refused(to_bytes(other), "holds a damaged model: ValueError: ")
        with pytest.raises(ValueError, match="does not fit together"):
            pickle.loads(pickle.dumps(other))
    other = cls().fit(X, X[:, 0])
    other._model = 7
    with pytest.raises(ValueError, match="_model is of another class"):
        complete(other)


@pytest.mark.parametrize(
    ("bits", "key", "place"), [("MT19937", "pos", 625), ("Philox", "buffer_pos", 2**62)]
)
def test_a_generator_reads_no_foreign_memory(bits, key, place):
    draws = np.random.Generator(getattr(np.random, bits)(1))
    data = to_bytes(PAClassifier(random_state=draws))
    nodes = json.loads(parts_of(data)[0]["__metadata__"]["tree"])
    (owner,) = (node for node in nodes if key in node.get("keys", ()))
    owner["values"][owner["keys"].index(key)] = place
    refused(with_metadata(data, tree=json.dumps(nodes)), f"the place in the numbers of {bits}")


def test_a_generator_mixes_a_small_pool():
    data = to_bytes(PAClassifier(random_state=np.random.default_rng(1)))
    nodes = json.loads(parts_of(data)[0]["__metadata__"]["tree"])
    (owner,) = (node for node in nodes if "pool_size" in node.get("keys", ()))
    owner["values"][owner["keys"].index("pool_size")] = 10**12
    refused(with_metadata(data, tree=json.dumps(nodes)), "must hold at most 64 numbers")


def test_a_part_of_a_model_is_none():
    state = {"fraction": 0.1, "count": 0, "quantile": 0.0, "values": None}
    nodes = [{"kind": "object", "class": "RecentQuantile", "parameters": {}, "attributes": state}]
    data = to_bytes(PAClassifier(random_state=np.zeros(1024)))
    first = json.loads(parts_of(data)[0]["__metadata__"]["tree"])[0]
    state["values"] = [0]
    text = json.dumps([first, *nodes])
    refused(with_metadata(data, tree=text, **{"class": "RecentQuantile"}), "node is no model")


# Files on a disk


def test_the_old_file_is_replaced(tmp_path, model, data):
    path = tmp_path / "m.okn"
    for name in (path, str(path), os.fsencode(path)):
        PAClassifier().save(name)
        model.save(name)
        assert path.read_bytes() == data
        assert repr(onlinekern.load(name)) == repr(model)
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_the_old_file_or_of_the_mask(tmp_path):
    old, new = tmp_path / "old.okn", tmp_path / "new.okn"
    old.touch()
    old.chmod(0o640)
    mask = os.umask(0o027)
    try:
        PAClassifier().save(old)
        PAClassifier().save(new)
    finally:
        os.umask(mask)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (old, new)] == [0o640, 0o640]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    link, target = tmp_path / "link.okn", tmp_path / "folder" / "target.okn"
    link.symlink_to(target)
    for _ in range(2):
        PAClassifier().save(link)
        assert link.is_symlink()
        assert onlinekern.load(target).C == 1.0


def test_a_path_that_is_no_file(tmp_path, model):
    with pytest.raises(IsADirectoryError, match="Is a directory: .*" + tmp_path.name):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"missing/m\.okn"):
        model.save(tmp_path / "missing" / "m.okn")
    with pytest.raises(OSError, match="Not a regular file: '/dev/full'"):
        model.save("/dev/full")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"Not a regular file: .*pipe"):
        model.save(tmp_path / "pipe")
    with pytest.raises(OSError, match="too long"):
        model.save(tmp_path / ("m" * 300))
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    with pytest.raises(IsADirectoryError):
        onlinekern.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        onlinekern.load(tmp_path / "missing")


# In a process of its own: a limit on the size of files stands for a full disk, and root, whom no
# permission stops, becomes nobody.
FAULTS = """
import os, resource, signal, sys
import numpy as np
import onlinekern
import onlinekern.fitted.save.model_file
model = onlinekern.PAClassifier(random_state=np.zeros(10_000))

def save():
    for path in sys.argv[1:]:
        try:
            model.save(path)
        except OSError as error:
            print(type(error).__name__, error.errno, error.filename == path)
    print(*sorted(os.listdir()))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
save()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
os.chmod(".", 0o555)
if os.geteuid() == 0:
    os.setuid(65534)
save()
"""


def test_a_fault_leaves_the_old_file(tmp_path, data):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "old").write_bytes(data)
    result = python(FAULTS, "new", "old", cwd=folder)
    folder.chmod(0o755)
    full, denied = ["OSError 27 True"] * 2, ["PermissionError 13 True"] * 2
    assert (result.stdout.splitlines(), result.stderr) == ([*full, "old", *denied, "old"], "")
    assert (folder / "old").read_bytes() == data


def test_an_interrupt_leaves_the_old_file(tmp_path, data, monkeypatch):
    path = tmp_path / "m.okn"
    path.write_bytes(data)

    def interrupted(number):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PAClassifier().save(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == data


def test_the_bytes_are_on_the_disk_before_the_name(tmp_path, monkeypatch):
    """First the file is forced to the disk, then renamed, then the folder is forced."""
    done = []

    def recorded(name):
        call = getattr(os, name)
        return lambda *arguments: done.append(name) or call(*arguments)

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, recorded(name))
    PAClassifier().save(tmp_path / "m.okn")
    assert done == ["fsync", "replace", "fsync"]


# The library safetensors


def test_other_readers_read_the_arrays(tmp_path, model):
    safetensors = pytest.importorskip("safetensors.numpy")
    model.save(tmp_path / "m.okn")
    with pytest.importorskip("safetensors").safe_open(tmp_path / "m.okn", "numpy") as file:
        assert file.metadata()["class"] == "SPAClassifier"
        names = list(file.keys())
        values = {name: file.get_tensor(name) for name in names}
    (name,) = (name for name in names if name.endswith(".rows"))
    np.testing.assert_array_equal(values[name], model.support_vectors_)
    assert safetensors.load_file(tmp_path / "m.okn").keys() == set(names)


def test_what_another_writer_has_written_is_read(tmp_path, model):
    safetensors = pytest.importorskip("safetensors")
    numpy = pytest.importorskip("safetensors.numpy")
    model.save(tmp_path / "m.okn")
    with safetensors.safe_open(tmp_path / "m.okn", "numpy") as file:
        numpy.save_file(
            {name: file.get_tensor(name) for name in file.keys()},  # noqa: SIM118
            tmp_path / "copy.okn",
            metadata=file.metadata(),
        )
    assert to_bytes(onlinekern.load(tmp_path / "copy.okn")) == to_bytes(model)
