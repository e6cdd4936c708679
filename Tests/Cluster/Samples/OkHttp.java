import boxoffice.client.Transport;
import boxoffice.client.okhttp.OkHttpTransport;
import okhttp3.OkHttpClient;

/** Gives `Play` the transport over OkHttp. */
public final class OkHttp {
    private OkHttp() {}

    public static Transport make() {
        return new OkHttpTransport(new OkHttpClient());
    }
}
