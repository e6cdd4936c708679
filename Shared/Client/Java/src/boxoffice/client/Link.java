package boxoffice.client;

import java.io.IOException;
import java.io.UnsupportedEncodingException;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An app's registration at a server, and its calls there (RFC 7591, RFC 6749 §4.4). */
final class Link {
    private static final String CLIENT = "client", TOKEN = "token", TOKEN_ENDS = "token.ends";
    private static final String FORM = "application/x-www-form-urlencoded", JSON = "application/json; charset=utf-8";
    /** The longest pause that a server may ask for, in s. */
    private static final int LONGEST_PAUSE = 10;
    private static final int RETRIES = 2;
    static final Map<String, Object> EMPTY = Collections.emptyMap();

    final String server;
    private final String statement;
    private final Transport transport;
    private final Storage storage;
    private final Map<String, String> usualHeaders;

    /** @param usualHeaders sent with every call that has a bearer */
    Link(String server, String statement, Transport transport, Storage storage, Map<String, String> usualHeaders) {
        this.server = server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
        this.statement = statement;
        this.transport = transport;
        this.storage = storage;
        this.usualHeaders = usualHeaders;
    }

    /** A call with a bearer. After a 401 it has a new one, and then a new client. */
    Transport.Answer call(String method, String path, Map<String, String> query, Map<String, String> headers, String contentType, String body)
            throws IOException {
        for (int attempt = 0; ; attempt++) {
            Map<String, String> all = new LinkedHashMap<>(usualHeaders);
            all.putAll(headers);
            all.put("Authorization", "Bearer " + bearer(false));
            Transport.Answer answer = send(method, path + (query.isEmpty() ? "" : "?" + form(query)), all, contentType, body);
            boolean isForgotten = answer.status == 403 && answer.text.contains("\"invalid_client\"");
            if ((answer.status != 401 && !isForgotten) || attempt == 2) return answer;
            synchronized (this) {
                storage.write(TOKEN, null);
                if (isForgotten || attempt == 1) storage.write(CLIENT, null);
            }
        }
    }

    Transport.Answer get(String path, Map<String, String> query, Map<String, String> headers) throws IOException {
        return call("GET", path, query, headers, null, null);
    }

    Transport.Answer postForm(String path, Map<String, String> fields, Map<String, String> headers) throws IOException {
        return call("POST", path, pairs(), headers, FORM, form(fields));
    }

    Transport.Answer postJson(String path, String body, Map<String, String> headers) throws IOException {
        return call("POST", path, pairs(), headers, JSON, body);
    }

    /** For an address that a browser opens: it has at least a minute left. */
    synchronized String bearer(boolean isAgain) throws IOException {
        String known = storage.read(TOKEN), ends = storage.read(TOKEN_ENDS);
        // By this clock alone, however wrong it is: a clock that jumps costs one refused call.
        if (known != null && ends != null && System.currentTimeMillis() < Long.parseLong(ends)) return known;
        Map<String, Object> client = Json.object(client());
        String fields = form(pairs(
            "client_id", Json.text(client, "client_id"), "client_secret", Json.text(client, "client_secret"), "grant_type", "client_credentials"));
        Transport.Answer answer = send("POST", "/o/client/token", pairs("Accept", "application/json"), FORM, fields);
        if (answer.text.contains("\"invalid_client\"") && !isAgain) {
            storage.write(CLIENT, null);
            return bearer(true);
        }
        if (answer.status != 201 && answer.status != 200) throw problem(answer);
        Map<String, Object> token = Json.object(answer.text);
        String bearer = Json.text(token, "access_token");
        storage.write(TOKEN, bearer);
        storage.write(TOKEN_ENDS, Long.toString(System.currentTimeMillis() + Math.max(30, Json.number(token, "expires_in") - 60) * 1000));
        return bearer;
    }

    private String client() throws IOException {
        String known = storage.read(CLIENT);
        if (known != null) return known;
        String body = "{\"software_statement\":" + Json.quoted(statement) + "}";
        Transport.Answer answer = send("POST", "/o/client/register", pairs("Accept", "application/json"), "application/json", body);
        if (answer.status != 201) throw problem(answer);
        storage.write(CLIENT, answer.text);
        return answer.text;
    }

    /** "Too many" and "not now" are asked again, as late as the server says. */
    private Transport.Answer send(String method, String path, Map<String, String> headers, String contentType, String body) throws IOException {
        for (int attempt = 0; ; attempt++) {
            Transport.Answer answer = transport.send(new Transport.Request(method, server + path, headers, contentType, body));
            if ((answer.status != 429 && answer.status != 503) || attempt == RETRIES) return answer;
            try {
                Thread.sleep(1000L * Math.min(Math.max(answer.retryAfter, 1), LONGEST_PAUSE));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return answer;
            }
        }
    }

    /** The servers' code and words, where they gave them. */
    static EntitlementException problem(Transport.Answer answer) {
        String code = null, message = null;
        try {
            Map<String, Object> object = Json.object(answer.text);
            code = Json.text(object, "code") != null ? Json.text(object, "code") : Json.text(object, "error");
            message = Json.text(object, "message") != null ? Json.text(object, "message") : Json.text(object, "error_description");
        } catch (IOException ignored) {
            // A page, or nothing.
        }
        return new EntitlementException(code != null ? code : "status_" + answer.status, answer.status, message);
    }

    /** @param texts names and values in turn; a pair whose value is null is left out */
    static Map<String, String> pairs(String... texts) {
        Map<String, String> found = new LinkedHashMap<>();
        for (int index = 0; index + 1 < texts.length; index += 2) if (texts[index + 1] != null) found.put(texts[index], texts[index + 1]);
        return found;
    }

    static String form(Map<String, String> fields) {
        StringBuilder out = new StringBuilder();
        for (Map.Entry<String, String> field : fields.entrySet()) {
            out.append(out.length() > 0 ? "&" : "").append(encode(field.getKey())).append('=').append(encode(field.getValue()));
        }
        return out.toString();
    }

    /** For a query, a form or a segment of a path. */
    static String encode(String text) {
        try {
            return URLEncoder.encode(text, "UTF-8").replace("+", "%20");
        } catch (UnsupportedEncodingException e) {
            throw new IllegalStateException("every Java has UTF-8", e);
        }
    }

    static List<String> texts(Object value) {
        List<String> found = new ArrayList<>();
        if (value instanceof List) for (Object element : (List<?>) value) if (element instanceof String) found.add((String) element);
        return found;
    }
}
