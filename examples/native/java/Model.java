import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A classifier of the C library. Two threads must not use it at once; close frees it.
 *
 * <p>The property onlinekern.library is the path of libonlinekern.so. Functions of C can do anything:
 * so Java wants --enable-native-access=ALL-UNNAMED, and calls what reaches them restricted.
 */
@SuppressWarnings("restricted")
final class Model implements AutoCloseable {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;
    private static final SymbolLookup LIBRARY =
            SymbolLookup.libraryLookup(System.getProperty("onlinekern.library"), Arena.global());
    private static final MethodHandle OPEN = function("okn_open", INT, POINTER, POINTER);
    private static final MethodHandle ERROR = function("okn_error", POINTER, POINTER);
    private static final MethodHandle FEATURES = function("okn_n_features", INT, POINTER);
    private static final MethodHandle CLASSES = function("okn_n_classes", INT, POINTER);
    private static final MethodHandle LABEL = function("okn_label", POINTER, POINTER, INT);
    private static final MethodHandle PREDICT = function("okn_predict", INT, POINTER, POINTER);
    private static final MethodHandle LEARN = function("okn_learn", INT, POINTER, POINTER, DOUBLE);
    private static final MethodHandle SAVE = function("okn_save", INT, POINTER, POINTER);
    private static final MethodHandle CLOSE =
            Linker.nativeLinker()
                    .downcallHandle(
                            LIBRARY.find("okn_close").orElseThrow(),
                            FunctionDescriptor.ofVoid(POINTER));

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment row;
    private final List<String> labels = new ArrayList<>();
    private MemorySegment raw = MemorySegment.NULL;

    /** Read a file of save. */
    Model(Path path) {
        try {
            MemorySegment out = arena.allocate(POINTER);
            int status = (int) OPEN.invokeExact(arena.allocateFrom(path.toString()), out);
            raw = out.get(POINTER, 0);
            checked(status);
            int classes = (int) CLASSES.invokeExact(raw);
            for (int k = 0; k < classes; k++) {
                labels.add(text((MemorySegment) LABEL.invokeExact(raw, k)));
            }
            row = arena.allocate(DOUBLE, (int) FEATURES.invokeExact(raw));
        } catch (Throwable error) {
            close();
            throw unchecked(error);
        }
    }

    /** The label of a row. */
    String predict(double[] x) {
        try {
            return labels.get(checked((int) PREDICT.invokeExact(raw, copied(x))));
        } catch (Throwable error) {
            throw unchecked(error);
        }
    }

    /** Learn one sample. */
    void learn(double[] x, String label) {
        int number = labels.indexOf(label);
        if (number < 0) {
            throw new IllegalArgumentException("no class is " + label);
        }
        try {
            checked((int) LEARN.invokeExact(raw, copied(x), (double) number));
        } catch (Throwable error) {
            throw unchecked(error);
        }
    }

    /** Write the model for this library, or for Python. */
    void save(Path path) {
        try (Arena own = Arena.ofConfined()) {
            checked((int) SAVE.invokeExact(owned(), own.allocateFrom(path.toString())));
        } catch (Throwable error) {
            throw unchecked(error);
        }
    }

    @Override
    public void close() {
        if (!arena.scope().isAlive()) {
            return;
        }
        try {
            CLOSE.invokeExact(raw);
            raw = MemorySegment.NULL;
        } catch (Throwable error) {
            throw unchecked(error);
        } finally {
            arena.close();
        }
    }

    /** The row outside of Java's heap, whose arrays may move while the library reads them. */
    private MemorySegment copied(double[] x) {
        if (x.length != row.byteSize() / DOUBLE.byteSize()) {
            throw new IllegalArgumentException("a row of " + x.length + " features is none of it");
        }
        MemorySegment.copy(x, 0, row, DOUBLE, 0, x.length);
        return row;
    }

    /** The model; an error after close, or in another thread than that which opened it. */
    private MemorySegment owned() {
        row.get(DOUBLE, 0);
        return raw;
    }

    private int checked(int status) throws Throwable {
        if (status >= 0) {
            return status;
        }
        throw new IllegalStateException(text((MemorySegment) ERROR.invokeExact(raw)));
    }

    private static String text(MemorySegment pointer) {
        return pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }

    private static RuntimeException unchecked(Throwable error) {
        return error instanceof RuntimeException own ? own : new IllegalStateException(error);
    }

    private static MethodHandle function(
            String name, MemoryLayout result, MemoryLayout... own) {
        return Linker.nativeLinker()
                .downcallHandle(
                        LIBRARY.find(name).orElseThrow(), FunctionDescriptor.of(result, own));
    }
}
