package boxoffice.client;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Sends one HTTP request. An app may put its own client in the place of {@link UrlConnectionTransport}. */
public interface Transport {
    /**
     * Sends a request and reads the whole answer, whatever its status. Follows no redirect. Called from the threads that call the client; may block.
     *
     * @throws IOException where no answer comes
     */
    Answer send(Request request) throws IOException;

    /** A request. Texts are UTF-8. */
    final class Request {
        /** {@code GET}, {@code POST} or {@code DELETE}. */
        public final String method;
        /** Absolute. */
        public final String url;
        public final Map<String, String> headers;
        /** Null where the request has no body. */
        public final String contentType;
        /** Null where the request has none. */
        public final String body;

        public Request(String method, String url, Map<String, String> headers, String contentType, String body) {
            this.method = method;
            this.url = url;
            this.headers = new LinkedHashMap<>(headers);
            this.contentType = contentType;
            this.body = body;
        }
    }

    /** An answer. */
    final class Answer {
        public final int status;
        /** The body; empty where there is none. */
        public final String text;
        /** The header {@code Retry-After} in seconds; 0 where there is none. */
        public final int retryAfter;

        public Answer(int status, String text, String retryAfter) {
            this.status = status;
            this.text = text;
            int seconds = 0;
            try {
                seconds = retryAfter == null ? 0 : Integer.parseInt(retryAfter.trim());
            } catch (NumberFormatException ignored) {
                // A date: the servers send seconds.
            }
            this.retryAfter = Math.max(0, seconds);
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "status %d", status);
        }
    }
}
