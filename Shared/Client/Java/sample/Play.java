import boxoffice.client.Decision;
import boxoffice.client.EntitlementClient;
import boxoffice.client.EntitlementException;
import boxoffice.client.Provider;
import boxoffice.client.Session;
import boxoffice.client.SignIn;
import boxoffice.client.Storage;
import boxoffice.client.Transport;
import boxoffice.client.UrlConnectionTransport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An app on a command line: signs in at a provider, plays, and signs out. It prints {@code open URL} where a person has to go on in a browser, and waits for a line.
 *
 * <p>{@code java Play SERVER REQUESTOR STATEMENT V1|V2 PROVIDER RETURN-URL RESOURCE…}; with {@code -Dtransport=CLASS} another transport, which has a static
 * method {@code make}.
 */
public final class Play {
    private static final BufferedReader IN = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    public static void main(String[] arguments) throws Exception {
        String name = System.getProperty("transport");
        Transport transport = name == null ? new UrlConnectionTransport(10_000) : (Transport) Class.forName(name).getMethod("make").invoke(null);
        Storage storage = new Storage.InMemory();
        EntitlementClient client = make(arguments, transport, storage);
        say("signed-in", client.session() == null ? "no" : "yes");
        try {
            client.authorize(arguments[6]);
            say("unexpected", "a decision");
        } catch (EntitlementException e) {
            say("refused", e.code);
        }
        Provider chosen = null;
        for (Provider provider : client.providers()) if (provider.id.equals(arguments[4])) chosen = provider;
        SignIn signIn = client.signIn(chosen, arguments[5]);
        if (!signIn.isDone()) {
            say("open", signIn.url);
            IN.readLine();
        }
        // The app was ended meanwhile: what is kept is enough.
        client = make(arguments, transport, storage);
        Session session = client.session();
        say("session", session == null ? "none" : session.mvpd);
        if (session == null) return;
        String[] resources = Arrays.copyOfRange(arguments, 6, arguments.length);
        for (Decision decision : client.preauthorize(Arrays.asList(resources))) say("may", decision.resource + " " + decision.isPermitted);
        for (String resource : resources) {
            Decision decision = client.authorize(resource);
            say(decision.isPermitted ? "play" : "denied", resource + " " + (decision.isPermitted ? decision.mediaToken : decision.details));
        }
        say("person", String.valueOf(client.metadata().get("userID") != null));
        String page = client.signOut(arguments[5]);
        if (page != null) {
            say("open", page);
            IN.readLine();
        }
        say("signed-in", client.session() == null ? "no" : "yes");
    }

    private static EntitlementClient make(String[] arguments, Transport transport, Storage storage) {
        return new EntitlementClient.Builder(arguments[0], arguments[1], arguments[2]).version(EntitlementClient.Version.valueOf(arguments[3]))
            .transport(transport).storage(storage).deviceInformation("{\"model\":\"Sample\",\"osName\":\"Android\"}").build();
    }

    private static void say(String what, String text) throws IOException {
        System.out.println(what + " " + text);
        System.out.flush();
    }
}
