"""Dates of tables: parts of the calendar, time zones, files of before."""

import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from commands import run

from onlinekern import (
    OnlineStandardScaler,
    PAClassifier,
    StreamRegressor,
    TableEncoder,
    load,
    make_stream_pipeline,
)
from onlinekern.evaluate import delays_of, prequential
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.preprocessing.tables.columns import DateColumn
from onlinekern.preprocessing.tables.dates import DEFAULT, PARTS, parsed

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
ALL = tuple(PARTS)
RNG = np.random.default_rng(0)
MOMENTS = np.sort(RNG.integers(-(10**9), 2 * 10**9, 500)).tolist()
MOMENTS += [951_782_400, 951_868_799, 951_868_800, 1_709_164_800, 1_735_603_200, 0, -1, 86_399]


def twin(clock):
    """Return the numbers of a calendar of a time without a zone, by Python's own."""
    day = datetime.datetime.combine(clock.date(), datetime.time())
    of_day = (clock - day).total_seconds()
    since = (clock - datetime.datetime(1970, 1, 1)).total_seconds()
    leap = datetime.date(2000, clock.month, clock.day)
    turns = {
        "day": of_day / 86400,
        "week": (clock.weekday() * 86400 + of_day) / (7 * 86400),
        "year": since / (365.2425 * 86400),
    }
    found = {f"half {name}": 2 * turn for name, turn in turns.items()} | turns
    waves = {f"{wave.__name__} of the {name}": wave(2 * np.pi * turn)
             for name, turn in found.items() for wave in (np.sin, np.cos)}  # fmt: skip
    return waves | {
        "hour": of_day / 3600,
        "weekday": clock.weekday(),
        "weekend": int(clock.weekday() in (5, 6)),
        "day of the month": clock.day,
        "day of the year": leap.timetuple().tm_yday,
        "time": since / 86400,
    }


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "Asia/Kathmandu"])
def test_parts_are_those_of_the_twin(zone):
    clocks = pd.to_datetime(MOMENTS, unit="s", utc=True)
    own = ZoneInfo(zone or "UTC")
    expected = [twin(datetime.datetime.fromtimestamp(s, own).replace(tzinfo=None))
                for s in MOMENTS]  # fmt: skip
    table = pd.DataFrame({"at": clocks.tz_localize(None) if zone is None else clocks})
    encoder = TableEncoder(dates=ALL, time_zone=zone)
    rows = encoder.fit_transform(table)
    names = [
        name.removeprefix("at (").removesuffix(")") for name in encoder.get_feature_names_out()
    ]
    assert set(names) == expected[0].keys()
    wanted = [[one[name] for name in names] for one in expected]
    np.testing.assert_allclose(rows, wanted, rtol=0, atol=1e-6)


def test_a_zone_is_that_of_the_column_of_text_or_of_the_parameter():
    at = pd.date_range("2026-03-28 20:00", periods=48, freq="h", tz="UTC")
    local = at.tz_convert("Europe/Berlin")  # The clock goes forward on the way.
    rows = {}
    for name, table, zone in (
        ("type", pd.DataFrame({"at": local}), None),
        ("parameter", pd.DataFrame({"at": at}), "Europe/Berlin"),
        ("text", pd.DataFrame({"at": at.strftime("%Y-%m-%dT%H:%M:%SZ")}), "Europe/Berlin"),
        ("offsets", pd.DataFrame({"at": [t.isoformat() for t in local]}), "Europe/Berlin"),
        ("clock", pd.DataFrame({"at": local.tz_localize(None)}), "Asia/Tokyo"),
    ):  # fmt: skip
        encoder = TableEncoder(dates=["hour"], time_zone=zone).fit(table)
        rows[name] = encoder.transform(table)[:, 0].tolist()
        one = table.to_dict("records")[0]
        assert encoder.transform([one])[0, 0] == rows[name][0]
    assert rows.pop("type") == local.hour.tolist()
    assert all(one == local.hour.tolist() for one in rows.values())


def test_a_zone_is_that_of_a_column_of_polars():
    polars = pytest.importorskip("polars")
    local = pd.date_range("2026-03-28 20:00", periods=48, freq="h", tz="UTC").tz_convert(
        "Europe/Berlin"
    )
    at = polars.Series("at", local.to_pydatetime().tolist())
    table = polars.DataFrame({"at": at.dt.convert_time_zone("Europe/Berlin")})
    encoder = TableEncoder(dates=["hour"]).fit(table)
    assert encoder.transform(table)[:, 0].tolist() == local.hour.tolist()
    assert encoder.transform([table.to_dicts()[0]])[0, 0] == local.hour[0]


def test_later_rows_of_another_zone_are_told_by_the_same_clock():
    at = pd.date_range("2026-01-01", periods=30, freq="h", tz="Europe/Berlin")
    encoder = TableEncoder().fit(pd.DataFrame({"at": at}))
    other = encoder.transform(pd.DataFrame({"at": at.tz_convert("America/New_York")}))
    np.testing.assert_array_equal(other, encoder.transform(pd.DataFrame({"at": at})))


def test_what_first_rows_do_not_tell_is_left_out():
    days = pd.DataFrame({"at": pd.date_range("2026-01-01", periods=9)})
    assert TableEncoder().fit_transform(days).shape == (9, 6)
    assert TableEncoder(dates=("hour", "day")).fit_transform(days).shape == (9, 4)
    times = [{"at": datetime.time(7, 30)}, {"at": datetime.time(9)}]
    assert TableEncoder(dates=("hour", "year")).fit_transform(times).tolist() == [[7.5], [9.0]]
    assert TableEncoder(dates=("year",)).fit_transform(times).shape == (2, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dates": ("month",)}, r"dates: unknown 'month'; known are 'day'"),
        ({"dates": ()}, "dates must name parts"),
        ({"dates": ["day", "day"]}, "each once"),
        ({"dates": "day"}, "'dates' parameter"),
        ({"time_zone": "Europe/Ulm"}, "time_zone: 'Europe/Ulm' is unknown"),
    ],
)
def test_wrong_parameters_are_refused(given, message):
    encoder = TableEncoder(**given)
    with pytest.raises(ValueError, match=message):
        encoder.fit(pd.DataFrame({"at": pd.date_range("2026-01-01", periods=3)}))
    assert not hasattr(encoder, "n_features_in_")


def test_a_zone_is_saved_and_columns_of_older_files_have_none():
    at = pd.DataFrame({"at": pd.date_range("2026-01-01", periods=30, freq="h", tz="Asia/Tokyo")})
    encoder = TableEncoder().fit(at)
    again = from_bytes(to_bytes(encoder), "m.okn")
    assert again._columns[0].zone == "Asia/Tokyo"
    np.testing.assert_array_equal(again.transform(at), encoder.transform(at))
    older = object.__new__(DateColumn)
    vars(older).update(name="at", circles=("day", "week", "year"))
    encoder._columns = [older]
    again = from_bytes(to_bytes(encoder), "m.okn")
    utc = TableEncoder(dates=("day", "week", "year"), time_zone="UTC").fit(at)
    np.testing.assert_array_equal(again.transform(at), utc.transform(at))
    vars(older).update(zone=7)
    with pytest.raises(ValueError, match="one of its columns is none"):
        from_bytes(to_bytes(encoder), "m.okn")


def test_time_is_no_feature_unless_asked():
    assert "time" not in DEFAULT
    at = pd.date_range("2026-01-01", periods=300, freq="D")
    rows, y = pd.DataFrame({"at": at}), np.arange(300.0)
    model = make_stream_pipeline(TableEncoder(dates=("time", "week")), StreamRegressor())
    found = model.partial_fit_predict(rows, y)
    assert np.abs(found[100:] - y[100:]).mean() < 10
    assert model[0].get_feature_names_out()[0] == "at (time)"


def stream_with_times(n=400):
    """Rows whose label comes a day later; times are no reason for it, and would tell it."""
    rng = np.random.default_rng(5)
    size = rng.normal(size=n)
    at = np.datetime64("2026-01-01T00:00", "us") + np.arange(n) * np.timedelta64(3600, "s")
    columns = {"at": at, "size": size, "known": at + np.timedelta64(86_400, "s")}
    return pd.DataFrame(columns), np.where(size > 0, "yes", "no")


def frames(name, rows):
    """Return the rows as a table of a library."""
    if name == "pandas":
        return rows
    if name == "polars":
        return pytest.importorskip("polars").from_pandas(rows)
    return pytest.importorskip("pyarrow").Table.from_pandas(rows, preserve_index=False)


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_the_time_of_the_stream_is_no_feature(library):
    rows, y = stream_with_times()
    table = frames(library, rows)
    encoder = TableEncoder(when=("at", "known")).fit(table)
    assert encoder.get_feature_names_out().tolist() == ["size"]
    assert encoder.kinds_ == {"at": "ignore", "size": "number", "known": "ignore"}
    asked = TableEncoder(when="at", kinds={"at": "date", "known": "ignore"}, dates=("hour",))
    assert asked.fit(table).get_feature_names_out().tolist() == ["at (hour)", "size"]
    # The same columns delay the labels.
    delay = delays_of(table["at"], table["known"])
    assert set(delay[:-24].tolist()) == {23}

    def model(encoder, rows):
        made = make_stream_pipeline(encoder, OnlineStandardScaler(), PAClassifier())
        return made.partial_fit(rows[:100], y[:100], classes=["no", "yes"])

    learnt = model(TableEncoder(when=["at", "known"]), table)
    found = prequential(learnt, [(table[100:], y[100:])], ["no", "yes"], delay=delay[100:])
    plain = model(TableEncoder(), rows[["size"]])
    X = rows[["size"]][100:]
    parts = [(X[:150], y[100:250]), (X[150:], y[250:])]
    wanted = prequential(plain, parts, ["no", "yes"], delay=delay[100:])
    assert found.mistakes == wanted.mistakes < 60
    assert (learnt.predict(table) == plain.predict(rows[["size"]])).all()


@pytest.mark.parametrize("start", [0, 1, 700])
def test_dates_as_text_in_a_slice_are_those_of_its_rows(start):
    """Arrow before version 24 may give the texts of other rows (apache/arrow#49410)."""
    rows, _ = stream_with_times(1000)
    text = rows["at"].astype(str).to_list()
    text[800], text[801] = "", None
    found = parsed(pa.array(text)[start:], "at")
    wanted = [None if not one else datetime.datetime.fromisoformat(one) for one in text[start:]]
    assert found.to_pylist() == wanted


def test_the_time_of_the_stream_must_be_a_column():
    rows, _ = stream_with_times(30)
    with pytest.raises(ValueError, match="when: there is no column 'On'; there are 'at', 'size'"):
        TableEncoder(when="On").fit(rows)


def test_train_leaves_the_time_out(tmp_path, capsys):
    pytest.importorskip("typer")
    rows, y = stream_with_times(1200)
    rows.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    begin = ["train", tmp_path / "rows.csv", "--target", "label", "--method", "linear-pa1", "-o"]
    times = ["--when", "at", "--when", "known"]
    assert run(capsys, *begin, tmp_path / "a.okn", *times)[0] == 0
    assert load(tmp_path / "a.okn")[0].get_feature_names_out().tolist() == ["size"]
    assert run(capsys, *begin, tmp_path / "b.okn", *times, "--column", "at=date")[0] == 0
    names = load(tmp_path / "b.okn")[0].get_feature_names_out().tolist()
    assert "at (weekday)" in names
    assert not any(name.startswith("known") for name in names)
    status, _, error = run(capsys, *begin, tmp_path / "c.okn", "--when", "On")
    assert (status, "when: there is no column 'On'" in error) == (2, True)
    compare = ["compare", tmp_path / "rows.csv", "--target", "label", "--methods", "linear-pa1"]
    status, out, _ = run(capsys, *compare, "--repeats", "1", *times)
    assert status == 0
    assert " 1 " in out
    lines = tmp_path / "rows.libsvm"
    lines.write_text("1 1:0.5\n-1 1:1\n")
    status, _, error = run(capsys, "train", lines, "-o", tmp_path / "d.okn", "--when", "at")
    assert (status, "--target" in error) == (2, True)
