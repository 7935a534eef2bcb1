// The official tokenizer on one caption at a time, as the COCO harness calls it (-preserveLines -lowerCase).
//
// Reads a caption a line, base64 of UTF-8; writes its tokens a line, parted by U+0001. Run it from its source:
//     java -cp stanford-corenlp-3.4.1.jar PtbOracle.java
import edu.stanford.nlp.ling.CoreAnnotations;
import edu.stanford.nlp.ling.CoreLabel;
import edu.stanford.nlp.process.CoreLabelTokenFactory;
import edu.stanford.nlp.process.PTBTokenizer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.logging.Level;
import java.util.logging.Logger;

public class PtbOracle {
    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; out.write('\n')) {
            String caption = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            PTBTokenizer<CoreLabel> tokens =
                new PTBTokenizer<>(new StringReader(caption), new CoreLabelTokenFactory(), ",tokenizeNLs");
            for (String before = ""; tokens.hasNext(); before = "\u0001") {
                String token = tokens.next().get(CoreAnnotations.TextAnnotation.class);
                out.write(before + token.toLowerCase(Locale.ENGLISH));
            }
        }
        out.flush();
    }
}
