// A C++ program that uses every member of onlinekern.hpp. Scores are printed as hexadecimal numbers.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <onlinekern/onlinekern.hpp>

// Of another file that includes the header too.
double score_elsewhere(const onlinekern::Model &model, const std::vector<double> &x);

namespace {

using onlinekern::Model, onlinekern::Samples, onlinekern::SparseRow;

constexpr std::size_t n_rows = 120, n_columns = 3, half = 60;

static_assert(!std::is_copy_constructible_v<Model> && !std::is_copy_assignable_v<Model>);
static_assert(std::is_nothrow_move_constructible_v<Model>);
static_assert(std::is_nothrow_move_assignable_v<Model>);
static_assert(!std::is_copy_constructible_v<onlinekern::Interpreter>);

void expect(bool truth, const char *what)
{
    if (!truth) {
        std::fprintf(stderr, "%s\n", what);
        std::exit(1);
    }
}

// A function must throw an exception of this very class.
template <typename Exception>
void thrown(int code, const std::string &part, const std::function<void()> &function)
{
    try {
        function();
    } catch (const onlinekern::Error &error) {
        expect(typeid(error) == typeid(Exception), error.what());
        expect(error.code() == code, "another code");
        expect(std::string(error.what()).find(part) != std::string::npos, error.what());
        return;
    }
    expect(false, ("nothing was thrown: " + part).c_str());
}

void refused(const std::string &part, const std::function<void()> &function)
{
    thrown<onlinekern::Error>(OK_ERROR, part, function);
}

void print(const char *name, const std::vector<double> &numbers)
{
    std::printf("%s", name);
    for (const double number : numbers)
        std::printf(" %a", number);
    std::printf("\n");
}

// Codes that no call gives by itself here.
void check_codes()
{
    using onlinekern::detail::throw_last;
    refused("", [] { throw_last(); });
    thrown<onlinekern::Diverged>(OK_DIVERGED, "", [] { throw_last(OK_DIVERGED); });
    thrown<onlinekern::NoMemory>(OK_NO_MEMORY, "", [] { throw_last(OK_NO_MEMORY); });
    thrown<onlinekern::Interrupted>(OK_INTERRUPTED, "", [] { throw_last(OK_INTERRUPTED); });
}

struct Stream {
    std::vector<double> values, y;
    std::vector<float> narrow;
    std::vector<std::int32_t> columns, starts{0};

    Stream()
    {
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::size_t j = 0; j < n_columns; ++j) {
                values.push_back(double((i * (7 + 6 * j) * 31 + j * 5) % 17) / 8 - 1);
                narrow.push_back(float(values.back()));
                columns.push_back(std::int32_t(j));
            }
            starts.push_back(std::int32_t(values.size()));
            y.push_back(values[i * n_columns] * values[i * n_columns + 1] > 0 ? 1 : -1);
        }
    }
    Samples dense() const { return Samples::dense(values, n_columns); }
    Samples csr() const { return Samples::csr(values, columns, starts, n_columns); }
    std::vector<double> row(std::size_t i) const
    {
        return {values.begin() + std::ptrdiff_t(i * n_columns),
                values.begin() + std::ptrdiff_t((i + 1) * n_columns)};
    }
};

// Rows are learnt together, one by one dense, and one by one sparse.
Model learn(const Stream &stream)
{
    const std::array<double, 2> classes{-1, 1};
    const std::array<std::int32_t, 3> columns{0, 1, 2};
    Model model("SPAClassifier", "gamma=2 beta=5 random_state=3");
    model.set_classes(classes);
    const auto first = stream.dense().rows(0, half);
    const std::vector<double> y(stream.y.begin(), stream.y.begin() + half), weight(half, 0.5);
    model.learn(first.rows(0, 30), onlinekern::span<const double>(y.data(), 30));
    print("predicted", model.learn_predict(first, y, weight));
    for (std::size_t i = half; i < n_rows; i += 2) {
        model.learn_one(stream.row(i), stream.y[i]);
        model.learn_one(SparseRow(stream.row(i + 1), columns, n_columns), stream.y[i + 1]);
    }
    expect(first.n_rows() == half && first.n_columns() == n_columns, "sizes");
    expect(first.rows(1, 2).get()->n_rows == 2, "a part");
    return model;
}

void answer(const Stream &stream, const Model &model)
{
    const auto scores = model.scores(stream.dense());
    const std::array<std::int32_t, 3> columns{0, 1, 2};
    print("scores", scores);
    print("predictions", model.predict(stream.dense()));
    expect(model.scores(stream.csr().rows(7, 100))[0] == scores[7], "sparse rows");
    std::vector<double> own(n_rows), labels(n_rows);
    model.scores(stream.csr(), own);
    model.predict(stream.csr(), labels);
    expect(own == scores && labels == model.predict(stream.dense()), "memory of the caller");
    expect(model.score_one(stream.row(3)) == scores[3], "a row");
    expect(model.score_one(SparseRow(stream.row(3), columns, n_columns)) == scores[3], "sparse");
    expect(score_elsewhere(model, stream.row(4)) == scores[4], "in another file");
    double apart = 0;
    std::thread([&] {
        const onlinekern::AttachedThread attached;
        apart = model.score_one(stream.row(5));
    }).join();
    expect(apart == scores[5], "in another thread");
    const std::vector<std::int64_t> counts{model.n_seen(), model.n_mistakes(), model.n_support(),
                                           model.n_columns(), model.n_outputs()};
    std::printf("counts");
    for (const auto count : counts)
        std::printf(" %lld", static_cast<long long>(count));
    std::printf("\n");
    print("classes", model.classes());
}

// A model that is saved, moved and handed over scores as before.
void keep(const Stream &stream, Model model, const std::filesystem::path &path)
{
    const auto scores = model.scores(stream.dense());
    const std::vector<std::byte> saved = model.save();
    model.save(path);
    expect(std::filesystem::file_size(path) == saved.size(), "the bytes of a file");
    expect(Model::load(saved).scores(stream.dense()) == scores, "from bytes");
    expect(Model::load(path).scores(stream.dense()) == scores, "from a file");
    Model moved = std::move(model);
    refused("model is NULL", [&] { model.learn_one(stream.row(0), 1); });
    refused("model is NULL", [&] { model.n_seen(); });
    model = std::move(moved);
    expect(model.scores(stream.dense()) == scores && model.get() != nullptr, "moved");
    const Model adopted = Model::adopt(model.release());
    expect(model.get() == nullptr && adopted.scores(stream.dense()) == scores, "adopted");
    refused("model is NULL", [] { Model::adopt(nullptr); });
}

void learn_floats(const Stream &stream)
{
    Model model("PARegressor", "random_state=3");
    const auto X = Samples::dense(stream.narrow, n_columns);
    const auto same = Samples::csr(stream.narrow, stream.columns, stream.starts, n_columns);
    const onlinekern::span<const float> x(stream.narrow.data(), n_columns);
    const SparseRow sparse(x, onlinekern::span<const std::int32_t>(stream.columns.data(), 3), 3);
    model.fit(X, stream.y);
    model.learn_one(x, 0.5);
    model.learn_one(sparse, 0.5);
    expect(model.score_one(x) == model.scores(X)[0], "a row of floats");
    expect(model.score_one(sparse) == model.scores(same)[0], "a sparse row of floats");
    print("floats", model.scores(same.rows(0, 20)));
    refused("counts no mistakes", [&] { model.n_mistakes(); });
    Model detector("SPAOneClass", "random_state=3");
    detector.fit(X, {});
    expect(detector.n_seen() == n_rows, "without y");
}

void fail(const Stream &stream, Model model)
{
    const std::vector<std::int32_t> two{0, 1}, down{0, 2, 1}, far{0, 400};
    refused("NoModel", [] { Model("NoModel"); });
    refused("NUL character", [] { Model(std::string_view("SPA\0Classifier", 14)); });
    expect(Model::check("SPAClassifier", "gamma=-1").value().find("gamma") != std::string::npos,
           "a bad parameter");
    expect(!Model::check("SPAClassifier"), "good parameters");
    refused("no rows of 7", [&] { Samples::dense(stream.values, 7); });
    refused("no rows of 0", [&] { Samples::dense(stream.narrow, 0); });
    refused("columns of them", [&] { Samples::csr(stream.values, two, stream.starts, 3); });
    refused("starts must ascend", [&] { Samples::csr(stream.values, stream.columns, down, 3); });
    refused("starts must ascend", [&] { Samples::csr(stream.values, stream.columns, far, 3); });
    refused("starts must ascend", [&] { Samples::csr(stream.values, stream.columns, {}, 3); });
    refused("columns of them", [&] { SparseRow(stream.row(0), two, 3); });
    refused("there are 120 rows", [&] { stream.dense().rows(100, 21); });
    refused("y has 119 elements", [&] {
        model.fit(stream.dense(), onlinekern::span<const double>(stream.y.data(), 119));
    });
    refused("weight has 2 elements",
            [&] { model.learn(stream.dense(), stream.y, std::vector<double>(2)); });
    refused("y is NULL", [&] { model.learn(stream.dense(), std::vector<double>()); });
    refused("room for 2 numbers", [&] {
        std::vector<double> small(2);
        model.predict(stream.dense(), small);
    });
    refused("no model", [] { Model::load(std::vector<std::byte>(20)); });
    refused("no model", [] { Model::load(std::vector<std::byte>()); });
    refused("No such file", [] { Model::load(std::filesystem::path("missing.okn")); });
    refused("runs already", [] { const onlinekern::Interpreter second; });
    Model steep("OGDRegressor", "eta=10.0 standardize_target=False");
    const std::vector<double> large(400, 1e3), ones(400, 1.0);
    thrown<onlinekern::Diverged>(OK_DIVERGED, "diverges",
                                 [&] { steep.learn(Samples::dense(large, 1), ones); });
    check_codes();
}

} // namespace

int main(int, char **arguments)
{
    const Stream stream;
    refused("Python does not run", [] { Model("SPAClassifier"); });
    const onlinekern::Interpreter python;
    const Model model = learn(stream);
    answer(stream, model);
    keep(stream, learn(stream), arguments[1]);
    learn_floats(stream);
    fail(stream, learn(stream));
    return 0;
}
