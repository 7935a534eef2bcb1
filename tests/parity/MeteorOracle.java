// The parts of the official METEOR one by one: its normalizer, its stemmer, its dictionary of synonyms (all English).
//
// Reads a line or word a line, base64 of UTF-8; writes the answer's tokens a line, parted by U+0001. The argument says
// which part answers:
//     normalize   the words of a line, as the scorer gets them with -norm
//     stem        the stem of a word
//     synsets     the numbers of the synonym sets of a word, those of its base forms included, ascending
// Run it from its source:
//     java -cp meteor-1.5.jar MeteorOracle.java normalize
import edu.cmu.meteor.aligner.Stemmer;
import edu.cmu.meteor.aligner.SynonymDictionary;
import edu.cmu.meteor.util.Constants;
import edu.cmu.meteor.util.Normalizer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.StringTokenizer;
import java.util.TreeSet;
import java.util.function.Function;

public class MeteorOracle {
    public static void main(String[] arguments) throws Exception {
        Function<String, List<String>> part = part(arguments[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; out.write('\n')) {
            String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            out.write(String.join("\u0001", part.apply(text)));
        }
        out.flush();
    }

    private static Function<String, List<String>> part(String name) throws IOException {
        switch (name) {
            case "normalize":
                return MeteorOracle::normalize;
            case "stem":
                Stemmer stemmer = Constants.newStemmer("english");
                return word -> List.of(stemmer.stem(word));
            case "synsets":
                SynonymDictionary dictionary =
                    new SynonymDictionary(file("exceptions"), file("synsets"), file("relations"));
                return word -> synsets(dictionary, word);
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** The program trims what it reads, normalizes it, puts it in lower case and splits it at blanks. */
    private static List<String> normalize(String line) {
        String normal = Normalizer.normalizeLine(line.trim(), Constants.LANG_EN, true).toLowerCase();
        List<String> words = new ArrayList<>();
        for (StringTokenizer tokens = new StringTokenizer(normal); tokens.hasMoreTokens(); ) {
            words.add(tokens.nextToken());
        }
        return words;
    }

    private static List<String> synsets(SynonymDictionary dictionary, String word) {
        TreeSet<Integer> sets = new TreeSet<>(dictionary.getSynSets(word));
        sets.addAll(dictionary.getStemSynSets(word));
        List<String> numbers = new ArrayList<>();
        sets.forEach(set -> numbers.add(set.toString()));
        return numbers;
    }

    private static URL file(String kind) throws IOException {
        return new URL(Constants.DEFAULT_SYN_DIR_URL + "/english." + kind);
    }
}
