// The functions of onlinekern's C interface as onlinekern.hpp calls them, and its exceptions.
#ifndef ONLINEKERN_FUNCTIONS_HPP
#define ONLINEKERN_FUNCTIONS_HPP

#include <Python.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <onlinekern/onlinekern.h>

namespace onlinekern {

/// What a call could not do: a bad argument, and whatever has no class of its own below.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string &message, int code = OK_ERROR)
        : std::runtime_error(message), code_(code) {}
    /// An ok_status, never OK_SUCCESS.
    int code() const noexcept { return code_; }

  private:
    int code_;
};

/// A score or a step was not finite: the learner diverges (OK_DIVERGED).
class Diverged : public Error {
  public:
    explicit Diverged(const std::string &message) : Error(message, OK_DIVERGED) {}
};

/// There was no memory (OK_NO_MEMORY).
class NoMemory : public Error {
  public:
    explicit NoMemory(const std::string &message) : Error(message, OK_NO_MEMORY) {}
};

/// A signal handler of Python raised an exception (OK_INTERRUPTED).
class Interrupted : public Error {
  public:
    explicit Interrupted(const std::string &message) : Error(message, OK_INTERRUPTED) {}
};

namespace detail {

// The functions of the interface with their types, which are the names of their capsules too.
#define ONLINEKERN_FUNCTIONS(F)                                                                      \
    F(abi, int, (void), "int (void)")                                                                \
    F(last_error, char const *, (void), "char const *(void)")                                        \
    F(attach_thread, int, (void), "int (void)")                                                      \
    F(detach_thread, void, (void), "void (void)")                                                    \
    F(check, char const *, (char const *, char const *),                                             \
      "char const *(char const *, char const *)")                                                    \
    F(new, ok_model *, (char const *, char const *), "ok_model *(char const *, char const *)")       \
    F(load, ok_model *, (void const *, ptrdiff_t), "ok_model *(void const *, ptrdiff_t)")            \
    F(save, int, (ok_model const *, void **, ptrdiff_t *),                                           \
      "int (ok_model const *, void **, ptrdiff_t *)")                                                \
    F(load_file, ok_model *, (char const *), "ok_model *(char const *)")                             \
    F(save_file, int, (ok_model const *, char const *), "int (ok_model const *, char const *)")      \
    F(free, void, (ok_model *), "void (ok_model *)")                                                 \
    F(free_bytes, void, (void *), "void (void *)")                                                   \
    F(set_classes, int, (ok_model *, double const *, ptrdiff_t),                                     \
      "int (ok_model *, double const *, ptrdiff_t)")                                                 \
    F(fit, int, (ok_model *, ok_matrix const *, double const *, double const *),                     \
      "int (ok_model *, ok_matrix const *, double const *, double const *)")                         \
    F(learn, int, (ok_model *, ok_matrix const *, double const *, double const *, double *),         \
      "int (ok_model *, ok_matrix const *, double const *, double const *, double *)")               \
    F(learn_one, int, (ok_model *, ok_matrix const *, double),                                       \
      "int (ok_model *, ok_matrix const *, double)")                                                 \
    F(learn_one_sparse, int,                                                                         \
      (ok_model *, void const *, int32_t const *, ptrdiff_t, ptrdiff_t, int, double),                \
      "int (ok_model *, void const *, int32_t const *, ptrdiff_t, ptrdiff_t, int, double)")          \
    F(scores, int, (ok_model const *, ok_matrix const *, double *, ptrdiff_t),                       \
      "int (ok_model const *, ok_matrix const *, double *, ptrdiff_t)")                              \
    F(score_one_sparse, int,                                                                         \
      (ok_model const *, void const *, int32_t const *, ptrdiff_t, ptrdiff_t, int, double *,         \
       ptrdiff_t),                                                                                   \
      "int (ok_model const *, void const *, int32_t const *, ptrdiff_t, ptrdiff_t, int, double *, "  \
      "ptrdiff_t)")                                                                                  \
    F(predict, int, (ok_model const *, ok_matrix const *, double *),                                 \
      "int (ok_model const *, ok_matrix const *, double *)")                                         \
    F(n_seen, int64_t, (ok_model const *), "int64_t (ok_model const *)")                             \
    F(n_mistakes, int64_t, (ok_model const *), "int64_t (ok_model const *)")                         \
    F(n_support, int64_t, (ok_model const *), "int64_t (ok_model const *)")                          \
    F(n_columns, int64_t, (ok_model const *), "int64_t (ok_model const *)")                          \
    F(n_outputs, int64_t, (ok_model const *), "int64_t (ok_model const *)")                          \
    F(n_classes, int64_t, (ok_model const *), "int64_t (ok_model const *)")                          \
    F(classes, int, (ok_model const *, double *, ptrdiff_t),                                         \
      "int (ok_model const *, double *, ptrdiff_t)")

struct Functions {
#define ONLINEKERN_FIELD(name, result, arguments, signature) result (*name##_) arguments = nullptr;
    ONLINEKERN_FUNCTIONS(ONLINEKERN_FIELD)
#undef ONLINEKERN_FIELD
};

inline std::atomic<const Functions *> found{nullptr};

/// A reference to a Python object, which ends with it; used with the GIL.
struct Drop {
    void operator()(PyObject *object) const noexcept { Py_DECREF(object); }
};
using Reference = std::unique_ptr<PyObject, Drop>;

/// The GIL, for as long as this lives.
class Gil {
  public:
    Gil() : before_(PyGILState_Ensure()) {}
    ~Gil() { PyGILState_Release(before_); }
    Gil(const Gil &) = delete;
    Gil &operator=(const Gil &) = delete;

  private:
    PyGILState_STATE before_;
};

/// Throw what Python has raised.
[[noreturn]] inline void throw_raised(const char *what)
{
#if PY_VERSION_HEX >= 0x030C0000
    Reference value(PyErr_GetRaisedException());
#else
    PyObject *type, *raised, *trace;
    PyErr_Fetch(&type, &raised, &trace);
    Reference value(raised), kind(type), from(trace);
#endif
    Reference text(value ? PyObject_Str(value.get()) : nullptr);
    const char *message = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    const std::string whole = std::string(what) + ": " + (message ? message : "no message");
    PyErr_Clear();
    throw Error(whole);
}

/// The function that a capsule of the library holds, if it is of this type.
template <typename Function>
void find(PyObject *functions, const char *name, const char *signature, Function *&function)
{
    PyObject *capsule = PyDict_GetItemString(functions, name);
    if (capsule == nullptr)
        throw Error(std::string("the installed onlinekern is too old: it has no ") + name);
    void *address = PyCapsule_GetPointer(capsule, signature);
    if (address == nullptr)
        throw_raised("built for another onlinekern");
    function = reinterpret_cast<Function *>(address);
}

/// Import the library; no lock is held that another thread could want with the GIL.
inline const Functions &import_library()
{
    if (!Py_IsInitialized())
        throw Error("Python does not run: make an onlinekern::Interpreter, or call Py_Initialize");
    const Gil gil;
    Reference module(PyImport_ImportModule("onlinekern.core.capi"));
    Reference table(module ? PyObject_GetAttrString(module.get(), "__pyx_capi__") : nullptr);
    if (!table)
        throw_raised("onlinekern cannot be imported");
    auto made = std::make_unique<Functions>();
#define ONLINEKERN_FIND(name, result, arguments, signature)                                          \
    find(table.get(), "ok_" #name, signature, made->name##_);
    ONLINEKERN_FUNCTIONS(ONLINEKERN_FIND)
#undef ONLINEKERN_FIND
    if (made->abi_() != ONLINEKERN_ABI)
        throw Error("built for another onlinekern: ONLINEKERN_ABI is " +
                    std::to_string(ONLINEKERN_ABI) + ", not " + std::to_string(made->abi_()));
    const Functions *other = nullptr;
    if (found.compare_exchange_strong(other, made.get()))
        other = made.release(); // for the rest of the process
    return *other;
}
#undef ONLINEKERN_FUNCTIONS

/// The functions of the C interface; the library is imported when they are first needed.
inline const Functions &functions()
{
    const Functions *known = found.load(std::memory_order_acquire);
    return known != nullptr ? *known : import_library();
}

/// Throw the last error of this thread.
[[noreturn]] inline void throw_last(int code = OK_ERROR)
{
    const char *message = functions().last_error_();
    switch (code) {
    case OK_DIVERGED: throw Diverged(message);
    case OK_NO_MEMORY: throw NoMemory(message);
    case OK_INTERRUPTED: throw Interrupted(message);
    default: throw Error(message, code);
    }
}

inline void succeed(int code)
{
    if (code != OK_SUCCESS)
        throw_last(code);
}

/// A text that ends with NUL, and has no other.
inline std::string text(std::string_view given, const char *name)
{
    if (given.find('\0') != given.npos)
        throw Error(std::string(name) + " holds a NUL character");
    return std::string(given);
}

/// A length as the C interface takes it.
inline std::ptrdiff_t length(std::size_t size) { return static_cast<std::ptrdiff_t>(size); }

} // namespace detail

} // namespace onlinekern

#endif
