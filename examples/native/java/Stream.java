import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Test a model on a stream, then teach it, sample by sample; save it at the end.
 *
 * <p>java --enable-native-access=ALL-UNNAMED -Donlinekern.library=/.../libonlinekern.so Stream MODEL
 * SAVED &lt; rows
 *
 * <p>A line has the label of a sample and its features, with spaces between.
 */
final class Stream {
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("Stream MODEL SAVED < rows");
            System.exit(2);
        }
        try (Model model = new Model(Path.of(arguments[0]))) {
            follow(model);
            model.save(Path.of(arguments[1]));
        } catch (IllegalStateException | IllegalArgumentException error) {
            System.err.println(arguments[0] + ": " + error.getMessage());
            System.exit(1);
        }
    }

    private static void follow(Model model) throws IOException {
        var lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int wrong = 0;
        int n = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine(), n++) {
            String[] words = line.trim().split("\\s+");
            double[] x = new double[words.length - 1];
            for (int j = 0; j < x.length; j++) {
                x[j] = Double.parseDouble(words[j + 1]);
            }
            wrong += model.predict(x).equals(words[0]) ? 0 : 1;
            model.learn(x, words[0]);
        }
        System.out.println(wrong + " of " + n + " wrong");
    }
}
