package boxoffice.client;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;

/**
 * Sign-in and entitlement of one channel, for an Android or Fire TV app. Every call blocks and may be made from any thread but the main one. Calls throw
 * {@link EntitlementException} where the server refuses them, and another {@link IOException} where it does not answer.
 *
 * <p>Java 8 without {@code java.time} and {@code java.util.Base64}: Android from API 21.
 */
public final class EntitlementClient {
    /** The versions of the servers' API. */
    public enum Version {
        /** Also for providers behind an upstream. A session lasts when the app registers anew. */
        V1,
        /** The scope {@code api:client:v2} is needed. */
        V2
    }

    private static final String DEVICE = "device", MVPD = "mvpd";

    private final Storage storage;
    private final Api api;
    private final String mvpdName;

    private EntitlementClient(Builder builder) {
        storage = builder.storage;
        mvpdName = MVPD + "." + builder.requestor;
        String device = device(storage);
        Map<String, String> headers = Link.pairs("X-Device-Info", builder.deviceInformation == null ? null : Base64.encode(builder.deviceInformation));
        Link link = new Link(builder.server, builder.statement, builder.transport, storage, headers);
        api = builder.version == Version.V1
            ? new RestV1(link, builder.requestor, device) : new RestV2(link, builder.requestor, device, builder.domain);
    }

    /** 128 random bits, kept: to the servers they are the device. */
    private static synchronized String device(Storage storage) {
        String known = storage.read(DEVICE);
        if (known != null) return known;
        byte[] octets = new byte[16];
        new SecureRandom().nextBytes(octets);
        StringBuilder made = new StringBuilder();
        for (byte octet : octets) made.append(String.format("%02x", octet & 0xff));
        storage.write(DEVICE, made.toString());
        return made.toString();
    }

    /** The providers that people of the channel may choose, in the order in which the channel lists them. */
    public List<Provider> providers() throws IOException {
        return api.providers();
    }

    /**
     * Begins a sign-in. Unless it {@link SignIn#isDone() is done}, open {@link SignIn#url}, or show {@link SignIn#code}; then ask {@link #session()} when the
     * browser is back at {@code returnUrl}, or on a TV every five seconds.
     *
     * @param returnUrl where the browser ends: a page under a domain of the channel, or an address of the app's own scheme that the catalogue names
     */
    public SignIn signIn(Provider provider, String returnUrl) throws IOException {
        SignIn begun = api.begin(provider, returnUrl);
        storage.write(mvpdName, provider.id);
        return begun;
    }

    /** @return the person who is signed in; null where nobody is */
    public Session session() throws IOException {
        return api.session(storage.read(mvpdName));
    }

    /** Asks whether a resource may be played now, and gets the media token. Call it for every play. */
    public Decision authorize(String resource) throws IOException {
        return api.authorize(storage.read(mvpdName), resource);
    }

    /** Which of some resources the person has, for locks on a page; no more than the channel's limit, 5 unless it says otherwise. */
    public List<Decision> preauthorize(List<String> resources) throws IOException {
        return api.preauthorize(storage.read(mvpdName), resources);
    }

    /** What the channel may know of the person: texts, flags, numbers, lists and maps by their names. Encrypted values are texts. */
    public Map<String, Object> metadata() throws IOException {
        return api.metadata(storage.read(mvpdName));
    }

    /**
     * Ends the session.
     *
     * @param returnUrl where the browser ends; null: no browser is opened
     * @return a page that a browser must open, so that the provider's own session ends too (v1: so that any ends); null where there is none
     */
    public String signOut(String returnUrl) throws IOException {
        return api.logout(storage.read(mvpdName), returnUrl);
    }

    static EntitlementException notSignedIn() {
        return new EntitlementException("not_signed_in", 0, "nobody is signed in");
    }

    /** What a client needs to know. */
    public static final class Builder {
        private final String server, requestor, statement;
        private Version version = Version.V1;
        private Transport transport = new UrlConnectionTransport();
        private Storage storage = new Storage.InMemory();
        private String deviceInformation, domain = "adobe.com";

        /**
         * @param server the gateway's public address, such as {@code https://tv.example}
         * @param requestor the channel's id
         * @param softwareStatement of the app, ours or a listed one of the vendor's
         */
        public Builder(String server, String requestor, String softwareStatement) {
            if (!server.startsWith("http://") && !server.startsWith("https://")) throw new IllegalArgumentException("server must begin with https://");
            if (requestor.isEmpty() || softwareStatement.isEmpty()) throw new IllegalArgumentException("requestor and softwareStatement must not be empty");
            this.server = server;
            this.requestor = requestor;
            this.statement = softwareStatement;
        }

        /** {@link Version#V1} unless it is set. */
        public Builder version(Version version) {
            this.version = version;
            return this;
        }

        public Builder transport(Transport transport) {
            this.transport = transport;
            return this;
        }

        /** Without one people sign in anew at every start. */
        public Builder storage(Storage storage) {
            this.storage = storage;
            return this;
        }

        /** @param json an object with at least {@code model} and {@code osName}, for usage reports and rules by platform */
        public Builder deviceInformation(String json) {
            this.deviceInformation = json;
            return this;
        }

        /** @param domain a domain of the channel, for REST v2 */
        public Builder domain(String domain) {
            this.domain = domain;
            return this;
        }

        public EntitlementClient build() {
            return new EntitlementClient(this);
        }
    }
}
