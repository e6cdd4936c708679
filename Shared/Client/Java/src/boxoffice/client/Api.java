package boxoffice.client;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The calls of one version of the servers' API. */
interface Api {
    List<Provider> providers() throws IOException;

    /** @param returnUrl where the browser ends */
    SignIn begin(Provider provider, String returnUrl) throws IOException;

    /**
     * @param mvpd the provider that was chosen last
     * @return null where nobody is signed in
     */
    Session session(String mvpd) throws IOException;

    Decision authorize(String mvpd, String resource) throws IOException;

    List<Decision> preauthorize(String mvpd, List<String> resources) throws IOException;

    Map<String, Object> metadata(String mvpd) throws IOException;

    /** @return a page that ends the provider's own session; null where there is none */
    String logout(String mvpd, String returnUrl) throws IOException;
}
