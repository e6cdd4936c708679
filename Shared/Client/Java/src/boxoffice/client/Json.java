package boxoffice.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Reads and writes JSON (RFC 8259): objects are maps, arrays lists, numbers {@link Long} or {@link Double}. Android's own reader is not in Java SE. */
final class Json {
    private static final int DEEPEST = 64;
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    private final String text;
    private int place;

    private Json(String text) {
        this.text = text;
    }

    /** @throws IOException where the text is no JSON object */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) throws IOException {
        Json reader = new Json(text);
        Object value = reader.value(0);
        reader.skip();
        if (reader.place != text.length() || !(value instanceof Map)) throw reader.problem("a JSON object");
        return (Map<String, Object>) value;
    }

    /** The object at a name; empty where there is none. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Map<String, Object> object, String name) {
        Object value = object.get(name);
        return value instanceof Map ? (Map<String, Object>) value : new LinkedHashMap<String, Object>();
    }

    /** The objects of the list at a name; empty where there is none. */
    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> maps(Map<String, Object> object, String name) {
        List<Map<String, Object>> found = new ArrayList<>();
        Object value = object.get(name);
        if (value instanceof List) {
            for (Object element : (List<Object>) value) if (element instanceof Map) found.add((Map<String, Object>) element);
        }
        return found;
    }

    /** The text at a name; null where there is none. */
    static String text(Map<String, Object> object, String name) {
        Object value = object.get(name);
        return value instanceof String ? (String) value : null;
    }

    /** The number at a name, which may be written as a text; 0 where there is none. */
    static long number(Map<String, Object> object, String name) {
        Object value = object.get(name);
        if (value instanceof Number) return ((Number) value).longValue();
        try {
            return value instanceof String ? Long.parseLong((String) value) : 0;
        } catch (NumberFormatException ignored) {
            return 0;
        }
    }

    static boolean flag(Map<String, Object> object, String name) {
        return Boolean.TRUE.equals(object.get(name));
    }

    /** A text as JSON, with its quotation marks. */
    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int index = 0; index < text.length(); index++) {
            char c = text.charAt(index);
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 0x20 || Character.isSurrogate(c) || c == 0x2028 || c == 0x2029) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    /** A list of texts as JSON. */
    static String list(List<String> texts) {
        StringBuilder out = new StringBuilder("[");
        for (String text : texts) out.append(out.length() > 1 ? "," : "").append(quoted(text));
        return out.append(']').toString();
    }

    private Object value(int depth) throws IOException {
        skip();
        if (depth > DEEPEST) throw problem("less depth");
        char c = place < text.length() ? text.charAt(place) : 0;
        if (c == '{') return members(depth);
        if (c == '[') return elements(depth);
        if (c == '"') return string();
        if (c == '-' || c >= '0' && c <= '9') return number();
        for (String word : new String[] {"true", "false", "null"}) {
            if (text.startsWith(word, place)) {
                place += word.length();
                return word.equals("null") ? null : Boolean.valueOf(word);
            }
        }
        throw problem("a value");
    }

    private Map<String, Object> members(int depth) throws IOException {
        Map<String, Object> found = new LinkedHashMap<>();
        place++;
        skip();
        if (taken('}')) return found;
        do {
            skip();
            if (place >= text.length() || text.charAt(place) != '"') throw problem("a name");
            String name = string();
            skip();
            if (!taken(':')) throw problem("':'");
            found.put(name, value(depth + 1));
            skip();
        } while (taken(','));
        if (!taken('}')) throw problem("'}'");
        return found;
    }

    private List<Object> elements(int depth) throws IOException {
        List<Object> found = new ArrayList<>();
        place++;
        skip();
        if (taken(']')) return found;
        do {
            found.add(value(depth + 1));
            skip();
        } while (taken(','));
        if (!taken(']')) throw problem("']'");
        return found;
    }

    private String string() throws IOException {
        StringBuilder out = new StringBuilder();
        for (place++; place < text.length(); place++) {
            char c = text.charAt(place);
            if (c == '"') {
                place++;
                return out.toString();
            }
            if (c < 0x20) throw problem("no control character");
            out.append(c == '\\' ? escaped() : c);
        }
        throw problem("'\"'");
    }

    private char escaped() throws IOException {
        char c = ++place < text.length() ? text.charAt(place) : 0;
        int known = "\"\\/bfnrt".indexOf(c);
        if (known >= 0) return "\"\\/\b\f\n\r\t".charAt(known);
        if (c != 'u' || place + 4 >= text.length()) throw problem("an escape");
        try {
            char decoded = (char) Integer.parseInt(text.substring(place + 1, place + 5), 16);
            place += 4;
            return decoded;
        } catch (NumberFormatException e) {
            throw problem("four hex digits");
        }
    }

    private Number number() throws IOException {
        int start = place;
        while (place < text.length() && "+-.eE0123456789".indexOf(text.charAt(place)) >= 0) place++;
        String found = text.substring(start, place);
        if (!NUMBER.matcher(found).matches()) throw problem("a number");
        try {
            return Long.valueOf(found);
        } catch (NumberFormatException ignored) {
            return Double.valueOf(found);
        }
    }

    private boolean taken(char wanted) {
        boolean is = place < text.length() && text.charAt(place) == wanted;
        if (is) place++;
        return is;
    }

    private void skip() {
        while (place < text.length() && " \t\r\n".indexOf(text.charAt(place)) >= 0) place++;
    }

    private IOException problem(String wanted) {
        return new IOException("the answer is no JSON: " + wanted + " is missing at " + place);
    }
}
