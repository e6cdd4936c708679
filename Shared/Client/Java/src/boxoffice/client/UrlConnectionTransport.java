package boxoffice.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** {@link Transport} over {@link HttpURLConnection}, which every Android has. */
public final class UrlConnectionTransport implements Transport {
    /** In octets; no answer of these servers is larger. */
    private static final int LARGEST = 4 << 20;

    private final int timeoutMillis;

    /** @param timeoutMillis for connecting and for each read, in ms; above 0 */
    public UrlConnectionTransport(int timeoutMillis) {
        if (timeoutMillis <= 0) throw new IllegalArgumentException("timeoutMillis must be above 0");
        this.timeoutMillis = timeoutMillis;
    }

    /** Waits 30 s. */
    public UrlConnectionTransport() {
        this(30_000);
    }

    @Override
    public Answer send(Request request) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(request.url).openConnection();
        try {
            connection.setRequestMethod(request.method);
            connection.setInstanceFollowRedirects(false);
            connection.setUseCaches(false);
            connection.setConnectTimeout(timeoutMillis);
            connection.setReadTimeout(timeoutMillis);
            for (Map.Entry<String, String> header : request.headers.entrySet()) connection.setRequestProperty(header.getKey(), header.getValue());
            if (request.body != null) {
                byte[] octets = request.body.getBytes(StandardCharsets.UTF_8);
                connection.setDoOutput(true);
                connection.setFixedLengthStreamingMode(octets.length);
                connection.setRequestProperty("Content-Type", request.contentType);
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(octets);
                }
            }
            int status = connection.getResponseCode();
            try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                return new Answer(status, read(in), connection.getHeaderField("Retry-After"));
            }
        } finally {
            connection.disconnect();
        }
    }

    private static String read(InputStream in) throws IOException {
        if (in == null) return "";
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        for (int count = in.read(part); count >= 0; count = in.read(part)) {
            if (out.size() + count > LARGEST) throw new IOException("the answer has over " + LARGEST + " octets");
            out.write(part, 0, count);
        }
        return new String(out.toByteArray(), StandardCharsets.UTF_8);
    }
}
