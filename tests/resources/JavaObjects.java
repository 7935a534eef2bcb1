// Writes an object with a field of every kind that Java can serialize, base64. Run it from its source:
//     java JavaObjects.java > java_objects.txt
import java.io.*;
import java.util.*;

public class JavaObjects {
    enum Colour { RED { }, BLUE }

    static class Base implements Serializable {
        int number = 1;
        String name = "base";
    }

    static class Node extends Base {
        boolean flag = true;
        byte small = -2;
        char letter = '\u00e9';
        double wide = 0.1;
        float narrow = -0.1f;
        int number = 7;
        long big = Long.MIN_VALUE;
        short brief = -300;
        String text = "a\0b \ud83d\ude00 \u00e9";
        String same = text;
        Node self = this;
        Object nothing = null;
        int[] ints = {1, -1};
        boolean[] flags = {true, false};
        double[][] grid = {{0.5}, null};
        Object[] mixed = {"x", 5, Colour.BLUE, Colour.RED, String.class};
        List<String> list = new ArrayList<>(List.of("p", "q"));
        Map<String, Integer> map = new LinkedHashMap<>(Map.of("k", 1));
        Outside outside = new Outside();
        Custom custom = new Custom();
    }

    public static class Outside implements Externalizable {
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeInt(42);
            out.writeObject("mine");
        }

        public void readExternal(ObjectInput in) { }
    }

    static class Custom implements Serializable {
        int kept = 3;

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.write(new byte[300]);
            out.writeObject("tail");
        }
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Node());
        }
        System.out.println(Base64.getMimeEncoder(116, "\n".getBytes()).encodeToString(bytes.toByteArray()));
    }
}
