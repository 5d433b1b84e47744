// The C interface of onlinekern for C++20, or C++17: models that end by themselves, spans, exceptions.
//
// There is nothing to link but Python. What the functions do is in docs/c_api.md. Arrays belong to the
// caller, are read during a call and not kept. After an exception the model is as it was before the
// call. The rules for threads are those of the C interface.
#ifndef ONLINEKERN_HPP
#define ONLINEKERN_HPP

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L
#include <span>
#endif

#include <onlinekern/functions.hpp>

namespace onlinekern {

#if __cplusplus >= 202002L
using std::span;
#else
/// As much of std::span as the functions here need: a pointer and a length.
template <typename T> class span {
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    /// Of anything with `data()` and `size()`, whose elements are of type T but for `const`.
    template <typename Range,
              typename = std::enable_if_t<std::is_convertible_v<
                  std::remove_pointer_t<decltype(std::declval<Range &>().data())> (*)[], T (*)[]>>>
    constexpr span(Range &&range) : data_(range.data()), size_(range.size()) {}
    template <typename U, std::size_t N,
              typename = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr span(U (&array)[N]) noexcept : data_(array), size_(N) {}
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T &operator[](std::size_t i) const { return data_[i]; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

/// Python in a program of its own: starts with this object and ends with it. Any thread may use models
/// meanwhile, none may after it. Signals stay the program's. A process has one, once.
class Interpreter {
  public:
    Interpreter()
    {
        if (Py_IsInitialized())
            throw Error("Python runs already");
        Py_InitializeEx(0);
        state_ = PyEval_SaveThread();
        try {
            detail::functions();
        } catch (...) {
            finish();
            throw;
        }
    }
    ~Interpreter() { finish(); }
    Interpreter(const Interpreter &) = delete;
    Interpreter &operator=(const Interpreter &) = delete;

  private:
    void finish() noexcept
    {
        PyEval_RestoreThread(state_);
        Py_FinalizeEx();
    }
    PyThreadState *state_ = nullptr;
};

/// Makes the calls of a thread that the program has started quicker, as long as it lives; to be made
/// and ended in that thread, before the Interpreter ends.
class AttachedThread {
  public:
    AttachedThread() { detail::succeed(detail::functions().attach_thread_()); }
    ~AttachedThread() { detail::functions().detach_thread_(); }
    AttachedThread(const AttachedThread &) = delete;
    AttachedThread &operator=(const AttachedThread &) = delete;
};

/// Samples, one a row: a view of arrays of the caller, float or double, dense or CSR.
class Samples {
  public:
    /// A dense matrix in row-major order.
    static Samples dense(span<const double> values, std::size_t n_columns)
    {
        return Samples(values, n_columns);
    }
    static Samples dense(span<const float> values, std::size_t n_columns)
    {
        return Samples(values, n_columns);
    }
    /// A compressed sparse matrix: row i is values[starts[i]] ... values[starts[i + 1] - 1].
    static Samples csr(span<const double> values, span<const std::int32_t> columns,
                       span<const std::int32_t> starts, std::size_t n_columns)
    {
        return Samples(values, columns, starts, n_columns);
    }
    static Samples csr(span<const float> values, span<const std::int32_t> columns,
                       span<const std::int32_t> starts, std::size_t n_columns)
    {
        return Samples(values, columns, starts, n_columns);
    }
    std::size_t n_rows() const noexcept { return static_cast<std::size_t>(matrix_.n_rows); }
    std::size_t n_columns() const noexcept { return static_cast<std::size_t>(matrix_.n_columns); }
    /// `count` rows from row `first` on, of the same arrays.
    Samples rows(std::size_t first, std::size_t count) const
    {
        if (first > n_rows() || count > n_rows() - first)
            throw Error("there are " + std::to_string(n_rows()) + " rows, not " +
                        std::to_string(first) + " + " + std::to_string(count));
        Samples part = *this;
        part.matrix_.n_rows = detail::length(count);
        if (matrix_.indptr != nullptr)
            part.matrix_.indptr += first;
        else if (matrix_.values != nullptr)
            part.matrix_.values = static_cast<const char *>(matrix_.values) +
                                  first * n_columns() * static_cast<std::size_t>(matrix_.dtype);
        return part;
    }
    /// The same as the C interface takes it.
    const ok_matrix *get() const noexcept { return &matrix_; }

  private:
    template <typename T> Samples(span<const T> values, std::size_t n_columns)
    {
        if (n_columns == 0 || values.size() % n_columns != 0)
            throw Error(std::to_string(values.size()) + " values are no rows of " +
                        std::to_string(n_columns) + " columns");
        matrix_ = {values.data(), nullptr, nullptr, detail::length(values.size() / n_columns),
                   detail::length(n_columns), sizeof(T)};
    }
    template <typename T>
    Samples(span<const T> values, span<const std::int32_t> columns,
            span<const std::int32_t> starts, std::size_t n_columns)
    {
        if (columns.size() != values.size())
            throw Error("there are " + std::to_string(values.size()) + " values and " +
                        std::to_string(columns.size()) + " columns of them");
        if (starts.empty() || starts[0] < 0 || !std::is_sorted(starts.begin(), starts.end()) ||
            static_cast<std::size_t>(starts[starts.size() - 1]) > values.size())
            throw Error("starts must ascend from 0 at least to " + std::to_string(values.size()) +
                        " at most, one more than there are rows");
        matrix_ = {values.data(), columns.data(), starts.data(), detail::length(starts.size() - 1),
                   detail::length(n_columns), sizeof(T)};
    }
    ok_matrix matrix_;
};

/// The stored elements of one sample of `n_columns` features, float or double; the others are 0.
class SparseRow {
  public:
    SparseRow(span<const double> values, span<const std::int32_t> columns, std::size_t n_columns)
        : SparseRow(values.data(), values.size(), columns, n_columns, OK_FLOAT64)
    {
    }
    SparseRow(span<const float> values, span<const std::int32_t> columns, std::size_t n_columns)
        : SparseRow(values.data(), values.size(), columns, n_columns, OK_FLOAT32)
    {
    }

  private:
    friend class Model;
    SparseRow(const void *values, std::size_t size, span<const std::int32_t> columns,
              std::size_t n_columns, int dtype)
        : values_(values), columns_(columns.data()), n_stored_(detail::length(size)),
          n_columns_(detail::length(n_columns)), dtype_(dtype)
    {
        if (columns.size() != size)
            throw Error("there are " + std::to_string(size) + " values and " +
                        std::to_string(columns.size()) + " columns of them");
    }
    const void *values_;
    const std::int32_t *columns_;
    std::ptrdiff_t n_stored_, n_columns_;
    int dtype_;
};

/// A learner and what it has learnt. It can be moved, not copied. A model that was moved away is
/// good for nothing but to be given another one.
class Model {
  public:
    /// A model that has learnt nothing yet: a name of onlinekern.all_estimators(), and parameters
    /// as "key=value key=value".
    explicit Model(std::string_view estimator, std::string_view parameters = "")
        : Model(calls().new_(detail::text(estimator, "estimator").c_str(),
                             detail::text(parameters, "parameters").c_str()))
    {
    }
    /// What is wrong with a name or its parameters; nothing if they make a model.
    static std::optional<std::string> check(std::string_view estimator,
                                            std::string_view parameters = "")
    {
        const char *wrong = calls().check_(detail::text(estimator, "estimator").c_str(),
                                           detail::text(parameters, "parameters").c_str());
        return wrong == nullptr ? std::nullopt : std::make_optional<std::string>(wrong);
    }
    /// The model in the bytes of `save`. No code of them runs.
    static Model load(span<const std::byte> data)
    {
        // No bytes are no model, but they have no address.
        const std::byte none{};
        return Model(calls().load_(data.empty() ? &none : data.data(), detail::length(data.size())));
    }
    /// The model in a file of `save`, or of the `save` of an estimator with numeric labels.
    static Model load(const std::filesystem::path &path)
    {
        return Model(calls().load_file_(detail::text(path.string(), "path").c_str()));
    }
    /// Take over a model of the C interface.
    static Model adopt(ok_model *model)
    {
        if (model == nullptr)
            throw Error("model is NULL");
        return Model(model);
    }

    std::vector<std::byte> save() const
    {
        void *data = nullptr;
        std::ptrdiff_t size = 0;
        detail::succeed(calls().save_(get(), &data, &size));
        const std::unique_ptr<void, decltype(calls().free_bytes_)> owner(data, calls().free_bytes_);
        const auto *first = static_cast<const std::byte *>(data);
        return {first, first + size};
    }
    /// Write a file, whole or not at all.
    void save(const std::filesystem::path &path) const
    {
        detail::succeed(calls().save_file_(get(), detail::text(path.string(), "path").c_str()));
    }

    /// Announce all labels of a stream, before its first sample.
    void set_classes(span<const double> classes)
    {
        detail::succeed(
            calls().set_classes_(get(), classes.data(), detail::length(classes.size())));
    }
    /// Learn from scratch; the classes are those of y. No weights are weights of 1. An outlier
    /// detector needs no y.
    void fit(const Samples &X, span<const double> y, span<const double> weight = {})
    {
        check_rows(X, y, weight);
        detail::succeed(calls().fit_(get(), X.get(), pointer(y), pointer(weight)));
    }
    /// Go on learning: one pass in the order of the rows.
    void learn(const Samples &X, span<const double> y, span<const double> weight = {})
    {
        check_rows(X, y, weight);
        detail::succeed(calls().learn_(get(), X.get(), pointer(y), pointer(weight), nullptr));
    }
    /// The same; returns what was predicted for each sample before it was learnt.
    std::vector<double> learn_predict(const Samples &X, span<const double> y,
                                      span<const double> weight = {})
    {
        check_rows(X, y, weight);
        std::vector<double> predictions(X.n_rows());
        detail::succeed(
            calls().learn_(get(), X.get(), pointer(y), pointer(weight), predictions.data()));
        return predictions;
    }
    /// Go on learning with one sample, with the least of checks; x as of Samples::dense.
    void learn_one(span<const double> x, double y) { learn_row(row_of(x), y); }
    void learn_one(span<const float> x, double y) { learn_row(row_of(x), y); }
    void learn_one(const SparseRow &x, double y)
    {
        detail::succeed(calls().learn_one_sparse_(get(), x.values_, x.columns_, x.n_stored_,
                                                  x.n_columns_, x.dtype_, y));
    }

    /// Decision values, n_outputs() of each row, or a regressor's predictions.
    std::vector<double> scores(const Samples &X) const
    {
        std::vector<double> values(X.n_rows() * static_cast<std::size_t>(n_outputs()));
        scores(X, values);
        return values;
    }
    /// The same into memory of the caller, which has room for them.
    void scores(const Samples &X, span<double> values) const
    {
        detail::succeed(
            calls().scores_(get(), X.get(), values.data(), detail::length(values.size())));
    }
    /// The score of one sample, of a model with one output.
    double score_one(span<const double> x) const { return score_row(row_of(x)); }
    double score_one(span<const float> x) const { return score_row(row_of(x)); }
    double score_one(const SparseRow &x) const
    {
        double value = 0;
        detail::succeed(calls().score_one_sparse_(get(), x.values_, x.columns_, x.n_stored_,
                                                  x.n_columns_, x.dtype_, &value, 1));
        return value;
    }
    /// Labels, targets, or 1 and -1 of an outlier detector.
    std::vector<double> predict(const Samples &X) const
    {
        std::vector<double> predictions(X.n_rows());
        predict(X, predictions);
        return predictions;
    }
    void predict(const Samples &X, span<double> predictions) const
    {
        if (predictions.size() < X.n_rows())
            throw Error("predictions has room for " + std::to_string(predictions.size()) +
                        " numbers, " + std::to_string(X.n_rows()) + " are needed");
        detail::succeed(calls().predict_(get(), X.get(), predictions.data()));
    }

    std::int64_t n_seen() const { return counted(calls().n_seen_(get())); }
    /// Samples whose label was not predicted before they were learnt; none of a regressor.
    std::int64_t n_mistakes() const { return counted(calls().n_mistakes_(get())); }
    std::int64_t n_support() const { return counted(calls().n_support_(get())); }
    std::int64_t n_columns() const { return counted(calls().n_columns_(get())); }
    std::int64_t n_outputs() const { return counted(calls().n_outputs_(get())); }
    /// The labels, ascending.
    std::vector<double> classes() const
    {
        std::vector<double> labels(static_cast<std::size_t>(counted(calls().n_classes_(get()))));
        detail::succeed(calls().classes_(get(), labels.data(), detail::length(labels.size())));
        return labels;
    }

    /// The model of the C interface, which stays this object's.
    ok_model *get() const noexcept { return model_.get(); }
    /// The same, which is the caller's from now on.
    ok_model *release() noexcept { return model_.release(); }

  private:
    struct Free {
        void operator()(ok_model *model) const noexcept { detail::functions().free_(model); }
    };
    explicit Model(ok_model *model) : model_(model)
    {
        if (model == nullptr)
            detail::throw_last();
    }
    static const detail::Functions &calls() { return detail::functions(); }
    static void check_rows(const Samples &X, span<const double> y, span<const double> weight)
    {
        check_count("y", y.size(), X.n_rows());
        check_count("weight", weight.size(), X.n_rows());
    }
    static void check_count(const char *name, std::size_t size, std::size_t n_rows)
    {
        if (size != 0 && size != n_rows)
            throw Error(std::string(name) + " has " + std::to_string(size) + " elements, X has " +
                        std::to_string(n_rows) + " rows");
    }
    static const double *pointer(span<const double> numbers)
    {
        return numbers.empty() ? nullptr : numbers.data();
    }
    template <typename T> static ok_matrix row_of(span<const T> x)
    {
        return {x.data(), nullptr, nullptr, 1, detail::length(x.size()), sizeof(T)};
    }
    void learn_row(const ok_matrix &x, double y)
    {
        detail::succeed(calls().learn_one_(get(), &x, y));
    }
    double score_row(const ok_matrix &x) const
    {
        double value = 0;
        detail::succeed(calls().scores_(get(), &x, &value, 1));
        return value;
    }
    static std::int64_t counted(std::int64_t count)
    {
        if (count < 0)
            detail::throw_last();
        return count;
    }
    std::unique_ptr<ok_model, Free> model_;
};

} // namespace onlinekern

#endif
