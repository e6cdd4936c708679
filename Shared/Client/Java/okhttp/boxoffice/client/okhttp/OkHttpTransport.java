package boxoffice.client.okhttp;

import boxoffice.client.Transport;
import java.io.IOException;
import java.util.Map;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.RequestBody;
import okhttp3.Response;

/** {@link Transport} over an app's OkHttp client, 3.x. */
public final class OkHttpTransport implements Transport {
    private final OkHttpClient client;

    /** @param client shares connections with the app; its redirects are switched off here */
    public OkHttpTransport(OkHttpClient client) {
        this.client = client.newBuilder().followRedirects(false).build();
    }

    @Override
    public Answer send(Request request) throws IOException {
        RequestBody body = request.body == null ? null : RequestBody.create(MediaType.parse(request.contentType), request.body);
        okhttp3.Request.Builder built = new okhttp3.Request.Builder().url(request.url).method(request.method, body);
        for (Map.Entry<String, String> header : request.headers.entrySet()) built.header(header.getKey(), header.getValue());
        try (Response response = client.newCall(built.build()).execute()) {
            return new Answer(response.code(), response.body() == null ? "" : response.body().string(), response.header("Retry-After"));
        }
    }
}
